"""How far a corrupted picture is from the clean one: mean absolute difference and SSIM.

Window sums are exact integers, and only their ratio is a float.
"""

from collections.abc import Callable

import cv2
import numpy as np

from benchc.corrupt.draws import strips
from benchc.pictures.pixels import Array, Pixels

WINDOW = 7
"""Side of SSIM's uniform window, in pixels."""

_COUNT = WINDOW * WINDOW
_C1 = (0.01 * 255 * _COUNT) ** 2
_C2 = (0.03 * 255 * _COUNT) ** 2


def against(clean: Pixels) -> Callable[[Pixels], tuple[float, float | None]]:
    """Return a function that measures a picture of the same shape against `clean`.

    It returns the mean absolute difference of all values, in grey levels 0..255, and the mean
    SSIM of the luma over every full 7 x 7 window, all weights equal, variances over 49 values,
    K1 = 0.01, K2 = 0.03; None in place of SSIM where a side is below 7.

    Source: Wang et al. 2004, Image Quality Assessment, with a uniform window.
    """
    luma = _luma(clean)
    height, width = luma.shape
    windows = height - WINDOW + 1, width - WINDOW + 1
    large = min(windows) > 0
    if large:
        sums = _sums(luma)
        powers = sums * sums
        variances = _COUNT * _sums(_product(luma, luma)) - powers

    def measure(corrupted: Pixels) -> tuple[float, float | None]:
        difference = cv2.norm(clean, corrupted, cv2.NORM_L1) / clean.size
        if not large:
            return difference, None
        total = 0.0
        # Strips share six rows, so that all that is in work fits into the cache.
        for rows in strips(windows[0], width, 1 << 15):
            shared = slice(rows.start, rows.stop + WINDOW - 1)
            ours, theirs = luma[shared], _luma(corrupted[shared])
            total += _similarity(
                (sums[rows], powers[rows], variances[rows]),
                (_sums(theirs), _sums(_product(theirs, theirs))),
                _sums(_product(ours, theirs)),
            )
        return difference, total / (windows[0] * windows[1])

    return measure


def _similarity(clean: tuple[Array, Array, Array], other: tuple[Array, Array], xy: Array) -> float:
    """Sum of SSIM over windows.

    Args:
        clean: window sums x, their squares, and 49 sum(x^2) - x^2, int32.
        other: window sums y and those of y^2, int32; overwritten.
        xy: window sums of x y, int32; overwritten.
    """
    (x, power, variance), (y, yy) = clean, other
    xy *= _COUNT
    mean = x * y
    xy -= mean
    yy *= _COUNT
    yy += variance
    np.multiply(y, y, out=y)
    yy -= y
    y += power
    # Only now floats: what cancels has been subtracted exactly.
    above, spread = mean.astype(np.float32), xy.astype(np.float32)
    below, noise = y.astype(np.float32), yy.astype(np.float32)
    above += above
    above += np.float32(_C1)
    spread += spread
    spread += np.float32(_C2)
    above *= spread
    below += np.float32(_C1)
    noise += np.float32(_C2)
    below *= noise
    above /= below
    return float(above.sum(dtype=np.float64))


def _luma(image: Pixels) -> Array:
    return image if image.ndim == 2 else cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)


def _product(a: Array, b: Array) -> Array:
    return cv2.multiply(a, b, dtype=cv2.CV_16U)


def _sums(values: Array) -> Array:
    """Sums over every full window, int32."""
    edge = WINDOW // 2
    sums = cv2.boxFilter(values, cv2.CV_32S, (WINDOW, WINDOW), normalize=False)
    return sums[edge:-edge, edge:-edge]
