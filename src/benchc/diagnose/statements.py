"""The shipped SQL statements and the two ways tables pass between polars and DuckDB.

Never holds SQL of its own: each statement is a file in `sql/`.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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

#: The published findings, in the order of the report; each is a file in `sql/verdicts/`.
FINDINGS = (
    "clean_accuracy_does_not_predict_ras",
    "most_accurate_model_loses_most",
    "kept_answers_lose_ras",
    "gains_come_with_damage",
    "severity_splits_right_and_wrong",
    "blur_hurts_right_answers_most",
    "mild_corruption_raises_accuracy",
)


@cache
def statement(name: str) -> str:
    """Return the text of `sql/NAME.sql`, for instance `shifts` or `checks/missing`."""
    return resources.files("benchc.diagnose").joinpath("sql", f"{name}.sql").read_text("utf-8")


def insert(connection: duckdb.DuckDBPyConnection, table: str, frame: pl.DataFrame) -> None:
    """Append `frame` to an existing table of the same column names, in row order."""
    with registered(connection, "incoming", frame):
        connection.execute(f'INSERT INTO "{table}" BY NAME SELECT * FROM incoming')


def fetch(
    connection: duckdb.DuckDBPyConnection, query: str, values: Mapping[str, Any] | None = None
) -> pl.DataFrame:
    """Run one query, with `values` for its parameters, and return its rows as a frame."""
    return pl.DataFrame(connection.sql(query, params=values))


@contextmanager
def registered(
    connection: duckdb.DuckDBPyConnection, name: str, frame: pl.DataFrame
) -> Iterator[None]:
    """Let statements read `frame` under `name`."""
    connection.register(name, _Streamed(frame))
    try:
        yield
    finally:
        connection.unregister(name)


class _Streamed:
    """Only the Arrow stream of a frame: DuckDB would read a polars frame through pyarrow."""

    def __init__(self, frame: pl.DataFrame):
        self.frame = frame

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.frame.__arrow_c_stream__(requested_schema)
