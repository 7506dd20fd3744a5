"""Contrasts within one model, each a difference between figures of the same draws.

They are differences of draws that `figures` made.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl

from benchc.diagnose.bootstrap import simultaneous
from benchc.diagnose.figures import CROSSINGS, Block, Label
from benchc.diagnose.sums import CLEAN_STATES

#: A crossing, and the one that also holds severity fixed.
_TRENDS = {
    "all": "severity",
    "corruption_group": "corruption_group_by_severity",
    "corruption": "corruption_by_severity",
}
_TREND_NAMES = {
    "mean_ras": "severity_trend",
    "flattening_ras": "flattening_severity_trend",
    "ras_above_flattening": "severity_trend_above_flattening",
    "ras_above_swapped": "severity_trend_above_swapped",
}
_AGAINST_GROUPS = {
    "mean_ras": "ras_above_worst_other_group",
    "ras_above_flattening": "ras_above_worst_other_group_above_flattening",
    "ras_above_swapped": "ras_above_worst_other_group_above_swapped",
}


def is_contrasted(crossing: str, label: Label) -> bool:
    """Return whether `contrasts` needs a figure."""
    return (
        crossing in ("corruption_group", *_TRENDS.values())
        and label.measure in _TREND_NAMES
        and label.part in CLEAN_STATES
    )


def contrasts(blocks: Mapping[str, Block]) -> Iterator[Block]:
    """Yield the contrasts of one model.

    Trends: the RAS of Q_c (or Q_w), of its flattening null, and of what is above it, at the last
    severity minus at the first. Groups: the RAS of Q_c (or Q_w), or what is above a null, under a
    group of corruptions minus the lowest under any other group, with an interval that holds
    whichever other group that is (max-t over the differences).

    Args:
        blocks: one block a crossing, with the figures for which `is_contrasted` holds.
    """
    for crossing, by_severity in _TRENDS.items():
        if by_severity in blocks:
            yield from _trends(crossing, blocks[by_severity])
    if "corruption_group" in blocks and blocks["corruption_group"].cells.height > 1:
        yield from _against_other_groups(blocks["corruption_group"])


def _trends(crossing: str, block: Block) -> Iterator[Block]:
    severities = block.cells["severity"]
    if severities.n_unique() < 2:
        return
    fixed = ["crossing", *CROSSINGS[crossing]]
    numbered = block.cells.with_row_index("row").with_columns(crossing=pl.lit(crossing))
    first = numbered.filter(severities == severities.min())
    last = numbered.filter(severities == severities.max())
    both = first.join(last, on=fixed, suffix="_last").sort(fixed)
    start, end = both["row"].to_numpy(), both["row_last"].to_numpy()
    if both.height:
        block = block.only(lambda label: is_contrasted(_TRENDS[crossing], label))
        yield Block(
            both.select(fixed),
            [label._replace(measure=_TREND_NAMES[label.measure]) for label in block.labels],
            block.draws[:, end] - block.draws[:, start],
            block.n_pairs[:, end] + block.n_pairs[:, start],
            np.minimum(block.n_images[:, end], block.n_images[:, start]),
        )


def _against_other_groups(block: Block) -> Iterator[Block]:
    block = block.only(
        lambda label: label.measure in _AGAINST_GROUPS and label.part in CLEAN_STATES
    )
    labels = [label._replace(measure=_AGAINST_GROUPS[label.measure]) for label in block.labels]
    for row in range(block.cells.height):
        others = np.delete(block.draws, row, axis=1)
        apart = block.draws[:, [row]] - others
        ends = np.stack([simultaneous(figure) for figure in apart])
        yield Block(
            block.cells[row : row + 1],
            labels,
            np.fmax.reduce(apart, axis=1)[:, None],
            block.n_pairs[:, [row]],
            block.n_images.min(axis=1, keepdims=True),
            (ends[:, 0].max(axis=1)[:, None], ends[:, 1].max(axis=1)[:, None]),
        )
