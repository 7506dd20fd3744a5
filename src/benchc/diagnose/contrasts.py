"""Contrasts within one model, each a difference between figures of the same draws.

Never reads pairs: it subtracts draws that `figures` made.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import polars as pl

from benchc.diagnose.figures import CROSSINGS, SOURCES, Block, Label

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
}


def is_contrasted(crossing: str, label: Label) -> bool:
    """Return whether `contrasts` needs a figure."""
    return (
        crossing in ("corruption_group", *_TRENDS.values())
        and label.measure in _TREND_NAMES
        and label.part in SOURCES
    )


def contrasts(blocks: Mapping[str, Block]) -> Iterator[Block]:
    """Yield the contrasts of one model.

    Trends: the RAS of Q_c (or Q_w), of its flattening null, and of what is above it, at the last
    severity minus at the first. Groups: the RAS of Q_c (or Q_w) under a group of corruptions minus
    the lowest under any other group, which is looked for anew in each draw.

    Args:
        blocks: one block a crossing, with the figures for which `is_contrasted` holds.
    """
    for crossing, by_severity in _TRENDS.items():
        if by_severity in blocks:
            yield from _trends(crossing, blocks[by_severity])
    if "corruption_group" in blocks and blocks["corruption_group"].cells.height > 1:
        yield _against_other_groups(blocks["corruption_group"])


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


def _against_other_groups(block: Block) -> Block:
    block = block.only(lambda label: label.measure == "mean_ras" and label.part in SOURCES)
    rows = range(block.cells.height)
    lowest = [np.fmin.reduce(np.delete(block.draws, row, axis=1), axis=1) for row in rows]
    return replace(
        block,
        labels=[label._replace(measure="ras_above_worst_other_group") for label in block.labels],
        draws=block.draws - np.stack(lowest, axis=1),
    )
