"""What a model is asked: the questions, their pictures and the conditions they are shown under."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from benchc.corrupt import BLANK, CLEAN
from benchc.errors import BadInput
from benchc.infer.rendering import Rendering
from benchc.tables import CORRUPTED, IMAGES, SAMPLES, SELECTION, scan


@dataclass(frozen=True)
class Questionnaire:
    """What to ask, whoever answers.

    Attributes:
        samples: `samples` rows.
        images: `images` rows that they show.
        rendering: How to corrupt them.
        conditions: Severities of each corruption, `clean` and `blank` at severity 0 among them.
    """

    samples: pl.DataFrame
    images: pl.DataFrame
    rendering: Rendering
    conditions: Mapping[str, Sequence[int]]


def read(
    samples: Path,
    images: Path,
    corrupted: Sequence[Path],
    selection: Path | None,
    seed: int,
    reference_side: int | None,
) -> Questionnaire:
    """Return what the tables of a run ask.

    Args:
        samples: The pool's samples.
        images: The pool's pictures.
        corrupted: Tables of the corrupt stage, one per corruption.
        selection: Ask its kept and control samples only; None asks all.
        seed: The seed the pictures were corrupted with.
        reference_side: As given to `corrupt`.

    Raises:
        BadInput: a table is missing or drifted, or a sample's picture is in none.
    """
    asked = SAMPLES.read(samples)
    if selection is not None:
        wanted = SELECTION.read(selection).filter(pl.col("kept") | pl.col("control"))
        asked = asked.join(wanted, on="sample_id", how="semi")
    recipes = pl.concat(
        CORRUPTED.read(path, columns=["image_id", "corruption", "severity", "pixels_sha256"])
        for path in corrupted
    )
    rendering = Rendering(seed, reference_side, expected_hashes(recipes), stored_tables(corrupted))
    pictures = asked_images(asked, IMAGES.read(images))
    return Questionnaire(asked, pictures, rendering, conditions(recipes))


def conditions(corrupted: pl.DataFrame) -> dict[str, list[int]]:
    """Return the severities of each corruption, with clean and blank at severity 0 in front."""
    pairs = corrupted.select("corruption", "severity").unique().sort("corruption", "severity")
    found: dict[str, list[int]] = {CLEAN: [0], BLANK: [0]}
    for corruption, severity in pairs.iter_rows():
        found.setdefault(corruption, []).append(severity)
    return found


def stored_tables(paths: Iterable[Path]) -> dict[str, Path]:
    """Return which of the corrupt stage's tables hold pictures, by corruption."""
    found = {}
    for path in paths:
        columns = scan(path).select("corruption", "bytes").head(1).collect()
        if columns.height and columns["bytes"][0] is not None:
            found[columns["corruption"][0]] = path
    return found


def expected_hashes(corrupted: pl.DataFrame) -> dict[tuple[str, str, int], str]:
    """Return the pixel hash of each (image_id, corruption, severity)."""
    rows = corrupted.select("image_id", "corruption", "severity", "pixels_sha256").iter_rows()
    return {(image, name, severity): sha for image, name, severity, sha in rows}


def asked_images(samples: pl.DataFrame, images: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of `images` that `samples` show.

    Raises:
        BadInput: a sample shows a picture that is not in the table.
    """
    missing = samples.join(images, on="image_id", how="anti")
    if missing.height:
        sample = missing["sample_id"][0]
        raise BadInput(f"sample {sample}: its picture is not in the images table; rebuild the pool")
    return IMAGES.conform(images.join(samples, on="image_id", how="semi"))
