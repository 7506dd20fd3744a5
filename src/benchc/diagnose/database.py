"""Builds the database: every table of the run, its attributions, and the macros behind them.

Never changes a database in place: it writes a new file beside the old one and swaps them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from benchc import tables
from benchc.diagnose import schema
from benchc.diagnose.accuracy_tests import add_accuracy_tests
from benchc.diagnose.bootstrap import DRAWS
from benchc.diagnose.checks import CHECKS, refuse_faults
from benchc.diagnose.intervals import add_intervals
from benchc.diagnose.nulls import add_nulls
from benchc.diagnose.own_columns import own_values
from benchc.diagnose.provenance import models
from benchc.diagnose.scoped import add_scoped_views
from benchc.diagnose.shifts import refuse_stale
from benchc.diagnose.verdicts import add_verdicts
from benchc.errors import BadInput
from benchc.sql import blamed, insert, statement
from benchc.tables.database import comment, create, new_database, run_frame

#: Rows of a Parquet file that are in memory at once, about 300 bytes each.
_ROWS_AT_ONCE = 100_000


@dataclass(frozen=True)
class Sources:
    """What a database is built from: paths of Parquet tables, and facts that are in no table.

    `models` holds one mapping per model: key, selector, settings, fingerprint and, where there is
    one, the record of its inference. `predictions`, `scores` and `shifts` hold one file per model;
    a file is taken for the model that its rows name. `columns` names own columns of the samples by
    which the measures are taken too.
    """

    samples: Path
    rejected: Path
    selection: Path
    predictions: Sequence[Path]
    scores: Sequence[Path]
    shifts: Sequence[Path]
    models: Sequence[Mapping[str, Any]]
    groups: Mapping[str, Sequence[str]]
    corrupted: Sequence[Path] = ()
    images: Path | None = None
    run: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    draws: int = DRAWS
    columns: Sequence[str] = ()


def build(sources: Sources, path: Path) -> None:
    """Write the database of a run to `path`.

    A reader that holds the old file open keeps it. The content is a function of the sources:
    one thread adds numbers in one order and every table has a total order.

    Args:
        sources: what to read.
        path: where the database goes; its folder is made.

    Raises:
        BadInput: a file that is missing, cut short or of another schema; predictions that fail a
            check in `sql/checks/`; models, predictions, scores and shifts that do not belong
            together, or settings that predictions were not made with; an own column that cannot be
            crossed (`own_columns.own_values`).
    """
    with new_database(path) as connection:
        connection.execute(statement("diagnose/macros"))
        create(connection, (*schema.GIVEN, *schema.DERIVED))
        _load(connection, sources)
        _derive(connection, sources.seed, sources.draws)
        comment(connection, (*schema.GIVEN, *schema.DERIVED))
        comment(connection, schema.VIEWS, "VIEW")
        add_scoped_views(connection)


def _load(connection: duckdb.DuckDBPyConnection, sources: Sources) -> None:
    samples = tables.SAMPLES.read(sources.samples)
    selection = tables.SELECTION.read(sources.selection)
    odd = set(samples["sample_id"]) ^ set(selection["sample_id"])
    if odd:
        raise BadInput(
            f"{sources.selection}: not the selection of {sources.samples}: {min(odd)} "
            f"is in one of them only ({len(odd)} such samples); run the selection again"
        )
    insert(connection, "run", run_frame(sources.run))
    insert(connection, "models", models(sources.models, sources.run))
    insert(connection, "corruptions", _corruptions(sources.groups))
    insert(connection, "samples", samples)
    insert(connection, "own_columns", own_values(samples, sources.columns))
    insert(connection, "selection", selection)
    insert(connection, "rejected", tables.REJECTED.read(sources.rejected))
    if sources.images is not None:
        wanted = list(schema.IMAGES.schema)
        insert(connection, "images", tables.IMAGES.read(sources.images, wanted))
    for path in sorted(sources.corrupted):
        wanted = list(schema.CORRUPTED.schema)
        insert(connection, "corrupted", tables.CORRUPTED.read(path, wanted))
    keys = sorted(entry["key"] for entry in sources.models)
    files = _load_by_model(connection, tables.PREDICTIONS, sources.predictions, keys)
    refuse_faults(connection, [*CHECKS, "uncovered", "unequal"], files)
    for table, paths in ((tables.SCORES, sources.scores), (tables.SHIFTS, sources.shifts)):
        found = _load_by_model(connection, table, paths, keys)
        for model, path in found.items():
            refuse_stale(path, files[model], sources.samples)
    refuse_faults(connection, ["ungrouped"], found)


def _load_by_model(
    connection: duckdb.DuckDBPyConnection,
    table: tables.Table,
    paths: Sequence[Path],
    keys: list[str],
) -> dict[str, Path]:
    """Insert one file per model in the order of their keys; return the file of each model."""
    files: dict[str, Path] = {}
    for path in paths:
        held = table.read(path, ["model"])["model"].unique().sort().to_list()
        if len(held) != 1:
            raise BadInput(f"{path}: holds rows of {held}; a file holds one model's {table.name}")
        (model,) = held
        if model not in keys:
            raise BadInput(f"{path}: holds rows of {model}, which is none of the models {keys}")
        if model in files:
            raise BadInput(f"{path}: holds rows of {model}, and so does {files[model]}")
        files[model] = path
    for model in keys:
        if model not in files:
            raise BadInput(f"model {model}: no {table.name} file was given")
        for rows in table.slices(files[model], _ROWS_AT_ONCE):
            insert(connection, table.name, rows)
    return files


def _derive(connection: duckdb.DuckDBPyConnection, seed: int, draws: int) -> None:
    connection.execute(f"CREATE VIEW pairs AS {statement('diagnose/pairs')}")
    connection.execute(f"CREATE TEMP TABLE paired AS {statement('diagnose/paired')}")
    connection.execute(f"CREATE TEMP VIEW attribution AS {statement('diagnose/attribution')}")
    for table in schema.QUERIED:
        with blamed(f"diagnose/{table.name}") as query:
            connection.execute(f'INSERT INTO "{table.name}" BY NAME {query}')
    add_nulls(connection)
    add_intervals(connection, seed, draws)
    add_accuracy_tests(connection, seed)
    connection.execute(statement("diagnose/resampled_measures"))
    connection.execute(f"CREATE VIEW comparisons AS {statement('diagnose/comparisons')}")
    add_verdicts(connection)


def _corruptions(groups: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    rows = [
        {"corruption": name, "corruption_group": group}
        for group, names in groups.items()
        for name in names
    ]
    return schema.CORRUPTIONS.conform(schema.CORRUPTIONS.from_rows(rows))
