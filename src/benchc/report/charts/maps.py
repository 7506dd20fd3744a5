"""Heat maps of every condition, the map of the embeddings, and the histogram of the impurity.

A cell is one row of the database.
"""

from collections.abc import Sequence
from typing import Any

import altair as alt

from benchc.report.charts.spec import SPACED, Spec, color, named, rows_of, specification
from benchc.report.facts import Row

#: Where a heat map changes colour; the style sheet holds one colour a step, --heat-0 first.
STEPS = (-0.4, -0.3, -0.2, -0.1, -0.05, -0.01, 0.01, 0.05)
HEAT = tuple(named(*(f"heat-{step}" for step in range(len(STEPS) + 1))).values())
OUTCOMES = named("kept", "left_out")
MEMBERS = named("selection", "control", "selection_and_control", "neither")


def heat(rows: Sequence[Row], corruptions: Sequence[str], title: str) -> Spec:
    """Draw one cell per corruption and severity; a click shows the cases of that corruption.

    Args:
        rows: model, corruption, severity, value, n_pairs of one model.
        corruptions: corruptions from the top.
        title: what the value is.
    """
    linked = [
        {**row, "cases": f"#cases?model={row['model']}&corruption={row['corruption']}"}
        for row in rows
    ]
    cells = (
        alt.Chart(rows_of(linked))
        .mark_rect(stroke="var(--back)", strokeWidth=1, cursor="pointer")
        .encode(
            x=alt.X("severity:O", title="severity", axis=alt.Axis(labelAngle=0, grid=False)),
            y=alt.Y(
                "corruption:N",
                sort=list(corruptions),
                title=None,
                axis=alt.Axis(labelLimit=120, labelExpr=SPACED),
            ),
            color=alt.Color(
                "value:Q",
                scale=alt.Scale(type="threshold", domain=list(STEPS), range=list(HEAT)),
                legend=None,
            ),
            href="cases:N",
            tooltip=[
                "corruption:N",
                "severity:O",
                alt.Tooltip("value:Q", title=title, format="+.3f"),
                "n_pairs:Q",
            ],
        )
    )
    return specification(cells, height=16 * max(1, len(corruptions)))


def members(rows: Sequence[Row], explained: Sequence[float]) -> Spec:
    """Draw the samples of the pool on the two main axes of their embeddings.

    Args:
        rows: x, y, sample_id, benchmark, member.
        explained: share of the variance on each axis, 0..1.
    """

    def axis(name: str, share: float) -> dict[str, Any]:
        return {
            "title": f"{name} main axis ({100 * share:.0f} % of the variance)",
            "scale": alt.Scale(zero=False, padding=8),
            "axis": alt.Axis(labels=False, ticks=False, grid=False),
        }

    shapes = ["circle", "triangle-up", "diamond", "circle"]
    chart = (
        alt.Chart(rows_of(rows))
        .mark_point(filled=True, opacity=0.8, size=34)
        .encode(
            x=alt.X("x:Q", **axis("first", explained[0])),
            y=alt.Y("y:Q", **axis("second", explained[1])),
            color=color("member", MEMBERS),
            shape=alt.Shape(
                "member:N", scale=alt.Scale(domain=list(MEMBERS), range=shapes), legend=None
            ),
            order=alt.Order("place:Q"),
            tooltip=["sample_id:N", "benchmark:N", "member:N"],
        )
    )
    return specification(chart, height=360)


def impurity(rows: Sequence[Row]) -> Spec:
    """Draw the histogram of the impurity.

    Args:
        rows: low, high, outcome, n.
    """
    tenths = alt.Axis(values=[n / 10 for n in range(11)], format=".1f")
    chart = (
        alt.Chart(rows_of(rows))
        .mark_bar(stroke="var(--back)", strokeWidth=0.5)
        .encode(
            x=alt.X("low:Q", title="mean Gini impurity", bin="binned", axis=tenths),
            x2=alt.X2("high:Q"),
            y=alt.Y("n:Q", title="samples", stack="zero", axis=alt.Axis(tickMinStep=1)),
            color=color("outcome", OUTCOMES),
            tooltip=["low:Q", "high:Q", "outcome:N", "n:Q"],
        )
    )
    return specification(chart, height=200)
