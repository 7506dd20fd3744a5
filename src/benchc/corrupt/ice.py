"""Ice on glass as periodic grey sheets, uint8 (SIDE, SIDE): drawn in integers, the same everywhere.

Branches of a crystal stand at 60 degrees to what they grow from.
"""

from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from benchc import keyed
from benchc.corrupt.draws import bits16
from benchc.corrupt.exact import STEPS, direction
from benchc.pictures.pixels import Array

SIDE = 1024
"""Side of a sheet, in pixels."""

_TURN = 512
_SIXTH = _TURN // 6
_MARGIN = 4
Ints = NDArray[np.int64]


class _Draws:
    """Keyed random integers."""

    def __init__(self, style: str):
        self._source = keyed.philox("ice", style)

    def __call__(self, count: int, low: int, high: int) -> Ints:
        """Return integers in [low, high)."""
        return low + bits16(self._source, count).astype(np.int64) * (high - low) // 65536


def film() -> Array:
    """Thin wavy ice: wrinkles along the level lines of a smooth field, lit from one side."""
    draws = _Draws("film")
    height = 3 * _smooth(draws, 128) + _smooth(draws, 64) // 2 + _smooth(draws, 16) // 6
    wrinkle = np.abs(height % 48 - 24) * 3
    slope = np.roll(wrinkle, 2, axis=1) - np.roll(wrinkle, -2, axis=0)
    fold = np.roll(height, 3, axis=1) - np.roll(height, -3, axis=0)
    patches = (_smooth(draws, 128) - 128) // 3
    fine = (_smooth(draws, 2) - 128) // 6
    return _grey(112 + patches + np.clip(slope, -50, 80) + np.clip(fold, -40, 60) + fine)


def needles() -> Array:
    """White ice: long flat needles over and through each other."""
    draws = _Draws("needles")
    ice = _grey(204 + (_smooth(draws, 128) - 128) // 5)
    for count, shortest, longest in ((260, 90, 300), (420, 40, 128), (520, 14, 80)):
        x, y = _roots(draws, count, count // 2)
        length, heading = draws(count, shortest, longest), draws(count, 0, _TURN)
        half, shade = draws(count, 12, 44), draws(count, 172, 236)
        for k in range(count):
            along, aside = _step(heading[k], length[k] * 16), _step(heading[k] + 128, half[k])
            root = np.array([x[k], y[k]])
            middle, tip = root + along // 3, root + along
            for side, lit in ((aside, 10), (-aside, -18)):
                _draw(True, ice, [np.array([root, middle + side, tip])], shade[k] + lit)
            edge = np.array([root, middle - aside, tip])
            _draw(False, ice, [edge], shade[k] - 34)
            _draw(False, ice, [np.array([root, tip])], min(250, shade[k] + 24))
    return _grey(ice + (_smooth(draws, 2) - 128) // 6)


def grains() -> Array:
    """Rime: small facets in downward streaks."""
    draws = _Draws("grains")
    streaks = np.repeat(_smooth(draws, 8)[:1], SIDE, axis=0)
    ice = _grey(138 + (_smooth(draws, 128) - 128) // 3 + (streaks - 128) // 6)
    for shade in range(84, 234, 6):
        _facets(ice, draws, 900, (16, 72), shade)
    return _grey(ice + (_smooth(draws, 2) - 128) // 4)


def _facets(ice: Array, draws: _Draws, count: int, sizes: tuple[int, int], shade: int) -> None:
    """Draw triangles of one level; sizes in 1/16 pixel."""
    root = np.stack([draws(count, 0, SIDE * 16), draws(count, 0, SIDE * 16)], axis=-1)
    heading, size = draws(count, 0, _TURN), draws(count, *sizes)
    corners = [root + _steps(heading + turn, size) for turn in (0, 130, 300)]
    for dx in (-SIDE, 0, SIDE):
        for dy in (-SIDE, 0, SIDE):
            moved = np.stack(corners, axis=1) + np.array([dx * 16, dy * 16])
            near = (moved.max((1, 2)) >= 0) & (moved.min((1, 2)) < SIDE * 16)
            cv2.fillPoly(ice, list(moved[near].astype(np.int32)), shade, cv2.LINE_AA, 4)


def stars() -> Array:
    """Many small six-armed crystals on grey glass."""
    draws = _Draws("stars")
    # Their sheet is four times the same: what repeats is far smaller.
    ground = _grey(84 + (_smooth(draws, 128) - 128) // 2)
    ice: Array = np.zeros((SIDE // 2, SIDE // 2), dtype=np.uint8)
    count = 230
    x, y = _roots(draws, count, count)
    length, heading = draws(count, 14, 58), draws(count, 0, _TURN)
    shade, short = draws(count, 96, 190), draws(6 * count, 3, 17).reshape(count, 6)
    for k in range(count):
        for arm in range(6):
            reach = length[k] * short[k, arm] // 16
            if reach > 5:
                _branch(ice, x[k], y[k], heading[k] + arm * _SIXTH, reach, shade[k], 5)
    crystals = np.tile(ice, (2, 2))
    return _grey(np.maximum(ground, crystals) + (_smooth(draws, 2) - 128) // 5)


def ferns() -> Array:
    """Large feathers of ice that grow over dark glass."""
    draws = _Draws("ferns")
    ice = _grey(46 + (_smooth(draws, 128) - 128) // 2)
    for count, shortest, longest in ((80, 150, 330), (140, 70, 190), (200, 30, 90)):
        x, y = _roots(draws, count, count // 3)
        length, heading = draws(count, shortest, longest), draws(count, 0, _TURN)
        shade = draws(count, 70, 150)
        for k in range(count):
            _branch(ice, x[k], y[k], heading[k], length[k], shade[k], 7)
    return _grey(ice + (_smooth(draws, 4) - 128) // 5)


def _branch(ice: Array, x: int, y: int, heading: int, length: int, shade: int, gap: int) -> None:
    """Draw a straight stem with branches at 60 degrees, and twigs at 60 degrees to those.

    Each kind is one line that runs to the ends and back.
    """
    count = max(2, int(length) // gap)
    at = np.arange(1, count)
    root = np.array([x, y])
    whole = _step(heading, length * 16)
    nodes = root + at[:, None] * whole // count
    # The longest a third of the way up, none as long as its neighbours.
    reach = length * 16 * np.minimum(3 * at, count) * (count - at) // (count * count * 2)
    reach = reach * (9 + (at * 7 + x) % 8) // 14
    along = np.full(len(at), heading)
    sprays, combs = [], []
    for side in (_SIXTH, -_SIXTH):
        tips = nodes + _steps(along + side, reach)
        way = [nodes]
        for part in (3, 5, 7):
            begin = nodes + (tips - nodes) * part // 9
            way += [begin, begin + _steps(along, reach * (9 - part) // 12), begin]
        sprays.append(np.stack([*way, tips, nodes], axis=1).reshape(-1, 2))
        combs.append(np.stack([nodes, tips, nodes], axis=1).reshape(-1, 2))
    _draw(False, ice, sprays, shade)
    _draw(False, ice, combs, shade + 24)
    _draw(False, ice, [np.array([root, root + whole])], shade + 70)


def _roots(draws: _Draws, count: int, places: int) -> Ints:
    """Return where crystals grow from, (2, count) in 1/16 pixel: several share a place."""
    x, y = draws(places, 0, SIDE * 16), draws(places, 0, SIDE * 16)
    chosen = draws(count, 0, places)
    return np.stack([x[chosen], y[chosen]])


def _smooth(draws: _Draws, cell: int) -> Ints:
    """Return a periodic field between 0 and 255 around 128, smooth over `cell` pixels.

    `cell` divides SIDE.
    """
    few = SIDE // cell
    noise = draws(few * few, 0, 256).reshape(few, few).astype(np.uint8)
    wide = cv2.copyMakeBorder(noise, _MARGIN, _MARGIN, _MARGIN, _MARGIN, cv2.BORDER_WRAP)
    wide = cv2.GaussianBlur(wide, (5, 5), 1)
    size = (few + 2 * _MARGIN) * cell
    wide = cv2.resize(wide, (size, size), interpolation=cv2.INTER_LINEAR_EXACT)
    start = _MARGIN * cell
    field = wide[start : start + SIDE, start : start + SIDE].astype(np.int64)
    return np.clip(128 + (field - 128) * 2, 0, 255)


def _grey(level: Ints | Array) -> Array:
    return np.clip(level, 0, 255).astype(np.uint8)


def _step(heading: int, length: int) -> Ints:
    """Return a vector of some length in a direction of 1/_TURN turns, in the unit of the length."""
    return _steps(np.array([heading]), np.array([length]))[0]


def _steps(heading: Ints, length: Ints) -> Ints:
    cosines = _cosines()
    across, down = cosines[heading % _TURN], cosines[(heading + 3 * _TURN // 4) % _TURN]
    return np.stack([across * length >> 30, down * length >> 30], axis=-1)


def _draw(filled: bool, ice: Array, shapes: list[Array], level: int) -> None:
    """Fill or trace shapes of points in 1/16 pixel, again wherever they leave the sheet."""
    points = np.concatenate(shapes)
    low, high = points.min(0) // 16, points.max(0) // 16
    level, side = int(min(255, max(0, level))), ice.shape[0]
    for dx in (-side, 0, side):
        if high[0] + dx < 0 or low[0] + dx >= side:
            continue
        for dy in (-side, 0, side):
            if high[1] + dy < 0 or low[1] + dy >= side:
                continue
            moved = [(s + np.array([dx * 16, dy * 16])).astype(np.int32) for s in shapes]
            if filled:
                cv2.fillPoly(ice, moved, level, cv2.LINE_AA, 4)
            else:
                cv2.polylines(ice, moved, False, level, 1, cv2.LINE_AA, 4)


@cache
def _cosines() -> Ints:
    """Cosine of k / _TURN of a full turn, in units of 2^-30."""
    quarter = _TURN // 4
    table = [
        direction(k % quarter * STEPS // quarter, 90 * (k // quarter))[0] for k in range(_TURN)
    ]
    return np.array(table, dtype=np.int64)
