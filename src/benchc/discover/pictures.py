"""The pictures that questions are asked about, clean or corrupted.

Never holds a picture twice: it is drawn, and corrupted, when it is first loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps
from tqdm import tqdm

from benchc.corrupt.render import corrupt
from benchc.discover.players import Picture
from benchc.errors import BadInput
from benchc.keyed import generator
from benchc.reference.picture import draw
from benchc.reference.scene import sample_scene

ENDINGS = frozenset({".jpg", ".jpeg", ".png", ".webp", ".bmp"})
UNREADABLE = (OSError, ValueError, SyntaxError, Image.DecompressionBombError)
"""What Pillow raises at a damaged or foreign file; its PNG reader raises SyntaxError."""


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


def folder_pictures(
    folder: Path,
    counts: Mapping[str, int],
    seed: int,
    corruption: str | None = None,
    severity: int = 0,
) -> dict[str, list[Picture]]:
    """Return the pictures of a folder, shuffled by key and dealt to splits without overlap.

    Args:
        folder: Holds pictures, at any depth.
        counts: How many each split gets; the last ones get fewer where there are too few.
        seed: Seed of the run.
        corruption: What is done to every picture; None for nothing.
        severity: Severity of the corruption, 1 to 5.

    Raises:
        BadInput: there is no picture, or a split gets none.
    """
    names = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.suffix.lower() in ENDINGS and path.is_file()
    )
    if not names:
        raise BadInput(
            f"discover.images: {folder} holds no pictures ({', '.join(sorted(ENDINGS))})"
        )
    order = generator("discover", "folder", seed).permutation(len(names))
    dealt, start = {}, 0
    for split, count in counts.items():
        chosen = [names[i] for i in order[start : start + count]]
        start += count
        if not chosen:
            raise BadInput(
                f"discover.images: {folder} holds {len(names)} pictures, none left for {split}; "
                "ask for fewer in `held_out`, `validation` or `training`"
            )
        dealt[split] = [
            Picture(
                name,
                partial(
                    photograph, name, corruption or "clean", severity, folder=folder, seed=seed
                ),
            )
            for name in chosen
        ]
    return dealt


def refuse_unreadable(folder: Path, names: Sequence[str]) -> None:
    """Refuse pictures that cannot be read, before a training that would end at one of them.

    A JPEG is decoded at an eighth of its size, which reads all of the file in little time.

    Raises:
        BadInput: the first one, and how many more there are.
    """
    broken = []
    for name in tqdm(names, desc="pictures", disable=None):
        try:
            with Image.open(folder / name) as file:
                file.draft("RGB", (file.width // 8, file.height // 8))
                file.load()
        except UNREADABLE as error:
            broken.append((name, " ".join(str(error).split())))
    if broken:
        name, reason = broken[0]
        more = f", nor {len(broken) - 1} more" if broken[1:] else ""
        raise BadInput(
            f"{folder / name}: cannot be read as a picture ({reason}){more}; take it out of the "
            "folder"
        )


def photograph(name: str, corruption: str, severity: int, folder: Path, seed: int) -> Image.Image:
    """Return a picture file as RGB, upright, clean or corrupted; the same pixels always.

    Raises:
        BadInput: it cannot be read.
    """
    try:
        with Image.open(folder / name) as file:
            image = ImageOps.exif_transpose(file).convert("RGB")
    except UNREADABLE as error:
        reason = " ".join(str(error).split())
        raise BadInput(f"{folder / name}: cannot be read as a picture ({reason})") from None
    if corruption == "clean":
        return image
    pixels = corrupt(np.asarray(image), corruption, severity, seed=seed, image_id=name)
    return Image.fromarray(pixels)


def loader(images: Path | None, seed: int) -> Callable[[str, str, int], Image.Image]:
    """Return what loads the picture of a key under a corruption at a severity.

    Args:
        images: The folder of the pictures; None for drawn scenes.
        seed: Seed of the run.
    """
    if images is None:
        return partial(reload, seed=seed)
    return partial(photograph, folder=images, seed=seed)


@cache
def reload(key: str, corruption: str, severity: int, seed: int) -> Image.Image:
    """Return the picture of a key, clean or corrupted; the same pixels always."""
    split, _, number = key.rpartition("/")
    pixels = draw(sample_scene("discover", split, seed, int(number)))
    if corruption != "clean":
        pixels = corrupt(pixels, corruption, severity, seed=seed, image_id=key)
    return Image.fromarray(np.ascontiguousarray(pixels))
