"""The one way to a picture under a condition: clean, blank, or corrupted at a severity."""

import numpy as np

from benchc.corrupt.render import corrupt
from benchc.pictures.pixels import Pixels

CLEAN = "clean"
BLANK = "blank"
_GREY = 128


def condition(
    picture: Pixels,
    corruption: str,
    severity: int,
    *,
    seed: int,
    image_id: str,
    reference_side: int | None,
) -> Pixels:
    """Return a picture as it looks under a condition; the same bytes for the same arguments.

    Args:
        picture: uint8, (height, width, 3) RGB or (height, width) grey; never modified.
        corruption: `clean`, `blank` (uniform mid-grey of the same size) or a corruption's name.
        severity: 0 for `clean` and `blank`, else 1 to 5.
        seed: The run's seed.
        image_id: What identifies the picture, such as its pixel hash.
        reference_side: See `corrupt`. It has no default, so that nobody can forget the setting.

    Returns:
        uint8 array of the same shape, contiguous, not shared with `picture`.

    Raises:
        TypeError: For a seed, severity or picture of another type.
        ValueError: For another dtype, shape, name or severity.
    """
    if corruption in (CLEAN, BLANK):
        if severity != 0:
            raise ValueError(f"{corruption} at severity {severity}: it has severity 0 only")
        return picture.copy() if corruption == CLEAN else np.full_like(picture, _GREY)
    return corrupt(
        picture,
        corruption,
        severity,
        seed=seed,
        image_id=image_id,
        reference_side=reference_side,
    )
