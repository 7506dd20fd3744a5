"""The packaged SQL statements, and how values and tables pass between polars and DuckDB.

Each statement is a file in the `sql` folder of its stage; none is written here.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import resources
from typing import Any

import duckdb
import polars as pl

from benchc.errors import BadInput
from benchc.errors.outward import frame_without_secrets

#: What DuckDB calls the types that tables are declared with.
_TYPES: Mapping[pl.DataType, str] = {
    pl.String(): "VARCHAR",
    pl.Int64(): "BIGINT",
    pl.Float64(): "DOUBLE",
    pl.Boolean(): "BOOLEAN",
    pl.Binary(): "BLOB",
    pl.List(pl.String()): "VARCHAR[]",
    pl.List(pl.Float64()): "DOUBLE[]",
}


@cache
def statement(name: str) -> str:
    """Return a packaged statement: `diagnose/checks/missing` is `diagnose/sql/checks/missing.sql`.

    Raises:
        FileNotFoundError: no statement has this name.
    """
    stage, _, rest = name.partition("/")
    return resources.files(f"benchc.{stage}").joinpath("sql", f"{rest}.sql").read_text("utf-8")


@contextmanager
def blamed(query: str) -> Iterator[str]:
    """Give the text of a packaged statement; what DuckDB says against it is a line with its name.

    Raises:
        BadInput: there is no such statement, or DuckDB refuses it.
    """
    try:
        yield statement(query)
    except FileNotFoundError:
        raise BadInput(f"{_place(query)}: no such statement in the package; add it") from None
    except duckdb.Error as error:
        raise BadInput(f"{_place(query)}: {reason(error)}") from None


def _place(query: str) -> str:
    stage, _, rest = query.partition("/")
    return f"{stage}/sql/{rest}.sql"


def type_name(dtype: pl.DataType) -> str:
    """Return what DuckDB calls the type of a column.

    Raises:
        KeyError: no table is declared with this type.
    """
    return _TYPES[dtype]


def literal(text: str) -> str:
    """Return `text` as an SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def name(text: str) -> str:
    """Return `text` as the quoted name of a table, column or database."""
    return '"' + text.replace('"', '""') + '"'


def reason(error: Exception) -> str:
    """Return what DuckDB says of an error, on one line and without its hints."""
    return " ".join(str(error).split("\n\n")[0].split())


def connected() -> duckdb.DuckDBPyConnection:
    """Return an in-memory DuckDB whose results do not depend on the machine: one thread, 1 GB.

    One thread adds floating-point numbers in one order, so the same tables give the same bits.
    """
    connection = duckdb.connect(":memory:", config={"threads": 1, "memory_limit": "1GB"})
    connection.execute("SET enable_progress_bar = false")
    return connection


def insert(connection: duckdb.DuckDBPyConnection, table: str, frame: pl.DataFrame) -> None:
    """Append `frame`, without any secret, to a table of the same column names, in row order."""
    with registered(connection, "incoming", frame_without_secrets(frame)):
        connection.execute(f"INSERT INTO {name(table)} BY NAME SELECT * FROM incoming")


def fetch(
    connection: duckdb.DuckDBPyConnection, query: str, values: Mapping[str, Any] | None = None
) -> pl.DataFrame:
    """Run one query, with `values` for its parameters, and return its rows as a frame."""
    return pl.DataFrame(connection.sql(query, params=values))


def rows(
    connection: duckdb.DuckDBPyConnection, query: str, values: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    """Run one query, with `values` for its parameters, and return its rows as dictionaries."""
    cursor = connection.execute(query, values or None)
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


@contextmanager
def registered(
    connection: duckdb.DuckDBPyConnection, view: str, frame: pl.DataFrame
) -> Iterator[None]:
    """Let statements read `frame` under the name `view`."""
    connection.register(view, _Streamed(frame))
    try:
        yield
    finally:
        connection.unregister(view)


class _Streamed:
    """Only the Arrow stream of a frame: DuckDB would read a polars frame through pyarrow."""

    def __init__(self, frame: pl.DataFrame):
        self.frame = frame

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.frame.__arrow_c_stream__(requested_schema)
