"""The database of a discovery: what was asked, the verdicts, the taxonomy, the measures.

Never changes a database in place: it writes a new file beside the old one and swaps them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

import duckdb
import polars as pl

from benchc import tables
from benchc.diagnose.database import STORAGE_VERSION
from benchc.diagnose.schema import quoted
from benchc.diagnose.statements import insert
from benchc.errors import BadInput

DERIVED = ("questions", "verdicts", "skills", "meta_skills", "skill_failure_rates")
GIVEN = ("measures", "training", "steps")


def build(frames: Mapping[str, pl.DataFrame], path: Path) -> None:
    """Write the database of a discovery.

    Args:
        frames: `asked`, `question_skills`, `found_skills`, and the tables of `GIVEN`, which are
            stored as they are.
        path: Where the database goes.
    """
    with tables.renamed_into_place(path) as temporary:
        temporary.unlink()
        connection = duckdb.connect(config={"threads": 1})
        try:
            connection.execute(
                f"ATTACH {quoted(str(temporary))} AS building (STORAGE_VERSION '{STORAGE_VERSION}')"
            )
            for name, frame in frames.items():
                place = f"building.main.{name}" if name in GIVEN else f"memory.main.{name}"
                _store(connection, place, frame)
            connection.execute("USE building")
            connection.execute("SET search_path = 'building.main,memory.main'")
            for name in DERIVED:
                connection.execute(_statement(name))
            connection.execute("USE memory")
            connection.execute("DETACH building")
        finally:
            connection.close()


@contextmanager
def opened(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a discovery's database for reading.

    Raises:
        BadInput: no such file, or not a DuckDB database.
    """
    if not path.is_file():
        raise BadInput(f"{path}: no such database; run `benchc discover build`")
    try:
        connection = duckdb.connect(str(path), read_only=True, config={"threads": 1})
    except duckdb.Error as error:
        reason = " ".join(str(error).split())
        raise BadInput(f"{path}: not a readable DuckDB database: {reason}") from None
    try:
        yield connection
    finally:
        connection.close()


def _store(connection: duckdb.DuckDBPyConnection, place: str, frame: pl.DataFrame) -> None:
    """Store a frame as a table."""
    name = place.rpartition(".")[2]
    empty = ", ".join(f'"{c}" {_TYPES[str(t)]}' for c, t in frame.schema.items())
    connection.execute(f"CREATE TABLE {place} ({empty})")
    connection.execute(f"USE {place.partition('.')[0]}")
    insert(connection, name, frame)


_TYPES = {
    "String": "VARCHAR",
    "Int64": "BIGINT",
    "Float64": "DOUBLE",
    "Boolean": "BOOLEAN",
    "List(String)": "VARCHAR[]",
}


def _statement(name: str) -> str:
    return (resources.files("benchc.discover") / "sql" / f"{name}.sql").read_text("utf-8")
