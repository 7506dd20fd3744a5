"""The pictures of the report: rendered again, compared with what the models saw, made small.

Never stores a picture in a file: each one ends as a data URI.
"""

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
import polars as pl

from benchc import tables
from benchc.corrupt import corrupt
from benchc.errors import BadInput
from benchc.pixels import Pixels, decode, pixel_hash
from benchc.report.facts import Facts

#: Longer side of a thumbnail, pixels.
SIDE = 160
_QUALITY = 82


@dataclass
class Tally:
    """How many of the pictures shown were compared with the stored hashes, and how many agreed."""

    compared: int = 0
    agreed: int = 0


@dataclass(frozen=True)
class Renderer:
    """Renders conditions of stored pictures as the run did."""

    facts: Facts
    pictures: Mapping[str, Pixels]
    seed: int
    reference_side: int | None = None
    tally: Tally = field(default_factory=Tally)
    _hashes: dict[str, dict[tuple[str, int], str]] = field(default_factory=dict)

    def thumbnail(self, image_id: str, corruption: str, severity: int) -> str:
        """Return one condition of a picture as a small WebP data URI; severity 0 is clean."""
        clean = self.pictures[image_id]
        if severity == 0:
            return data_uri(clean)
        shown = corrupt(
            clean,
            corruption,
            severity,
            seed=self.seed,
            image_id=image_id,
            reference_side=self.reference_side,
        )
        self._compare(image_id, corruption, severity, shown)
        return data_uri(shown)

    def _compare(self, image_id: str, corruption: str, severity: int, shown: Pixels) -> None:
        if image_id not in self._hashes:
            rows = self.facts("hashes", image_id=image_id)
            self._hashes[image_id] = {
                (row["corruption"], row["severity"]): row["pixels_sha256"] for row in rows
            }
        wanted = self._hashes[image_id].get((corruption, severity))
        if wanted is not None:
            self.tally.compared += 1
            self.tally.agreed += wanted == pixel_hash(shown)


def load(path: Path, image_ids: Iterable[str]) -> dict[str, Pixels]:
    """Return the stored pictures of these ids.

    Raises:
        BadInput: no such table, or a picture that it does not hold.
    """
    wanted = sorted(set(image_ids))
    tables.IMAGES.read(path, ["image_id"])
    held = (
        pl.scan_parquet(path, hive_partitioning=False, glob=False)
        .filter(pl.col("image_id").is_in(wanted))
        .select("image_id", "bytes")
        .collect()
    )
    found = {row[0]: row[1] for row in held.iter_rows()}
    for image_id in wanted:
        if image_id not in found:
            raise BadInput(
                f"{path}: no picture {image_id}; the database was built from other pictures"
            )
    return {image_id: decode(found[image_id]) for image_id in wanted}


def data_uri(rgb: Pixels) -> str:
    """Return a picture as a WebP data URI, its longer side at most SIDE."""
    height, width = rgb.shape[:2]
    factor = SIDE / max(height, width)
    if factor < 1:
        size = max(1, round(width * factor)), max(1, round(height * factor))
        small = cv2.resize(rgb, size, interpolation=cv2.INTER_AREA)
    else:
        small = np.ascontiguousarray(rgb)
    bgr = cv2.cvtColor(np.asarray(small, dtype=np.uint8), cv2.COLOR_RGB2BGR)
    _, data = cv2.imencode(".webp", bgr, [cv2.IMWRITE_WEBP_QUALITY, _QUALITY])
    return "data:image/webp;base64," + base64.b64encode(data.tobytes()).decode("ascii")
