"""Text tables read as text: UTF-8, every cell a string, nothing inferred.

Never turns `None`, `NA`, `007`, `1e5` or an empty cell into anything else.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchc.errors import BadInput

_FIELD_LIMIT = 2**31 - 1
_NAMES_SHOWN = 20
_QUOTED = re.compile(r'"(?:[^"]|"")*+"(?!")')
_UNQUOTED = {mark: re.compile(rf"[^{mark}\n]*") for mark in (",", "\t")}


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


def csv_records(
    file: Path, columns: Sequence[str | tuple[str, ...]], delimiter: str = ","
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield where each row stands, such as `line 7`, and its cells by the names in the header.

    Args:
        file: The table.
        columns: Names that must be in the header; of a tuple one of them.
        delimiter: Between two cells.

    Raises:
        BadInput: See `csv_rows`; or one of `columns` is missing.
    """
    lines = csv_rows(file, delimiter)
    header = [name.strip() for name in next(lines, (0, []))[1]]
    for wanted in columns:
        names = (wanted,) if isinstance(wanted, str) else wanted
        if not set(names) & set(header):
            either = " and no column ".join(map(repr, names))
            raise BadInput(f"{file}: it has no column {either}; it has {listed(header)}")
    for line, cells in lines:
        yield f"line {line}", dict(zip(header, cells, strict=True))


def csv_rows(file: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line on which each row ends, and its cells; the header first.

    Raises:
        BadInput: A cell begins with a quote that is not closed at its end, a row has more or fewer
            cells than the header, or a name occurs twice in the header.
    """
    text = decode_utf8(file)
    previous = csv.field_size_limit(_FIELD_LIMIT)
    width, begin = 0, 1
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        for cells in reader:
            if not cells:
                begin = reader.line_num + 1
                continue
            if not width:
                width = len(cells)
                name, count = Counter(filter(None, cells)).most_common(1)[0]
                if count > 1:
                    raise BadInput(f"{file}: column {name!r} occurs twice")
            if len(cells) != width:
                raise BadInput(
                    f"{file}, line {reader.line_num}: {len(cells)} cells under a header of {width};"
                    " put quotes around a cell that holds the separator"
                )
            if reader.line_num > begin and delimiter == "\t" and _holds_rows(cells, width):
                raise BadInput(f"{file}, line {begin}: {_QUOTE_AT_FAULT.format('a cell')}")
            yield reader.line_num, cells
            begin = reader.line_num + 1
    except csv.Error:
        line, column = _open_quote(text, begin, delimiter)
        cell = f"its cell {column}"
        raise BadInput(f"{file}, line {line}: {_QUOTE_AT_FAULT.format(cell)}") from None
    finally:
        csv.field_size_limit(previous)


def listed(names: Sequence[str]) -> str:
    """Return names for a message: all, or the first of very many."""
    more = f", ... ({len(names)} in all)" if len(names) > _NAMES_SHOWN else ""
    return ", ".join(names[:_NAMES_SHOWN]) + more


_QUOTE_AT_FAULT = (
    "{} begins with a quotation mark that is not closed where the cell ends; write the cell in "
    'quotes and double the marks inside, as in """Stop"" sign" (or the file is cut short)'
)


def _holds_rows(cells: Sequence[str], width: int) -> bool:
    """Say whether a cell holds exactly the separators of the rows whose line breaks it holds.

    That is what a quotation mark such as that of 5" leaves, where a later row has another one.
    """
    return width > 1 and any(
        (breaks := cell.count("\n")) > 0 and cell.count("\t") == breaks * (width - 1)
        for cell in cells
    )


def _open_quote(text: str, begin: int, delimiter: str) -> tuple[int, int]:
    """Return line and number of the first cell, from a line on, whose quote is at fault."""
    at = 0
    for _ in range(begin - 1):
        at = text.index("\n", at) + 1
    line, column = begin, 1
    while at < len(text):
        start = at
        if text[at] == '"':
            quoted = _QUOTED.match(text, at)
            after = text[quoted.end() : quoted.end() + 1] if quoted else '"'
            if quoted is None or after not in ("", delimiter, "\n", "\r"):
                break
            at = quoted.end()
        else:
            plain = _UNQUOTED[delimiter].match(text, at)
            at = plain.end() if plain else at
        line += text.count("\n", start, at)
        if text.startswith(delimiter, at):
            at, column = at + 1, column + 1
        else:
            stop = text.find("\n", at)
            at, line, column = (len(text) if stop < 0 else stop + 1), line + 1, 1
    return line, column
