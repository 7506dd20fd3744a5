"""What a reader wants first: whom to trust under what, and the leaderboard with intervals."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from benchc.report import findings, wording
from benchc.report.charts import maps, points
from benchc.report.charts.spec import domain
from benchc.report.facts import Facts, Row
from benchc.report.figure import Figure, Panel, legend

#: Measures of the leaderboard and of the companions: name, heading, how it is written.
LEADING = (
    ("clean_accuracy", "clean accuracy", wording.percent),
    ("corrupted_accuracy", "corrupted accuracy", wording.percent),
    ("relative_robustness", "relative robustness", wording.percent),
    ("ras", "mean RAS", wording.signed),
    ("ras_matched", "RAS matched", wording.signed),
    ("ras_fitted", "RAS fitted", wording.signed),
    ("destructive", "destructive part", wording.signed),
    ("corrective", "corrective part", wording.signed),
)
FLIPS = (
    ("right_to_wrong", "right to wrong", wording.percent),
    ("wrong_to_right", "wrong to right", wording.percent),
)
#: Taken on the clean and on the corrupted pictures.
COMPANIONS = (
    ("ece", "ECE", wording.plain),
    ("squared_calibration_error", "squared calibration error", wording.plain),
    ("brier", "Brier score", wording.plain),
    ("nll", "NLL", wording.plain),
    ("uncertainty", "entropy", wording.plain),
    ("option_mass", "option mass", wording.percent),
    ("ties", "ties", wording.percent),
)
LABELS = {
    "clean": "clean",
    "corrupted": "corrupted",
    "selection": "selection",
    "control": "random control",
    "pool": "whole pool",
}

Estimates = Mapping[tuple[str, str, str], Row]

#: What stands for a model that has no score.
_UNKNOWN = {"value": None, "low": None, "high": None, "n_pairs": 0, "n_images": 0}


def summary(facts: Facts, scope: str, board: Sequence[Row]) -> dict[str, Any]:
    """Return the sentences and tables that open the page.

    Args:
        facts: the database.
        scope: samples of the sentences.
        board: the leaderboard of every scope, best RAS first.
    """
    own = [row for row in board if row["scope"] == scope]
    lines = {row["model"]: row for row in own if row["looks"] not in wording.BLIND}
    best = facts("best", scope=scope)
    worst = {row["model"]: row for row in facts("headlines", scope=scope)}
    estimates = estimates_of(facts)
    order = [row["model"] for row in own]
    return {
        "lead": findings.lead(best, lines),
        "trusted": findings.by_group(best, lines),
        "trust": _trust(facts("groups", scope=scope), best, order),
        "headlines": [
            (row, findings.headline(row, worst.get(row["model"])), wording.chance_note(row))
            for row in own
        ],
        "leading": LEADING,
        "flips_both_ways": FLIPS,
        "companions": COMPANIONS,
        "estimates": estimates,
        "standing": _standing(estimates, scope, order),
        "against": _against(estimates, scope, order),
    }


def _trust(rows: Sequence[Row], best: Sequence[Row], order: Sequence[str]) -> dict[str, Any]:
    """Return the compact table: one cell per model and group, the group NULL last as `all`."""
    groups = list(dict.fromkeys(row["corruption_group"] for row in rows))
    cells = {(row["model"], row["corruption_group"], row["measure"]): row for row in rows}
    leaders = {
        row["corruption_group"]: row["model"]
        for row in best
        if row["measure"] == "corrupted_accuracy"
    }

    def cell(model: str, group: str | None) -> dict[str, Any]:
        ras = cells.get((model, group, "ras"), _UNKNOWN)
        return {
            "accuracy": cells.get((model, group, "corrupted_accuracy"), _UNKNOWN),
            "ras": ras,
            "best": leaders.get(group) == model,
            "step": step_of(ras["value"]),
        }

    return {
        "groups": [group or "all" for group in groups],
        "lines": [(model, [cell(model, group) for group in groups]) for model in order],
        "steps": heat_legend(),
    }


def step_of(value: float | None) -> int | None:
    """Return which colour of the heat map a value has."""
    return None if value is None else sum(value >= edge for edge in maps.STEPS)


def heat_legend() -> list[tuple[str, str, str]]:
    """Return the colours of the heat map with what they stand for."""
    edges = [wording.signed_short(edge) for edge in maps.STEPS]
    labels = [
        f"below {edges[0]}",
        *(f"{low} to {high}" for low, high in pairwise(edges)),
        f"{edges[-1]} and above",
    ]
    return [(label, color, "box") for label, color in zip(labels, maps.HEAT, strict=True)]


def _standing(estimates: Estimates, scope: str, order: Sequence[str]) -> Figure:
    def rows(measures: Mapping[str, str]) -> list[Row]:
        return [
            {"model": model, "kind": kind, **ends_of(estimates[scope, model, measure])}
            for model in order
            for kind, measure in measures.items()
        ]

    accuracy = rows({"clean": "clean_accuracy", "corrupted": "corrupted_accuracy"})
    scores = rows({"corrupted": "ras"})
    return Figure(
        "standing",
        "Accuracy on clean and corrupted pictures, and mean RAS. A bar is the 95 % interval of a "
        "bootstrap over pictures.",
        [
            Panel(
                "Accuracy",
                points.intervals(
                    accuracy, order, points.CONDITIONS, "share right", ".0%", [0.0, 1.0]
                ),
                f"Accuracy: {said_of(accuracy, wording.percent)}",
            ),
            Panel(
                "Mean RAS",
                points.intervals(
                    scores,
                    order,
                    {"corrupted": points.CONDITIONS["corrupted"]},
                    "mean RAS",
                    "+.2f",
                    domain([row[end] for row in scores for end in ("value", "low", "high")]),
                ),
                f"Mean RAS: {said_of(scores, wording.signed)}",
            ),
        ],
        legend(points.CONDITIONS, LABELS, ["circle", "square"]),
        ["model", "measure", "value", "95 % interval", "pairs", "pictures"],
        [
            _line(estimates[scope, model, measure], model, heading, form)
            for model in order
            for measure, heading, form in LEADING
        ],
        "wide",
    )


def _against(estimates: Estimates, scope: str, order: Sequence[str]) -> Figure | None:
    rows = []
    for model in order:
        accuracy, ras = (estimates[scope, model, name] for name in ("clean_accuracy", "ras"))
        if accuracy["value"] is None or ras["value"] is None:
            continue
        rows.append(
            {
                "model": model,
                "accuracy": accuracy["value"],
                "accuracy_low": accuracy["low"],
                "accuracy_high": accuracy["high"],
                "ras": ras["value"],
                "ras_low": ras["low"],
                "ras_high": ras["high"],
            }
        )
    if len(rows) < 2:
        return None
    said = wording.spoken(
        (row["model"], f"{wording.percent(row['accuracy'])}, RAS {wording.signed(row['ras'])}")
        for row in rows
    )
    return Figure(
        "against",
        "Clean accuracy against mean RAS, one point a model, with both 95 % intervals. A model "
        "that is right more often has more to lose; how far accuracy foretells RAS is for the "
        "points to say.",
        [Panel("Clean accuracy and RAS", points.scatter(rows), f"Accuracy and RAS: {said}")],
        [],
        ["model", "clean accuracy", "mean RAS"],
        [
            [
                row["model"],
                wording.estimate(estimates[scope, row["model"], "clean_accuracy"], wording.percent),
                wording.estimate(estimates[scope, row["model"], "ras"], wording.signed),
            ]
            for row in rows
        ],
        "wide",
    )


def estimates_of(facts: Facts) -> Estimates:
    """Return every measure over all pairs, by scope, model and measure; NULL where unknown."""
    known = {(row["scope"], row["model"], row["measure"]): row for row in facts("estimates")}
    return defaultdict(lambda: _UNKNOWN, known)


def ends_of(row: Row) -> Row:
    """Return value, low and high of a row."""
    return {name: row[name] for name in ("value", "low", "high")}


def said_of(rows: Sequence[Row], form: Any) -> str:
    """Return rows of model, kind and value with its interval as one phrase."""
    return wording.spoken(
        (f"{row['model']} {LABELS[row['kind']]}", wording.estimate(row, form)) for row in rows
    )


def _line(row: Row, model: str, heading: str, form: Any) -> list[str]:
    return [
        model,
        heading,
        form(row["value"]),
        wording.interval(row["low"], row["high"], form) or wording.NONE,
        wording.count(row["n_pairs"]),
        wording.count(row["n_images"]),
    ]
