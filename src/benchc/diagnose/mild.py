"""Does mild corruption raise accuracy? Asked of cells, since a mean over all would hide it.

The largest of many noisy changes lies above 0 even where nothing rises, so it is held against what
signs flipped by whole pictures give (docs/method.md).
"""

import numpy as np
import polars as pl

from benchc import keyed
from benchc.diagnose.bootstrap import LEVEL, ratio, simultaneous
from benchc.diagnose.figures import Block, Label

#: Severities up to this one are mild.
MILDEST = 2
_FLIPS = 1000


def mild_rises(pairs: pl.DataFrame, weights: np.ndarray, seed: int) -> Block | None:
    """Return how far accuracy rises in cells (corruption, severity) of severity 1 and 2.

    `largest_mild_rise` has an interval that holds whichever cell that is (max-t). Its excess and
    that of `rising_mild_cells`, the share of cells that rise, are over the mean of what flipped
    signs give; their intervals run from the value less the 97.5 % quantile of those to the value
    less the 2.5 % quantile. A picture's sign turns all of its questions and conditions.

    Args:
        pairs: rows of `sql/bootstrap_pairs.sql` of one model and scope.
        weights: how often each picture stands in each draw, (pictures, 1 + B).
        seed: key of the signs.

    Returns:
        One cell of the crossing `all`; None where nothing was corrupted mildly.
    """
    mild = pairs.filter(pl.col("severity") <= MILDEST)
    if mild.is_empty():
        return None
    change = (mild["corrupted_correct"] - mild["clean_correct"]).to_numpy()
    cells = mild.select("corruption", "severity").unique().sort("corruption", "severity")
    cell = (
        mild.select("corruption", "severity")
        .join(
            cells.with_row_index("cell"),
            on=["corruption", "severity"],
            how="left",
            maintain_order="left",
        )["cell"]
        .to_numpy()
    )
    present, image = np.unique(mild["image"].to_numpy(), return_inverse=True)
    shape = cells.height, present.size
    place = cell * present.size + image
    changes, counts = (
        np.bincount(place, values, shape[0] * shape[1]).reshape(shape)
        for values in (change, np.ones_like(change))
    )
    rises = ratio(changes @ weights[present], counts @ weights[present])
    low, high = simultaneous(rises)
    signs = keyed.generator("sign-flips", seed, "mild").integers(0, 2, (present.size, _FLIPS))
    flipped = changes @ (2.0 * signs - 1) / counts.sum(axis=1, keepdims=True)
    largest, share = rises[:, 0].max(), (rises[:, 0] > 0).mean()
    figures = {
        "largest_mild_rise": (largest, np.nanmax(low), np.nanmax(high)),
        "largest_mild_rise_above_sign_flips": _above(largest, flipped.max(axis=0)),
        "rising_mild_cells": (share, np.nan, np.nan),
        "rising_mild_cells_above_sign_flips": _above(share, (flipped > 0).mean(axis=0)),
    }
    values, lows, highs = np.array(list(figures.values())).T
    return Block(
        pl.DataFrame({"crossing": ["all"]}),
        [Label(name) for name in figures],
        values[:, None, None],
        np.full((len(figures), 1), mild.height),
        np.full((len(figures), 1), present.size),
        (lows[:, None], highs[:, None]),
    )


def _above(value: float, null: np.ndarray) -> tuple[float, float, float]:
    below, above = np.quantile(null, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return value - float(null.mean()), value - float(above), value - float(below)
