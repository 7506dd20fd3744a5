"""Where a model loses its footing: every corruption and severity, and severity beside the nulls."""

from collections.abc import Sequence
from typing import Any

from benchc.report import wording
from benchc.report.charts import lines, maps
from benchc.report.charts.spec import domain
from benchc.report.charts.stacks import CLEAN_STATES
from benchc.report.facts import Facts, Row
from benchc.report.figure import Figure, Panel, by_model, in_order
from benchc.report.overview import heat_legend

CLEAN_STATE_LABELS = {"c": "Q_c: right on the clean picture", "w": "Q_w: wrong on it"}


def figures(facts: Facts, scope: str, order: Sequence[str]) -> dict[str, Any]:
    """Return the figures of this section by name."""
    cells = facts("heat", scope=scope)
    return {
        "heat": _heat(
            cells,
            order,
            "ras",
            "heat",
            "Mean RAS of every model under every corruption and severity. A cell leads to the "
            "cases of its model and corruption.",
            "mean RAS",
        ),
        "accuracy_heat": _heat(
            cells,
            order,
            "accuracy_change",
            "accuracy-heat",
            "Change of accuracy, corrupted minus clean, on the same pairs.",
            "change of accuracy",
        ),
        "trends": _trends(facts("trends", scope=scope), order),
        "above": facts("above", scope=scope),
        "own_columns": _own_columns(facts("own_columns", scope=scope), order),
    }


def _own_columns(rows: Sequence[Row], order: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return a table for each own column: its groups, and a line for each value and model."""
    tables: dict[str, dict[str, Any]] = {}
    for row in rows:
        table = tables.setdefault(row["own_column"], {"groups": [], "lines": {}})
        if row["corruption_group"] not in table["groups"]:
            table["groups"].append(row["corruption_group"])
        table["lines"].setdefault((row["own_value"], row["model"]), {})[row["corruption_group"]] = (
            row
        )
    for table in tables.values():
        places = {key: (key[0], order.index(key[1])) for key in table["lines"]}
        table["lines"] = dict(sorted(table["lines"].items(), key=lambda item: places[item[0]]))
    return tables


def _heat(
    rows: Sequence[Row], order: Sequence[str], field: str, key: str, caption: str, title: str
) -> Figure:
    corruptions = list(dict.fromkeys(row["corruption"] for row in rows))
    severities = sorted({row["severity"] for row in rows})
    valued = [
        {
            **{name: row[name] for name in ("model", "corruption", "severity", "n_pairs")},
            "value": None if row[field] is None else round(row[field], 4),
        }
        for row in rows
    ]
    cells = {(row["model"], row["corruption"], row["severity"]): row["value"] for row in valued}

    def panel(model: str, own: list[Row]) -> Panel:
        scored = [row for row in own if row["value"] is not None]
        said = "no cell has a value"
        if scored:
            low = min(scored, key=lambda row: row["value"])
            high = max(scored, key=lambda row: row["value"])
            said = "; ".join(
                f"{word} {wording.signed(row['value'])} under {wording.spaced(row['corruption'])} "
                f"at severity {row['severity']}"
                for word, row in (("lowest", low), ("highest", high))
            )
        return Panel(model, maps.heat(own, corruptions, title), f"{model}, {title}: {said}")

    return Figure(
        key,
        caption,
        by_model(valued, order, panel),
        heat_legend(),
        ["model", "corruption", *(f"severity {severity}" for severity in severities)],
        [
            [
                model,
                wording.spaced(corruption),
                *(wording.signed(cells.get((model, corruption, s))) for s in severities),
            ]
            for model in order
            for corruption in corruptions
        ],
    )


def _trends(rows: Sequence[Row], order: Sequence[str]) -> Figure:
    limits = domain([row[end] for row in rows for end in ("value", "low", "high")])

    def panel(model: str, own: list[Row]) -> Panel:
        said = wording.spoken(
            (f"Q_{row['clean_state']} at severity {row['severity']}", wording.signed(row["value"]))
            for row in own
            if row["kind"] == "measured"
        )
        return Panel(model, lines.trends(own, limits), f"{model}, mean RAS: {said}")

    by_kind: dict[tuple[str, str, int], dict[str, Row]] = {}
    for row in in_order(rows, order):
        by_kind.setdefault((row["model"], row["clean_state"], row["severity"]), {})[row["kind"]] = (
            row
        )
    return Figure(
        "trends",
        "Mean RAS by severity, apart for questions answered right (Q_c) and wrong (Q_w) on the "
        "clean picture; the band is the 95 % interval. Dashed: what flattening alone would give, "
        "the clean logits scaled until their mean entropy is that of the corrupted ones. Dotted: "
        "a uniform grey picture of the same size. What a solid line shows beyond the dashed one "
        "is more than flatter probabilities.",
        by_model(rows, order, panel),
        [
            *((CLEAN_STATE_LABELS[key], color, "box") for key, color in CLEAN_STATES.items()),
            ("measured", "currentColor", "solid"),
            ("flattening null", "currentColor", "dashed"),
            ("blank picture", "currentColor", "dotted"),
        ],
        [
            "model",
            "clean state",
            "severity",
            "pairs",
            "measured (95 % interval)",
            "flattening",
            "blank",
        ],
        [
            [
                model,
                f"Q_{state}",
                str(severity),
                wording.count(kinds["measured"]["n_pairs"]) if "measured" in kinds else "0",
                *(
                    wording.estimate(kinds[kind], wording.signed) if kind in kinds else wording.NONE
                    for kind in lines.KINDS
                ),
            ]
            for (model, state, severity), kinds in by_kind.items()
        ],
    )
