"""The schemas of every table that stages meet in, and the only way to write and read them.

Never computes: a writer casts, checks the key, and renames into place; a reader refuses drift.
"""

import errno
import fcntl
import glob
import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import polars as pl

from benchc.errors import BadInput

TEXT = pl.String()
INTEGER = pl.Int64()
REAL = pl.Float64()
TRUTH = pl.Boolean()
BYTES = pl.Binary()
TEXTS = pl.List(pl.String())
REALS = pl.List(pl.Float64())


@dataclass(frozen=True)
class Column:
    """One column: its name, type, whether it may be NULL, and what it holds."""

    name: str
    dtype: pl.DataType
    description: str
    nullable: bool = False


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

    def from_rows(self, rows: Iterable[dict]) -> pl.DataFrame:
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
        twice = frame.filter(pl.struct(self.key).is_duplicated())
        if twice.height:
            key = twice.select(self.key).row(0, named=True)
            raise BadInput(f"table {self.name}: {key} occurs more than once")
        return frame.sort(self.key)

    def write(
        self, frame: pl.DataFrame, path: Path | str, metadata: dict[str, str] | None = None
    ) -> None:
        """Write `frame` as Parquet: conformed, to a temporary name, synced, renamed into place.

        `metadata` is kept in the file beside the schema.
        """
        frame = self.conform(frame)
        with renamed_into_place(Path(path)) as temporary:
            frame.write_parquet(temporary, compression="zstd", statistics=False, metadata=metadata)

    def read(self, path: Path | str, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Read a Parquet file that this schema wrote, whole or some columns of it.

        Raises:
            BadInput: the file is missing, cut short, or its columns differ from the schema.
        """
        wanted = None if columns is None else list(columns)
        try:
            drift = _drift(self.schema, pl.read_parquet_schema(path))
            if not drift:
                return pl.read_parquet(path, columns=wanted, hive_partitioning=False, glob=False)
        except FileNotFoundError:
            raise BadInput(f"{path}: no such file; run the stage that writes {self.name}") from None
        except Exception as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise BadInput(
                f"{path}: not a readable Parquet file ({reason}); {self._way_out}"
            ) from None
        raise BadInput(f"{path}: not a `{self.name}` table: {drift}; {self._way_out}")

    @property
    def _way_out(self) -> str:
        return f"give a `{self.name}` table, or, if a run wrote this, delete it and run again"


def scan(path: Path) -> pl.LazyFrame:
    """Return a Parquet file to read parts of; its path is a name, never a pattern."""
    return pl.scan_parquet(path, hive_partitioning=False, glob=False)


def _finite_or_null(column: Column) -> pl.Expr:
    values = pl.col(column.name)
    if column.dtype == REAL:
        return pl.when(values.is_finite()).then(values).alias(column.name)
    if column.dtype == REALS:
        finite = values.list.eval(pl.element().is_finite()).list.all()
        return pl.when(finite).then(values).alias(column.name)
    return values


def _drift(wanted: pl.Schema, found: dict[str, pl.DataType]) -> str:
    for name, dtype in wanted.items():
        if name not in found:
            return f"column {name} is missing"
        if found[name] != dtype:
            return f"column {name} is {found[name]}, not {dtype}"
    extra = [name for name in found if name not in wanted]
    return f"unknown columns {extra}" if extra else ""


#: What an operating system says of a disk that takes no more; libraries repeat it word for word.
_REFUSED = tuple(
    os.strerror(number)
    for number in (
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EFBIG,
        errno.EROFS,
        errno.EACCES,
        errno.ENOTDIR,
        errno.EEXIST,
    )
)


@contextmanager
def renamed_into_place(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path`; on success sync it and rename it to `path`.

    Raises:
        BadInput: the disk is full or must not be written.
    """
    try:
        with _renamed(path) as temporary:
            yield temporary
    except BadInput:
        raise
    except Exception as error:
        for reason in _REFUSED:
            if reason in str(error):
                raise BadInput(
                    f"{path}: cannot be written ({reason}); what is finished is kept: mend that "
                    "and run the same command again"
                ) from None
        raise


@contextmanager
def _renamed(path: Path) -> Iterator[Path]:
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_left_behind(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as held:
            _is_free(held)
            yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
    finally:
        # DuckDB keeps a log, and a folder for what memory does not hold, under longer names.
        for left in path.parent.glob(f"{glob.escape(temporary.name)}*"):
            _remove(left)


def _remove_left_behind(path: Path) -> None:
    """Remove what killed processes left of `path`; a living one holds a lock on its own."""
    ours = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{8}}")
    for left in path.parent.iterdir():
        name = ours.match(left.name)
        if name is None:
            continue
        with suppress(OSError):
            main = path.with_name(name[0])
            if main.exists():
                with main.open("rb+") as held:
                    if not _is_free(held):
                        continue
            _remove(left)


def _is_free(handle: IO[bytes]) -> bool:
    """Lock an open file, and return whether that was possible."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


_MODEL = Column("model", TEXT, "key of the model in the config")
_SAMPLE = Column("sample_id", TEXT, "benchmark/source id")
_IMAGE = Column("image_id", TEXT, "SHA-256 of the decoded RGB pixels and their size")
_CORRUPTION = Column("corruption", TEXT, "corruption name; `clean` or `blank` at severity 0")
_SEVERITY = Column("severity", INTEGER, "0 (clean, blank) or 1 to 5")

SAMPLES = Table(
    "samples",
    "the candidate pool: one multiple-choice question with one picture a row",
    (
        _SAMPLE,
        Column("benchmark", TEXT, "where the sample comes from"),
        Column("category", TEXT, "the benchmark's own category, or empty"),
        Column("question", TEXT, "the question, hint included"),
        Column("options", TEXTS, "2 to 26 option texts in order"),
        Column("answer", INTEGER, "0-based index of the right option"),
        _IMAGE,
        Column("source_ref", TEXT, "the row's id or place in its source"),
    ),
    ("sample_id",),
)

IMAGES = Table(
    "images",
    "the decoded pictures of the pool, stored losslessly",
    (
        _IMAGE,
        Column("width", INTEGER, "pixels"),
        Column("height", INTEGER, "pixels"),
        Column("bytes", BYTES, "PNG of the RGB pixels"),
    ),
    ("image_id",),
)

REJECTED = Table(
    "rejected",
    "what was left out of the pool, and why",
    (
        Column("benchmark", TEXT, "where the row comes from"),
        Column("source_ref", TEXT, "the row's id or place in its source"),
        Column("reason", TEXT, "one of a closed list of reasons"),
        Column("detail", TEXT, "what exactly is wrong with this row, or empty"),
    ),
    ("benchmark", "source_ref"),
)

SCENES = Table(
    "scenes",
    "the description each drawn picture was drawn from; empty for other sources",
    (_IMAGE, Column("scene", TEXT, "JSON description of the scene")),
    ("image_id",),
)

CORRUPTED = Table(
    "corrupted",
    "the recipe and pixel hash of every corrupted picture",
    (
        _IMAGE,
        _CORRUPTION,
        _SEVERITY,
        Column("width", INTEGER, "pixels"),
        Column("height", INTEGER, "pixels"),
        Column("pixels_sha256", TEXT, "hash of the corrupted pixels, hex"),
        Column("mean_absolute_difference", REAL, "from the clean picture, grey levels 0..255"),
        Column("ssim", REAL, "structural similarity to clean, NULL below 7 pixels", True),
        Column("bytes", BYTES, "the lossless picture where `corrupt.store` asks for it", True),
    ),
    ("image_id", "corruption", "severity"),
)

EMBEDDINGS = Table(
    "embeddings",
    "CLIP embeddings of each sample's picture and text, unit length",
    (
        _SAMPLE,
        Column("image", REALS, "unit vector"),
        Column("text", REALS, "unit vector of question and options"),
        Column("text_tokens", INTEGER, "tokens before truncation"),
        Column("text_truncated", TRUTH, "the text was longer than the context"),
    ),
    ("sample_id",),
)

PREDICTIONS = Table(
    "predictions",
    "one row per model, sample and condition: the option distribution",
    (
        _MODEL,
        _SAMPLE,
        _CORRUPTION,
        _SEVERITY,
        Column("scoring", TEXT, "letter or text"),
        Column("temperature", REAL, "what the logits were divided by before the softmax"),
        Column(
            "logits",
            REALS,
            "one a option, natural-log units; upper bounds where status is missing_option",
            True,
        ),
        Column("p", REALS, "softmax of the logits over the options", True),
        Column("top1", INTEGER, "lowest option index that holds the maximum", True),
        Column("is_tie", TRUTH, "several options share the maximum", True),
        Column(
            "option_mass", REAL, "share of the full vocabulary's probability on the options", True
        ),
        Column("status", TEXT, "ok, nonfinite_logits, too_long, ..."),
    ),
    ("model", "sample_id", "corruption", "severity"),
)

SELECTION = Table(
    "selection",
    "which samples make the benchmark, and why each was kept or left out",
    (
        _SAMPLE,
        Column("impurity", REAL, "mean Gini impurity of the answer trajectories", True),
        Column("trajectories", INTEGER, "complete trajectories the mean was taken over"),
        Column("rank", INTEGER, "1-based order of the greedy walk, NULL if not walked", True),
        Column("kept", TRUTH, "part of the benchmark"),
        Column("control", TRUTH, "part of the random subset of the same size"),
        Column(
            "reason", TEXT, "accepted, impurity_not_above, near_duplicate_of:ID, cap, incomplete"
        ),
    ),
    ("sample_id",),
)

SHIFTS = Table(
    "shifts",
    "one row per model, sample and corrupted condition: what the corruption did",
    (
        _MODEL,
        _SAMPLE,
        _CORRUPTION,
        _SEVERITY,
        Column("uncertainty_shift", REAL, "dS: corrupted minus clean normalised entropy", True),
        Column("misalignment_shift", REAL, "dC: corrupted minus clean misalignment", True),
        Column("ras", REAL, "Robustness Alignment Score, -2..1", True),
        Column("clean_correct", INTEGER, "1 if right on the clean picture", True),
        Column("correct", INTEGER, "1 if right on the corrupted picture", True),
        Column("state", TEXT, "cc, cw, wc or ww: clean then corrupted correctness", True),
    ),
    ("model", "sample_id", "corruption", "severity"),
)
