"""Corrupted pictures made again for a model, in processes that work ahead of it.

Never hands out pixels that differ from what the corrupt stage wrote down, and never imports torch.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context, parent_process
from pathlib import Path

import cv2
import polars as pl

from benchc.corrupt import BLANK, CLEAN, condition
from benchc.errors import BadInput
from benchc.pictures.decode import decode_stored
from benchc.pictures.pixels import Pixels, pixel_hash
from benchc.tables import scan

Pictures = dict[tuple[str, int], Pixels]
"""Pixels by (image_id, severity)."""


@dataclass(frozen=True)
class Recipe:
    """One picture under one condition at some severities: all that a worker needs.

    Attributes:
        image_id: The clean picture's id.
        clean: The clean picture, encoded.
        corruption: A corruption, `clean` or `blank`.
        severities: 1 to 5; 0 for `clean` and `blank`.
        sha256: The pixel hash of each severity; none for `clean` and `blank`.
        stored: The encoded picture of each severity, where the corrupt stage kept it.
        seed: The seed of the corruption.
        reference_side: As given to `corrupt`.
    """

    image_id: str
    clean: bytes
    corruption: str
    severities: tuple[int, ...]
    sha256: tuple[str, ...]
    stored: tuple[bytes | None, ...]
    seed: int
    reference_side: int | None

    def pictures(self) -> Pictures:
        """Return the picture at each severity, height x width x 3 uint8.

        Raises:
            BadInput: the pixels differ from those that the corrupt stage wrote down.
        """
        clean = decode_stored(self.clean)
        if self.corruption in (CLEAN, BLANK):
            return {(self.image_id, 0): self._rendered(clean, 0)}
        made = zip(self.severities, self.sha256, self.stored, strict=True)
        return {
            (self.image_id, severity): self._checked(clean, severity, sha256, stored)
            for severity, sha256, stored in made
        }

    def _checked(self, clean: Pixels, severity: int, sha256: str, stored: bytes | None) -> Pixels:
        picture = self._rendered(clean, severity) if stored is None else decode_stored(stored)
        if pixel_hash(picture) != sha256:
            raise BadInput(
                f"picture {self.image_id[:12]} under {self.corruption} {severity} differs from the "
                "table of the corrupt stage; delete that table if another config made it, else run "
                "`benchc corrupt selftest` on both machines"
            )
        return picture

    def _rendered(self, clean: Pixels, severity: int) -> Pixels:
        return condition(
            clean,
            self.corruption,
            severity,
            seed=self.seed,
            image_id=self.image_id,
            reference_side=self.reference_side,
        )


@dataclass(frozen=True)
class Rendering:
    """How corrupted pictures are made again, and the hashes they must have.

    Attributes:
        seed: The seed they were corrupted with.
        reference_side: As given to `corrupt`.
        sha256: Pixel hash of each (image_id, corruption, severity).
        stored: Tables of the corrupt stage that hold the pictures too, by corruption.
    """

    seed: int
    reference_side: int | None
    sha256: Mapping[tuple[str, str, int], str]
    stored: Mapping[str, Path] = field(default_factory=dict)

    def hashes(self, image_id: str, name: str, severities: Sequence[int]) -> tuple[str, ...]:
        """Return the pixel hash of a picture at each severity; none for `clean` and `blank`."""
        if name in (CLEAN, BLANK):
            return ()
        return tuple(self.sha256[image_id, name, severity] for severity in severities)

    def recipes(
        self, name: str, severities: Sequence[int], clean: Mapping[str, bytes]
    ) -> list[Recipe]:
        """Return how each of some encoded clean pictures, by image_id, becomes a condition's."""
        kept = self._kept(name, clean)
        return [
            Recipe(
                image_id,
                data,
                name,
                tuple(severities),
                self.hashes(image_id, name, severities),
                tuple(kept.get((image_id, severity)) for severity in severities),
                self.seed,
                self.reference_side,
            )
            for image_id, data in clean.items()
        ]

    def _kept(self, name: str, image_ids: Iterable[str]) -> dict[tuple[str, int], bytes]:
        if name not in self.stored:
            return {}
        rows = (
            scan(self.stored[name])
            .filter(pl.col("image_id").is_in(list(image_ids)))
            .select("image_id", "severity", "bytes")
            .collect()
        )
        return {(image, severity): data for image, severity, data in rows.iter_rows() if data}


Submit = Callable[[Sequence[Recipe]], Callable[[], Pictures]]
"""Starts the rendering of some pictures and returns what waits for them."""


def rendered_here(recipes: Sequence[Recipe]) -> Callable[[], Pictures]:
    """Render in this process, when the pictures are waited for."""
    return lambda: _gathered(recipe.pictures() for recipe in recipes)


@contextmanager
def renderers(workers: int) -> Iterator[Submit]:
    """Give a function that renders in `workers` processes; with none, here and when waited for.

    The processes start at once, so that a model can load meanwhile.

    Raises:
        BadInput: no worker can be started, or one died.
    """
    if workers == 0:
        yield rendered_here
        return
    with _started(workers) as pool:

        def submit(recipes: Sequence[Recipe]) -> Callable[[], Pictures]:
            futures = [pool.submit(recipe.pictures) for recipe in recipes]
            return lambda: _gathered(future.result() for future in futures)

        try:
            yield submit
        except BrokenProcessPool:
            raise BadInput(
                "a process that renders pictures died, most likely for want of memory; run again "
                "with fewer of them (`infer.workers`): finished chunks are kept"
            ) from None
        finally:
            pool.shutdown(cancel_futures=True)


def _started(workers: int) -> ProcessPoolExecutor:
    try:
        pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=_start_worker)
        for _ in range(workers):
            pool.submit(os.getpid)
    except OSError as error:
        raise BadInput(
            f"processes that render pictures cannot start ({error.strerror}); they need a "
            "/dev/shm that can be written: mend that, or set `infer.workers` to 0"
        ) from None
    return pool


def _gathered(parts: Iterable[Pictures]) -> Pictures:
    return {key: picture for part in parts for key, picture in part.items()}


def _start_worker() -> None:
    cv2.setNumThreads(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A killed run must leave no process behind; the pool sees to it only in an orderly end."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
