"""The rows of a statement as text or a file: what `benchc sql` prints."""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

import polars as pl

from benchc.diagnose.query import query
from benchc.errors import BadInput, outward
from benchc.tables import renamed_into_place

#: Rows that are shown unless more are asked for; what is for programs is never cut.
SHOWN = 200
_READ_BY_PEOPLE = ("table", "markdown", "latex")
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    }
)


def print_query(
    path: Path,
    sql: str,
    format: str = "table",
    out: Path | None = None,
    attached: Sequence[str] = (),
    rows: int | None = None,
) -> None:
    """Print the rows of one SQL statement, or write them to `out`.

    Args:
        path: the database.
        sql: one statement.
        format: table, markdown, latex, csv, json (one array of objects) or parquet.
        out: file to write; None prints.
        attached: as in `query`.
        rows: show so many at most, 0 for all; None shows `SHOWN` of a table on the screen, and
            all in a file or in a format for programs.

    Raises:
        BadInput: as `query`; or an unknown format; or Parquet asked for on the screen.
    """
    if format != "parquet" and format not in _WRITERS:
        raise BadInput(f"--format {format}: not one of {', '.join((*_WRITERS, 'parquet'))}")
    if format == "parquet" and out is None:
        raise BadInput("--format parquet: needs --out FILE")
    if rows is None:
        rows = SHOWN if out is None and format in _READ_BY_PEOPLE else 0
    frame = query(path, sql, attached, rows + 1 if rows else None)
    if rows and frame.height > rows:
        frame = frame.head(rows)
        print(f"benchc: the first {rows} rows; --rows 0 shows all", file=sys.stderr)
    if out is None:
        stream = sys.stdout if format in _READ_BY_PEOPLE else outward.exact(sys.stdout)
        text = _WRITERS[format](frame)
        stream.write(_ascii_json(text) if format == "json" and _lacks(stream, text) else text)
        return
    with renamed_into_place(out) as temporary:
        if format == "parquet":
            frame.write_parquet(temporary)
        else:
            temporary.write_text(_WRITERS[format](frame), encoding="utf-8")


def table_text(frame: pl.DataFrame) -> str:
    """Return a frame as a table with frame lines; no character in it is obeyed by a terminal."""
    shown = frame.with_columns(
        pl.col(pl.String).map_elements(outward.visible, return_dtype=pl.String)
    )
    with pl.Config(
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_width_chars=10_000,
        fmt_str_lengths=1_000_000,
        fmt_table_cell_list_len=-1,
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
        tbl_formatting="UTF8_FULL_CONDENSED",
    ):
        # Names of columns, and texts inside of lists, have not been looked at yet.
        return outward.visible(f"{shown}\n")


def csv_text(frame: pl.DataFrame) -> str:
    """Return a frame as CSV, lists and structs as JSON text: CSV has no nesting."""
    nested = [name for name, dtype in frame.schema.items() if dtype.is_nested()]
    return frame.with_columns(
        pl.struct(pl.col(name))
        .struct.json_encode()
        .str.slice(len(name) + 4)
        .str.head(-1)
        .alias(name)
        for name in nested
    ).write_csv()


def _json(frame: pl.DataFrame) -> str:
    return frame.write_json() + "\n"


def _lacks(stream: TextIO, text: str) -> bool:
    """Say whether a stream's encoding lacks a letter of a text."""
    try:
        text.encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _ascii_json(text: str) -> str:
    """Write the letters of JSON text beyond ASCII, which are in its strings alone, as escapes."""
    return "".join(c if c.isascii() else json.dumps(c)[1:-1] for c in text)


def _markdown(frame: pl.DataFrame) -> str:
    def line(cells: Sequence[str]) -> str:
        escaped = (_on_one_line(cell).replace("|", "\\|") for cell in cells)
        return f"| {' | '.join(escaped)} |\n"

    ruled = ["---:" if dtype.is_numeric() else "---" for dtype in frame.dtypes]
    return line(frame.columns) + line(ruled) + "".join(map(line, _cells(frame)))


def _latex(frame: pl.DataFrame) -> str:
    """Write a tabular with the rules of the package booktabs."""

    def line(cells: Sequence[str]) -> str:
        return " & ".join(_on_one_line(cell).translate(_LATEX) for cell in cells) + " \\\\\n"

    columns = "".join("r" if dtype.is_numeric() else "l" for dtype in frame.dtypes)
    body = "".join(map(line, _cells(frame)))
    return (
        f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{line(frame.columns)}\\midrule\n{body}"
        "\\bottomrule\n\\end{tabular}\n"
    )


def _cells(frame: pl.DataFrame) -> list[list[str]]:
    return [[_text(value) for value in row] for row in frame.rows()]


def _on_one_line(cell: str) -> str:
    return outward.visible(" ".join(cell.split()))


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


_WRITERS: dict[str, Callable[[pl.DataFrame], str]] = {
    "table": table_text,
    "markdown": _markdown,
    "latex": _latex,
    "csv": csv_text,
    "json": _json,
}
