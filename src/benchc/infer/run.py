"""Run one model over samples and conditions, in chunks that outlive a killed job.

Never computes a prediction that a finished chunk already holds.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from tqdm import tqdm

from benchc.corrupt import corrupt
from benchc.errors import BadInput
from benchc.infer.scores import Backend, Question, prediction_columns
from benchc.infer.settings import Model
from benchc.keyed import digest
from benchc.pixels import decode, pixel_hash
from benchc.tables import IMAGES, PREDICTIONS, SAMPLES

CLEAN = "clean"
BLANK = "blank"
_GREY = 128
_BLOCKS = 8


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
    sha256: dict[tuple[str, str, int], str]
    stored: Mapping[str, Path] = field(default_factory=dict)

    def pixels(
        self, image_ids: Iterable[str], name: str, severities: Sequence[int]
    ) -> Iterator[str]:
        """Yield the hashes of pictures under a corruption, in a fixed order."""
        if name in (CLEAN, BLANK):
            return
        for image_id in sorted(image_ids):
            yield from (self.sha256[image_id, name, severity] for severity in severities)

    def load(self, name: str, image_ids: Iterable[str]) -> dict[tuple[str, int], bytes]:
        """Return the stored pictures of a corruption by (image_id, severity); none where absent."""
        if name not in self.stored:
            return {}
        rows = (
            pl.scan_parquet(self.stored[name])
            .filter(pl.col("image_id").is_in(list(image_ids)))
            .select("image_id", "severity", "bytes")
            .collect()
        )
        return {(image, severity): data for image, severity, data in rows.iter_rows() if data}

    def picture(
        self,
        clean: np.ndarray,
        image_id: str,
        name: str,
        severity: int,
        stored: bytes | None = None,
    ) -> np.ndarray:
        """Return the picture under a condition, height x width x 3 uint8.

        Args:
            clean: The clean picture.
            image_id: Its id.
            name: A corruption, `clean` or `blank`.
            severity: 1 to 5.
            stored: The encoded picture, where the corrupt stage kept it.

        Raises:
            BadInput: the pixels differ from those that the `corrupt` stage wrote down.
        """
        if name == CLEAN:
            return clean
        if name == BLANK:
            return np.full_like(clean, _GREY)
        if stored is not None:
            rendered = decode(stored)
        else:
            rendered = corrupt(
                clean,
                name,
                severity,
                seed=self.seed,
                image_id=image_id,
                reference_side=self.reference_side,
            )
        if pixel_hash(rendered) != self.sha256[image_id, name, severity]:
            raise BadInput(
                f"picture {image_id[:12]} under {name} {severity} differs from the table of the "
                "corrupt stage; run `benchc corrupt selftest` on both machines"
            )
        return rendered


def predict(
    key: str,
    settings: Model,
    backend: Backend,
    samples: pl.DataFrame,
    images: pl.DataFrame,
    rendering: Rendering,
    conditions: Mapping[str, Sequence[int]],
    model_key: str,
    chunks: Path,
) -> pl.DataFrame:
    """Return the `predictions` of one model for every sample under every condition.

    Args:
        key: The model's key in the config.
        settings: How it is asked.
        backend: The loaded model.
        samples: `samples` to ask.
        images: `images` they show.
        rendering: How to corrupt them.
        conditions: Severities of each corruption, `clean` and `blank` at severity 0 among them.
        model_key: Everything about the model that could change a prediction, as one string.
        chunks: Folder for finished chunks, each named by the model, the questions and the pixels
            it was made from; others are left alone.
    """
    tasks = list(_tasks(samples, conditions, rendering, model_key, chunks))
    total = sum(task.samples.height * len(task.severities) for task in tasks)
    pictures = {row["image_id"]: row["bytes"] for row in images.iter_rows(named=True)}
    with tqdm(total=total, desc=key, unit="answer", disable=None, mininterval=2) as progress:
        for task in tasks:
            if not task.path.exists():
                rows = _run_task(task, key, settings, backend, pictures, rendering)
                PREDICTIONS.write(PREDICTIONS.from_rows(rows), task.path)
            progress.update(task.samples.height * len(task.severities))
    return PREDICTIONS.conform(pl.concat(PREDICTIONS.read(task.path) for task in tasks))


@dataclass(frozen=True)
class _Task:
    """One chunk: some pictures with all their questions, one corruption, all its severities."""

    samples: pl.DataFrame
    corruption: str
    severities: Sequence[int]
    path: Path


def _tasks(
    samples: pl.DataFrame,
    conditions: Mapping[str, Sequence[int]],
    rendering: Rendering,
    model_key: str,
    chunks: Path,
) -> Iterator[_Task]:
    blocks = list(_blocks(SAMPLES.conform(samples)))
    for corruption, severities in conditions.items():
        for block in blocks:
            asked = block.select("sample_id", "image_id", "question", "options").write_json()
            pixels = rendering.pixels(block["image_id"].unique(), corruption, severities)
            name = digest(model_key, corruption, str(list(severities)), asked, *pixels).hex()
            yield _Task(block, corruption, severities, chunks / f"{name[:32]}.parquet")


def _blocks(samples: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Split samples by picture; a picture's block depends on its own hash alone.

    A picture that joins or leaves the pool so changes one block and not all that follow it.
    """
    bucket = pl.col("image_id").str.head(8).str.to_integer(base=16) % _BLOCKS
    for _, block in sorted(samples.group_by(bucket.alias("bucket")), key=lambda pair: pair[0]):
        yield block.sort("image_id", "sample_id")


def _run_task(
    task: _Task,
    key: str,
    settings: Model,
    backend: Backend,
    pictures: dict[str, bytes],
    rendering: Rendering,
) -> Iterable[dict[str, object]]:
    asked = []
    stored = rendering.load(task.corruption, task.samples["image_id"].unique())
    for (image_id,), group in task.samples.group_by("image_id", maintain_order=True):
        clean = decode(pictures[str(image_id)])
        for severity in task.severities:
            data = stored.get((str(image_id), severity))
            picture = rendering.picture(clean, str(image_id), task.corruption, severity, data)
            for row in group.iter_rows(named=True):
                question = Question(picture, row["question"], tuple(row["options"]))
                asked.append((row["sample_id"], severity, question))
    # Prompts of like length share a batch, which spares padding; the order is a total one.
    asked.sort(key=lambda item: (_length(item[2]), item[0], item[1]))
    scores = backend.score([question for _, _, question in asked])
    for (sample_id, severity, _), score in zip(asked, scores, strict=True):
        yield {
            "model": key,
            "sample_id": sample_id,
            "corruption": task.corruption,
            "severity": severity,
            "scoring": settings.scoring,
            "temperature": settings.temperature,
            **prediction_columns(score, settings.temperature),
        }


def _length(question: Question) -> int:
    return len(question.question.split()) + sum(2 + len(o.split()) for o in question.options)


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
        columns = pl.scan_parquet(path).select("corruption", "bytes").head(1).collect()
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
