"""The grid of one picture under every condition, and the trajectories with the largest shifts.

Never chooses by hand: the order in `sql/specimen.sql` and `sql/cases.sql` decides.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from benchc.report.facts import Facts, Row
from benchc.report.pictures import Renderer
from benchc.report.wording import letter

#: Pictures above this side are drawn in the grid only if the selection has no smaller one.
GRID_SIDE = 1024
#: Trajectories shown for each model and state.
CASES = 1


def specimen(facts: Facts) -> Row | None:
    """Return the sample whose picture fills the grid, None if there is no sample."""
    rows = facts("specimen", side=GRID_SIDE)
    return rows[0] if rows else None


def chosen(facts: Facts, scope: str) -> list[Row]:
    """Return the pairs with the largest shifts, by model and state."""
    return facts("cases", scope=scope, n=CASES)


def grid(sample: Row, conditions: Sequence[Row], renderer: Renderer) -> dict[str, Any]:
    """Return the severities and, for each corruption, its thumbnails.

    Args:
        sample: what `specimen` returned.
        conditions: corruption_group, corruption, severity.
        renderer: renders the sample's picture.
    """
    severities = sorted({row["severity"] for row in conditions})
    lines = []
    for (group, name), rows in groupby(
        conditions, lambda row: (row["corruption_group"], row["corruption"])
    ):
        present = {row["severity"] for row in rows}
        uris = [
            renderer.thumbnail(sample["image_id"], name, severity) if severity in present else None
            for severity in severities
        ]
        lines.append({"group": group, "corruption": name, "uris": uris})
    return {
        "sample": sample,
        "severities": severities,
        "clean": renderer.thumbnail(sample["image_id"], "clean", 0),
        "lines": lines,
    }


def case(row: Row, facts: Facts, renderer: Renderer) -> dict[str, Any]:
    """Return one trajectory: its question, and picture and option bars at every severity."""
    steps = facts(
        "steps", model=row["model"], sample_id=row["sample_id"], corruption=row["corruption"]
    )
    options = [
        {"letter": letter(index), "text": text, "right": index == row["answer"]}
        for index, text in enumerate(row["options"])
    ]
    return {
        **row,
        "options": options,
        "steps": [
            {
                **step,
                "uri": renderer.thumbnail(row["image_id"], row["corruption"], step["severity"]),
                "bars": _bars(step, row["answer"]),
                "largest": step["severity"] == row["severity"],
            }
            for step in steps
        ],
    }


def _bars(step: Row, answer: int) -> list[dict[str, Any]]:
    return [
        {"letter": letter(index), "p": p, "right": index == answer, "top": index == step["top1"]}
        for index, p in enumerate(step["p"] or ())
    ]
