"""Pictures that travel inside a table: base64 text, or the hub's struct of bytes and path.

Never accepts base64 that only decodes by luck: another alphabet, a prefix, a cut.
"""

import base64
import binascii
import re

import numpy as np

from benchc.errors import BadInput
from benchc.pool.pictures import decode_picture

_DATA_URI = re.compile(r"data:[^,]{0,100},")


def from_base64(text: str) -> np.ndarray:
    """Return the picture in a base64 text as uint8 (height, width, 3) RGB.

    White space and a `data:image/...;base64,` prefix are taken off first; then the standard
    alphabet and padding are required.

    Raises:
        BadInput: Not base64, or not a picture (see `decode_picture`).
    """
    prefix = _DATA_URI.match(text)
    text = "".join(text[prefix.end() if prefix else 0 :].split())
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadInput(f"its picture is not base64 ({error})") from None
    return decode_picture(data)


def from_cell(cell: object) -> np.ndarray:
    """Return the picture in a Parquet cell: bytes, a struct with `bytes`, or base64 text.

    Raises:
        BadInput: None of these, or not a picture.
    """
    if isinstance(cell, dict):
        cell = cell.get("bytes")
    if isinstance(cell, bytes):
        return decode_picture(cell)
    if isinstance(cell, str):
        return from_base64(cell)
    raise BadInput("its picture is neither bytes nor base64 text")
