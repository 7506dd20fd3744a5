"""One hash and one lossless coding of pixels, for every table that names or stores a picture."""

import hashlib
from typing import Any, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

Format = Literal["png", "webp"]
Pixels = NDArray[np.uint8]
Array = NDArray[Any]

# Settings that make each format lossless. PNG keeps OpenCV's defaults: asking for level 1
# explicitly selects a slower strategy.
_LOSSLESS: dict[str, list[int]] = {"png": [], "webp": [cv2.IMWRITE_WEBP_QUALITY, 101]}


def pixel_hash(rgb: Pixels) -> str:
    """Return the SHA-256, in hex, of "WIDTHxHEIGHT" followed by the pixels in row order.

    Args:
        rgb: uint8 array of shape (height, width, 3).

    Raises:
        ValueError: if the array has another shape or dtype.
    """
    _check(rgb)
    digest = hashlib.sha256(b"%dx%d" % (rgb.shape[1], rgb.shape[0]))
    digest.update(np.ascontiguousarray(rgb).data)
    return digest.hexdigest()


def encode(rgb: Pixels, format: Format = "png") -> bytes:
    """Return `rgb` as the bytes of a lossless PNG or WebP file.

    Args:
        rgb: uint8 array of shape (height, width, 3).
        format: "png" or "webp".

    Raises:
        ValueError: for another shape, dtype or format, or a picture the format cannot hold
            (WebP: a side above 16,383).
    """
    _check(rgb)
    if format not in _LOSSLESS:
        raise ValueError(f"format {format!r}: expected 'png' or 'webp'")
    bgr = cv2.cvtColor(np.ascontiguousarray(rgb), cv2.COLOR_RGB2BGR)
    try:
        done, data = cv2.imencode(f".{format}", bgr, _LOSSLESS[format])
    except cv2.error:
        done = False
    if not done:
        height, width = rgb.shape[:2]
        raise ValueError(f"a picture of {width} x {height} does not fit into {format}")
    return data.tobytes()


def _check(rgb: Pixels) -> None:
    if not isinstance(rgb, np.ndarray) or rgb.dtype != np.uint8:
        kind = getattr(rgb, "dtype", type(rgb).__name__)
        raise ValueError(f"pixels of type {kind}: expected a uint8 array")
    if rgb.ndim != 3 or rgb.shape[2] != 3 or rgb.size == 0:
        raise ValueError(f"pixels of shape {rgb.shape}: expected (height, width, 3), not empty")
