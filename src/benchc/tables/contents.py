"""Hashes of what result files hold, so that two runs can be told equal or not.

Never looks at how a file is stored: compression, row groups, row order and dates do not count.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import duckdb

from benchc.errors import BadInput

_PARTS = "chunks"


def content_hashes(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield a name and a SHA-256 for every table below `folder`, in the order of the names.

    Parquet files and the tables of DuckDB files are hashed by column names, types and rows, as a
    set; CSV files by their bytes. Left out are chunks of inference, which the merged table holds,
    and the rows of `run` that say when and by what a database was made.

    Args:
        folder: Usually `results`.

    Yields:
        Path below `folder` (for a database with `:table`), and 64 hex digits.

    Raises:
        BadInput: there is no such folder, it holds no table, or a file cannot be read.
    """
    if not folder.is_dir():
        raise BadInput(f"{folder}: no such folder")
    files = sorted(folder.rglob("*"))
    if not any(path.suffix in (".csv", ".parquet", ".duckdb") for path in files):
        raise BadInput(f"{folder}: holds no table; give the folder `results` of a run")
    for path in files:
        name = path.relative_to(folder).as_posix()
        parts = path.relative_to(folder).parts
        if _PARTS in parts or any(part.startswith(".") for part in parts):
            continue
        try:
            if path.suffix == ".csv":
                yield name, hashlib.sha256(path.read_bytes()).hexdigest()
            elif path.suffix == ".parquet":
                with duckdb.connect() as connection:
                    yield name, _hash_of(connection, "read_parquet(?)", [str(path)])
            elif path.suffix == ".duckdb":
                yield from _database_hashes(path, name)
        except duckdb.Error as error:
            reason = str(error).splitlines()[0]
            raise BadInput(f"{path}: cannot be read ({reason})") from None


def _database_hashes(path: Path, name: str) -> Iterator[tuple[str, str]]:
    with duckdb.connect(str(path), read_only=True) as connection:
        tables = connection.execute(
            "SELECT table_name FROM duckdb_tables() WHERE NOT internal ORDER BY ALL"
        ).fetchall()
        for (table,) in tables:
            yield f"{name}:{table}", _hash_of(connection, _content(connection, table), [])


def _content(connection: duckdb.DuckDBPyConnection, table: str) -> str:
    """Return what of a table is content: when and by what a database was made is not."""
    quoted = '"' + table.replace('"', '""') + '"'
    columns = [name for name, *_ in connection.execute(f"DESCRIBE FROM {quoted}").fetchall()]
    if (table, columns) == ("run", ["name", "value"]):
        return f"(FROM {quoted} WHERE NOT starts_with(name, 'made.'))"
    return quoted


def _hash_of(connection: duckdb.DuckDBPyConnection, source: str, values: list[str]) -> str:
    described = connection.execute(f"DESCRIBE FROM {source}", values).fetchall()
    columns = [f"{name} {kind}" for name, kind, *_ in described]
    # Numbers become JSON by their shortest text that reads back as the same number.
    (rows,) = connection.execute(
        f"""SELECT coalesce(string_agg(row_hash, '' ORDER BY row_hash), '')
            FROM (SELECT sha256(to_json(content)::VARCHAR) AS row_hash
                  FROM {source} AS content)""",
        values,
    ).fetchall()[0]
    return hashlib.sha256("\n".join([*columns, rows]).encode()).hexdigest()
