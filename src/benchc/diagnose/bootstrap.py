"""The bootstrap clustered by picture: keyed weights, exact sums, percentile intervals.

Arrays in, arrays out. Column 0 of every set of draws is the estimate itself.
"""

import numpy as np
import scipy.stats

from benchc import keyed

DRAWS = 1000
LEVEL = 0.95
#: No cluster is drawn more often than this: 849 draws hit one cluster 30 times with p < 1e-32.
_MOST_OFTEN = 32


#: From fewer pictures than this there is no interval.
FEWEST = 10


def weights(n_clusters: int, seed: int, draws: int) -> np.ndarray:
    """Return how often each cluster occurs in each draw, float64 (n_clusters, 1 + draws).

    A draw takes `n_clusters` clusters with replacement; column 0 takes each once. The draws are a
    function of seed and number of clusters, so that all models and all scopes share them.
    """
    random = keyed.generator("bootstrap", seed)
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


def student_interval(draws: np.ndarray, n_clusters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return estimate -+ t(k - 1) times the error of the draws times sqrt(k / (k - 1)).

    Percentiles are too short where few clusters are behind a figure: the bootstrap's variance is
    (k - 1) / k of the true one, and the normal tails are too thin.

    Args:
        draws: (..., 1 + B).
        n_clusters: (...), k, the clusters that a figure comes from.
    """
    k = np.maximum(n_clusters, 2)
    reach = scipy.stats.t.ppf((1 + LEVEL) / 2, k - 1) * _error(draws) * np.sqrt(k / (k - 1))
    return draws[..., 0] - reach, draws[..., 0] + reach


def centred_interval(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return estimate -+ 1.96 errors of the draws, whose own mean may be off: (..., 1 + B)."""
    reach = scipy.stats.norm.ppf((1 + LEVEL) / 2) * _error(draws)
    return draws[..., 0] - reach, draws[..., 0] + reach


def _error(draws: np.ndarray) -> np.ndarray:
    """Return the standard deviation of the draws, NaN where a figure is undefined in most."""
    defined = (~np.isnan(draws[..., 1:])).sum(axis=-1)
    error = np.full(defined.shape, np.nan)
    most = (2 * defined >= draws.shape[-1] - 1) & (defined > 1)
    error[most] = np.nanstd(draws[most][..., 1:], axis=-1, ddof=1)
    return error


def simultaneous(
    draws: np.ndarray, n_clusters: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return intervals that hold all together, (..., 1 + B) -> two of (...).

    Each reaches as many standard errors from its estimate as the most deviant of all figures stays
    within in 95 % of the draws (max-t, Westfall and Young 1993). NaN where a figure is undefined.
    Where few clusters are behind a figure that reach is too short, as in `student_interval`.

    Args:
        draws: (..., 1 + B).
        n_clusters: (...), k: where given, the error is widened by sqrt(k / (k - 1)) and the reach
            becomes that of Student's t(k - 1) with the same tails as the reach has as a normal one.
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
    if n_clusters is not None:
        k = np.maximum(n_clusters, 2)
        reach = scipy.stats.t.isf(scipy.stats.norm.sf(reach), k - 1) * np.sqrt(k / (k - 1))
    return estimate - reach * error, estimate + reach * error


def ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Return the quotient, NaN where the denominator is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(denominator == 0, np.nan, numerator / denominator)
