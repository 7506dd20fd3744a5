"""What a table promises: its columns, types and key; the only way to write and read one.

A writer casts, checks the key, and renames into place; a reader refuses drift.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from benchc.errors import BadInput, outward
from benchc.tables.files import renamed_into_place
from benchc.tables.seal import IDENTITY, NOT_SEALED, SEAL, UNSEALED, damage, seal

TEXT = pl.String()
INTEGER = pl.Int64()
REAL = pl.Float64()
TRUTH = pl.Boolean()
BYTES = pl.Binary()
TEXTS = pl.List(pl.String())
REALS = pl.List(pl.Float64())

#: Of arithmetic: how far a number may lie out of its range.
_ROUNDING = 1e-9

_marks: dict[str, str] = {}


@dataclass(frozen=True)
class Column:
    """One column: its name, type, whether it may be NULL, and what it holds.

    `range` is the least and the greatest value of a number, or of the numbers of a list.
    """

    name: str
    dtype: pl.DataType
    description: str
    nullable: bool = False
    range: tuple[float, float] | None = None


@dataclass(frozen=True)
class Table:
    """A named schema with the columns that identify a row."""

    name: str
    description: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]

    @property
    def schema(self) -> pl.Schema:
        """Column names and polars types, in order."""
        return pl.Schema({column.name: column.dtype for column in self.columns})

    def empty(self) -> pl.DataFrame:
        """Return the table with no rows."""
        return pl.DataFrame(schema=self.schema)

    def from_rows(self, rows: Iterable[dict[str, Any]]) -> pl.DataFrame:
        """Build a frame from dictionaries; the schema is stated, never inferred."""
        return pl.DataFrame(list(rows), schema=self.schema, orient="row")

    def conform(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return `frame` cast to the schema, non-finite numbers as NULL, sorted by the key.

        Raises:
            BadInput: a column is missing, unknown, of another type or NULL where it may not be,
                or a key occurs twice.
        """
        missing = [c.name for c in self.columns if c.name not in frame.columns]
        unknown = [name for name in frame.columns if name not in self.schema]
        if missing or unknown:
            raise BadInput(f"table {self.name}: missing columns {missing}, unknown {unknown}")
        try:
            frame = frame.select(pl.col(c.name).cast(c.dtype) for c in self.columns)
        except pl.exceptions.PolarsError as error:
            reason = str(error).splitlines()[0]
            raise BadInput(f"table {self.name}: a column does not fit its type: {reason}") from None
        frame = frame.with_columns(_finite_or_null(c) for c in self.columns)
        for column in self.columns:
            if not column.nullable and (nulls := frame[column.name].null_count()):
                raise BadInput(f"table {self.name}: column {column.name} has {nulls} empty values")
        outside = self._outside(frame)
        if outside:
            raise BadInput(f"table {self.name}: {outside}")
        twice = frame.filter(pl.struct(self.key).is_duplicated())
        if twice.height:
            key = twice.select(self.key).row(0, named=True)
            raise BadInput(f"table {self.name}: {key} occurs more than once")
        return frame.sort(self.key)

    def write(
        self, frame: pl.DataFrame, path: Path | str, metadata: dict[str, str] | None = None
    ) -> None:
        """Write `frame` as Parquet: conformed, to a temporary name, synced, renamed into place.

        `metadata` is kept in the file beside the schema. No secret is in either.
        """
        frame = self.conform(outward.frame_without_secrets(frame))
        facts = {**_marks, **outward.json_without_secrets(metadata or {}), SEAL: UNSEALED}
        with renamed_into_place(Path(path)) as temporary:
            frame.write_parquet(temporary, compression="zstd", statistics=False, metadata=facts)
            seal(temporary)

    def read(self, path: Path | str, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Read a Parquet file that this schema wrote, whole or some columns of it.

        Raises:
            BadInput: the file is missing or damaged, if only by one bit; its columns differ from
                the schema; a number is out of its range.
        """
        wanted = list(self.schema) if columns is None else list(columns)
        self.check(path)
        try:
            frame = pl.read_parquet(path, columns=wanted, hive_partitioning=False, glob=False)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise self._unreadable(path, error) from None
        return self._in_range(frame, path)

    def slices(self, path: Path, rows: int) -> Iterator[pl.DataFrame]:
        """Yield the rows of a table, some at a time, in the order of the file.

        Raises:
            BadInput: as `read` does; a number out of its range when its slice is reached.
        """
        self.check(path)
        whole = scan(path)
        for start in range(0, whole.select(pl.len()).collect().item(), rows):
            yield self._in_range(whole.slice(start, rows).collect(), path)

    def check(self, path: Path | str) -> None:
        """Refuse a file that is not whole, or not of this schema.

        Raises:
            BadInput: the file is missing or damaged, or its columns differ from the schema.
        """
        try:
            found = damage(Path(path))
            if found in (None, NOT_SEALED):
                drift = _drift(self.schema, pl.read_parquet_schema(path))
                found = f"not a `{self.name}` table: {drift}" if drift else found
        except FileNotFoundError:
            raise BadInput(f"{path}: no such file; run the stage that writes {self.name}") from None
        except (OSError, pl.exceptions.PolarsError) as error:
            raise self._unreadable(path, error) from None
        if found:
            raise BadInput(f"{path}: {found}; {self._way_out}")

    def _in_range(self, frame: pl.DataFrame, path: Path | str) -> pl.DataFrame:
        outside = self._outside(frame)
        if outside:
            raise BadInput(f"{path}: {outside}; {self._way_out}")
        return frame

    def _unreadable(self, path: Path | str, error: Exception) -> BadInput:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        return BadInput(f"{path}: not a readable Parquet file ({reason}); {self._way_out}")

    def _outside(self, frame: pl.DataFrame) -> str:
        """Return which number lies out of its column's range; empty if none does."""
        ranged = [c for c in self.columns if c.range is not None and c.name in frame.columns]
        ends = frame.select(end for column in ranged for end in _ends(column))
        for column in ranged:
            assert column.range is not None
            low, high = column.range
            for end in ("min", "max"):
                value = ends[f"{column.name}.{end}"][0]
                if value is not None and not low - _ROUNDING <= value <= high + _ROUNDING:
                    return f"column {column.name} holds {value}, which is not in {low}..{high}"
        return ""

    @property
    def _way_out(self) -> str:
        return f"give a `{self.name}` table, or, if a run wrote this, delete it and run again"


def metadata(path: Path) -> dict[str, str]:
    """Return what a table's writer kept beside the schema; nothing where no table can be read."""
    try:
        found = pl.read_parquet_metadata(path)
    except (OSError, pl.exceptions.PolarsError):
        return {}
    return {name: value for name, value in found.items() if name.startswith("benchc.")}


def mark(identity: str) -> None:
    """Let every table that this process writes say what it was made from: 16 digits."""
    _marks[IDENTITY] = identity


def marked() -> str | None:
    """Return what this process marks its tables with, if anything."""
    return _marks.get(IDENTITY)


def scan(path: Path) -> pl.LazyFrame:
    """Return a table, which `Table.check` has seen, to read parts of; its path is no pattern."""
    return pl.scan_parquet(path, hive_partitioning=False, glob=False)


def _finite_or_null(column: Column) -> pl.Expr:
    values = pl.col(column.name)
    if column.dtype == REAL:
        return pl.when(values.is_finite()).then(values).alias(column.name)
    if column.dtype == REALS:
        finite = values.list.eval(pl.element().is_finite()).list.all()
        return pl.when(finite).then(values).alias(column.name)
    return values


def _ends(column: Column) -> list[pl.Expr]:
    low = high = pl.col(column.name)
    if column.dtype == REALS:
        low, high = low.list.min(), high.list.max()
    return [low.min().alias(f"{column.name}.min"), high.max().alias(f"{column.name}.max")]


def _drift(wanted: pl.Schema, found: dict[str, pl.DataType]) -> str:
    for name, dtype in wanted.items():
        if name not in found:
            return f"column {name} is missing"
        if found[name] != dtype:
            return f"column {name} is {found[name]}, not {dtype}"
    extra = [name for name in found if name not in wanted]
    return f"unknown columns {extra}" if extra else ""
