"""What is asked by what corrupts: losses by benchmark, category and group of corruptions.

Many cells are read at once, so their intervals hold all together. Blocks of draws in, rows out.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np
import polars as pl

from benchc.diagnose.bootstrap import FEWEST, interval, simultaneous
from benchc.diagnose.figures import Block, Label

#: The crossings of what is asked with what corrupts.
ASKED = ("benchmark_by_corruption_group", "category_by_corruption_group")
_MEASURES = (
    "accuracy_change",
    "relative_robustness",
    "right_to_wrong",
    "wrong_to_right",
    "corrupted_accuracy",
    "corrupted_brier",
    "corrupted_nll",
)


def is_asked(crossing: str, label: Label) -> bool:
    """Return whether `losses` needs a figure."""
    return crossing in ASKED and label.measure in _MEASURES and label.part is None


def losses(blocks: Mapping[str, Block]) -> Iterator[pl.DataFrame]:
    """Yield rows of `losses` of one model and scope, but for these two.

    A cell with fewer than ten pictures keeps its counts and has no figures; it widens no other's
    interval.

    Args:
        blocks: one block a crossing, with the figures for which `is_asked` holds.
    """
    for crossing in ASKED:
        if crossing not in blocks:
            continue
        block = blocks[crossing]
        for place, label in enumerate(block.labels):
            n_images = block.n_images[place]
            draws = np.where((n_images >= FEWEST)[:, None], block.draws[place], np.nan)
            ends = {"value": draws[:, 0]}
            ends["low"], ends["high"] = interval(draws)
            ends["together_low"], ends["together_high"] = simultaneous(draws, n_images)
            yield block.cells.with_columns(
                pl.lit(label.measure).alias("measure"),
                pl.Series("n_pairs", block.n_pairs[place]),
                pl.Series("n_images", n_images),
                *(pl.Series(name, x, nan_to_null=True) for name, x in ends.items()),
            ).with_columns(mark=_mark(label.measure))


def _mark(measure: str) -> pl.Expr:
    if measure != "accuracy_change":
        return pl.lit(None, dtype=pl.String)
    return (
        pl.when(pl.col("value").is_null())
        .then(None)
        .when(pl.col("together_high") < 0)
        .then(pl.lit("loss"))
        .when(pl.col("together_low") > 0)
        .then(pl.lit("gain"))
        .otherwise(pl.lit("cannot tell"))
    )


def loss_contrasts(blocks: Mapping[str, Block]) -> Iterator[pl.DataFrame]:
    """Yield rows of `loss_contrasts` of one model and scope, but for these two.

    Every two cells of a benchmark, and every two of a group of corruptions, with ten pictures and
    more: differences of the same draws, max-t over all of them.

    Args:
        blocks: as in `losses`.
    """
    block = blocks.get(ASKED[0])
    if block is None:
        return
    (place,) = (n for n, label in enumerate(block.labels) if label.measure == "accuracy_change")
    draws, n_images = block.draws[place], block.n_images[place]
    named = list(block.cells.select("benchmark", "corruption_group").iter_rows())
    two = [
        (one, other) if draws[one, 0] <= draws[other, 0] else (other, one)
        for one, other in combinations(np.flatnonzero(n_images >= FEWEST).tolist(), 2)
        if (named[one][0] == named[other][0]) != (named[one][1] == named[other][1])
    ]
    if not two:
        return
    one, other = np.array(two).T
    apart = draws[one] - draws[other]
    fewer = np.minimum(n_images[one], n_images[other])
    low, high = simultaneous(apart, fewer)
    yield pl.DataFrame(
        {
            "benchmark": [named[cell][0] for cell in one],
            "corruption_group": [named[cell][1] for cell in one],
            "other_benchmark": [named[cell][0] for cell in other],
            "other_group": [named[cell][1] for cell in other],
            "n_images": fewer,
            "difference": apart[:, 0],
            "low": pl.Series(low, nan_to_null=True),
            "high": pl.Series(high, nan_to_null=True),
        }
    ).sort("benchmark", "corruption_group", "other_benchmark", "other_group")
