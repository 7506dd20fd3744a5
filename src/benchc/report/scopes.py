"""The selection beside the control and the pool, and what it does to the figures."""

from collections.abc import Sequence
from typing import Any

from benchc.report import wording
from benchc.report.charts import points
from benchc.report.charts.spec import domain
from benchc.report.facts import Facts
from benchc.report.figure import Figure, Panel, legend
from benchc.report.overview import LABELS, LEADING, ends_of, estimates_of, said_of

_AGAINST = {
    "control": "the control",
    "pool": "the pool",
    "pool_at_selection_mix": "the pool at the selection's mix of benchmarks",
}


def figures(facts: Facts, scopes: Sequence[str], order: Sequence[str]) -> dict[str, Any]:
    """Return the figure and the sentences of this part by name."""
    return {
        "beside_control": beside_control(facts, scopes, order),
        "scope_lines": scope_lines(facts, order),
    }


def scope_lines(facts: Facts, order: Sequence[str]) -> list[tuple[str, str]]:
    """Return, for each model, what the selection differs by from the control and the pool."""
    rows = {(row["model"], row["other_scope"]): row for row in facts("scope_differences")}
    lines = []
    for model in order:
        said = [
            f"from {name} by {wording.estimate(rows[model, scope], wording.signed)}"
            for scope, name in _AGAINST.items()
            if (model, scope) in rows
        ]
        if said:
            lines.append((model, f"RAS over the selection differs {wording.listed(said)}."))
    return lines


def beside_control(facts: Facts, scopes: Sequence[str], order: Sequence[str]) -> Figure:
    """Return every model's RAS and accuracy over the selection, the control and the pool."""
    estimates = estimates_of(facts)
    colors = {scope: points.SCOPES[scope] for scope in scopes}
    panels, lines = [], []
    for measure, heading, form in (LEADING[3], LEADING[1]):
        rows = [
            {"model": model, "kind": scope, **ends_of(estimates[scope, model, measure])}
            for model in order
            for scope in scopes
            if (scope, model, measure) in estimates
        ]
        ends = [row[end] for row in rows for end in ("value", "low", "high")]
        share = form is wording.percent
        panels.append(
            Panel(
                heading,
                points.intervals(
                    rows,
                    order,
                    colors,
                    heading,
                    ".0%" if share else "+.2f",
                    [0.0, 1.0] if share else domain(ends),
                ),
                f"{heading}: {said_of(rows, form)}",
            )
        )
        lines += [
            [row["model"], LABELS[row["kind"]], heading, wording.estimate(row, form)]
            for row in rows
        ]
    marks = ["circle", "square", "diamond"][: len(colors)]
    return Figure(
        "control",
        "The same figures over the selection and over a random subset of the pool, as large. "
        "The two share pictures: whether they differ is said by the differences below, not by two "
        "bars held side by side.",
        panels,
        legend(colors, LABELS, marks),
        ["model", "samples", "measure", "value (95 % interval)"],
        lines,
        "wide",
    )
