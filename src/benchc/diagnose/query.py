"""Questions to the database, in SQL: a statement reads open databases, nothing else."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb
import polars as pl

from benchc import sql as shared
from benchc.diagnose import schema
from benchc.errors import BadInput
from benchc.tables.database import damage, opened, opens

DISCOVERIES = {
    "discovery": ("discover/default/discovery.duckdb", "make discover"),
    "discovery_full": ("discover/full/discovery.duckdb", "make discover-full"),
}
"""Databases that answer too: where each lies beside the run's, and what builds it."""

_ODD = re.compile(r"\b(BIT|BLOB|INTERVAL|UNION|VARIANT)\b")
_AGGREGATE = re.compile(r"\b(avg|mean|median|sum|count|count_if|corr|stddev|mode)\s*\(", re.I)
_TAKEN = {"memory", "system", "temp"}


def query(
    path: Path | str, sql: str, attached: Iterable[str] = (), limit: int | None = None
) -> pl.DataFrame:
    """Run one SQL statement on a database, read-only, and return its rows.

    Intervals, bytes and other values that not every format has a type for come as text.

    What a discovery found answers as `discovery.skills`, if it lies beside the database; see
    `DISCOVERIES`.

    Args:
        path: the database.
        sql: one statement.
        attached: further databases, each as PATH or NAME=PATH; one answers as NAME.table, and
            without a NAME by the name of its file.
        limit: rows to return at most; None returns all.

    Raises:
        BadInput: no such database, a file that is none or damaged, or SQL that DuckDB refuses.
    """
    if not Path(path).is_file():
        raise BadInput(f"{path}: no such database; run `snakemake --cores all` to build it")
    databases = _databases(Path(path), sql, attached)
    with opened(databases.paths, threads=None) as connection:
        try:
            if len(connection.extract_statements(sql)) != 1:
                raise BadInput("SQL refused: give one statement")
            _warn_of_stacked(sql)
            rows = connection.sql(sql)
            if rows is None:
                return pl.DataFrame()
            return pl.DataFrame(_plain(rows if limit is None else rows.limit(limit)))
        except duckdb.PermissionException as error:
            raise BadInput(
                f"SQL refused: {shared.reason(error)}; a statement reads only these databases, and "
                "its rows go to a file by --format csv --out FILE"
            ) from None
        except duckdb.Error as error:
            if found := damage(error, databases.paths.values()):
                raise BadInput(found) from None
            raise BadInput(f"SQL refused: {shared.reason(error)}{databases.missing}") from None
        except pl.exceptions.DuplicateError:
            raise BadInput("SQL refused: two columns have one name; rename one with AS") from None


@dataclass(frozen=True)
class _Databases:
    """What a statement can read, and what to say of those that it misses."""

    paths: Mapping[str, Path]
    missing: str


def _databases(path: Path, sql: str, attached: Iterable[str]) -> _Databases:
    own = path.stem if path.stem not in _TAKEN | DISCOVERIES.keys() else "run"
    paths = {own: path}
    for text in attached:
        given, _, rest = text.rpartition("=")
        place = Path(rest)
        alias = given or place.stem
        if alias in paths or alias in _TAKEN:
            raise BadInput(f"--attach {text}: {alias!r} is taken; give another name: NAME={rest}")
        paths[alias] = place
    missing = ""
    for name, beside, maker in _discoveries(path.parent):
        if name in paths:
            continue
        named = re.search(rf'\b{name}"?\s*\.', sql, re.IGNORECASE) is not None
        if named and not beside.is_file():
            missing += f" (there is no {beside}; `{maker}` builds one)"
        elif beside.is_file() and (named or opens(beside)):
            paths[name] = beside
    return _Databases(paths, missing)


def _discoveries(folder: Path) -> Iterator[tuple[str, Path, str]]:
    for name, (place, maker) in DISCOVERIES.items():
        yield name, folder / place, maker


def _warn_of_stacked(sql: str) -> None:
    """Say so where an aggregate runs over the rows of several scopes or crossings."""
    if not _AGGREGATE.search(sql):
        return
    for table in (*schema.DERIVED, *schema.VIEWS):
        stacked = [
            column
            for column in ("scope", "crossing")
            if column in table.schema and not re.search(rf"\b{column}\b", sql, re.IGNORECASE)
        ]
        # Not a table of another schema, such as selection.pairs.
        read = rf'\b(?:from|join)\s+(?:main\.)?"?{table.name}\b(?!"?\s*\.)'
        if stacked and re.search(read, sql, re.IGNORECASE):
            print(
                f"benchc: {table.name} holds several of {' and '.join(stacked)} below each other, "
                "so that this counts pairs more than once; name one, or read "
                f"selection.{table.name}",
                file=sys.stderr,
            )


def _plain(rows: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Turn columns into text of which polars, CSV or JSON has no type."""
    odd = [
        shared.name(name)
        for name, kind in zip(rows.columns, rows.types, strict=True)
        if _ODD.search(str(kind))
    ]
    texts = ", ".join(f"{name}::VARCHAR AS {name}" for name in odd)
    return rows.project(f"* REPLACE ({texts})") if odd else rows
