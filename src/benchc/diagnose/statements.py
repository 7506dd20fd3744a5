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
FINDINGS = {
    "clean_accuracy_does_not_predict_ras": "Clean accuracy does not predict RAS: some other model "
    "has a better RAS than the most accurate one",
    "most_accurate_model_loses_most": "The most accurate model on clean pictures loses most, in "
    "accuracy and in RAS",
    "kept_answers_lose_ras": "Answers that stay right (Q_cc) lose RAS all the same",
    "gains_come_with_damage": "Gains come from answers that turn right (Q_wc) and stand beside "
    "damage to those that were right (Q_c)",
    "severity_splits_right_and_wrong": "With severity RAS falls where the clean answer was right "
    "(Q_c) and rises where it was wrong (Q_w)",
    "blur_hurts_right_answers_most": "Blur hurts right answers (Q_c) most",
    "mild_corruption_raises_accuracy": "Mild corruption raises accuracy while RAS falls",
}


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
