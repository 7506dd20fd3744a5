"""Frost on a window, drawn in five styles of ice: the convention blends one of five photographs.

Each style is one periodic sheet, drawn once per process when it is first wanted, then cropped by
key.
"""

from collections.abc import Callable
from functools import cache

import cv2
import numpy as np

from benchc.corrupt.draws import uniform
from benchc.corrupt.ice import SIDE, ferns, film, grains, needles, stars
from benchc.pictures.pixels import Array, Pixels

SMALL = 224
"""Longer side of a picture up to which the crystals shrink with it, in pixels."""

STYLES: tuple[tuple[str, Callable[[], Array], tuple[tuple[int, int], ...]], ...] = (
    ("film", film, ((64, 0), (100, 16), (106, 26))),
    ("needles", needles, ((98, 0), (100, 0), (100, 6))),
    ("needles", needles, ((98, 0), (100, 0), (100, 6))),
    ("grains", grains, ((94, -2), (100, 0), (102, 8))),
    ("stars", stars, ((92, 0), (98, 2), (102, 12))),
    ("ferns", ferns, ((82, -6), (100, 0), (104, 6))),
)
"""Name, drawing, and tint (percent and addition of each channel) of equally likely styles.

Two of the convention's photographs are the same white one.
"""


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
    """Cut a random window out of a sheet, mirrored at random.

    A picture larger than the sheet is covered by enlarging it; one below SMALL shows what a
    picture of that size would, reduced.
    """
    sheet: Array = frost_sheet(STYLES[uniform(source, len(STYLES))][0])
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
def frost_sheet(style: str) -> Pixels:
    """A style's sheet, tinted and repeated twice each way, uint8 (2 SIDE, 2 SIDE, 3)."""
    draw, tint = next((draw, tint) for name, draw, tint in STYLES if name == style)
    level = draw()
    tables = [
        np.clip(np.arange(256) * part // 100 + add, 0, 255).astype(np.uint8) for part, add in tint
    ]
    colour = cv2.merge([cv2.LUT(level, table) for table in tables])
    sheet = np.tile(np.asarray(colour, dtype=np.uint8), (2, 2, 1))
    sheet.flags.writeable = False
    return sheet
