"""The grid of one picture under every condition.

The order in `sql/specimen.sql` decides.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from benchc.report.facts import Facts, Row
from benchc.report.pictures import Renderer

#: Pictures above this side are drawn in the grid only if the selection has no smaller one.
SIDE = 1024


def grid(facts: Facts, conditions: Sequence[Row], renderer: Renderer) -> dict[str, Any] | None:
    """Return the sample, the severities and, for each corruption, its thumbnails.

    Args:
        facts: the database.
        conditions: corruption_group, corruption, severity.
        renderer: renders the sample's picture.

    Returns:
        None where there is no sample or no condition.
    """
    samples = facts("specimen", side=SIDE)
    if not samples or not conditions:
        return None
    image = samples[0]["image_id"]
    severities = sorted({row["severity"] for row in conditions})
    lines = []
    for (group, name), rows in groupby(
        conditions, lambda row: (row["corruption_group"], row["corruption"])
    ):
        present = {row["severity"] for row in rows}
        uris = [
            renderer.thumbnail(image, name, severity) if severity in present else None
            for severity in severities
        ]
        lines.append({"group": group, "corruption": name, "uris": uris})
    return {
        "sample": samples[0],
        "severities": severities,
        "clean": renderer.thumbnail(image, "clean", 0),
        "lines": lines,
    }
