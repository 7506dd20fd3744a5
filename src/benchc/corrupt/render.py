"""The one function that corrupts a picture, and the checks of what it is given.

Never reads or changes any state: the result depends on the arguments alone.
"""

from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
from pkgutil import resolve_name
from typing import Any

import numpy as np

from benchc import keyed
from benchc.config.corruptions import SEVERITIES
from benchc.config.plugins import known
from benchc.corrupt import plugins
from benchc.pictures.pixels import Pixels

Kernel = Callable[[Pixels, Any, Any, float], Pixels]


def corrupt(
    image: Pixels,
    name: str,
    severity: int,
    *,
    seed: int,
    image_id: str,
    reference_side: int | None = None,
) -> Pixels:
    """Return the picture corrupted; the same bytes for the same arguments, always.

    Randomness is keyed by (seed, image_id, name, severity), so that the order of calls, other
    pictures, threads and processes make no difference.

    Args:
        image: uint8, (height, width, 3) RGB or (height, width) grey, any size from 1 x 1;
            never modified.
        name: a corruption of the convention, or a plug-in of the run.
        severity: 1 to 5; 0 returns a copy.
        seed: the run's seed.
        image_id: what identifies the picture, such as its pixel hash.
        reference_side: where given, sizes in pixels grow by min(height, width) / reference_side,
            so that a severity means the same on a picture of any size.

    Returns:
        uint8 array of the same shape, contiguous, not shared with `image`.

    Raises:
        TypeError: for a seed, severity or image of another type.
        ValueError: for another dtype, shape, name or severity.
    """
    pixels = check_image(image)
    check_name(name)
    check_severity(severity)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise TypeError(f"seed {seed!r}: expected an integer")
    if not isinstance(image_id, str):
        raise TypeError(f"image_id {image_id!r}: expected a string")
    scale = 1.0
    if reference_side is not None:
        if isinstance(reference_side, bool) or not isinstance(reference_side, int):
            raise TypeError(f"reference_side {reference_side!r}: expected a whole number of pixels")
        if reference_side < 1:
            raise ValueError(f"reference_side {reference_side}: expected 1 or more")
        scale = min(pixels.shape[:2]) / reference_side
    if severity == 0:
        return pixels.copy()
    corruption = known()[name]
    key = ("corrupt", int(seed), image_id, name, int(severity))
    if corruption.own:
        return plugins.rendered(corruption, pixels, int(severity), keyed.philox(*key))
    source = keyed.philox(*key) if corruption.random else None
    return _kernel(corruption.kernel)(pixels, corruption.constants[severity - 1], source, scale)


@cache
def _kernel(entry: str) -> Kernel:
    kernel: Kernel = resolve_name(entry)
    return kernel


def check_image(image: Pixels) -> Pixels:
    """Return a contiguous view or copy of a picture.

    Raises:
        TypeError: if it is no array.
        ValueError: if it is no uint8 picture, grey or RGB, or has no pixels.
    """
    wanted = "expected uint8 of shape (height, width) or (height, width, 3)"
    if not isinstance(image, np.ndarray):
        raise TypeError(f"image of type {type(image).__name__}: {wanted}")
    if image.dtype != np.uint8:
        raise ValueError(f"image of {image.dtype}: {wanted}")
    if image.ndim == 3 and image.shape[2] in (2, 4):
        raise ValueError(f"image of shape {image.shape}, with alpha: {wanted}, composited before")
    if image.ndim not in (2, 3) or (image.ndim == 3 and image.shape[2] != 3):
        raise ValueError(f"image of shape {image.shape}: {wanted}")
    if image.size == 0:
        raise ValueError(f"image of shape {image.shape}, empty: {wanted}")
    return np.ascontiguousarray(image)


def check_name(name: str) -> None:
    """Raise ValueError unless `name` is that of a corruption or of a plug-in."""
    names = known()
    if not isinstance(name, str) or name not in names:
        near = get_close_matches(str(name), names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(names)}"
        raise ValueError(f"corruption {name!r}: {hint}")


def check_severity(severity: int) -> None:
    """Raise TypeError or ValueError unless `severity` is a whole number from 0 to 5."""
    if isinstance(severity, bool) or not isinstance(severity, int | np.integer):
        raise TypeError(f"severity {severity!r}: expected a whole number from 0 to 5")
    if not 0 <= severity <= SEVERITIES[-1]:
        raise ValueError(f"severity {severity}: expected a whole number from 0 to 5")
