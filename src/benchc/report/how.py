"""How a model loses its footing: clean states, states, trajectories, flows and calibration."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchc.report import wording
from benchc.report.charts import flows, lines, points, stacks
from benchc.report.facts import Facts, Row
from benchc.report.figure import Figure, Panel, by_model, in_order, legend
from benchc.report.where import CLEAN_STATE_LABELS

_STATES = {
    "cc": "cc: right, still right",
    "cw": "cw: right, then wrong",
    "wc": "wc: wrong, then right",
    "ww": "ww: wrong, still wrong",
}
_CLASSES = {name: wording.spaced(name) for name in stacks.CLASSES}
_FLOWS = {name: wording.spaced(name) for name in flows.FLOWS}
_CONDITIONS = {name: name for name in points.CONDITIONS}


def figures(facts: Facts, scope: str, order: Sequence[str]) -> dict[str, Any]:
    """Return the figures and tables of this section by name."""
    return {
        "clean_states": _parts(
            "clean_states",
            "clean state",
            facts,
            scope,
            order,
            stacks.CLEAN_STATES,
            CLEAN_STATE_LABELS,
        ),
        "states": _parts("states", "state", facts, scope, order, stacks.STATES, _STATES),
        "classes": _parts(
            "classes", "trajectory class", facts, scope, order, stacks.CLASSES, _CLASSES
        ),
        "flows": _flow_figure(facts("flows", scope=scope), order),
        "reliability": _reliability(facts("reliability", scope=scope), order),
        "phenomena": facts("phenomena", scope=scope),
        "onsets": facts("onsets", scope=scope),
        "flips": [wording.flip_note(row) for row in in_order(facts("flips", scope=scope), order)],
    }


def _parts(
    name: str,
    what: str,
    facts: Facts,
    scope: str,
    order: Sequence[str],
    colors: Mapping[str, str],
    labels: Mapping[str, str],
) -> Figure:
    rows = facts(name, scope=scope)
    places = {key: place for place, key in enumerate(colors)}
    listed = sorted(rows, key=lambda row: (order.index(row["model"]), places[row["class"]]))

    def said(value: str, form: Callable[[float | None], str]) -> str:
        return wording.spoken(
            (f"{row['model']} {wording.spaced(row['class'])}", form(row[value])) for row in listed
        )

    return Figure(
        name,
        f"Pairs by {what}: how often each occurs, and what it adds to the mean RAS "
        "(contributions add up to it; the upright mark is the sum).",
        [
            Panel(
                "Share of pairs",
                stacks.shares(rows, order, colors),
                f"Shares: {said('share', wording.percent)}",
            ),
            Panel(
                "Contribution to mean RAS",
                stacks.contributions(rows, order, colors),
                f"Contributions: {said('contribution', wording.signed)}",
            ),
        ],
        legend(colors, labels),
        ["model", what, "pairs", "share", "mean RAS", "contribution (95 % interval)"],
        [
            [
                row["model"],
                wording.spaced(row["class"]),
                wording.count(row["n_pairs"]),
                wording.percent(row["share"]),
                wording.signed(row["mean_ras"]),
                wording.estimate({**row, "value": row["contribution"]}, wording.signed),
            ]
            for row in listed
        ],
        "wide",
    )


def _flow_figure(rows: Sequence[Row], order: Sequence[str]) -> Figure:
    def panel(model: str, own: list[Row]) -> Panel:
        first = min(row["severity"] for row in own)
        last = max(row["next_severity"] for row in own)
        clean = sum(row["share"] for row in own if row["severity"] == first and row["correct"])
        end = sum(
            row["share"] for row in own if row["next_severity"] == last and row["next_correct"]
        )
        return Panel(
            model,
            flows.alluvial(own),
            f"{model}: {wording.percent(clean)} of trajectories right on the clean picture, "
            f"{wording.percent(end)} at severity {last}",
        )

    return Figure(
        "flows",
        "Every complete trajectory from the clean picture (severity 0) to the last severity: right "
        "answers below, wrong ones above. A thick turn to wrong at the first severity is an early "
        "loss; turns to right that turn back are lucky guesses.",
        by_model(rows, order, panel),
        legend(flows.FLOWS, _FLOWS),
        ["model", "from severity", "to", "before", "after", "trajectories", "share"],
        [
            [
                row["model"],
                str(row["severity"]),
                str(row["next_severity"]),
                "right" if row["correct"] else "wrong",
                "right" if row["next_correct"] else "wrong",
                wording.count(row["n"]),
                wording.percent(row["share"]),
            ]
            for row in in_order(rows, order)
        ],
        "middle",
    )


def _reliability(rows: Sequence[Row], order: Sequence[str]) -> Figure:
    def panel(model: str, own: list[Row]) -> Panel:
        gaps = {
            condition: sum(
                row["weight"] * abs(row["confidence"] - row["accuracy"])
                for row in own
                if row["condition"] == condition
            )
            for condition in points.CONDITIONS
        }
        said = wording.spoken((name, wording.percent(gap)) for name, gap in gaps.items())
        return Panel(
            model,
            lines.reliability(own),
            f"{model}, mean distance between confidence and accuracy: {said}",
        )

    return Figure(
        "reliability",
        "Reliability: the share of right answers among answers of like confidence, clean and "
        "corrupted; a mark's size is its share of the pairs, and small marks jump about. Below the "
        "diagonal a model is surer than it is right.",
        by_model(rows, order, panel),
        legend(points.CONDITIONS, _CONDITIONS, ["circle", "square"]),
        ["model", "condition", "from", "to", "pairs", "share", "confidence", "share right"],
        [
            [
                row["model"],
                row["condition"],
                wording.plain(row["bin_low"]),
                wording.plain(row["bin_high"]),
                wording.count(row["n_pairs"]),
                wording.percent(row["weight"]),
                wording.percent(row["confidence"]),
                wording.percent(row["accuracy"]),
            ]
            for row in in_order(rows, order)
        ],
    )
