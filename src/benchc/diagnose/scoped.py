"""A schema per scope, with a view per crossing: tables in which every row is one thing.

The stacked tables hold several scopes and crossings below each other, so that an average over all
their rows counts every pair several times. In `selection.measures_by_severity` it cannot.
"""

from collections.abc import Iterator
from dataclasses import replace

import duckdb

from benchc.diagnose import schema
from benchc.diagnose.figures import CROSSINGS
from benchc.diagnose.intervals import COMPARED
from benchc.diagnose.losses import ASKED
from benchc.diagnose.statistics_schema import COMPARISONS, LOSSES
from benchc.sql import literal, name
from benchc.tables import Table
from benchc.tables.columns import CROSSED
from benchc.tables.database import comment

SCOPES = {
    "selection": "over the selection (the benchmark)",
    "control": "over the control (a random subset of the pool)",
    "pool": "over the whole pool",
}
_STACKING = {column.name for column in CROSSED} - {"model"}
_NOT_SCOPED = ("scopes", "cells", "differences")


def add_scoped_views(connection: duckdb.DuckDBPyConnection) -> None:
    """Create and describe the views of every scope."""
    for scope, samples in SCOPES.items():
        connection.execute(f"CREATE SCHEMA {scope}")
        views = []
        for stacked, crossing in stackings():
            view = scoped(stacked, crossing)
            columns = ", ".join(name(column.name) for column in view.columns)
            where = f"scope = {literal(scope)}"
            if crossing is not None:
                where += f" AND crossing = {literal(crossing)}"
            connection.execute(
                f"CREATE VIEW {scope}.{name(view.name)} AS "
                f"SELECT {columns} FROM main.{name(stacked.name)} WHERE {where}"
            )
            views.append(replace(view, description=f"{view.description}; {samples}"))
        comment(connection, views, "VIEW", scope)


def stackings() -> Iterator[tuple[Table, str | None]]:
    """Yield every stacked table with every crossing it holds; None where it holds no crossings."""
    for table in (*schema.DERIVED, *schema.VIEWS):
        if "scope" not in table.schema or table.name in _NOT_SCOPED:
            continue
        if "crossing" not in table.schema:
            yield table, None
        elif table is LOSSES:
            yield from ((table, crossing) for crossing in ASKED)
        else:
            for crossing in COMPARED if table is COMPARISONS else CROSSINGS:
                yield table, crossing


def scoped(stacked: Table, crossing: str | None) -> Table:
    """Return what a view of one scope and crossing holds: only columns that vary in it."""
    if crossing is None:
        dropped, title, fixed = {"scope"}, stacked.name, ""
    else:
        dropped = _STACKING - set(CROSSINGS[crossing])
        title = stacked.name if crossing == "all" else f"{stacked.name}_by_{crossing}"
        fixed = "" if crossing == "all" else f", by {crossing.replace('_by_', ' and ')}"
    return Table(
        title,
        stacked.description + fixed,
        tuple(column for column in stacked.columns if column.name not in dropped),
        tuple(column for column in stacked.key if column not in dropped),
    )
