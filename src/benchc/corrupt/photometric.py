"""Changes of light and colour, a function of each pixel alone: brightness, contrast, saturate.

Without a conversion to HSV: its maximum and minimum are enough, and keep the hue unrounded.
"""

from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from benchc.corrupt.draws import strips
from benchc.pictures.pixels import Pixels


def brightness(image: Pixels, add: float, source: None, scale: float) -> Pixels:
    """Add to the value V = max(R, G, B) of HSV, keeping hue and saturation, so x V' / V.

    Source: Hendrycks & Dietterich 2019, ImageNet-C.
    """
    hundredths = round(100 * add)
    if image.ndim == 2:
        raised = np.minimum(np.arange(256) + (255 * hundredths + 50) // 100, 255)
        return np.asarray(cv2.LUT(image, raised.astype(np.uint8)), dtype=np.uint8)
    gains, whites = _gains(hundredths)
    out = np.empty_like(image)
    for rows in strips(*image.shape[:2]):
        planes = cv2.split(image[rows])
        value = cv2.max(cv2.max(planes[0], planes[1]), planes[2])
        gain = cv2.LUT(value, gains)
        black = cv2.LUT(value, whites)
        done = [cv2.add(cv2.multiply(p, gain, dtype=cv2.CV_8U), black) for p in planes]
        cv2.merge(done, out[rows])
    return out


def contrast(image: Pixels, keep: float, source: None, scale: float) -> Pixels:
    """Draw each value towards its channel's mean, (x - mean) keep + mean.

    Source: Hendrycks & Dietterich 2019, ImageNet-C.
    """
    hundredths = round(100 * keep)
    pixels = image.shape[0] * image.shape[1]
    channels = 1 if image.ndim == 2 else 3
    levels = np.arange(256, dtype=np.int64) * (hundredths * pixels)
    table = np.empty((256, 1, channels), dtype=np.uint8)
    for channel, total in enumerate(cv2.sumElems(image)[:channels]):
        exact = levels + int(total) * (100 - hundredths)
        table[:, 0, channel] = (2 * exact + 100 * pixels) // (200 * pixels)
    return np.asarray(cv2.LUT(image, table), dtype=np.uint8)


def saturate(image: Pixels, constants: tuple[float, float], source: None, scale: float) -> Pixels:
    """Multiply and add to the saturation S of HSV, keeping hue and value; grey stays grey.

    Args:
        image: uint8 (height, width, 3) or (height, width).
        constants: factor and summand of S in [0, 1].
        source: unused.
        scale: unused.

    Source: ImageNet-C, extra (validation) corruptions.
    """
    if image.ndim == 2:
        return image.copy()
    factors = _saturation_factors(round(10 * constants[0]), round(10 * constants[1]))
    out = np.empty_like(image)
    for rows in strips(*image.shape[:2]):
        planes = cv2.split(image[rows])
        most = cv2.max(cv2.max(planes[0], planes[1]), planes[2])
        least = cv2.min(cv2.min(planes[0], planes[1]), planes[2])
        index = most.astype(np.intp)
        index <<= 8
        index |= np.asarray(least, dtype=np.uint8)
        factor = factors.take(index, mode="clip")
        done = [
            cv2.subtract(most, cv2.multiply(cv2.subtract(most, p), factor, dtype=cv2.CV_8U))
            for p in planes
        ]
        cv2.merge(done, out[rows])
    return out


@cache
def _gains(hundredths: int) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """By V: the factor V' / V, float32 (256,), and what to add where V is 0, uint8 (256,)."""
    value = np.arange(256)
    raised = np.minimum(100 * value + 255 * hundredths, 25500)
    gains = (raised / np.maximum(100 * value, 1)).astype(np.float32)
    black = np.where(value == 0, (raised + 50) // 100, 0).astype(np.uint8)
    return gains, black


@cache
def _saturation_factors(mul_tenths: int, add_tenths: int) -> NDArray[np.float32]:
    """S' / S at [max, min], float32 (65536,), 0 where S is 0."""
    most, least = np.divmod(np.arange(65536, dtype=np.int64), 256)
    spread = np.maximum(most - least, 0)
    new = np.minimum(spread * mul_tenths + add_tenths * most, 10 * most)
    return (np.where(spread > 0, new / np.maximum(10 * spread, 1), 0)).astype(np.float32)
