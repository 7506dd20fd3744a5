"""From a source's rows to the four tables of the pool.

Never lets a row disappear: each ends among the samples or, with a reason, among the rejected.
"""

import json
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from benchc.config.checked import checked
from benchc.config.section import Key
from benchc.config.sources import DrawnSource, Source
from benchc.errors import BadInput
from benchc.keyed import digest
from benchc.pictures.decode import OddPicture
from benchc.pictures.pixels import encode, pixel_hash
from benchc.pool.duplicates import find_duplicates, same_item
from benchc.pool.rows import HARMLESS, Reason, Rejection, Row, SourceRows
from benchc.pool.sources import read_source
from benchc.tables import IMAGES, REJECTED, SAMPLES, SCENES, Table


class Pool(NamedTuple):
    """The four tables of a pool, each as its schema in `benchc.tables` says."""

    samples: pl.DataFrame
    images: pl.DataFrame
    rejected: pl.DataFrame
    scenes: pl.DataFrame


TABLES: dict[str, Table] = dict(zip(Pool._fields, (SAMPLES, IMAGES, REJECTED, SCENES), strict=True))


def build_source(
    key: str,
    spec: Source,
    progress: Callable[[list[Row]], Iterable[Row]] = iter,
) -> Pool:
    """Return the pool of one source, every picture decoded and stored losslessly.

    Args:
        key: The source's name: the benchmark of its samples and the first part of their ids
            (drawn samples carry their track instead).
        spec: What to read; relative paths count from the working directory.
        progress: Wraps the rows about to be decoded, to show how far they are.

    Raises:
        BadInput: The key is no safe name; the source cannot be read; a row is bad and the spec
            says to refuse it; fewer rows are usable than asked for; a name to exclude is unknown.
    """
    checked(Key, key, f"source {key!r}")
    source = _chosen(key, spec, read_source(spec))
    tables = _Tables(key, source.file)
    wanted = _wanted(spec, len(source.rows))
    for row in progress(source.rows):
        if tables.count == wanted:
            tables.reject(row, Reason.NOT_SAMPLED, "")
            continue
        try:
            rgb, note = _noted(row)
        except BadInput as error:
            rejection = Rejection(row.source_ref, Reason.UNDECODABLE_IMAGE, str(error), row.where)
            _refuse(key, spec, source, [rejection])
            tables.reject(row, rejection.reason, rejection.detail)
            continue
        tables.add(row, rgb, note)
    if not isinstance(spec, DrawnSource) and spec.samples and tables.count < wanted:
        raise _too_few(key, wanted, tables.count)
    pool = tables.frames(source.rejected)
    if not tables.count:
        reasons = [
            f"{row['source_ref']}: {row['reason']}: {row['detail']}"
            for row in pool.rejected.head(3).iter_rows(named=True)
        ]
        raise BadInput(
            f"source {key}: none of its {len(source)} rows can be used ({'; '.join(reasons)})"
        )
    return pool


def merge(pools: Sequence[Pool]) -> Pool:
    """Return one pool; of samples that several sources share, the earliest source's stays.

    Duplicates are found by picture and question together and go to the rejected ones. Pictures
    and scenes that no sample shows any more are dropped. The order of `pools` is the only order
    that matters.

    Raises:
        BadInput: Two sources use one benchmark name.
    """
    owner: dict[str, int] = {}
    for number, pool in enumerate(pools):
        names = pl.concat([pool.samples["benchmark"], pool.rejected["benchmark"]])
        for name in names.unique(maintain_order=True):
            if owner.setdefault(name, number) != number:
                raise BadInput(f"benchmark {name} comes from two sources; rename one of them")
    samples = pl.concat(
        [SAMPLES.empty().with_columns(source=pl.lit(0))]
        + [pool.samples.with_columns(source=pl.lit(n)) for n, pool in enumerate(pools)]
    )
    images = _joined(IMAGES, [pool.images for pool in pools])
    repeated = find_duplicates(samples, images)
    repeats = pl.col("sample_id").is_in(list(repeated))
    rejected = REJECTED.from_rows(
        {
            "benchmark": sample["benchmark"],
            "source_ref": sample["source_ref"],
            "reason": Reason.DUPLICATE.value,
            "detail": f"same as {repeated[sample['sample_id']]}",
        }
        for sample in samples.filter(repeats).iter_rows(named=True)
    )
    samples = samples.filter(~repeats).drop("source")
    return Pool(
        samples=SAMPLES.conform(samples),
        images=images.join(samples, on="image_id", how="semi").sort("image_id"),
        rejected=REJECTED.conform(pl.concat([*(pool.rejected for pool in pools), rejected])),
        scenes=_joined(SCENES, [pool.scenes for pool in pools])
        .join(samples, on="image_id", how="semi")
        .sort("image_id"),
    )


def _joined(table: Table, frames: list[pl.DataFrame]) -> pl.DataFrame:
    """Return all rows, the first of each picture."""
    return pl.concat([table.empty(), *frames]).unique("image_id", keep="first", maintain_order=True)


def _wanted(spec: Source, usable: int) -> int:
    wanted = spec.samples or usable
    limit = None if isinstance(spec, DrawnSource) else spec.limit
    return min(wanted, limit or wanted)


def _chosen(key: str, spec: Source, source: SourceRows) -> SourceRows:
    """Leave out what the spec excludes, refuse what it refuses, put the rows in drawing order."""
    if isinstance(spec, DrawnSource):
        return source
    if spec.expect_rows is not None and len(source) != spec.expect_rows:
        raise BadInput(
            f"source {key}: {source.file or spec.path} has {len(source)} rows, "
            f"and {spec.expect_rows} were expected; is it the right file and revision?"
        )
    _check_exclusions(key, spec, source)
    rows, rejected = [], []
    for row in source.rows:
        if row.source_ref in spec.exclude_ids:
            rejected.append(Rejection(row.source_ref, Reason.EXCLUDED_ID))
        elif row.category in spec.exclude_categories:
            rejected.append(Rejection(row.source_ref, Reason.EXCLUDED_CATEGORY, row.category))
        else:
            rows.append(row)
    for verdict in source.rejected:
        if verdict.source_ref in spec.exclude_ids:
            verdict = replace(verdict, reason=Reason.EXCLUDED_ID)
        rejected.append(verdict)
    _refuse(key, spec, source, rejected)
    if spec.samples and spec.samples > len(rows):
        raise _too_few(key, spec.samples, len(rows))
    if spec.samples or spec.limit:
        seed = spec.seed
        rows.sort(key=lambda row: digest("pool", "subset", seed, key, row.source_ref))
    return SourceRows(rows, rejected, source.file)


def _check_exclusions(key: str, spec: Source, source: SourceRows) -> None:
    assert not isinstance(spec, DrawnSource)
    categories = {row.category for row in source.rows}
    for name in spec.exclude_categories:
        if name not in categories and not source.rejected:
            known = ", ".join(sorted(categories)) or "none"
            raise BadInput(
                f"source {key}: exclude_categories names {name!r}, which no row has; it has {known}"
            )
    if "exclude_ids" in spec.model_fields_set:
        ids = {row.source_ref for row in source.rows}
        ids |= {verdict.source_ref for verdict in source.rejected}
        for name in spec.exclude_ids:
            if name not in ids:
                raise BadInput(f"source {key}: exclude_ids names {name!r}, which no row has")


def _refuse(key: str, spec: Source, source: SourceRows, rejected: list[Rejection]) -> None:
    """Stop at rows that are bad in themselves if the spec says so."""
    if isinstance(spec, DrawnSource) or spec.on_bad_row == "reject":
        return
    bad = [verdict for verdict in rejected if verdict.reason not in HARMLESS]
    if not bad:
        return
    first = bad[0]
    more = f" ({len(bad) - 1} more rows are bad)" if len(bad) > 1 else ""
    raise BadInput(
        f"{source.file or key}, {first.where} (id {first.source_ref}): {first.detail}{more}; "
        f"mend it, or set `on_bad_row: reject` for source {key} to leave bad rows out"
    )


def _too_few(key: str, wanted: int, usable: int) -> BadInput:
    return BadInput(
        f"source {key}: {wanted} samples are asked for and {usable} rows are usable; "
        "ask for fewer, or leave `samples` out to take all"
    )


def _noted(row: Row) -> tuple[np.ndarray, str | None]:
    """Return a row's picture, and what is odd about its file."""
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always", OddPicture)
        rgb = row.picture()
    odd = [str(warning.message) for warning in noted if warning.category is OddPicture]
    return rgb, "; ".join(odd) or None


def _json(extra: Mapping[str, object]) -> str | None:
    return json.dumps(extra, ensure_ascii=False, sort_keys=True) if extra else None


class _Tables:
    """Rows of the four tables while they grow; a picture that many samples share is kept once."""

    def __init__(self, key: str, file: str = ""):
        self.key = key
        self.file = Path(file).name
        self.samples: list[dict[str, Any]] = []
        self.images: dict[str, dict[str, Any]] = {}
        self.rejected: list[dict[str, Any]] = []
        self.scenes: dict[str, dict[str, Any]] = {}
        self.seen: dict[tuple[Any, ...], str] = {}

    @property
    def count(self) -> int:
        return len(self.samples)

    def add(self, row: Row, rgb: np.ndarray, note: str | None) -> None:
        image_id = pixel_hash(rgb)
        benchmark = row.benchmark or self.key
        sample_id = f"{benchmark}/{row.source_ref}"
        item = same_item(image_id, row.question, row.options)
        if item in self.seen:
            self.reject(row, Reason.DUPLICATE, f"same as {self.seen[item]}")
            return
        self.seen[item] = sample_id
        if image_id not in self.images:
            self.images[image_id] = {
                "image_id": image_id,
                "width": rgb.shape[1],
                "height": rgb.shape[0],
                "bytes": encode(rgb),
                "note": note,
            }
        if row.scene:
            self.scenes.setdefault(image_id, {"image_id": image_id, "scene": row.scene})
        self.samples.append(
            {
                "sample_id": sample_id,
                "benchmark": benchmark,
                "category": row.category,
                "question": row.question,
                "options": list(row.options),
                "answer": row.answer,
                "image_id": image_id,
                "source_ref": row.source_ref,
                "source_row": f"{self.file}, {row.where}" if row.where else None,
                "picture_file": row.picture_file or None,
                "extra": _json(row.extra),
            }
        )

    def reject(self, row: Row, reason: Reason, detail: str) -> None:
        self.rejected.append(
            {
                "benchmark": row.benchmark or self.key,
                "source_ref": row.source_ref,
                "reason": reason.value,
                "detail": detail,
            }
        )

    def frames(self, before: list[Rejection]) -> Pool:
        rejected = self.rejected + [
            {
                "benchmark": self.key,
                "source_ref": verdict.source_ref,
                "reason": verdict.reason.value,
                "detail": verdict.detail,
            }
            for verdict in before
        ]
        rows = (self.samples, self.images.values(), rejected, self.scenes.values())
        return Pool(
            *(
                table.conform(table.from_rows(found))
                for table, found in zip(TABLES.values(), rows, strict=True)
            )
        )
