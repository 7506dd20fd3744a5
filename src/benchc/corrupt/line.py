"""Averages along a line, in integers: what moves smears so, be it a camera or a flake."""

from collections.abc import Iterator

import cv2
import numpy as np
from numpy.typing import NDArray

from benchc.corrupt.draws import strips
from benchc.corrupt.exact import ONE, half_gaussian
from benchc.pictures.pixels import Array, Pixels


def streak(image: Pixels, radius: int, sigma: float, towards: tuple[int, int]) -> Pixels:
    """Average along a line of 2 radius + 1 taps with half-Gaussian weights.

    Args:
        image: uint8 (height, width, 3) or (height, width).
        radius: half the number of taps.
        sigma: of the weights, in pixels.
        towards: cosine and sine of the direction, in units of 2^-30.
    """
    margin = 2 * radius + 1
    height, width = image.shape[:2]
    padded = cv2.copyMakeBorder(image, margin, margin, margin, margin, cv2.BORDER_REPLICATE)
    out = np.empty_like(image)
    tiles = list(_tiles(radius, sigma, towards))
    for rows in strips(height, image[0].size):
        total: Array | None = None
        for dx, dy, kernel in tiles:
            top, left = rows.start + margin + dy, margin + dx
            tall, wide = kernel.shape
            view = padded[top : top + rows.stop - rows.start + tall - 1]
            view = view[:, left : left + width + wide - 1]
            part: Array = cv2.filter2D(view, cv2.CV_32F, kernel, anchor=(0, 0))
            part = part[: rows.stop - rows.start, :width]
            total = part if total is None else cv2.add(total, part)
        assert total is not None
        cv2.convertScaleAbs(total, dst=out[rows], alpha=1 / ONE)
    return out


def _tiles(
    radius: int, sigma: float, towards: tuple[int, int]
) -> Iterator[tuple[int, int, NDArray[np.float32]]]:
    """Cut the line into small kernels of integers: offset (x, y) and weights of each.

    A kernel below 50 taps stays off OpenCV's Fourier path, so that every product and sum in
    it is an exact integer.
    """
    taps = [(x, y, w) for x, y, w in _line(radius, sigma, towards) if w]
    while taps:
        count = 1
        while count < len(taps) and _area(taps[: count + 1]) < 50:
            count += 1
        tile, taps = taps[:count], taps[count:]
        left, top = min(x for x, _, _ in tile), min(y for _, y, _ in tile)
        right, bottom = max(x for x, _, _ in tile), max(y for _, y, _ in tile)
        kernel = np.zeros((bottom - top + 1, right - left + 1), dtype=np.float32)
        for x, y, weight in tile:
            kernel[y - top, x - left] += weight
        yield left, top, kernel


def _line(radius: int, sigma: float, towards: tuple[int, int]) -> Iterator[tuple[int, int, int]]:
    """Taps (x, y, weight) of a line whose centroid is 0, weights summing to ONE."""
    weights = half_gaussian(2 * radius + 1, sigma)
    middle = sum(i * w for i, w in enumerate(weights))
    for i, weight in enumerate(weights):
        along = i * ONE - middle
        # 12 bits of position, 30 of direction: round half up to whole pixels.
        x, y = (((along * part) + (1 << 41)) >> 42 for part in towards)
        yield x, y, weight


def _area(taps: list[tuple[int, int, int]]) -> int:
    xs, ys = [x for x, _, _ in taps], [y for _, y, _ in taps]
    return (max(xs) - min(xs) + 1) * (max(ys) - min(ys) + 1)
