"""Frost on a window, drawn: leaves of ice over one another, ribbed, lit from one side.

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
SMALL = 224
"""Longer side of a picture up to which the crystals shrink with it, in pixels."""

_TURN = 512
_NODES = 10


def frost(
    image: Pixels, constants: tuple[float, float], source: np.random.Philox, scale: float
) -> Pixels:
    """Blend with a random crop of frost, a x + b frost.

    Args:
        image: uint8 (height, width, 3) or (height, width).
        constants: a and b.
        source: random bits.
        scale: unused, the crystals follow the picture's size already.

    Source: Hendrycks & Dietterich 2019, ImageNet-C, for a and b; the frost is our own drawing.
    """
    height, width = image.shape[:2]
    layer: Array = _crop(source, height, width)
    if image.ndim == 2:
        layer = cv2.cvtColor(layer, cv2.COLOR_RGB2GRAY)
    # Multiples of 1/4096: float32 holds every product and sum exactly.
    a, b = (round(4096 * c) / 4096 for c in constants)
    return np.asarray(cv2.addWeighted(image, a, layer, b, 0), dtype=np.uint8)


def _crop(source: np.random.Philox, height: int, width: int) -> Array:
    """Cut a random window out of the sheet, mirrored at random.

    A picture larger than the sheet is covered by enlarging it; one below SMALL shows what a
    picture of that size would, reduced.
    """
    sheet: Array = frost_sheet()
    top, left, flips = uniform(source, SIDE), uniform(source, SIDE), uniform(source, 4)
    longest = max(height, width)
    span = min(max(longest, SMALL), SIDE)
    tall, wide = max(1, height * span // longest), max(1, width * span // longest)
    window = sheet[top : top + tall, left : left + wide]
    if flips:
        window = cv2.flip(window, (0, 1, -1)[flips - 1])
    if span == longest:
        return window
    way = cv2.INTER_AREA if span > longest else cv2.INTER_LINEAR_EXACT
    return cv2.resize(window, (width, height), interpolation=way)


@cache
def frost_sheet() -> Pixels:
    """The sheet, tinted and repeated twice each way, uint8 (2 SIDE, 2 SIDE, 3)."""
    source = keyed.philox("frost sheet", 3)
    ice: Array = np.full((SIDE, SIDE), 88, dtype=np.uint8)
    _draw_leaves(ice, source, 330, (70, 260), (70, 150))
    ice = _wrapped_blur(ice, 1)
    _draw_leaves(ice, source, 480, (40, 190), (85, 170))
    ice = _wrapped_blur(ice, 1)
    _draw_leaves(ice, source, 800, (12, 80), (95, 185))
    # Breath on the glass fills the gaps; grain over all.
    small = cv2.resize(ice, (SIDE // 16, SIDE // 16), interpolation=cv2.INTER_AREA)
    small = np.tile(np.asarray(_wrapped_blur(small, 2)), (3, 3))
    mist = cv2.resize(small, (3 * SIDE, 3 * SIDE), interpolation=cv2.INTER_LINEAR_EXACT)
    mist = mist[SIDE : 2 * SIDE, SIDE : 2 * SIDE].astype(np.int32)
    grain = bits16(source, SIDE * SIDE).reshape(SIDE, SIDE) >> 8
    grain = _wrapped_blur(grain.astype(np.uint8), 1).astype(np.int32) - 128
    deep = ice.astype(np.int32)
    deep += np.maximum(mist - deep, 0) // 3
    level = np.clip(deep + (deep - mist) // 3 + grain // 3 + 20, 0, 255).astype(np.uint8)
    tint = [
        np.clip(np.arange(256) * part // 100 + add, 0, 255).astype(np.uint8)
        for part, add in ((100, -14), (98, 3), (92, 22))
    ]
    colour = cv2.merge([cv2.LUT(level, table) for table in tint])
    sheet = np.tile(np.asarray(colour, dtype=np.uint8), (2, 2, 1))
    sheet.flags.writeable = False
    return sheet


def _draw_leaves(
    ice: Array,
    source: np.random.Philox,
    count: int,
    lengths: tuple[int, int],
    levels: tuple[int, int],
) -> None:
    """Paint leaves of ice in random order, wrapped around the sheet."""

    def draw(low: int, high: int) -> NDArray[np.int64]:
        return low + bits16(source, count).astype(np.int64) * (high - low) // 65536

    cosines = _cosines()
    # A third as many roots as leaves makes fans and stars.
    roots = np.stack([draw(0, SIDE * 16), draw(0, SIDE * 16)])
    roots = roots[:, draw(0, count // 3)]
    size = draw(0, 256) * draw(0, 256) // 256
    length = lengths[0] + (lengths[1] - lengths[0]) * size // 256
    heading, bend, shade = draw(0, _TURN), draw(-5, 6), draw(*levels)
    width = draw(3, 11)
    longest = max(3, lengths[1] // 4)
    reach = (bits16(source, count * longest) >> 8).astype(np.int64).reshape(count, longest) - 80
    for leaf in range(count):
        turn = heading[leaf] + np.arange(_NODES + 1) * bend[leaf]
        step = int(length[leaf]) * 16 // _NODES
        x = roots[0, leaf] + np.concatenate(
            [[0], np.cumsum(cosines[turn[1:] % _TURN] * step >> 30)]
        )
        y = roots[1, leaf] + np.concatenate(
            [[0], np.cumsum(cosines[(turn[1:] + 384) % _TURN] * step >> 30)]
        )
        along = np.arange(_NODES + 1)
        half = length[leaf] * 16 * width[leaf] * along * (_NODES - along) // (64 * 25)
        for side, lit in ((128, 24), (384, -24)):
            ex = x + (cosines[(turn + side) % _TURN] * half >> 30)
            ey = y + (cosines[(turn + side + 384) % _TURN] * half >> 30)
            outline = np.stack(
                [np.concatenate([x, ex[::-1]]), np.concatenate([y, ey[::-1]])], axis=-1
            )
            _wrapped(True, ice, [outline], int(shade[leaf]) + lit)
            ribs = max(3, int(length[leaf]) // 4)
            t = np.arange(1, ribs) * _NODES * 256 // ribs
            k, f = t >> 8, t & 255
            fx = x[k] + ((x[k + 1] - x[k]) * f >> 8)
            fy = y[k] + ((y[k + 1] - y[k]) * f >> 8)
            tip = np.minimum(t + 500, _NODES * 256 - 1)
            k, f = tip >> 8, tip & 255
            gx = ex[k] + ((ex[k + 1] - ex[k]) * f >> 8)
            gy = ey[k] + ((ey[k + 1] - ey[k]) * f >> 8)
            # Ribs end a little short of the edge or beyond it.
            gx += (gx - fx) * reach[leaf, : ribs - 1] // 256
            gy += (gy - fy) * reach[leaf, : ribs - 1] // 256
            lines = np.stack([fx, fy, gx, gy], axis=-1).reshape(-1, 2, 2)
            _wrapped(False, ice, list(lines), int(shade[leaf]) + lit + 36)
        _wrapped(False, ice, [np.stack([x, y], axis=-1)], int(shade[leaf]) + 80)


def _wrapped(filled: bool, ice: Array, shapes: list[Array], level: int) -> None:
    """Fill or trace shapes of points in 1/16 pixel, again wherever they leave the sheet."""
    points = np.concatenate(shapes)
    low, high = points.min(0) // 16, points.max(0) // 16
    level = min(255, max(0, level))
    for dx in (-SIDE, 0, SIDE):
        if high[0] + dx < 0 or low[0] + dx >= SIDE:
            continue
        for dy in (-SIDE, 0, SIDE):
            if high[1] + dy < 0 or low[1] + dy >= SIDE:
                continue
            moved = [(s + np.array([dx * 16, dy * 16])).astype(np.int32) for s in shapes]
            if filled:
                cv2.fillPoly(ice, moved, level, cv2.LINE_AA, 4)
            else:
                cv2.polylines(ice, moved, False, level, 1, cv2.LINE_AA, 4)


def _wrapped_blur(sheet: Array, sigma: int) -> Array:
    margin = 4 * sigma
    wide = cv2.copyMakeBorder(sheet, margin, margin, margin, margin, cv2.BORDER_WRAP)
    wide = cv2.GaussianBlur(wide, (2 * margin + 1, 2 * margin + 1), sigma)
    return wide[margin:-margin, margin:-margin]


@cache
def _cosines() -> NDArray[np.int64]:
    """Cosine of k / _TURN of a full turn, in units of 2^-30."""
    quarter = _TURN // 4
    table = [
        direction(k % quarter * STEPS // quarter, 90 * (k // quarter))[0] for k in range(_TURN)
    ]
    return np.array(table, dtype=np.int64)
