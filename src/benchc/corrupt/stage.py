"""One corruption of many pictures: rendered, hashed, measured against clean.

The recipe and the hash are enough to render a picture again, so none is stored unless asked for.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import polars as pl

from benchc.config.corruptions import SEVERITIES
from benchc.corrupt.condition import condition
from benchc.corrupt.measure import against
from benchc.corrupt.plugins import check_plugin
from benchc.corrupt.render import check_name, check_severity
from benchc.errors import BadInput
from benchc.pictures.decode import decode_stored
from benchc.pictures.pixels import Format, Pixels, encode, pixel_hash

SCHEMA = pl.Schema(
    {
        "image_id": pl.String(),
        "corruption": pl.String(),
        "severity": pl.Int64(),
        "width": pl.Int64(),
        "height": pl.Int64(),
        "pixels_sha256": pl.String(),
        "mean_absolute_difference": pl.Float64(),
        "ssim": pl.Float64(),
        "bytes": pl.Binary(),
    }
)
"""Columns of what `render_corruption` returns."""


def render_corruption(
    images: pl.DataFrame,
    name: str,
    severities: Iterable[int] = SEVERITIES,
    *,
    seed: int,
    reference_side: int | None = None,
    store: Format | None = None,
    workers: int = 1,
    progress: Callable[[], object] = lambda: None,
) -> pl.DataFrame:
    """Render every picture at every severity of one corruption.

    Args:
        images: columns image_id, width, height, bytes (lossless coded RGB).
        name: a corruption of the convention, or a plug-in of the run.
        severities: 1 to 5.
        seed: the run's seed.
        reference_side: see `corrupt`.
        store: "png" or "webp" keeps the pixels, lossless, in column `bytes`.
        workers: threads that share the pictures; the result does not depend on it.
        progress: called once a picture.

    Returns:
        A frame with the columns of SCHEMA, one row per picture and severity, in the order given;
        `bytes` is NULL unless stored, `ssim` is NULL where a side is below 7 pixels.

    Raises:
        BadInput: a picture cannot be read, or is not of the size its row states.
        ValueError: for an unknown corruption, severity or format.
    """
    levels = list(severities)
    check_name(name)
    check_plugin(name)
    for level in levels:
        check_severity(level)
    if store not in (None, "png", "webp"):
        raise ValueError(f"store {store!r}: expected 'png', 'webp' or nothing")

    def render(row: dict[str, Any]) -> list[tuple[object, ...]]:
        clean = _read(row)
        measure = against(clean)
        rows: list[tuple[object, ...]] = []
        for level in levels:
            picture = condition(
                clean,
                name,
                level,
                seed=seed,
                image_id=row["image_id"],
                reference_side=reference_side,
            )
            rows.append(
                (
                    row["image_id"],
                    name,
                    level,
                    row["width"],
                    row["height"],
                    pixel_hash(picture),
                    *measure(picture),
                    encode(picture, store) if store else None,
                )
            )
        progress()
        return rows

    rows = images.iter_rows(named=True)
    if workers > 1:
        with ThreadPoolExecutor(workers) as pool:
            done = list(pool.map(render, rows))
    else:
        done = [render(row) for row in rows]
    return pl.DataFrame([row for some in done for row in some], schema=SCHEMA, orient="row")


def _read(row: dict[str, Any]) -> Pixels:
    try:
        clean = decode_stored(row["bytes"])
    except ValueError as error:
        raise BadInput(f"image {row['image_id']}: {error}; prepare the pool again") from None
    if clean.shape[:2] != (row["height"], row["width"]):
        stated, found = (row["width"], row["height"]), np.array(clean.shape[1::-1])
        raise BadInput(
            f"image {row['image_id']}: {found[0]} x {found[1]} pixels, its row states "
            f"{stated[0]} x {stated[1]}; prepare the pool again"
        )
    return clean
