"""The bootstrap clustered by picture: keyed weights, exact sums, percentile intervals.

Never reads a table: arrays in, arrays out. Column 0 of every set of draws is the estimate itself.
"""

import numpy as np

from benchc import keyed

DRAWS = 1000
LEVEL = 0.95
#: No cluster is drawn more often than this: 849 draws hit one cluster 30 times with p < 1e-32.
_MOST_OFTEN = 32


def weights(n_clusters: int, seed: int, scope: str, draws: int) -> np.ndarray:
    """Return how often each cluster stands in each draw, float64 (n_clusters, 1 + draws).

    A draw takes `n_clusters` clusters with replacement; column 0 takes each once. The draws are a
    function of seed, scope and number of clusters, so that all models of a scope share them.
    """
    random = keyed.generator("bootstrap", seed, scope)
    drawn = np.ones((n_clusters, 1 + draws))
    for column in range(1, 1 + draws):
        picked = random.integers(0, n_clusters, n_clusters)
        drawn[:, column] = np.bincount(picked, minlength=n_clusters)
    return drawn


def exact(values: np.ndarray) -> np.ndarray:
    """Round values so far that weighted sums over them are exact in any order.

    Sums of whole multiples of one power of two that stay below 2**53 of it are exact in float64:
    the same bits for any number of threads and any order of addition. With 100,000 values up to 2
    the step is 2**-30, so that a mean moves by less than 1e-9.
    """
    most = float(np.abs(values).max(initial=0.0))
    if most == 0.0:
        return values
    bound = np.frexp(most * values.size * _MOST_OFTEN)[1]
    step = 2.0 ** (int(bound) - 53)
    return np.rint(values / step) * step


def interval(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the percentile interval of each row of draws, (..., 1 + B) -> two of (...).

    Quantiles are interpolated as NumPy does, over the draws in which the figure is defined (a mean
    over a part is not where no pair of the part was drawn); NaN where those are less than half.
    """
    ordered = np.sort(draws[..., 1:], axis=-1)
    defined = ordered.shape[-1] - np.isnan(ordered).sum(axis=-1)
    last = np.maximum(defined - 1, 0)
    ends = []
    for share in ((1 - LEVEL) / 2, (1 + LEVEL) / 2):
        place = last * share
        below = np.floor(place).astype(np.intp)
        low = np.take_along_axis(ordered, below[..., None], axis=-1)[..., 0]
        above = np.minimum(below + 1, last)
        high = np.take_along_axis(ordered, above[..., None], axis=-1)[..., 0]
        end = low + (high - low) * (place - below)
        ends.append(np.where(2 * defined >= ordered.shape[-1], end, np.nan))
    return ends[0], ends[1]


def simultaneous(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return intervals that hold all together, (..., 1 + B) -> two of (...).

    Each reaches as many standard errors from its estimate as the most deviant of all figures stays
    within in 95 % of the draws (max-t, Westfall and Young 1993). NaN where a figure is undefined.
    """
    estimate = draws[..., 0]
    error = np.full(estimate.shape, np.nan)
    known = ~np.isnan(draws).all(axis=-1)
    error[known] = np.nanstd(draws[known][..., 1:], axis=-1, ddof=1)
    deviation = np.abs(draws[..., 1:] - estimate[..., None])
    t = ratio(deviation, error[..., None]).reshape(-1, draws.shape[-1] - 1)
    largest = np.fmax.reduce(t, axis=0)
    largest = largest[~np.isnan(largest)]
    reach = np.quantile(largest, LEVEL) if largest.size else 0.0
    return estimate - reach * error, estimate + reach * error


def ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Return the quotient, NaN where the denominator is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(denominator == 0, np.nan, numerator / denominator)
