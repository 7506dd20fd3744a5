"""What each prediction of one model is worth, and what each corruption did to it.

Reads nothing of other models, and no interval, null or verdict: those are the database's.
"""

import hashlib
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchc import tables
from benchc.diagnose.checks import CHECKS, refuse_faults
from benchc.errors import BadInput
from benchc.sql import connected, fetch, insert, statement
from benchc.tables.database import create

_MADE_FROM = "benchc.made_from"


class Diagnosis(NamedTuple):
    """The `scores` and `shifts` of one model."""

    scores: pl.DataFrame
    shifts: pl.DataFrame


def diagnose(
    predictions: pl.DataFrame,
    samples: pl.DataFrame,
    selection: pl.DataFrame | None = None,
    *,
    model: str | None = None,
    name: str = "predictions",
) -> Diagnosis:
    """Return the scores and the shifts of one model over every sample it was run on.

    dS and dC are corrupted minus clean normalised entropy and misalignment; RAS follows from them
    (docs/method.md). Where the clean or the corrupted row has no distribution, all three are NULL.

    Args:
        predictions: `predictions` rows of one model, the clean condition among them.
        samples: `samples` rows of the whole pool.
        selection: `selection` rows; where given, kept and control samples must all be there.
        model: the key the rows must have; None takes the key of the rows.
        name: what to call the predictions in a message, for instance their path.

    Returns:
        A `scores` and a `shifts` table, each sorted by its key.

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
    connection = connected()
    try:
        connection.execute(statement("diagnose/macros"))
        given = [(tables.SAMPLES, samples), (tables.PREDICTIONS, predictions)]
        given += [] if selection is None else [(tables.SELECTION, selection)]
        create(connection, [table for table, _ in given])
        for table, frame in given:
            insert(connection, table.name, frame)
        checks = [*CHECKS, "uncovered"] if selection is not None else CHECKS
        refuse_faults(connection, checks, {found[0]: name})
        connection.execute(f"CREATE TABLE scores AS {statement('diagnose/scores')}")
        return Diagnosis(
            tables.SCORES.conform(fetch(connection, "FROM scores")),
            tables.SHIFTS.conform(fetch(connection, statement("diagnose/shifts"))),
        )
    finally:
        connection.close()


def write_diagnosis(
    predictions: Path,
    samples: Path,
    selection: Path,
    scores: Path,
    shifts: Path,
    model: str | None = None,
) -> Diagnosis:
    """Write one model's scores and shifts; both say which files they were made from.

    Raises:
        BadInput: see `diagnose`.
    """
    found = diagnose(
        tables.PREDICTIONS.read(predictions),
        tables.SAMPLES.read(samples),
        tables.SELECTION.read(selection),
        model=model,
        name=str(predictions),
    )
    made_from = {_MADE_FROM: _identity(predictions, samples)}
    tables.SCORES.write(found.scores, scores, made_from)
    tables.SHIFTS.write(found.shifts, shifts, made_from)
    return found


def refuse_stale(diagnosis: Path, predictions: Path, samples: Path) -> None:
    """Refuse scores or shifts that were not made from these predictions and samples.

    Raises:
        BadInput: they were made from others, or do not say from which.
    """
    made_from = pl.read_parquet_metadata(diagnosis).get(_MADE_FROM)
    if made_from != _identity(predictions, samples):
        raise BadInput(
            f"{diagnosis}: does not follow from {predictions} and {samples}; run its diagnosis "
            "again"
        )


def _identity(*paths: Path) -> str:
    hashes = []
    for path in paths:
        with path.open("rb") as file:
            hashes.append(hashlib.file_digest(file, "sha256").hexdigest())
    return " ".join(hashes)
