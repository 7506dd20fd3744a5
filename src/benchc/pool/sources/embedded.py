"""Pictures that travel inside a table: base64 text, or the hub's struct of bytes and path.

Base64 that only decodes by luck is refused: another alphabet, a prefix, a cut.
"""

import base64
import binascii
import os
import re
from pathlib import Path, PurePosixPath

import numpy as np
import polars as pl

from benchc.errors import BadInput
from benchc.pictures.decode import decode_picture
from benchc.pictures.folder import ENDINGS

_LONGEST_NAME = 1024
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


def members(cell: object) -> list[object]:
    """Return the members of a cell that is a list; else the cell alone."""
    if isinstance(cell, pl.Series):
        return cell.to_list()
    return cell if isinstance(cell, list) else [cell]


def is_picture(member: object) -> bool:
    """Say whether a cell holds a picture, or claims to."""
    if isinstance(member, dict):
        return bool(member.get("bytes") or member.get("path"))
    return member is not None and member not in ("", b"")


def named_by(member: object, folder: Path) -> str:
    """Return the name of the file that a cell stands for; empty where it holds the picture itself.

    A struct without bytes names its file. A text is a name where it ends as one, or where there is
    such a file in the folder of the table: base64 does neither.
    """
    if isinstance(member, dict):
        return "" if member.get("bytes") else str(member["path"])
    if not isinstance(member, str) or len(member) > _LONGEST_NAME or member.startswith("data:"):
        return ""
    is_file = PurePosixPath(member).suffix.lower() in ENDINGS or os.path.isfile(folder / member)
    return member if is_file else ""
