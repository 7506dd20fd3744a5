"""What the report reads from the database: one statement in `sql/` each.

Never writes: the connection is read-only, and works in one thread so that sums do not vary.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import duckdb

from benchc.errors import BadInput

Row = dict[str, Any]

#: The samples that figures may be taken over, the most telling first.
SCOPES = ("selection", "control", "pool")


class Facts:
    """Answers to the statements in `sql/`, by name."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, name: str):
        self._connection = connection
        self._name = name

    def __call__(self, statement: str, **values: Any) -> list[Row]:
        """Return the rows of `sql/STATEMENT.sql`, with `values` for its parameters.

        Raises:
            BadInput: the database lacks what the statement reads.
        """
        try:
            cursor = self._connection.execute(_text(statement), values or None)
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        except duckdb.Error as error:
            reason = " ".join(str(error).split("\n\n")[0].split())
            raise BadInput(
                f"{self._name}: not a database of this version ({statement}: {reason}); "
                "run `benchc diagnose build` again"
            ) from None


@contextmanager
def opened(path: Path) -> Iterator[Facts]:
    """Open a database for reading.

    Raises:
        BadInput: no such file, or not a DuckDB database.
    """
    with _attached({"first": path}) as connection:
        connection.execute("USE first")
        yield Facts(connection, str(path))


@contextmanager
def opened_both(first: Path, second: Path) -> Iterator[Facts]:
    """Open two databases for reading, as `first` and `second` in the statements.

    Raises:
        BadInput: no such file, or not a DuckDB database.
    """
    with _attached({"first": first, "second": second}) as connection:
        yield Facts(connection, f"{first} or {second}")


@contextmanager
def _attached(paths: Mapping[str, Path]) -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect(config={"threads": 1})
    try:
        for name, path in paths.items():
            if not path.is_file():
                raise BadInput(f"{path}: no such database; run `benchc diagnose build`")
            place = str(path).replace("'", "''")
            try:
                connection.execute(f"ATTACH '{place}' AS {name} (READ_ONLY)")
            except duckdb.Error as error:
                reason = " ".join(str(error).split())
                raise BadInput(f"{path}: not a readable DuckDB database: {reason}") from None
        yield connection
    finally:
        connection.close()


@cache
def _text(statement: str) -> str:
    return resources.files("benchc.report").joinpath("sql", f"{statement}.sql").read_text("utf-8")
