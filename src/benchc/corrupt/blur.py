"""Blurs: defocus, glass, motion, zoom, Gaussian.

All in integers: box sums, swaps, integer weights, and OpenCV's fixed-point filters.
"""

from functools import cache
from math import isqrt

import cv2
import numpy as np
from numpy.typing import NDArray

from benchc.corrupt.draws import STRIP, bits16, strips, uniform
from benchc.corrupt.exact import STEPS, direction
from benchc.corrupt.line import streak
from benchc.pictures.pixels import Array, Pixels


def defocus_blur(image: Pixels, constants: tuple[int, float], source: None, scale: float) -> Pixels:
    """Average over a disc, softened by a small Gaussian, border mirrored.

    The disc is summed exactly from rows of boxes; its weights sum to one.

    Args:
        image: uint8 (height, width, 3) or (height, width).
        constants: radius of the disc and sigma of the Gaussian, in pixels.
        source: unused.
        scale: factor on both.

    Source: Hendrycks & Dietterich 2019, ImageNet-C.
    """
    radius, sigma = max(1, round(constants[0] * scale)), constants[1] * scale
    soft = 0 if sigma < 0.2 else (1 if constants[0] <= 8 else 2) * max(1, round(scale))
    return _disc_blur(image, radius, soft, sigma)


def glass_blur(
    image: Pixels, constants: tuple[float, int, int], source: np.random.Philox, scale: float
) -> Pixels:
    """Blur, swap pixels with random neighbours, blur again.

    Every pixel swaps once per round with a neighbour at an offset uniform in
    [-reach, reach]^2. Pixels swap in phases in which no two neighbourhoods touch, so that
    the result is a true permutation of the pixels.

    Args:
        image: uint8 (height, width, 3) or (height, width).
        constants: sigma of the Gaussian, reach of a swap in pixels, rounds.
        source: random bits.
        scale: factor on sigma and reach.

    Source: Hendrycks & Dietterich 2019, ImageNet-C (its intent: see docs/corruptions.md).
    """
    sigma, reach, rounds = constants
    blurred = _gaussian(image, sigma * scale)
    swapped = swap_pixels(blurred, max(1, round(reach * scale)), rounds, source)
    return _gaussian(swapped, sigma * scale)


def motion_blur(
    image: Pixels, constants: tuple[int, float], source: np.random.Philox, scale: float
) -> Pixels:
    """Average along a line with half-Gaussian weights, border replicated.

    The direction is one of 1,024 between -45 and 45 degrees; the line's centroid is the pixel.

    Args:
        image: uint8 (height, width, 3) or (height, width).
        constants: radius (taps = 2 radius + 1) and sigma of the weights, in pixels.
        source: random bits.
        scale: factor on both.

    Source: Hendrycks & Dietterich 2019, ImageNet-C.
    """
    radius, sigma = max(1, round(constants[0] * scale)), constants[1] * scale
    return streak(image, radius, sigma, direction(uniform(source, STEPS), -45))


def zoom_blur(image: Pixels, constants: tuple[int, int, int], source: None, scale: float) -> Pixels:
    """Average the image with its centred enlargements, on a half-pixel grid.

    Args:
        image: uint8 (height, width, 3) or (height, width).
        constants: first and step of the enlargements in hundredths, and their number.
        source: unused.
        scale: unused, the enlargements are relative already.

    Source: Hendrycks & Dietterich 2019, ImageNet-C.
    """
    first, step, count = constants
    height, width = image.shape[:2]
    total = image.astype(np.uint16) * 2
    for factor in range(first + step, first + step * count, step):
        tall, wide = _crop(height, factor), _crop(width, factor)
        top, left = (height - tall) // 2, (width - wide) // 2
        layer: Array = image[top : top + tall, left : left + wide]
        layer = cv2.resize(layer, (width, height), interpolation=cv2.INTER_LINEAR_EXACT)
        np.add(total, layer, out=total)
    return np.asarray(cv2.convertScaleAbs(total, alpha=1 / (count + 1)), dtype=np.uint8)


def gaussian_blur(image: Pixels, sigma: float, source: None, scale: float) -> Pixels:
    """Convolve with a Gaussian cut at four sigma, border replicated.

    Source: ImageNet-C, extra (validation) corruptions.
    """
    return _gaussian(image, sigma * scale)


def swap_pixels(image: Pixels, reach: int, rounds: int, source: np.random.Philox) -> Pixels:
    """Let every pixel swap with a random neighbour, `rounds` times; uint8, same shape."""
    height, width = image.shape[:2]
    down, right = min(reach, (height - 1) // 2), min(reach, (width - 1) // 2)
    if image.ndim == 2:
        flat: Array = image.copy().reshape(-1)
    else:
        flat = cv2.cvtColor(image, cv2.COLOR_RGB2RGBA).view(np.uint32).reshape(-1)
    grid = flat.reshape(height, width)
    offsets = _offsets(down, right, width)
    for _ in range(rounds):
        for y, x in np.ndindex(2 * down + 1, 2 * right + 1):
            site = grid[down + y : height - down : 2 * down + 1]
            site = site[:, right + x : width - right : 2 * right + 1]
            if site.size == 0:
                continue
            other = offsets.take(bits16(source, site.size)).reshape(site.shape)
            rows = np.arange(down + y, height - down, 2 * down + 1) * width
            other += rows[:, None]
            other += np.arange(right + x, width - right, 2 * right + 1)
            mine, theirs = site.copy(), flat.take(other, mode="clip")
            flat[other] = mine
            site[...] = theirs
    if image.ndim == 2:
        return grid
    rgba = grid.view(np.uint8).reshape(height, width, 4)
    return np.asarray(cv2.cvtColor(rgba, cv2.COLOR_RGBA2RGB), dtype=np.uint8)


def _gaussian(image: Pixels, sigma: float) -> Pixels:
    """Gaussian cut at four sigma, in OpenCV's fixed point: 0.004 grey levels from exact."""
    size = 2 * int(4 * sigma + 0.5) + 1
    blurred = cv2.GaussianBlur(image, (size, size), sigma, borderType=cv2.BORDER_REPLICATE)
    return np.asarray(blurred, dtype=np.uint8)


def _disc_blur(image: Pixels, radius: int, soft: int, sigma: float) -> Pixels:
    height, width = image.shape[:2]
    channels = 1 if image.ndim == 2 else 3
    halves = [isqrt(radius * radius - dy * dy) for dy in range(-radius, radius + 1)]
    pad = radius + soft
    padded = cv2.copyMakeBorder(image, pad, pad, pad, pad, cv2.BORDER_REFLECT_101)
    flat = padded.reshape(height + 2 * pad, -1)
    inner = (width + 2 * soft) * channels
    out = np.empty_like(image)
    # A strip is at least as high as the rows it shares with its neighbours.
    for rows in strips(height, image[0].size, max(STRIP, 2 * pad * image[0].size)):
        tall = rows.stop - rows.start + 2 * soft
        values = flat[rows.start : rows.stop + 2 * pad].astype(np.uint16)
        sums: Array
        sums, one = _disc_sums(values, halves, channels, inner, tall)
        sums = sums.reshape(tall, width + 2 * soft, *image.shape[2:])
        if soft:
            size = 2 * soft + 1
            sums = cv2.GaussianBlur(sums, (size, size), sigma)
            sums = sums[soft:-soft, soft:-soft]
        cv2.convertScaleAbs(sums, dst=out[rows], alpha=1 / one)
    return out


def _disc_sums(
    values: NDArray[np.uint16], halves: list[int], channels: int, inner: int, tall: int
) -> tuple[NDArray[np.uint16], int]:
    """Sum `values` over the disc: uint16 sums (tall, inner) and what counts as one grey level."""
    radius = max(halves)
    area = sum(2 * half + 1 for half in halves)
    centre = radius * channels
    # 16 bits hold 257 pixels, 32 bits the sum of 256 times 65,793.
    small = np.uint16 if radius <= 128 else np.uint32
    large = np.uint32 if area <= 65793 else np.uint64
    box: Array = values[:, centre : centre + inner].astype(small)
    total = np.zeros((tall, inner), dtype=small)
    wide: Array | None = None
    held = 0
    for half in range(radius + 1):
        if half:
            for shift in (-half, half):
                start = centre + shift * channels
                box += values[:, start : start + inner]
        for dy in (i for i, h in enumerate(halves) if h == half):
            if held + 2 * half + 1 > 257:
                if wide is None:
                    wide = np.zeros((tall, inner), dtype=large)
                wide += total
                total[...] = 0
                held = 0
            total += box[dy : dy + tall]
            held += 2 * half + 1
    if wide is None:
        return total, area
    wide += total
    wide *= 256
    wide += area // 2
    wide //= area
    return wide.astype(np.uint16), 256


def _crop(side: int, factor: int) -> int:
    """Side of the centred crop that `factor` hundredths enlarge to `side`: same parity."""
    exact = 100 * side // factor
    return max(exact + (side - exact) % 2, 2 - side % 2)


@cache
def _offsets(down: int, right: int, width: int) -> NDArray[np.intp]:
    """Flat offset of a neighbour for each of 65536 draws, near uniform."""
    tall, wide = 2 * down + 1, 2 * right + 1
    cell = np.arange(65536, dtype=np.intp) * (tall * wide) >> 16
    return (cell // wide - down) * width + cell % wide - right
