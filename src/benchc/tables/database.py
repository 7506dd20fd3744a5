"""DuckDB files: the one way to build one, and the one way to open one for reading.

A file that is read may come from anybody: its views can read only the databases that were opened.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import polars as pl

from benchc import sql
from benchc.errors import BadInput
from benchc.tables.contract import TEXT, Column, Table, marked
from benchc.tables.files import companions, renamed_into_place

#: The oldest storage format in use; DuckDB 1.2 and later read it.
STORAGE_VERSION = "v1.2.0"

#: Of DuckDB, which spills beyond it; Python, polars and the bootstrap take the rest of 1 GB.
MEMORY_LIMIT = "256MB"

RUN = Table(
    "run",
    "facts about the run that made this database",
    (
        Column("name", TEXT, "what the fact is about"),
        Column("value", TEXT, "text, or JSON where the fact is no text"),
    ),
    ("name",),
)

#: Errors that a statement causes by itself; any other may come of a file's bytes.
_OF_THE_STATEMENT = (duckdb.ProgrammingError, duckdb.DataError, duckdb.NotSupportedError)

_LOCKED = (
    "SET enable_external_access = false",
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET python_enable_replacements = false",
    "SET enable_progress_bar = false",
    "SET lock_configuration = true",
)


@contextmanager
def new_database(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a connection to an empty database; at the end it takes the place of `path`.

    A reader that holds the old file open keeps it. The connection's search path starts with the
    new database; `memory.main` is there for what shall not be kept.

    Raises:
        BadInput: the disk is full or must not be written.
    """
    with renamed_into_place(path) as temporary:
        temporary.unlink()
        with TemporaryDirectory(dir=path.parent, prefix=f"{temporary.name}.spill.") as spill:
            connection = sql.connected()
            try:
                connection.execute(f"SET temp_directory = {sql.literal(spill)}")
                connection.execute(f"SET memory_limit = '{MEMORY_LIMIT}'")
                connection.execute(
                    f"ATTACH {sql.literal(str(temporary))} AS building "
                    f"(STORAGE_VERSION '{STORAGE_VERSION}')"
                )
                connection.execute("USE building")
                yield connection
                connection.execute("USE memory")
                connection.execute("DETACH building")
            finally:
                connection.close()


def create(connection: duckdb.DuckDBPyConnection, tables: Iterable[Table]) -> None:
    """Create empty tables, NOT NULL where the schema says so."""
    for table in tables:
        columns = ", ".join(
            f"{sql.name(c.name)} {sql.type_name(c.dtype)}{'' if c.nullable else ' NOT NULL'}"
            for c in table.columns
        )
        connection.execute(f"CREATE TABLE {sql.name(table.name)} ({columns})")


def comment(
    connection: duckdb.DuckDBPyConnection,
    tables: Iterable[Table],
    kind: str = "TABLE",
    schema: str = "main",
) -> None:
    """Store the descriptions of tables (or of views: `kind` VIEW) and of their columns."""
    connection.execute("BEGIN")
    for table in tables:
        place = f"{sql.name(schema)}.{sql.name(table.name)}"
        connection.execute(f"COMMENT ON {kind} {place} IS {sql.literal(table.description)}")
        for column in table.columns:
            connection.execute(
                f"COMMENT ON COLUMN {place}.{sql.name(column.name)} "
                f"IS {sql.literal(column.description)}"
            )
    connection.execute("COMMIT")


#: The row of `run` that says what decided a database's tables; no content of it.
MADE_FROM = "made.from"


def run_frame(facts: Mapping[str, Any]) -> pl.DataFrame:
    """Return facts as rows of `run`, and what the tables are marked with, if anything.

    A value that is no text becomes JSON.
    """
    made_from = marked()
    facts = {**facts, **({} if made_from is None else {MADE_FROM: made_from})}
    rows = (
        {"name": name, "value": value if isinstance(value, str) else as_json(value)}
        for name, value in facts.items()
    )
    return RUN.conform(RUN.from_rows(rows))


def as_json(value: Any) -> str:
    """Return a value as JSON whose keys are in order."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


@contextmanager
def opened(
    paths: Mapping[str, Path], threads: int | None = 1
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open databases for reading, each under its name; the first is the one that is meant.

    Statements, and the views they meet, can read these databases only: no file, no extension, no
    variable of the program.

    Args:
        paths: by name.
        threads: in one thread sums do not vary; None takes one for each core.

    Raises:
        BadInput: no such file, or not a DuckDB database.
    """
    connection = duckdb.connect(config={"threads": threads} if threads else {})
    try:
        for alias, path in paths.items():
            attach(connection, alias, path)
        connection.execute(f"USE {sql.name(next(iter(paths)))}")
        for setting in _LOCKED:
            connection.execute(setting)
        yield connection
    finally:
        connection.close()


def attach(connection: duckdb.DuckDBPyConnection, alias: str, path: Path) -> None:
    """Attach a database for reading.

    Raises:
        BadInput: no such file, or not a DuckDB database.
    """
    if not path.is_file():
        raise BadInput(f"{path}: no such database")
    for log in companions(path):
        print(f"{log}: changes that another session made are read with it", file=sys.stderr)
    try:
        connection.execute(
            f"ATTACH {sql.literal(str(path))} AS {sql.name(alias)} (READ_ONLY, TYPE duckdb)"
        )
    except duckdb.Error as error:
        raise BadInput(f"{path}: not a readable DuckDB database: {sql.reason(error)}") from None


def own_things(path: Path) -> list[str]:
    """Return the tables, views and macros that a user added to a database; none if unreadable.

    What is built here has a comment, all of it.
    """
    query = """
        SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT internal AND comment IS NULL
        UNION ALL
        SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal AND comment IS NULL
        UNION ALL
        SELECT schema_name, function_name FROM duckdb_functions()
        WHERE NOT internal AND comment IS NULL AND contains(function_type, 'macro')
        ORDER BY ALL
    """
    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            found = connection.execute(query).fetchall()
    except duckdb.Error:
        return []
    return [name if schema == "main" else f"{schema}.{name}" for schema, name in found]


def say_what_goes(place: Path) -> None:
    """Say what a user added to a database that is about to be replaced."""
    names = own_things(place) if place.is_file() else []
    if names:
        shown = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
        print(
            f"{place}: {shown} of your own will not be in the new database; keep such things in a "
            "file of your own and attach it (docs/queries.md)",
            file=sys.stderr,
        )


def fact(path: Path, name: str) -> str | None:
    """Return the value of a fact about the run that made a database; None if it says none."""
    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            found = connection.execute("SELECT value FROM run WHERE name = ?", [name]).fetchone()
    except duckdb.Error:
        return None
    return str(found[0]) if found else None


def opens(path: Path) -> bool:
    """Return whether a file is a database that can be opened."""
    try:
        duckdb.connect(str(path), read_only=True).close()
    except duckdb.Error:
        return False
    return True


def damage(error: duckdb.Error, paths: Iterable[Path]) -> str | None:
    """Return which database cannot be read to its end, and why.

    Args:
        error: what came of a statement; where it is the statement's own fault nothing is read.
        paths: the databases that it could read.

    Returns:
        One line with the file's name; None if all can be read.
    """
    for path in () if isinstance(error, _OF_THE_STATEMENT) else paths:
        try:
            with duckdb.connect(str(path), read_only=True) as connection:
                held = "SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT internal"
                for schema, table in connection.execute(held).fetchall():
                    place = f"{sql.name(schema)}.{sql.name(table)}"
                    connection.execute(f"SELECT max(hash(t)) FROM {place} AS t").fetchall()
        except duckdb.Error as found:
            return f"{path}: damaged ({sql.reason(found)}); build it again"
    return None
