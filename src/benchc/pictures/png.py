"""Whether a PNG file holds all of its rows: libpng's users are handed black for what is missing."""

import zlib

from benchc.errors import BadInput

_HEAD = 8
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
           (0, 1, 1, 2))  # fmt: skip
"""Of an interlaced picture: first column and row, steps between columns and between rows."""
_PIECE = 1 << 20


def refuse_missing_rows(data: bytes) -> None:
    """Refuse a PNG whose data are fewer than its header claims; what is broken is left to others.

    Raises:
        BadInput: rows are missing.
    """
    wanted, parts, at = 0, [], _HEAD
    while at + 8 <= len(data):
        size, kind = int.from_bytes(data[at : at + 4]), data[at + 4 : at + 8]
        body = memoryview(data)[at + 8 : at + 8 + size]
        if kind == b"IHDR" and len(body) == 13:
            wanted = _row_bytes(bytes(body))
        elif kind == b"IDAT":
            parts.append(body)
        at += 12 + size
    if _inflated(parts) < wanted:
        raise BadInput("the picture is cut short (rows are missing)")


def _row_bytes(header: bytes) -> int:
    """Return how many bytes all rows have, with the byte that begins each."""
    width, height = int.from_bytes(header[:4]), int.from_bytes(header[4:8])
    depth, colour, interlaced = header[8], header[9], header[12]
    bits = depth * _CHANNELS.get(colour, 1)
    passes = _PASSES if interlaced else ((0, 0, 1, 1),)
    total = 0
    for left, top, across, down in passes:
        columns, rows = -(-(width - left) // across), -(-(height - top) // down)
        if columns > 0 and rows > 0:
            total += rows * (1 + -(-columns * bits // 8))
    return total


def _inflated(parts: list[memoryview]) -> int:
    """Return how many bytes some data make; very many where they are broken."""
    inflate, total = zlib.decompressobj(), 0
    try:
        for part in parts:
            rest: bytes | memoryview = part
            while rest:
                total += len(inflate.decompress(rest, _PIECE))
                rest = inflate.unconsumed_tail
        return total + len(inflate.flush())
    except zlib.error:
        return 1 << 62
