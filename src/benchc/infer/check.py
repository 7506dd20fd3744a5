"""What a careful person wants to see of a model before it is asked everything.

It shows how a model is asked, and whether a batch changes what it says.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
import polars as pl

from benchc.config.models import Model
from benchc.errors import BadInput
from benchc.infer import looks
from benchc.infer.letters import refuse_other_words
from benchc.models.prompt import option_labels
from benchc.models.scores import Backend, Question, Score, most_seen, prediction_columns
from benchc.pictures.decode import decode_stored
from benchc.tables import IMAGES, SAMPLES

#: How far a batch may move an option's probability: rounding, by precision.
TOLERANCE = {"float32": 1e-5, "bfloat16": 0.02, "float16": 0.01}
_SERVER_TOLERANCE = 0.02
_SHOWN = 3
_WAYS_OUT = {
    "transformers": "use `batch_size: 1`, or another `attention`, and check again",
    "openai": "use `concurrency: 1`, so that the server batches nothing, and check again",
}
_EDGE = 8


@dataclass(frozen=True)
class Sample:
    """A question with the name it has in the pool."""

    sample_id: str
    question: Question


def pool_samples(samples: Path, images: Path, count: int) -> list[Sample]:
    """Return `count` samples, evenly spaced over a pool.

    Raises:
        BadInput: a table is missing or drifted.
    """
    pool = SAMPLES.read(samples).sort("sample_id")
    places = np.unique(np.linspace(0, pool.height - 1, count).astype(int)).tolist()
    chosen = pool[places].join(IMAGES.read(images).select("image_id", "bytes"), on="image_id")
    return [
        Sample(
            row["sample_id"],
            Question(decode_stored(row["bytes"]), row["question"], tuple(row["options"])),
        )
        for row in chosen.sort("sample_id").iter_rows(named=True)
    ]


def drawn_samples(count: int) -> list[Sample]:
    """Return `count` questions about drawn scenes, for a run that has no pool yet."""
    from benchc.world.samples import draw, draw_pool

    return [
        Sample(s.ref, Question(draw(s.scene), s.question, tuple(s.options)))
        for s in draw_pool(count, seed=1)
    ]


def check(key: str, settings: Model, backend: Backend, samples: Sequence[Sample]) -> Iterator[str]:
    """Yield lines about a model, the last of them a verdict.

    Args:
        key: The model's key.
        settings: How it is asked.
        backend: The loaded model.
        samples: Questions to try; the first few are shown.

    Raises:
        BadInput: behind the last line, where nothing was answered, a batch gives other answers
            than its items alone, no picture changes an answer, or letters hold too little.
    """
    for sample in samples[:: max(1, len(samples) // _SHOWN)][:_SHOWN]:
        yield from _shown(sample, settings, backend)
    asked = [sample.question for sample in samples]
    together, batch_seconds = _timed(backend, [asked])
    alone, single_seconds = _timed(backend, [[question] for question in asked])
    named = ", ".join(f"{name} {value}" for name, value in backend.ran_on().items())
    yield f"{key}: {named}"
    a_sample = [1000 * seconds / len(asked) for seconds in (batch_seconds, single_seconds)]
    yield f"time: {a_sample[0]:.1f} ms per sample in a batch, {a_sample[1]:.1f} ms alone"
    masses = [score.option_mass for score in together if score.option_mass is not None]
    if masses:
        low = "" if np.mean(masses) >= 0.5 else "; this model would not answer with a letter here"
        yield f"option mass: mean {np.mean(masses):.3f}, lowest {min(masses):.3f}{low}"
    failed = [score.status for score in together if score.status != "ok"]
    if failed:
        counted = pl.Series(failed).value_counts().sort("").iter_rows()
        yield "not answered: " + ", ".join(f"{count} {status}" for status, count in counted)
    difference, flips = compared(together, alone)
    allowed = TOLERANCE.get(str(getattr(settings, "dtype", "")), _SERVER_TOLERANCE)
    yield (
        f"a batch of {len(asked)} against one at a time: probabilities differ by {difference:.1e} "
        f"at most (allowed {allowed:.0e}), {flips} answers change"
    )
    seen = looks.trial(backend)
    yield f"pictures: {seen.said()}: {seen.verdict}"
    faults = [
        f"none of the questions was answered: {most_seen(together)}"
        if len(failed) == len(together)
        else "",
        f"what shares a batch changes its answers; {_WAYS_OUT[settings.backend]}"
        if difference > allowed
        else "",
    ]
    for fault in filter(None, faults):
        yield f"{key}: NOT FINE"
        raise BadInput(f"{key}: {fault}")
    if seen.verdict == looks.DOES_NOT:
        yield f"{key}: NOT FINE"
    seen.refuse_blindness(key)
    try:
        warning = refuse_other_words(key, settings, seen.option_mass)
    except BadInput:
        yield f"{key}: NOT FINE"
        raise
    if warning:
        yield warning
    yield f"{key}: fine"


def compared(some: Sequence[Score], others: Sequence[Score]) -> tuple[float, int]:
    """Return the largest difference between two readings' probabilities, and how many top1 differ.

    A question that only one of them could answer counts as a difference of 1.
    """
    largest, flips = 0.0, 0
    for one, other in zip(some, others, strict=True):
        a, b = (prediction_columns(score, temperature=1.0) for score in (one, other))
        if isinstance(a["p"], list) and isinstance(b["p"], list):
            largest = max(largest, float(np.abs(np.array(a["p"]) - np.array(b["p"])).max()))
            flips += a["top1"] != b["top1"]
        elif a["status"] != b["status"]:
            largest = 1.0
    return largest, flips


def _timed(backend: Backend, batches: Sequence[Sequence[Question]]) -> tuple[list[Score], float]:
    start = time.perf_counter()
    scores = [score for batch in batches for score in backend.score(batch)]
    return scores, time.perf_counter() - start


def _shown(sample: Sample, settings: Model, backend: Backend) -> Iterator[str]:
    question = sample.question
    height, width = question.image.shape[:2]
    yield f"sample {sample.sample_id}: a picture of {width} x {height}"
    score = backend.score([question])[0]
    if score.status != "ok":
        yield f"  cannot be asked: {score.status}"
        yield ""
        return
    seen = backend.explain(question)
    yield f"  prompt{f' ({seen.prompt_tokens} tokens)' if seen.prompt_tokens else ''}:"
    yield from (f"    | {line}" for line in seen.prompt.split("\n"))
    if seen.prompt_ids:
        yield f"  ids: {listed(seen.prompt_ids)}"
    p = prediction_columns(score, settings.temperature)["p"]
    assert isinstance(p, list)
    yield "  options as tokens, with their probabilities among the options:"
    rows = zip(option_labels(len(p)), question.options, seen.option_tokens, p, strict=True)
    for label, text, tokens, value in rows:
        yield f"    {label}  {value:.4f}  {tokens}  {text}"
    if score.option_mass is not None:
        yield f"  option mass: {score.option_mass:.4f} of the whole vocabulary"
    yield "  likeliest next tokens:"
    yield "    " + "  ".join(f"{text!r} {value:.4f}" for text, value in seen.next_tokens)
    yield ""


def listed(ids: Sequence[tuple[str, int]]) -> str:
    """Return tokens with their ids in one line, like ones in a row counted, the middle left out."""
    runs: list[str] = []
    for (token, number), same in groupby(ids):
        count = len(list(same))
        runs.append(f"{token!r} {number}" + (f" x {count}" if count > 1 else ""))
    if len(runs) > 2 * _EDGE:
        runs[_EDGE:-_EDGE] = ["..."]
    return ", ".join(runs)
