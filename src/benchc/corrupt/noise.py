"""Noise drawn anew for every value: Gaussian, shot, impulse, speckle.

In integers: 16 raw bits index a table, and sums saturate.
"""

from collections.abc import Iterator
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from benchc.corrupt.draws import bits16, strips
from benchc.corrupt.exact import ONE, normal_quantiles, normal_table, poisson_table
from benchc.pictures.pixels import Pixels


def gaussian_noise(image: Pixels, sigma: float, source: np.random.Philox, scale: float) -> Pixels:
    """Add N(0, sigma) to each value, sigma as a share of the range.

    Source: Hendrycks & Dietterich 2019, ImageNet-C.
    """
    table = normal_table(255 * round(100 * sigma))
    out = np.empty_like(image)
    for x, y in _strips(image, out):
        noise = table.take(bits16(source, x.size)).reshape(x.shape)
        cv2.add(x, noise, dst=y, dtype=cv2.CV_8U)
    return out


def shot_noise(image: Pixels, photons: int, source: np.random.Philox, scale: float) -> Pixels:
    """Replace each value by Poisson(v photons) / photons, v in [0, 1].

    Source: Hendrycks & Dietterich 2019, ImageNet-C.
    """
    table = poisson_table(photons)
    out = np.empty_like(image)
    for x, y in _strips(image, out):
        index = x.astype(np.intp)
        index <<= 12
        index |= (bits16(source, x.size) >> 4).reshape(x.shape)
        table.take(index, out=y, mode="clip")
    return out


def impulse_noise(image: Pixels, share: float, source: np.random.Philox, scale: float) -> Pixels:
    """Turn a share of the values to black or white, half each, channel by channel.

    Source: Hendrycks & Dietterich 2019, ImageNet-C (salt and pepper).
    """
    half = (round(100 * share) * 65536 + 100) // 200
    out = np.empty_like(image)
    for x, y in _strips(image, out):
        draw = bits16(source, x.size).reshape(x.shape)
        salt = (draw >= 65536 - half).view(np.uint8)
        pepper = (draw < half).view(np.uint8)
        np.negative(salt, out=salt)
        np.subtract(pepper, 1, out=pepper)
        np.bitwise_or(x, salt, out=y)
        np.bitwise_and(y, pepper, out=y)
    return out


def speckle_noise(image: Pixels, sigma: float, source: np.random.Philox, scale: float) -> Pixels:
    """Multiply each value by N(1, sigma), the factor a multiple of 1/4096.

    The float32 product is exact, so that only its one rounding counts.

    Source: ImageNet-C, extra (validation) corruptions.
    """
    table = _factors(round(100 * sigma))
    out = np.empty_like(image)
    for x, y in _strips(image, out):
        factor = table.take(bits16(source, x.size)).reshape(x.shape)
        cv2.multiply(x, factor, dst=y, dtype=cv2.CV_8U)
    return out


@cache
def _factors(hundredths: int) -> NDArray[np.float32]:
    """N(1, hundredths / 100) at each of 65536 quantiles, never below 0, float32."""
    rounded = (normal_quantiles().astype(np.int64) * hundredths + 50) // 100
    return (np.maximum(rounded + ONE, 0) / ONE).astype(np.float32)


def _strips(image: Pixels, out: Pixels) -> Iterator[tuple[Pixels, Pixels]]:
    """Pair the strips of two equal contiguous pictures, each of shape (rows, values)."""
    height = image.shape[0]
    source, target = image.reshape(height, -1), out.reshape(height, -1)
    for rows in strips(height, source.shape[1]):
        yield source[rows], target[rows]
