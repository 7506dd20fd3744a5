"""Trajectory flows: an alluvial of right and wrong answers from one severity to the next.

`sql/flows.sql` counts the shares; they are laid out here.
"""

from collections import defaultdict
from collections.abc import Sequence

import altair as alt

from benchc.report.charts.spec import Spec, color, named, rows_of, specification
from benchc.report.facts import Row

#: Flows by the answer before and after, from the bottom.
FLOWS = named("stays_right", "turns_wrong", "turns_right", "stays_wrong")
NODES = named("right", "wrong")

#: Half the width of a node, in severities.
_NODE = 0.07
_POINTS = 12


def alluvial(rows: Sequence[Row]) -> Spec:
    """Draw the shares of trajectories that are right and wrong at each severity, and the flows.

    Args:
        rows: severity, next_severity, correct, next_correct, share of one model; the shares from
            one severity to the next add up to 1.
    """
    severities = sorted({row[name] for row in rows for name in ("severity", "next_severity")})
    place = {severity: at for at, severity in enumerate(severities)}
    x = alt.X(
        "x:Q",
        title="severity",
        scale=alt.Scale(domain=[-_NODE, len(severities) - 1 + _NODE], nice=False),
        axis=alt.Axis(
            values=list(place.values()),
            labelExpr=f"{severities}[datum.value]",
            grid=False,
        ),
    )
    y_scale = alt.Scale(domain=[0, 1], nice=False)
    ribbons = (
        alt.Chart(rows_of(_ribbons(rows, place)))
        .mark_area(opacity=0.75, interpolate="monotone")
        .encode(
            x=x,
            y=alt.Y(
                "low:Q",
                title="share of trajectories",
                scale=y_scale,
                axis=alt.Axis(format="%", tickCount=5),
            ),
            y2="high:Q",
            color=color("flow", FLOWS),
            detail="step:N",
            tooltip=["flow:N", "from:O", "to:O", alt.Tooltip("share:Q", format=".1%")],
        )
    )
    nodes = (
        alt.Chart(rows_of(_nodes(rows, place)))
        .mark_rect()
        .encode(
            x=x,
            x2="x2:Q",
            y=alt.Y("low:Q", scale=y_scale),
            y2="high:Q",
            color=alt.Color(
                "answer:N",
                scale=alt.Scale(domain=list(NODES), range=list(NODES.values())),
                legend=None,
            ),
            tooltip=["answer:N", "severity:O", alt.Tooltip("share:Q", format=".1%")],
        )
    )
    layered = alt.layer(ribbons, nodes).resolve_scale(color="independent")
    return specification(layered, height=200)


def _ribbons(rows: Sequence[Row], place: dict[int, int]) -> list[Row]:
    """Return the lower and upper edge of each flow, smooth from node to node.

    On the left side flows stack by the answer before, on the right side by the answer after; right
    answers are at the bottom of both.
    """
    points = []
    by_step: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        by_step[row["severity"]].append(row)
    for severity, flows in by_step.items():
        left = _stack(flows, ("correct", "next_correct"))
        right = _stack(flows, ("next_correct", "correct"))
        for flow in flows:
            key = flow["correct"], flow["next_correct"]
            start, end = place[severity] + _NODE, place[flow["next_severity"]] - _NODE
            for i in range(_POINTS + 1):
                t = i / _POINTS
                low = left[key] + (right[key] - left[key]) * t * t * (3 - 2 * t)
                points.append(
                    {
                        "step": f"{severity} {key}",
                        "flow": _flow(*key),
                        "from": severity,
                        "to": flow["next_severity"],
                        "share": flow["share"],
                        "x": round(start + (end - start) * t, 4),
                        "low": round(low, 5),
                        "high": round(low + flow["share"], 5),
                    }
                )
    return points


def _stack(flows: Sequence[Row], keys: tuple[str, str]) -> dict[tuple[int, int], float]:
    """Return where each flow begins when they stack by `keys`, right answers first."""
    at, begins = 0.0, {}
    for flow in sorted(flows, key=lambda flow: [-flow[key] for key in keys]):
        begins[flow["correct"], flow["next_correct"]] = at
        at += flow["share"]
    return begins


def _nodes(rows: Sequence[Row], place: dict[int, int]) -> list[Row]:
    right: dict[int, float] = defaultdict(float)
    for row in rows:
        right[row["severity"]] += row["share"] * row["correct"]
    last = max(place)
    for row in rows:
        if row["next_severity"] == last:
            right[last] += row["share"] * row["next_correct"]
    nodes = []
    for severity, share in right.items():
        ends = {"x": place[severity] - _NODE, "x2": place[severity] + _NODE, "severity": severity}
        nodes.append({**ends, "answer": "right", "low": 0.0, "high": share, "share": share})
        nodes.append({**ends, "answer": "wrong", "low": share, "high": 1.0, "share": 1 - share})
    return nodes


def _flow(correct: int, next_correct: int) -> str:
    if correct == next_correct:
        return "stays_right" if correct else "stays_wrong"
    return "turns_right" if next_correct else "turns_wrong"
