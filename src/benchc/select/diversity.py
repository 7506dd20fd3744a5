"""Greedy choice of samples that are not near duplicates of one another.

Never decides how sensitive a sample is: the order of the walk is given.
"""

from collections.abc import Sequence

import numpy as np

#: A cosine this close below a limit counts as having reached it: the rounding of a sum of
#: products must not decide whether equal vectors are equal.
TOLERANCE = 1e-9

_BLOCK = 256


def walk(
    image: np.ndarray,
    text: np.ndarray,
    image_limit: float,
    text_limit: float,
    cap: int | None = None,
) -> tuple[np.ndarray, int]:
    """Walk samples in order; accept each unless it is near an accepted one.

    Near means a cosine of at least the limit in both the picture and the text embedding.

    Args:
        image: float64 (n, d), unit rows in the order of the walk.
        text: float64 (n, e), unit rows in the same order.
        image_limit: cosine from which two pictures are near, in -1..1 (above 1: never).
        text_limit: the same for texts.
        cap: stop once this many are accepted; None walks to the end.

    Returns:
        owners, int64 (n,): a row's own index if accepted, else that of the first accepted one
        that it is near to, -1 if not walked; and how many rows were walked.
    """
    n = len(image)
    owners = np.full(n, -1, dtype=np.int64)
    accepted: list[int] = []
    for start in range(0, n, _BLOCK):
        block = slice(start, min(start + _BLOCK, n))
        others = np.array([*accepted, *range(block.start, block.stop)])
        near = (image[block] @ image[others].T >= image_limit - TOLERANCE) & (
            text[block] @ text[others].T >= text_limit - TOLERANCE
        )
        open_ = np.zeros(len(others), dtype=bool)
        open_[: len(accepted)] = True
        first = len(accepted)
        for row in range(block.stop - block.start):
            if cap is not None and len(accepted) >= cap:
                return owners, start + row
            hits = np.flatnonzero(near[row] & open_)
            if hits.size:
                owners[start + row] = others[hits[0]]
            else:
                owners[start + row] = start + row
                open_[first + row] = True
                accepted.append(start + row)
    return owners, n


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
