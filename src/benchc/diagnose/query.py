"""Questions to the database, in SQL.

Never writes to it: every connection is read-only.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import polars as pl

from benchc.diagnose.schema import quoted
from benchc.errors import BadInput

FORMATS = ("table", "csv", "json", "parquet")
DISCOVERIES = {
    "discovery": ("discover/default/discovery.duckdb", "make discover"),
    "discovery_full": ("discover/full/discovery.duckdb", "make discover-full"),
}
"""Databases that answer too: where each lies beside the run's, and what builds it."""

_ODD = re.compile(r"\b(BIT|BLOB|INTERVAL|UNION|VARIANT)\b")


def query(path: Path | str, sql: str) -> pl.DataFrame:
    """Run one SQL statement on a database, read-only, and return its rows.

    Intervals, bytes and other values that not every format has a type for come as text.

    What a discovery found answers as `discovery.skills`, if it lies beside the database; see
    `DISCOVERIES`.

    Raises:
        BadInput: no such database, a file that is none, or SQL that DuckDB refuses.
    """
    if not Path(path).is_file():
        raise BadInput(f"{path}: no such database; run `snakemake --cores all` to build it")
    try:
        connection = duckdb.connect(str(path), read_only=True)
        connection.execute("SET enable_progress_bar = false")
    except duckdb.Error as error:
        raise BadInput(f"{path}: not a readable DuckDB database: {_one_line(error)}") from None
    missing = "".join(_attach_discoveries(connection, Path(path).parent, sql))
    connection.execute("SET enable_external_access = false")
    try:
        if len(connection.extract_statements(sql)) != 1:
            raise BadInput("SQL refused: give one statement")
        rows = connection.sql(sql)
        return pl.DataFrame() if rows is None else pl.DataFrame(_plain(rows))
    except duckdb.PermissionException as error:
        raise BadInput(
            f"SQL refused: {_one_line(error)}; a statement reads only these databases, and its "
            "rows go to a file by --format csv --out FILE"
        ) from None
    except duckdb.Error as error:
        raise BadInput(f"SQL refused: {_one_line(error)}{missing}") from None
    except pl.exceptions.DuplicateError:
        raise BadInput("SQL refused: two columns have one name; rename one with AS") from None
    finally:
        connection.close()


def _plain(rows: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Turn columns into text of which polars, CSV or JSON has no type."""
    odd = [
        '"' + name.replace('"', '""') + '"'
        for name, kind in zip(rows.columns, rows.types, strict=True)
        if _ODD.search(str(kind))
    ]
    texts = ", ".join(f"{name}::VARCHAR AS {name}" for name in odd)
    return rows.project(f"* REPLACE ({texts})") if odd else rows


def _attach_discoveries(
    connection: duckdb.DuckDBPyConnection, folder: Path, sql: str
) -> Iterator[str]:
    """Attach what discoveries there are; yield what to say of each one that a statement misses.

    Raises:
        BadInput: a database that the statement names is damaged.
    """
    for name, (place, maker) in DISCOVERIES.items():
        beside = folder / place
        named = re.search(rf'\b{name}"?\s*\.', sql, re.IGNORECASE) is not None
        if beside.is_file():
            try:
                connection.execute(f"ATTACH {quoted(str(beside))} AS {name} (READ_ONLY)")
            except duckdb.Error as error:
                if named:
                    reason = f"not a readable DuckDB database: {_one_line(error)}"
                    raise BadInput(f"{beside}: {reason}") from None
        elif named:
            yield f" (there is no {beside}; `{maker}` builds one)"


def print_query(path: Path, sql: str, format: str = "table", out: Path | None = None) -> None:
    """Print the rows of one SQL statement, or write them to `out`.

    Args:
        path: the database.
        sql: one statement.
        format: table, csv, json (one array of objects) or parquet.
        out: file to write; None prints.

    Raises:
        BadInput: as `query`; or an unknown format; or Parquet asked for on the screen.
    """
    if format not in FORMATS:
        raise BadInput(f"--format {format}: not one of {', '.join(FORMATS)}")
    if format == "parquet" and out is None:
        raise BadInput("--format parquet: needs --out FILE")
    frame = query(path, sql)
    if out is None:
        sys.stdout.write(_render(frame, format))
        return
    try:
        if format == "parquet":
            frame.write_parquet(out)
        else:
            out.write_text(_render(frame, format), encoding="utf-8")
    except OSError as error:
        raise BadInput(f"--out {out}: {error.strerror}") from None


def _render(frame: pl.DataFrame, format: str) -> str:
    if format == "csv":
        return frame.with_columns(_flat(frame)).write_csv()
    if format == "json":
        return frame.write_json() + "\n"
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
        return f"{frame}\n"


def _flat(frame: pl.DataFrame) -> list[pl.Expr]:
    """Lists and structs as JSON text: CSV has no nesting."""
    nested = [name for name, dtype in frame.schema.items() if dtype.is_nested()]
    return [
        pl.struct(pl.col(name))
        .struct.json_encode()
        .str.slice(len(name) + 4)
        .str.head(-1)
        .alias(name)
        for name in nested
    ]


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split("\n\n")[0].split())
