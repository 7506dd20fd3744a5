"""What each corruption did to one model: its shifts, from its predictions.

Never pairs rows of different models, and refuses predictions that are not whole.
"""

from collections.abc import Iterable, Mapping

import duckdb
import polars as pl

from benchc import tables
from benchc.diagnose import schema
from benchc.diagnose.statements import CHECKS, fetch, insert, statement
from benchc.errors import BadInput


def shifts(
    predictions: pl.DataFrame,
    samples: pl.DataFrame,
    selection: pl.DataFrame | None = None,
    *,
    model: str | None = None,
    name: str = "predictions",
) -> pl.DataFrame:
    """Return the shifts of one model over every sample it was run on.

    dS and dC are corrupted minus clean normalised entropy and misalignment; RAS follows from them
    (diagnosis protocol, section 1). Where the clean or the corrupted row has no distribution, all
    three are NULL.

    Args:
        predictions: `predictions` rows of one model, the clean condition among them.
        samples: `samples` rows of the whole pool.
        selection: `selection` rows; where given, kept and control samples must all be there.
        model: the key the rows must have; None takes the key of the rows.
        name: what to call the predictions in a message, for instance their path.

    Returns:
        A `shifts` table, sorted by its key.

    Raises:
        BadInput: rows of another model, a pair twice or missing, probabilities that are no
            distribution or do not fit the sample's options, mixed scoring or temperature.
    """
    found = predictions["model"].unique().sort().to_list()
    wanted = [model] if model is not None else found[:1]
    if not found:
        raise BadInput(f"{name}: holds no predictions; run the model's inference again")
    if found != wanted:
        raise BadInput(f"{name}: holds rows of {', '.join(found)}; only {wanted[0]} was expected")
    connection = working_connection()
    try:
        connection.execute(statement("macros"))
        given = [(tables.SAMPLES, samples), (tables.PREDICTIONS, predictions)]
        given += [] if selection is None else [(tables.SELECTION, selection)]
        for table, frame in given:
            connection.execute(schema.create_table(table))
            insert(connection, table.name, frame)
        checks = [*CHECKS, "uncovered"] if selection is not None else CHECKS
        refuse_faults(connection, checks, {found[0]: name})
        connection.execute(f"CREATE TABLE scores AS {statement('scores')}")
        return tables.SHIFTS.conform(fetch(connection, statement("shifts")))
    finally:
        connection.close()


def working_connection() -> duckdb.DuckDBPyConnection:
    """Return an in-memory DuckDB whose results do not depend on the machine: one thread, 1 GB.

    One thread adds floating-point numbers in one order, so the same tables give the same bits.
    """
    connection = duckdb.connect(":memory:", config={"threads": 1, "memory_limit": "1GB"})
    connection.execute("SET enable_progress_bar = false")
    return connection


def refuse_faults(
    connection: duckdb.DuckDBPyConnection, checks: Iterable[str], files: Mapping[str, str]
) -> None:
    """Run `sql/checks/` over `predictions` and `samples`; refuse at the first fault.

    Args:
        connection: holds the tables and macros that the checks read.
        checks: names of files in `sql/checks/`; each returns (model, fault).
        files: what to call the predictions of each model.

    Raises:
        BadInput: the first fault, and how many more of its kind there are.
    """
    for check in checks:
        rows = connection.sql(statement(f"checks/{check}"))
        for model, fault in rows.limit(1).fetchall():
            (count,) = rows.aggregate("count(*)").fetchall()[0]
            more = f" (and {count - 1} more like it)" if count > 1 else ""
            raise BadInput(f"{files.get(model, model)}: model {model}: {fault}{more}")
