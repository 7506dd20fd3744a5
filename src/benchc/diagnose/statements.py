"""The shipped SQL statements and the two ways tables pass between polars and DuckDB.

Never holds SQL of its own: each statement is a file in `sql/`.
"""

from functools import cache
from importlib import resources
from typing import Any

import duckdb
import polars as pl

CHECKS = (
    "repeated",
    "unknown_samples",
    "severities",
    "lengths",
    "distributions",
    "settings",
    "missing",
)


@cache
def statement(name: str) -> str:
    """Return the text of `sql/NAME.sql`, for instance `shifts` or `checks/missing`."""
    return resources.files("benchc.diagnose").joinpath("sql", f"{name}.sql").read_text("utf-8")


def insert(connection: duckdb.DuckDBPyConnection, table: str, frame: pl.DataFrame) -> None:
    """Append `frame` to an existing table of the same column names, in row order."""
    connection.register("incoming", _Streamed(frame))
    try:
        connection.execute(f'INSERT INTO "{table}" BY NAME SELECT * FROM incoming')
    finally:
        connection.unregister("incoming")


def fetch(connection: duckdb.DuckDBPyConnection, query: str) -> pl.DataFrame:
    """Run one query and return its rows as a frame."""
    return pl.DataFrame(connection.sql(query))


class _Streamed:
    """Only the Arrow stream of a frame: DuckDB would read a polars frame through pyarrow."""

    def __init__(self, frame: pl.DataFrame):
        self.frame = frame

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.frame.__arrow_c_stream__(requested_schema)
