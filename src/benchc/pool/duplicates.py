"""When two samples are the same item.

Picture and question must both agree.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from typing import Any

import cv2
import numpy as np
import polars as pl

from benchc.pictures.decode import decode_stored

SIDE = 32
"""Two pictures are compared as grey thumbnails of this side, in pixels."""
NEAR = 6.0
"""Mean absolute difference, in grey levels, up to which two thumbnails show one picture."""
_ASPECT = 0.05


def normalised(text: str) -> str:
    """Return the text with case, spacing, width variants and the final stop taken out."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(".?!: ")


def same_item(image_id: str, question: str, options: Sequence[str]) -> tuple[Any, ...]:
    """Return what two copies of an item inside one source share, however options are ordered."""
    return image_id, normalised(question), *sorted(map(normalised, options))


def find_duplicates(samples: pl.DataFrame, images: pl.DataFrame) -> dict[str, str]:
    """Return the samples that repeat one of an earlier source, and which one they repeat.

    Two samples of different sources are one item when their questions agree and either their
    pictures are the same pixels, or their options agree too and the pictures look the same (a
    carrier may have resized or re-encoded them).

    Args:
        samples: SAMPLES with a column `source`, the number of the pool a row comes from; in the
            order in which earlier rows win.
        images: IMAGES with every picture of the samples, each once.
    """
    coded = dict(images.select("image_id", "bytes").iter_rows())

    @cache
    def thumbnail(image_id: str) -> tuple[float, np.ndarray]:
        rgb = decode_stored(coded[image_id])
        grey = cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY)
        small = cv2.resize(grey, (SIDE, SIDE), interpolation=cv2.INTER_AREA)
        return float(np.log(rgb.shape[1] / rgb.shape[0])), small.astype(np.float64)

    def look_alike(one: str, other: str) -> bool:
        (aspect, grey), (other_aspect, other_grey) = thumbnail(one), thumbnail(other)
        if abs(aspect - other_aspect) > _ASPECT:
            return False
        return float(np.abs(grey - other_grey).mean()) <= NEAR

    kept: dict[str, list[dict[str, Any]]] = defaultdict(list)
    repeated: dict[str, str] = {}
    for sample in samples.iter_rows(named=True):
        earlier = kept[normalised(sample["question"])]
        options = sorted(map(normalised, sample["options"]))
        for other in earlier:
            if other["source"] == sample["source"]:
                continue
            if other["image_id"] == sample["image_id"] or (
                sorted(map(normalised, other["options"])) == options
                and look_alike(other["image_id"], sample["image_id"])
            ):
                repeated[sample["sample_id"]] = other["sample_id"]
                break
        else:
            earlier.append(sample)
    return repeated
