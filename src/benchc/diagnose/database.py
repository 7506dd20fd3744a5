"""Builds the database: every table of the run, its attributions, and the macros behind them.

Never changes a database in place: it writes a new file beside the old one and swaps them.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import polars as pl

from benchc import tables
from benchc.diagnose import schema
from benchc.diagnose.bootstrap import DRAWS
from benchc.diagnose.intervals import add_intervals
from benchc.diagnose.nulls import add_nulls
from benchc.diagnose.shifts import refuse_faults, working_connection
from benchc.diagnose.statements import CHECKS, FINDINGS, insert, statement
from benchc.errors import BadInput

#: The oldest storage format in use; DuckDB 1.2 and later read it.
STORAGE_VERSION = "v1.2.0"

#: Of DuckDB, which spills beyond it; Python, polars and the bootstrap take the rest of 1 GB.
MEMORY_LIMIT = "256MB"

#: Rows of a Parquet file that are in memory at once, about 300 bytes each.
_ROWS_AT_ONCE = 100_000


@dataclass(frozen=True)
class Sources:
    """What a database is built from: paths of Parquet tables, and facts that stand in no table.

    `models` holds one mapping a model: key, selector, settings and fingerprint. `predictions` and
    `shifts` hold one file a model; a file is taken for the model that its rows name.
    """

    samples: Path
    rejected: Path
    selection: Path
    predictions: Sequence[Path]
    shifts: Sequence[Path]
    models: Sequence[Mapping[str, Any]]
    groups: Mapping[str, Sequence[str]]
    corrupted: Sequence[Path] = ()
    images: Path | None = None
    run: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    draws: int = DRAWS


def build(sources: Sources, path: Path) -> None:
    """Write the database of a run to `path`.

    A reader that holds the old file open keeps it. The content is a function of the sources:
    one thread adds numbers in one order and every table has a total order.

    Args:
        sources: what to read.
        path: where the database goes; its folder is made.

    Raises:
        BadInput: a file that is missing, cut short or of another schema; predictions that fail a
            check in `sql/checks/`; models, predictions and shifts that do not belong together.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tables.renamed_into_place(path) as temporary, _new_database(temporary) as connection:
        connection.execute(statement("macros"))
        for table in (*schema.GIVEN, schema.SCORES, *schema.DERIVED):
            connection.execute(schema.create_table(table))
        _load(connection, sources)
        _derive(connection, sources.seed, sources.draws)
        connection.execute("BEGIN")
        for table in (*schema.GIVEN, schema.SCORES, *schema.DERIVED):
            _comment(connection, table, "TABLE")
        for view in schema.VIEWS:
            _comment(connection, view, "VIEW")
        connection.execute("COMMIT")


@contextmanager
def _new_database(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    path.unlink()
    with TemporaryDirectory(dir=path.parent, prefix=f"{path.name}.spill.") as spill:
        connection = working_connection()
        try:
            connection.execute(f"SET temp_directory = {schema.quoted(spill)}")
            connection.execute(f"SET memory_limit = '{MEMORY_LIMIT}'")
            connection.execute(
                f"ATTACH {schema.quoted(str(path))} AS building "
                f"(STORAGE_VERSION '{STORAGE_VERSION}')"
            )
            connection.execute("USE building")
            yield connection
            connection.execute("USE memory")
            connection.execute("DETACH building")
        finally:
            connection.close()


def _load(connection: duckdb.DuckDBPyConnection, sources: Sources) -> None:
    samples = tables.SAMPLES.read(sources.samples)
    selection = tables.SELECTION.read(sources.selection)
    odd = set(samples["sample_id"]) ^ set(selection["sample_id"])
    if odd:
        raise BadInput(
            f"{sources.selection}: not the selection of {sources.samples}: {min(odd)} "
            f"is in one of them only ({len(odd)} such samples); run the selection again"
        )
    insert(connection, "run", _run(sources.run))
    insert(connection, "models", _models(sources.models))
    insert(connection, "corruptions", _corruptions(sources.groups))
    insert(connection, "samples", samples)
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
    files = _load_by_model(connection, tables.SHIFTS, sources.shifts, keys)
    connection.execute(f"INSERT INTO scores BY NAME {statement('scores')}")
    refuse_faults(connection, ["ungrouped", "stale"], files)


def _load_by_model(
    connection: duckdb.DuckDBPyConnection,
    table: tables.Table,
    paths: Sequence[Path],
    keys: list[str],
) -> dict[str, str]:
    """Insert one file a model in the order of their keys; return the file of each model."""
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
        for rows in _slices(files[model]):
            insert(connection, table.name, rows)
    return {model: str(path) for model, path in files.items()}


def _slices(path: Path) -> Iterator[pl.DataFrame]:
    """Yield the rows of a checked table, some at a time, in the order of the file."""
    rows = tables.scan(path)
    for start in range(0, rows.select(pl.len()).collect().item(), _ROWS_AT_ONCE):
        yield rows.slice(start, _ROWS_AT_ONCE).collect()


def _derive(connection: duckdb.DuckDBPyConnection, seed: int, draws: int) -> None:
    connection.execute(f"CREATE VIEW pairs AS {statement('pairs')}")
    connection.execute(f"CREATE TEMP TABLE paired AS {statement('paired')}")
    connection.execute(f"CREATE TEMP VIEW attribution AS {statement('attribution')}")
    for table in schema.QUERIED:
        connection.execute(f'INSERT INTO "{table.name}" BY NAME {statement(table.name)}')
    add_nulls(connection)
    add_intervals(connection, seed, draws)
    connection.execute(f"CREATE VIEW comparisons AS {statement('comparisons')}")
    connection.execute(f"CREATE TEMP VIEW most_accurate AS {statement('most_accurate')}")
    for finding in FINDINGS:
        contrasts = statement(f"verdicts/{finding}")
        connection.execute(f"CREATE TEMP TABLE contrasts AS {contrasts}")
        verdicts = statement("verdicts")
        connection.execute(f"INSERT INTO verdicts BY NAME {verdicts}", {"finding": finding})
        connection.execute("DROP TABLE contrasts")


def _comment(connection: duckdb.DuckDBPyConnection, table: tables.Table, kind: str) -> None:
    for comment in schema.comments(table, kind):
        connection.execute(comment)


def _run(facts: Mapping[str, Any]) -> pl.DataFrame:
    rows = [
        {"name": name, "value": value if isinstance(value, str) else _json(value)}
        for name, value in facts.items()
    ]
    return schema.RUN.conform(schema.RUN.from_rows(rows))


def _models(entries: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    rows = [
        {
            "model": entry["key"],
            "selector": entry["selector"],
            "settings": _json(entry["settings"]),
            "fingerprint": entry["fingerprint"],
        }
        for entry in entries
    ]
    return schema.MODELS.conform(schema.MODELS.from_rows(rows))


def _corruptions(groups: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    rows = [
        {"corruption": name, "corruption_group": group}
        for group, names in groups.items()
        for name in names
    ]
    return schema.CORRUPTIONS.conform(schema.CORRUPTIONS.from_rows(rows))


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
