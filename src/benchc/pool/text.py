"""Text tables read as text: UTF-8, every cell a string, nothing inferred.

Never turns `None`, `NA`, `007`, `1e5` or an empty cell into anything else.
"""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from benchc.errors import BadInput

_FIELD_LIMIT = 2**31 - 1


def decode_utf8(file: Path) -> str:
    """Return the file's text without a byte-order mark.

    Raises:
        BadInput: It cannot be read or is not UTF-8; the line is named.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise BadInput(f"{file}: cannot be read ({error.strerror})") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInput(f"{file}, line {line}: not UTF-8 text; save the file as UTF-8") from None


def csv_rows(file: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line on which each row ends, and its cells; the header first.

    Raises:
        BadInput: A quote is left open, a row has more or fewer cells than the header, or a name
            occurs twice in the header.
    """
    text = decode_utf8(file)
    previous = csv.field_size_limit(_FIELD_LIMIT)
    width = 0
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        for cells in reader:
            if not cells:
                continue
            if not width:
                width = len(cells)
                twice = [name for name in cells if name and cells.count(name) > 1]
                if twice:
                    raise BadInput(f"{file}: column {twice[0]!r} occurs twice")
            if len(cells) != width:
                raise BadInput(
                    f"{file}, line {reader.line_num}: {len(cells)} cells under a header of {width};"
                    " put quotes around a cell that holds the separator"
                )
            yield reader.line_num, cells
    except csv.Error as error:
        raise BadInput(
            f"{file}: not a readable table ({error}); is a quote left open, or the file cut short?"
        ) from None
    finally:
        csv.field_size_limit(previous)
