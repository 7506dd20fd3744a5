"""Frost on a window, grown from lines: feathers of stem, barbs and barbules over a haze.

Never blends a photograph: one periodic sheet is drawn once per process, then cropped by key.
"""

from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from benchc import keyed
from benchc.corrupt.draws import bits16, uniform
from benchc.corrupt.exact import STEPS, direction
from benchc.pixels import Array, Pixels

SIDE = 1024
"""Side of the periodic sheet, in pixels."""

_TURN = 512
_EDGE = 320


def frost(
    image: Pixels, constants: tuple[float, float], source: np.random.Philox, scale: float
) -> Pixels:
    """Blend with a random crop of frost, a x + b frost.

    Args:
        image: uint8 (height, width, 3) or (height, width).
        constants: a and b.
        source: random bits.
        scale: unused, the sheet grows to cover a picture larger than itself.

    Source: Hendrycks & Dietterich 2019, ImageNet-C, for a and b; the frost is our own drawing.
    """
    height, width = image.shape[:2]
    layer: Array = _crop(source, height, width)
    if image.ndim == 2:
        layer = cv2.cvtColor(layer, cv2.COLOR_RGB2GRAY)
    # Multiples of 1/4096: float32 holds every product and sum exactly.
    a, b = (round(4096 * c) / 4096 for c in constants)
    return np.asarray(cv2.addWeighted(image, a, layer, b, 0), dtype=np.uint8)


def _crop(source: np.random.Philox, height: int, width: int) -> Pixels:
    """Cut a random window out of the sheet, mirrored at random; enlarged above SIDE."""
    sheet: Array = _sheet()
    top, left, flips = uniform(source, SIDE), uniform(source, SIDE), uniform(source, 4)
    longest = max(height, width)
    tall, wide = height, width
    if longest > SIDE:
        tall, wide = max(1, height * SIDE // longest), max(1, width * SIDE // longest)
    window: Array = sheet[top : top + tall, left : left + wide]
    window = window[:: -1 if flips & 1 else 1, :: -1 if flips & 2 else 1]
    window = np.ascontiguousarray(window)
    if longest > SIDE:
        window = cv2.resize(window, (width, height), interpolation=cv2.INTER_LINEAR_EXACT)
    return window


@cache
def _sheet() -> Pixels:
    """The sheet, tinted and repeated twice each way, uint8 (2 SIDE, 2 SIDE, 3)."""
    lines = _feathers()
    haze = _wrapped_blur(lines, 24)
    glow = _wrapped_blur(lines, 2)
    base = 40 + haze.astype(np.int32) + glow // 2 + (lines.astype(np.int32) * 2) // 5
    level = np.clip(base, 0, 255).astype(np.uint8)
    tint = [
        np.clip(np.arange(256) * part // 100 + add, 0, 255).astype(np.uint8)
        for part, add in ((96, -6), (98, 4), (92, 20))
    ]
    colour = cv2.merge([cv2.LUT(level, table) for table in tint])
    sheet = np.tile(colour, (2, 2, 1))
    sheet.flags.writeable = False
    return sheet


def _wrapped_blur(sheet: Pixels, sigma: int) -> Pixels:
    margin = 4 * sigma
    wide: Array = cv2.copyMakeBorder(sheet, margin, margin, margin, margin, cv2.BORDER_WRAP)
    wide = wide.astype(np.uint16) << 8
    wide = cv2.GaussianBlur(wide, (2 * margin + 1, 2 * margin + 1), sigma)
    return (wide[margin:-margin, margin:-margin] >> 8).astype(np.uint8)


def _feathers(count: int = 90, nodes: int = 64, spacing: int = 6) -> Pixels:
    """Draw the lines, uint8 (SIDE, SIDE), periodic."""
    source = keyed.philox("frost sheet", 1)
    canvas = np.zeros((SIDE + 2 * _EDGE, SIDE + 2 * _EDGE), dtype=np.uint8)
    cosines = _cosines()

    def draw(n: int, low: int, high: int) -> NDArray[np.int64]:
        return low + bits16(source, n).astype(np.int64) * (high - low) // 65536

    # Stems: a heading that drifts; 1/16 pixel throughout.
    heading = (
        draw(count, 0, _TURN)[:, None]
        + np.cumsum(
            np.repeat(draw(count, -3, 4)[:, None], nodes, 1)
            + draw(count * nodes, -4, 5).reshape(count, nodes),
            axis=1,
        )
        // 2
    )
    start = draw(2 * count, 0, SIDE * 16).reshape(2, count, 1) + _EDGE * 16
    x = start[0] + np.cumsum(_step(cosines, heading, spacing * 16), axis=1)
    y = start[1] + np.cumsum(_step(cosines, heading + 3 * _TURN // 4, spacing * 16), axis=1)
    length = draw(count, nodes // 3, nodes)
    alive = np.arange(nodes) < length[:, None]
    reach = draw(count, 14, 40)[:, None] * 16

    # Barbs on both sides, longest near the root, each with barbules.
    taper = np.clip((length[:, None] - np.arange(nodes)), 0, None) * 256 // length[:, None]
    taper = np.minimum(taper, np.arange(nodes) * 64 + 64)
    for side in (-1, 1):
        angle = heading + side * 80
        size = reach * taper // 256 * draw(count * nodes, 140, 256).reshape(count, nodes) // 256
        for k in range(1, 8):
            at = size * k // 8
            bx, by = x + _step(cosines, angle, at), y + _step(cosines, angle + 384, at)
            tip = np.minimum(size - at, 10 * 16) * 2 // 3
            for turn in (-80, 80):
                ex = bx + _step(cosines, angle + turn, tip)
                ey = by + _step(cosines, angle + turn + 384, tip)
                _lines(canvas, bx[alive], by[alive], ex[alive], ey[alive], 90, 1)
        ex, ey = x + _step(cosines, angle, size), y + _step(cosines, angle + 384, size)
        _lines(canvas, x[alive], y[alive], ex[alive], ey[alive], 170, 1)
    both = alive[:, 1:]
    _lines(canvas, x[:, :-1][both], y[:, :-1][both], x[:, 1:][both], y[:, 1:][both], 230, 2)
    return _fold(canvas)


def _lines(
    canvas: Pixels, x0: Array, y0: Array, x1: Array, y1: Array, level: int, width: int
) -> None:
    points = np.stack([x0, y0, x1, y1], axis=-1).reshape(-1, 2, 2).astype(np.int32)
    cv2.polylines(canvas, list(points), False, level, width, cv2.LINE_AA, shift=4)


def _fold(canvas: Pixels) -> Pixels:
    """Wrap what lies beyond the sheet onto its other side."""
    for _ in range(2):
        middle = canvas[_EDGE:-_EDGE].copy()
        middle[-_EDGE:] = np.maximum(middle[-_EDGE:], canvas[:_EDGE])
        middle[:_EDGE] = np.maximum(middle[:_EDGE], canvas[-_EDGE:])
        canvas = middle.T
    return np.ascontiguousarray(canvas)


def _step(
    cosines: NDArray[np.int64], angle: NDArray[np.int64], length: NDArray[np.int64] | int
) -> NDArray[np.int64]:
    return cosines[angle % _TURN] * length >> 30


@cache
def _cosines() -> NDArray[np.int64]:
    """Cosine of k / _TURN of a full turn, in units of 2^-30."""
    quarter = _TURN // 4
    table = [
        direction(k % quarter * STEPS // quarter, 90 * (k // quarter))[0] for k in range(_TURN)
    ]
    return np.array(table, dtype=np.int64)
