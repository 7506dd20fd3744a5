"""The pictures that questions are asked about, clean or corrupted.

A picture is drawn or decoded, and corrupted, when it is loaded.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path

from tqdm import tqdm

from benchc.corrupt import CLEAN, condition
from benchc.discover.players import Picture
from benchc.errors import BadInput
from benchc.keyed import generator
from benchc.pictures.decode import OddPicture, decode_picture
from benchc.pictures.folder import ENDINGS, inside, picture_names
from benchc.pictures.pixels import Pixels, pixel_hash
from benchc.world.picture import draw
from benchc.world.scene import sample_scene

Load = Callable[[str, str, int, int | None], Pixels]
"""Returns the picture of a key under a corruption at a severity with a reference side."""

CONDITION = ("picture", "corruption", "severity", "reference_side")
"""The columns that say which picture a question is about: what `Load` takes."""


def pictures(
    split: str,
    count: int,
    seed: int,
    corruption: str = CLEAN,
    severity: int = 0,
    reference_side: int | None = None,
) -> Iterator[Picture]:
    """Yield drawn pictures; splits share no scene with each other or with any training set.

    Args:
        split: Names the set: training, validation, held-out.
        count: How many; a set is a prefix of every longer one.
        seed: Seed of the run.
        corruption: What is done to every picture.
        severity: Severity of the corruption, 1 to 5; 0 for clean pictures.
        reference_side: See `benchc.corrupt.condition`.
    """
    load = loader(None, seed)
    for number in range(count):
        key = f"{split}/{number:05d}"
        seen = partial(load, key, corruption, severity, reference_side)
        yield Picture(key, seen, sample_scene("discover", split, seed, number))


def folder_pictures(
    folder: Path,
    counts: Mapping[str, int],
    seed: int,
    corruption: str = CLEAN,
    severity: int = 0,
    reference_side: int | None = None,
    needed: Collection[str] | None = None,
) -> dict[str, list[Picture]]:
    """Return the pictures of a folder, shuffled by key and dealt to splits without overlap.

    Args:
        folder: Holds pictures, at any depth.
        counts: How many each split gets, by the name of the setting that says so; the last ones
            get fewer where there are too few.
        seed: Seed of the run.
        corruption: What is done to every picture.
        severity: Severity of the corruption, 1 to 5; 0 for clean pictures.
        reference_side: See `benchc.corrupt.condition`.
        needed: Splits that must not be empty; all of them, if left out.

    Raises:
        BadInput: there is no picture, a link leads out of the folder, or a split that is needed
            gets none.
    """
    try:
        names = picture_names(folder)
    except BadInput as error:
        raise BadInput(f"discover.images: {folder}: {error}") from None
    if not names:
        raise BadInput(
            f"discover.images: {folder} holds no pictures ({', '.join(sorted(ENDINGS))})"
        )
    load = loader(folder, seed)
    order = generator("discover", "folder", seed).permutation(len(names))
    dealt, start = {}, 0
    for split, count in counts.items():
        chosen = [names[i] for i in order[start : start + count]]
        start += count
        if not chosen and split in (counts if needed is None else needed):
            wanted = ", ".join(f"{name} {count}" for name, count in counts.items())
            raise BadInput(
                f"discover.images: {folder} holds {len(names)} pictures, and none is left for "
                f"{split} ({wanted}, dealt in this order); set these so that they add up to "
                f"{len(names)} at most, or choose other `ways`"
            )
        dealt[split] = [
            Picture(name, partial(load, name, corruption, severity, reference_side))
            for name in chosen
        ]
    return dealt


def refuse_unreadable(folder: Path, names: Sequence[str]) -> None:
    """Refuse pictures that cannot be read, before a training that would end at one of them.

    Raises:
        BadInput: the first one, and how many more there are.
    """
    broken = []
    for name in tqdm(names, desc="pictures", disable=None):
        try:
            _photograph(folder, name)
        except BadInput as error:
            broken.append(str(error))
    if broken:
        more = f"; {len(broken) - 1} more cannot be read" if broken[1:] else ""
        raise BadInput(f"{broken[0]}; take it out of the folder{more}")


def loader(images: Path | None, seed: int) -> Load:
    """Return what loads the picture of a key under a condition; the same pixels always.

    A corruption's randomness is keyed by the clean pixels, as in the pool: one photograph under
    one condition is one picture there and here.

    Args:
        images: The folder of the pictures; None for drawn scenes.
        seed: Seed of the run.
    """

    def load(key: str, corruption: str, severity: int, reference_side: int | None) -> Pixels:
        clean = _drawn(key, seed) if images is None else _photograph(images, key)
        return condition(
            clean,
            corruption,
            severity,
            seed=seed,
            image_id=pixel_hash(clean),
            reference_side=reference_side,
        )

    return load


def _photograph(folder: Path, name: str) -> Pixels:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OddPicture)
            return decode_picture(inside(folder, name))
    except BadInput as error:
        raise BadInput(f"{folder / name}: {error}") from None


@cache
def _drawn(key: str, seed: int) -> Pixels:
    split, _, number = key.rpartition("/")
    pixels = draw(sample_scene("discover", split, seed, int(number)))
    pixels.flags.writeable = False
    return pixels
