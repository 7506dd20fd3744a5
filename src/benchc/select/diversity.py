"""Greedy choice of samples that are not near duplicates of one another."""

from collections.abc import Callable, Sequence

import numpy as np

#: A cosine this close below a limit counts as having reached it: the rounding of a sum of
#: products must not decide whether equal vectors are equal.
TOLERANCE = 1e-9

_BLOCK = 256


Near = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Says which of some samples are near which others: two int arrays (a,), (b,) -> bool (a, b)."""

#: Up to so many samples all pairs fit into memory: 64 MB.
_FEW = 8192


def nearness(image: np.ndarray, text: np.ndarray, image_limit: float, text_limit: float) -> Near:
    """Return what says whether samples are near: a cosine of at least the limit in both.

    Args:
        image: float64 (n, d), unit rows.
        text: float64 (n, e), unit rows.
        image_limit: cosine from which two pictures are near, in -1..1 (above 1: never).
        text_limit: the same for texts.
    """

    def near(some: np.ndarray, others: np.ndarray) -> np.ndarray:
        return np.asarray(
            (image[some] @ image[others].T >= image_limit - TOLERANCE)
            & (text[some] @ text[others].T >= text_limit - TOLERANCE)
        )

    return near


def remembered(near: Near, n: int) -> Near:
    """Return the same for many walks over n samples: each pair is looked at once, if they fit."""
    if n > _FEW:
        return near
    everyone = np.arange(n)
    pairs = np.concatenate(
        [near(everyone[i : i + _BLOCK], everyone) for i in range(0, n, _BLOCK)], axis=0
    )
    return lambda some, others: pairs[np.ix_(some, others)]


def walk(
    near: Near,
    order: np.ndarray,
    strata: np.ndarray | None = None,
    quotas: Sequence[int] | None = None,
) -> np.ndarray:
    """Walk samples in order; accept each unless it is near an accepted one or its quota is full.

    Args:
        near: see `nearness`.
        order: int (n,), the samples to walk, in order.
        strata: int (n,), the stratum of each, from 0; None puts all into one.
        quotas: how many may be accepted of each stratum; None sets no bound.

    Returns:
        int64 (n,), by place in the walk: the own place if accepted, that of the first accepted one
        that it is near to, or -1 where its stratum was full.
    """
    n = len(order)
    strata = np.zeros(n, dtype=np.int64) if strata is None else strata
    left = [n] * (int(strata.max(initial=0)) + 1) if quotas is None else list(quotas)
    owners = np.full(n, -1, dtype=np.int64)
    accepted: list[int] = []
    for start in range(0, n, _BLOCK):
        # A stratum that is full stays so: its rows need no cosines.
        rows = [row for row in range(start, min(start + _BLOCK, n)) if left[strata[row]] > 0]
        others = np.array([*accepted, *rows], dtype=np.int64)
        found = near(order[rows], order[others])
        is_accepted = np.zeros(len(others), dtype=bool)
        is_accepted[: len(accepted)] = True
        first = len(accepted)
        for place, row in enumerate(rows):
            if left[strata[row]] <= 0:
                continue
            hits = np.flatnonzero(found[place] & is_accepted)
            if hits.size:
                owners[row] = others[hits[0]]
                continue
            owners[row] = row
            is_accepted[first + place] = True
            accepted.append(row)
            left[strata[row]] -= 1
    return owners


def cosine_quantiles(
    image: np.ndarray, text: np.ndarray, shares: Sequence[float]
) -> dict[str, np.ndarray]:
    """Return quantiles of the cosines of all pairs of samples, to choose limits by.

    Args:
        image: float64 (n, d), unit rows, n >= 2.
        text: float64 (n, e), unit rows.
        shares: which quantiles, each in 0..1.

    Returns:
        One array a name: `image`, `text`, and `both`, the smaller of the two cosines of a pair
        (with equal limits a pair is near where this reaches the limit).
    """
    upper = np.triu_indices(len(image), 1)
    cosines = {
        "image": (image.astype(np.float32) @ image.T.astype(np.float32))[upper],
        "text": (text.astype(np.float32) @ text.T.astype(np.float32))[upper],
    }
    cosines["both"] = np.minimum(cosines["image"], cosines["text"])
    return {name: np.quantile(values, shares) for name, values in cosines.items()}
