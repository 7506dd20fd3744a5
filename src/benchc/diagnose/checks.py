"""What predictions must be before anything is computed from them; see `sql/checks/`."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import duckdb

from benchc.errors import BadInput
from benchc.sql import statement

#: What holds for the predictions of any model; each is a file in `sql/checks/`.
CHECKS = (
    "repeated",
    "unknown_samples",
    "severities",
    "lengths",
    "distributions",
    "settings",
    "missing",
)


def refuse_faults(
    connection: duckdb.DuckDBPyConnection, checks: Iterable[str], files: Mapping[str, Path | str]
) -> None:
    """Run `sql/checks/` over the tables of a connection; refuse at the first fault.

    Args:
        connection: holds the tables and macros that the checks read.
        checks: names of files in `sql/checks/`; each returns (model, fault).
        files: what to call the file of each model.

    Raises:
        BadInput: the first fault, and how many more of its kind there are.
    """
    for check in checks:
        rows = connection.sql(statement(f"diagnose/checks/{check}"))
        for model, fault in rows.limit(1).fetchall():
            (count,) = rows.aggregate("count(*)").fetchall()[0]
            more = f" (and {count - 1} more like it)" if count > 1 else ""
            raise BadInput(f"{files.get(model, model)}: model {model}: {fault}{more}")
