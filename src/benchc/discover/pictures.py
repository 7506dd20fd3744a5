"""The pictures that questions are asked about, clean or corrupted.

Never holds a picture twice: it is drawn, and corrupted, when it is first loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

import numpy as np
from PIL import Image

from benchc.corrupt.render import corrupt
from benchc.discover.players import Picture
from benchc.reference.picture import draw
from benchc.reference.scene import sample_scene


def pictures(
    split: str, count: int, seed: int, corruption: str | None = None, severity: int = 0
) -> Iterator[Picture]:
    """Yield drawn pictures; splits share no scene with each other or with any training set.

    Args:
        split: Names the set: training, validation, held-out.
        count: How many; a set is a prefix of every longer one.
        seed: Seed of the run.
        corruption: What is done to every picture; None for nothing.
        severity: Severity of the corruption, 1 to 5.
    """
    for number in range(count):
        key = f"{split}/{number:05d}"
        load = partial(reload, key, corruption or "clean", severity, seed=seed)
        yield Picture(key, load, sample_scene("discover", split, seed, number))


@cache
def reload(key: str, corruption: str, severity: int, seed: int) -> Image.Image:
    """Return the picture of a key, clean or corrupted; the same pixels always."""
    split, _, number = key.rpartition("/")
    pixels = draw(sample_scene("discover", split, seed, int(number)))
    if corruption != "clean":
        pixels = corrupt(pixels, corruption, severity, seed=seed, image_id=key)
    return Image.fromarray(np.ascontiguousarray(pixels))
