"""What is asked by what corrupts: the sentence of the summary, and a matrix for each model."""

from collections.abc import Sequence
from typing import Any

from benchc.report import wording
from benchc.report.charts import maps
from benchc.report.facts import Facts, Row


def figures(facts: Facts, scope: str, order: Sequence[str]) -> dict[str, Any]:
    """Return the sentences by model and the matrices."""
    sentences = {row["model"]: sentence(row) for row in facts("asked_contrasts", scope=scope)}
    rows = facts("asked", scope=scope)
    return {
        "costs": [(model, sentences[model]) for model in order if model in sentences],
        "asked": matrix([row for row in rows if row["category"] is None], order),
        "asked_categories": matrix([row for row in rows if row["category"]], order),
    }


def sentence(row: Row) -> str:
    """Return one contrast in plain words; both losses are those of the same model.

    Args:
        row: of `sql/asked_contrasts.sql`.
    """
    cost = f"{wording.spaced(row['corruption_group'])} costs {_points(row['change'])}"
    where = f"on questions of {row['benchmark']}"
    if row["benchmark"] == row["other_benchmark"]:
        other = f"{wording.spaced(row['other_group'])} {_cost(row['other_change'])}"
    else:
        other = f"on those of {row['other_benchmark']} {_cost(row['other_change'])}"
    return f"{cost} {where}, {other}."


def matrix(rows: Sequence[Row], order: Sequence[str]) -> dict[str, Any] | None:
    """Return a matrix of cells for each model: what is asked down, groups of corruptions across.

    Args:
        rows: of `sql/asked.sql`, of one crossing.
        order: models from the top.

    Returns:
        None without rows. A cell with fewer than ten pictures has no value.
    """
    if not rows:
        return None
    groups = list(dict.fromkeys(row["corruption_group"] for row in rows))
    asked = list(dict.fromkeys((row["benchmark"], row["category"]) for row in rows))
    cells = {
        (row["model"], row["benchmark"], row["category"], row["corruption_group"]): row
        for row in rows
    }
    return {
        "groups": sorted(groups),
        "models": [
            (model, [(_named(*one), [_cell(cells.get((model, *one, group)))
                                     for group in sorted(groups)]) for one in asked])
            for model in order
        ],
    }  # fmt: skip


def _cell(row: Row | None) -> dict[str, Any]:
    if row is None:
        return {"said": wording.NONE, "note": "", "step": None}
    if row["value"] is None:
        return {"said": wording.NONE, "note": _pictures(row), "step": None}
    mark = " ●" if row["mark"] in ("loss", "gain") else ""
    return {
        "said": wording.points(row["value"]) + mark,
        "note": f"{wording.interval(row['low'], row['high'], wording.points)}, {_pictures(row)}",
        "step": sum(row["value"] >= edge for edge in maps.STEPS),
    }


def _named(benchmark: str, category: str | None) -> str:
    return f"{benchmark}: {category}" if category else benchmark


def _pictures(row: Row) -> str:
    return f"{wording.count(row['n_images'])} pictures"


def _points(change: float) -> str:
    return f"{abs(100 * change):.0f}\u00a0points of accuracy"


def _cost(change: float) -> str:
    rounded = round(-100 * change)
    return "none" if rounded == 0 else f"{rounded}".replace("-", "−")
