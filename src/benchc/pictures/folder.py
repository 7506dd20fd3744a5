"""Picture files in a folder, none of which leads out of it."""

import os
import unicodedata
from pathlib import Path, PurePosixPath

from benchc.errors import BadInput

ENDINGS = frozenset(
    {
        ".png", ".apng", ".jpg", ".jpeg", ".jpe", ".jfif", ".mpo", ".webp", ".gif", ".avif",
        ".tif", ".tiff", ".bmp", ".dib", ".jp2", ".j2k", ".jpx",
    }
)  # fmt: skip
"""Endings, in lower case, of what is taken for a picture; the content says of which kind it is."""


def inside(folder: Path, name: str) -> Path:
    """Return the file of a name in a folder.

    Names of other systems are understood: backslashes between the parts, and accented letters in
    the other of the two ways to code them. The name as it is written comes first.

    Args:
        folder: The folder; it may itself be a link.
        name: A relative path.

    Raises:
        BadInput: The name, or a link on the way, leads out of the folder; or there is no such file.
            One line that names the picture.
    """
    shown = repr(name[:80])
    found = None
    for spelling in dict.fromkeys((name, name.replace("\\", "/"))):
        relative = PurePosixPath(spelling)
        if relative.is_absolute() or ".." in relative.parts or "\0" in spelling:
            raise BadInput(f"picture {shown} is not inside the folder; put it there")
        found = found or _found(folder, relative)
    if found is None:
        raise BadInput(f"there is no picture {shown} in {folder}")
    if not found.resolve().is_relative_to(folder.resolve()):
        raise BadInput(
            f"picture {shown} is a link that leads out of the folder; put the file there"
        )
    return found


def _found(folder: Path, relative: PurePosixPath) -> Path | None:
    """Return the file of a path whose accented letters may be coded in either way."""
    place = folder
    for part in relative.parts:
        coded = dict.fromkeys((part, *(unicodedata.normalize(way, part) for way in ("NFC", "NFD"))))
        # Unlike Path.exists, it calls a name that no disk can hold, such as base64, no file.
        there = [place / name for name in coded if os.path.exists(place / name)]
        if not there:
            return None
        place = there[0]
    return place if place.is_file() else None


def picture_names(folder: Path) -> list[str]:
    """Return the names of all pictures in a folder, at any depth, sorted.

    Raises:
        BadInput: A link among them leads out of the folder.
    """
    names = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.suffix.lower() in ENDINGS and path.is_file()
    )
    for name in names:
        inside(folder, name)
    return names
