"""One contact sheet of a picture under every corruption and severity.

Each cell is the corruption of a picture of that size, not a corrupted picture made smaller.
"""

import cv2
import numpy as np

from benchc.config.corruptions import CORRUPTIONS, SEVERITIES
from benchc.corrupt.condition import CLEAN, condition
from benchc.pictures.pixels import Array, Pixels

_LABEL = 150
_HEAD = 24
_GAP = 2


def contact_sheet(picture: Pixels, side: int, seed: int = 1) -> Pixels:
    """Return a labelled row per corruption, clean and by severity, uint8 (height, width, 3).

    Args:
        picture: uint8 (height, width, 3).
        side: longer side of a cell, in pixels.
        seed: seed of the corruptions.
    """
    height, width = picture.shape[:2]
    factor = side / max(height, width)
    size = max(1, round(width * factor)), max(1, round(height * factor))
    way = cv2.INTER_AREA if factor < 1 else cv2.INTER_LINEAR_EXACT
    cell: Array = np.ascontiguousarray(cv2.resize(picture, size, interpolation=way))
    step_x, step_y = size[0] + _GAP, size[1] + _GAP
    sheet: Array = np.full(
        (_HEAD + len(CORRUPTIONS) * step_y, _LABEL + 6 * step_x, 3), 255, dtype=np.uint8
    )
    for column, label in enumerate(("clean", *map(str, SEVERITIES))):
        _write(sheet, label, _LABEL + column * step_x + 4, _HEAD - 8)
    for line, name in enumerate(CORRUPTIONS):
        top = _HEAD + line * step_y
        _write(sheet, name, 6, top + size[1] // 2 + 4)
        for severity in (0, *SEVERITIES):
            left = _LABEL + severity * step_x
            shown = condition(
                cell,
                name if severity else CLEAN,
                severity,
                seed=seed,
                image_id="gallery",
                reference_side=None,
            )
            sheet[top : top + size[1], left : left + size[0]] = shown
    return sheet


def _write(sheet: Array, text: str, x: int, y: int) -> None:
    cv2.putText(sheet, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, 0.45, (40, 40, 40), 1, cv2.LINE_AA)
