"""Run one model over samples and conditions, in chunks that outlive a killed job.

Never computes a prediction that a finished chunk already holds.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from tqdm import tqdm

from benchc.errors import BadInput
from benchc.infer.asked import Asked
from benchc.infer.rendering import Pictures, Submit, rendered_here
from benchc.infer.scores import Backend, Question, prediction_columns
from benchc.infer.settings import Model
from benchc.keyed import digest
from benchc.tables import PREDICTIONS, SAMPLES

_RAN_ON = "benchc.ran_on"
_FEWEST_BLOCKS = 8
_BLOCK_BYTES = 2**29
"""Pixels of a chunk's pictures at all severities, at most on average: it is held in memory."""


@dataclass(frozen=True)
class Part:
    """Which share of the chunks to compute, and where finished ones are kept.

    Attributes:
        chunks: Folder of chunks, each named by the model, the questions and the pixels it was
            made from; others in it are left alone.
        shard: 0-based share to compute.
        shards: How many shares there are; the chunks are the same for any number.
    """

    chunks: Path
    shard: int = 0
    shards: int = 1


@dataclass(frozen=True)
class Answers:
    """What a model said.

    Attributes:
        predictions: `predictions` rows.
        ran_on: What they were computed on, each kind with its number of `predictions`.
    """

    predictions: pl.DataFrame
    ran_on: list[dict[str, object]]


def predict(
    key: str,
    settings: Model,
    backend: Backend,
    asked: Asked,
    model_key: str,
    part: Part,
    submit: Submit = rendered_here,
) -> Answers:
    """Return the predictions of one model for every sample under every condition of its share.

    Args:
        key: The model's key in the config.
        settings: How it is asked.
        backend: The loaded model.
        asked: Questions, pictures, conditions.
        model_key: Everything about the model that could change a prediction, as one string.
        part: Which share, and where finished chunks are.
        submit: Renders pictures ahead of the model; see `renderers`.

    Raises:
        BadInput: rendered pixels differ from those of the corrupt stage.
    """
    tasks = list(_tasks(asked, model_key, part.chunks))[part.shard :: part.shards]
    done = {task.path: frame for task in tasks if (frame := _finished(key, task)) is not None}
    total = sum(map(len, tasks))
    with tqdm(total=total, desc=key, unit="answer", disable=None, mininterval=2) as bar:
        bar.update(sum(len(task) for task in tasks if task.path in done))
        waiting = [task for task in tasks if task.path not in done]
        for task, pictures in _rendered_ahead(waiting, asked, submit):
            rows = _answers(task, key, settings, backend, pictures)
            frame = PREDICTIONS.conform(PREDICTIONS.from_rows(rows))
            ran_on = json.dumps(backend.ran_on(), sort_keys=True)
            PREDICTIONS.write(frame, task.path, {_RAN_ON: ran_on})
            done[task.path] = frame
            bar.update(len(task))
    frames = [done[task.path] for task in tasks]
    everything = PREDICTIONS.conform(pl.concat(frames)) if frames else PREDICTIONS.empty()
    return Answers(everything, _summed((_ran_on(path), done[path].height) for path in done))


def merged(parts: Sequence[Answers]) -> Answers:
    """Return the answers of all shards of a model as one."""
    return Answers(
        PREDICTIONS.conform(pl.concat(part.predictions for part in parts)),
        _summed(
            (json.dumps({k: v for k, v in kind.items() if k != "predictions"}, sort_keys=True),
             int(str(kind["predictions"])))
            for part in parts for kind in part.ran_on
        ),
    )  # fmt: skip


@dataclass(frozen=True)
class _Task:
    """One chunk: some pictures with all their questions, one corruption, all its severities."""

    samples: pl.DataFrame
    corruption: str
    severities: Sequence[int]
    path: Path

    def __len__(self) -> int:
        return self.samples.height * len(self.severities)


def _tasks(asked: Asked, model_key: str, chunks: Path) -> Iterator[_Task]:
    blocks = list(_blocks(SAMPLES.conform(asked.samples), _block_count(asked)))
    for corruption, severities in asked.conditions.items():
        for block in blocks:
            words = block.select("sample_id", "image_id", "question", "options").write_json()
            pixels = [
                sha256
                for image_id in sorted(block["image_id"].unique())
                for sha256 in asked.rendering.hashes(image_id, corruption, severities)
            ]
            name = digest(model_key, corruption, str(list(severities)), words, *pixels).hex()
            yield _Task(block, corruption, severities, chunks / f"{name[:32]}.parquet")


def _block_count(asked: Asked) -> int:
    """Return a power of two, so that a growing pool seldom changes it."""
    pixels = (asked.images["width"] * asked.images["height"]).sum()
    most = 3 * pixels * max(map(len, asked.conditions.values()))
    count = _FEWEST_BLOCKS
    while most > count * _BLOCK_BYTES:
        count *= 2
    return count


def _blocks(samples: pl.DataFrame, count: int) -> Iterator[pl.DataFrame]:
    """Split samples by picture; a picture's block depends on its own hash alone.

    A picture that joins or leaves the pool so changes one block and not all that follow it.
    """
    bucket = pl.col("image_id").str.head(8).str.to_integer(base=16) % count
    for _, block in sorted(samples.group_by(bucket.alias("bucket")), key=lambda pair: pair[0]):
        yield block.sort("image_id", "sample_id")


def _finished(key: str, task: _Task) -> pl.DataFrame | None:
    """Return a chunk that is there and whole; a torn one is named and will be computed again."""
    if not task.path.exists():
        return None
    try:
        return PREDICTIONS.read(task.path)
    except BadInput as error:
        reason = str(error).split(";")[0]
        tqdm.write(f"{key}: computing a damaged chunk again: {reason}", file=sys.stderr)
        return None


def _rendered_ahead(
    tasks: Sequence[_Task], asked: Asked, submit: Submit
) -> Iterator[tuple[_Task, Pictures]]:
    """Yield chunks with their pictures; those of the next are rendered meanwhile, no more."""
    encoded = dict(asked.images.select("image_id", "bytes").iter_rows())
    before: tuple[_Task, Callable[[], Pictures]] | None = None
    for task in tasks:
        clean = {image_id: encoded[image_id] for image_id in task.samples["image_id"].unique()}
        recipes = asked.rendering.recipes(task.corruption, task.severities, clean)
        following = (task, submit(recipes))
        if before is not None:
            yield before[0], before[1]()
        before = following
    if before is not None:
        yield before[0], before[1]()


def _answers(
    task: _Task, key: str, settings: Model, backend: Backend, pictures: Pictures
) -> Iterable[dict[str, object]]:
    asked = [
        (
            row["sample_id"],
            severity,
            Question(pictures[row["image_id"], severity], row["question"], tuple(row["options"])),
        )
        for row in task.samples.iter_rows(named=True)
        for severity in task.severities
    ]
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


def _ran_on(path: Path) -> str:
    return pl.read_parquet_metadata(path).get(_RAN_ON, "{}")


def _summed(kinds: Iterable[tuple[str, int]]) -> list[dict[str, object]]:
    counts: Counter[str] = Counter()
    for ran_on, count in kinds:
        counts[ran_on] += count
    return [{**json.loads(ran_on), "predictions": n} for ran_on, n in sorted(counts.items())]
