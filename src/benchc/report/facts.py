"""What the report reads from the database: one statement in `sql/` each."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from benchc import sql
from benchc.errors import BadInput
from benchc.tables.database import damage, opened

Row = dict[str, Any]

#: The samples that figures may be taken over, the most telling first.
SCOPES = ("selection", "control", "pool")


class Facts:
    """Answers to packaged statements, by name."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        paths: Mapping[str, Path],
        stage: str = "report",
        maker: str = "benchc diagnose build",
    ):
        """Keep what is needed to answer, and to say what is wrong.

        Args:
            connection: An open database, or several.
            paths: Where each lies.
            stage: Whose folder `sql` holds the statements.
            maker: The command that builds such a database.
        """
        self._connection = connection
        self._paths = paths
        self._stage = stage
        self._maker = maker

    def __call__(self, statement: str, **values: Any) -> list[Row]:
        """Return the rows of `sql/STATEMENT.sql`, with `values` for its parameters.

        Raises:
            BadInput: the database is damaged or lacks what the statement reads.
        """
        try:
            return sql.rows(self._connection, sql.statement(f"{self._stage}/{statement}"), values)
        except duckdb.Error as error:
            if found := damage(error, self._paths.values()):
                raise BadInput(found) from None
            raise BadInput(
                f"{' or '.join(map(str, self._paths.values()))}: not a database of this version "
                f"({statement}: {sql.reason(error)}); run `{self._maker}` again"
            ) from None


@contextmanager
def facts_of(paths: Mapping[str, Path], **kind: str) -> Iterator[Facts]:
    """Open databases for reading, under the names that the statements give them.

    Args:
        paths: by name; the first is the one that a statement means where it names none.
        kind: `stage` and `maker` of `Facts`.

    Raises:
        BadInput: no such file, or not a DuckDB database.
    """
    with opened(paths) as connection:
        yield Facts(connection, paths, **kind)
