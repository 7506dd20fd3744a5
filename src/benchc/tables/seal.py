"""What a table's file must be to count as whole: to the last bit what its writer wrote.

The SHA-256 of a file stands in its own metadata, taken with zeros in that place.
"""

import hashlib
import mmap
from pathlib import Path

SEAL = "benchc.sha256"
IDENTITY = "benchc.identity"

#: What a writer puts under `SEAL` before the file is sealed.
UNSEALED = "0" * 64

#: Between a name and its value Thrift puts the value's type and, for up to 127 bytes, its length.
_BETWEEN = 2

NOT_SEALED = "it holds no checksum: it is damaged, or was not written by benchc"


def seal(path: Path) -> None:
    """Put the hash of a file that was written with `UNSEALED` into it."""
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as content:
        place = _place(content)
        assert place is not None
        assert content[place : place + 64] == UNSEALED.encode()
        content[place : place + 64] = _digest(content, place).encode()


def damage(path: Path) -> str | None:
    """Return what is wrong with the bytes of a file; None if they are those that were sealed.

    Raises:
        OSError: the file cannot be read.
    """
    if not path.stat().st_size:
        return "not a readable Parquet file (empty)"
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if content[:4] != b"PAR1" or content[-4:] != b"PAR1":
            return "not a readable Parquet file (cut short, or of another kind)"
        place = _place(content)
        if place is None:
            return NOT_SEALED
        if content[place : place + 64] != _digest(content, place).encode():
            return "damaged: its bytes are not those that were written (checksum)"
    return None


def _place(content: mmap.mmap) -> int | None:
    found = content.rfind(SEAL.encode())
    return None if found < 0 else found + len(SEAL) + _BETWEEN


def _digest(content: mmap.mmap, place: int) -> str:
    whole = hashlib.sha256()
    with memoryview(content) as view:
        whole.update(view[:place])
        whole.update(UNSEALED.encode())
        whole.update(view[place + 64 :])
    return whole.hexdigest()
