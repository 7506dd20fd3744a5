"""The database of a discovery: what was asked, the judgements, the taxonomy, the measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from benchc.discover import schema
from benchc.report.facts import Facts, facts_of
from benchc.sql import insert, registered, statement
from benchc.tables.database import RUN, comment, create, new_database, run_frame

#: What the derived tables are made from; stored in them only.
_READ = ("asked", "question_skills", "found_skills")


def build(
    frames: Mapping[str, pl.DataFrame], path: Path, run: Mapping[str, Any] | None = None
) -> None:
    """Write the database of a discovery.

    Args:
        frames: `asked`, `question_skills`, `found_skills`, `measures`, `training` and `steps`.
        path: Where the database goes.
        run: Facts about the run; a value that is no text is stored as JSON.
    """
    with new_database(path) as connection, ExitStack() as given:
        connection.execute(statement("discover/macros"))
        create(connection, (*schema.GIVEN, *schema.DERIVED))
        for table in schema.GIVEN:
            frame = run_frame(run or {}) if table is RUN else frames[table.name]
            insert(connection, table.name, frame)
        for name in _READ:
            given.enter_context(registered(connection, name, frames[name]))
        for table in schema.DERIVED:
            query = statement(f"discover/{table.name}")
            connection.execute(f'INSERT INTO "{table.name}" BY NAME {query}')
        comment(connection, (*schema.GIVEN, *schema.DERIVED))


@contextmanager
def opened(path: Path) -> Iterator[Facts]:
    """Open a discovery's database for reading; answers to the statements in `sql/page/`.

    Raises:
        BadInput: no such file, or not a DuckDB database.
    """
    with facts_of({"discovery": path}, stage="discover", maker="benchc discover build") as facts:
        yield facts
