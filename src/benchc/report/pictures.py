"""The pictures of the report: rendered again, compared with what the models saw, made small.

Each one ends as a data URI.
"""

import base64
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np
import polars as pl

from benchc import tables
from benchc.corrupt import condition
from benchc.errors import BadInput
from benchc.pictures.decode import decode_stored
from benchc.pictures.pixels import Pixels, pixel_hash
from benchc.report.facts import Facts

#: Longer side of a thumbnail, pixels.
SIDE = 160
# As WebP they would be a fifth smaller, and take 25 times as long to write: a report has thousands.
_QUALITY = 75


@dataclass
class Tally:
    """How many of the pictures shown were compared with the stored hashes, and how many agreed."""

    compared: int = 0
    agreed: int = 0


class Pictures:
    """The stored pictures of a pool: bytes in memory, decoded when asked for."""

    def __init__(self, path: Path, only: str | None = None):
        """Read `images.parquet`.

        Args:
            path: the table.
            only: the one picture that will be asked for; the others stay on the disk.

        Raises:
            BadInput: no such table.
        """
        self._path = path
        if only is None:
            held = tables.IMAGES.read(path, ["image_id", "bytes"])
        else:
            tables.IMAGES.check(path)
            one = tables.scan(path).filter(pl.col("image_id") == only)
            held = one.select("image_id", "bytes").collect()
        self._bytes: dict[str, bytes] = dict(held.iter_rows())
        self._decoded = lru_cache(maxsize=16)(lambda image_id: decode_stored(self._bytes[image_id]))

    def __getitem__(self, image_id: str) -> Pixels:
        """Return a picture, RGB (height, width, 3) uint8.

        Raises:
            BadInput: a picture that the table does not hold.
        """
        if image_id not in self._bytes:
            raise BadInput(
                f"{self._path}: no picture {image_id}; the database was built from other pictures"
            )
        return self._decoded(image_id)


@dataclass(frozen=True)
class Renderer:
    """Renders conditions of stored pictures as the run did."""

    facts: Facts
    pictures: Pictures
    seed: int
    reference_side: int | None = None
    tally: Tally = field(default_factory=Tally)
    _hashes: dict[str, dict[tuple[str, int], str]] = field(default_factory=dict)

    def thumbnail(self, image_id: str, corruption: str, severity: int) -> str:
        """Return one condition of a picture as a small JPEG data URI."""
        return data_uri(self.picture(image_id, corruption, severity))

    def picture(self, image_id: str, corruption: str, severity: int) -> Pixels:
        """Return one condition of a picture, RGB (height, width, 3) uint8, and compare its hash.

        Raises:
            BadInput: a picture that the table does not hold.
        """
        shown = condition(
            self.pictures[image_id],
            corruption,
            severity,
            seed=self.seed,
            image_id=image_id,
            reference_side=self.reference_side,
        )
        self._compare(image_id, corruption, severity, shown)
        return shown

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


def data_uri(rgb: Pixels) -> str:
    """Return a picture as a JPEG data URI, its longer side at most SIDE."""
    height, width = rgb.shape[:2]
    factor = SIDE / max(height, width)
    if factor < 1:
        size = max(1, round(width * factor)), max(1, round(height * factor))
        small = cv2.resize(rgb, size, interpolation=cv2.INTER_AREA)
    else:
        small = np.ascontiguousarray(rgb)
    bgr = cv2.cvtColor(np.asarray(small, dtype=np.uint8), cv2.COLOR_RGB2BGR)
    _, data = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
    return "data:image/jpeg;base64," + base64.b64encode(data.tobytes()).decode("ascii")
