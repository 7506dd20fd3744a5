"""How far a corrupted picture is from the clean one: mean absolute difference and SSIM.

Never rounds before the end: window sums are exact integers, and only their ratio is a float.
"""

from collections.abc import Callable

import cv2
import numpy as np

from benchc.corrupt.draws import strips
from benchc.pixels import Array, Pixels

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
    large = min(luma.shape) >= WINDOW
    sums, squares = (_sums(luma), _sums(_product(luma, luma))) if large else (luma, luma)

    def measure(corrupted: Pixels) -> tuple[float, float | None]:
        difference = cv2.norm(clean, corrupted, cv2.NORM_L1) / clean.size
        if not large:
            return difference, None
        other = _luma(corrupted)
        theirs = _sums(other), _sums(_product(other, other))
        both = _sums(_product(luma, other))
        total = 0.0
        for rows in strips(sums.shape[0], sums.shape[1], 1 << 16):
            y, yy = theirs[0][rows], theirs[1][rows]
            total += _similarity(sums[rows], squares[rows], y, yy, both[rows])
        return difference, total / sums.size

    return measure


def _similarity(x: Array, xx: Array, y: Array, yy: Array, xy: Array) -> float:
    """Sum of SSIM over windows, from window sums of x, x^2, y, y^2 and x y, int32."""
    means = x * y
    powers = x * x + y * y
    covariance = _COUNT * xy - means
    variances = _COUNT * (xx + yy) - powers
    above = (2 * means + np.float32(_C1)) * (2 * covariance + np.float32(_C2))
    below = (powers + np.float32(_C1)) * (variances + np.float32(_C2))
    return float(np.divide(above, below).sum(dtype=np.float64))


def _luma(image: Pixels) -> Array:
    return image if image.ndim == 2 else cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)


def _product(a: Array, b: Array) -> Array:
    return cv2.multiply(a, b, dtype=cv2.CV_16U)


def _sums(values: Array) -> Array:
    """Sums over every full window, int32."""
    edge = WINDOW // 2
    sums = cv2.boxFilter(values, cv2.CV_32S, (WINDOW, WINDOW), normalize=False)
    return sums[edge:-edge, edge:-edge]
