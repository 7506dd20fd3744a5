"""The drawn world as a source of samples: a picture's description, a question, options, the truth.

Never imports a learning library, and never shares a scene between training and held-out samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchc.keyed import generator
from benchc.world.picture import draw
from benchc.world.questions import (
    CATEGORIES,
    TRACKS,
    Query,
    draw_query,
    evaluate,
    parse,
    phrase,
    wrong_answers,
)
from benchc.world.scene import Scene, sample_scene

__all__ = [
    "TRACKS",
    "DrawnSample",
    "caption",
    "draw",
    "draw_pool",
    "evaluate",
    "parse",
    "training_samples",
]

_PER_SCENE = 2


@dataclass(frozen=True)
class DrawnSample:
    """One question about one drawn picture.

    Attributes:
        track: One of `TRACKS`.
        category: The finer kind of question inside the track.
        question: English question.
        options: 2 to 6 different answers, exactly one of them right.
        answer: Index of the right option.
        scene: Description of the picture; samples that share a picture share the object.
        ref: Name of the sample inside its pool; the part before the last dash names the picture.
    """

    track: str
    category: str
    question: str
    options: list[str]
    answer: int
    scene: Scene
    ref: str


def draw_pool(n_samples: int, seed: int) -> Iterator[DrawnSample]:
    """Yield held-out samples in a fixed order, balanced over the tracks, two per picture.

    A pool is a prefix of every longer pool of the same seed.
    """
    tracks: list[str] = []
    for number in range(-(-n_samples // _PER_SCENE)):
        if not tracks:
            order = generator("reference", "held-out", "tracks", seed, number)
            tracks = [TRACKS[i] for i in order.permutation(len(TRACKS))]
        asked, tracks = tracks[:_PER_SCENE], tracks[_PER_SCENE:]
        samples = _ask("held-out", seed, number, asked)
        yield from samples[: n_samples - number * _PER_SCENE]


def training_samples(n_scenes: int, seed: int) -> Iterator[DrawnSample]:
    """Yield samples to learn from, eight per scene; the tracks that compare things come twice.

    No key, hence no scene, is shared with `draw_pool`.
    """
    for number in range(n_scenes):
        yield from _ask("training", seed, number, [*TRACKS, "spatial", "size"])


def caption(scene: Scene, rng: np.random.Generator) -> str:
    """Return a sentence that names everything in the scene, in random order."""
    things = [f"a {s.pattern} {s.colour} {s.kind}" for s in scene.shapes]
    things += [
        f"the {'word' if s.text.isalpha() else 'number'} {s.text.upper()}" for s in scene.signs
    ]
    return "A picture of " + " and ".join(things[i] for i in rng.permutation(len(things)))


def _ask(split: str, seed: int, number: int, tracks: list[str]) -> list[DrawnSample]:
    """Return one sample for each track about the first scene of a key that allows them all."""
    attempt = 0
    while True:
        key = (split, seed, number, attempt)
        scene, rng = sample_scene(*key), generator("reference", "questions", *key)
        drawn = [_question(track, scene, rng) for track in tracks]
        if all(drawn):
            ref = f"{split}-{seed}-{number:06d}"
            return [
                DrawnSample(
                    query.track, query.category, question, options, answer, scene, f"{ref}-{i}"
                )
                for i, (query, question, options, answer) in enumerate(filter(None, drawn))
            ]
        attempt += 1


def _question(
    track: str, scene: Scene, rng: np.random.Generator
) -> tuple[Query, str, list[str], int] | None:
    """Return a query, its question, the options and the right one's index, or None."""
    for category in rng.permutation(CATEGORIES[track]):
        for _ in range(4):
            query = draw_query(str(category), scene, rng)
            truth = evaluate(query, scene)
            if truth is None:
                continue
            wrong = wrong_answers(query, scene, truth, rng)
            wanted = int(rng.integers(2, 6)) if len(wrong) > 3 else len(wrong)
            if not wrong:
                continue
            answer = int(rng.integers(min(wanted, len(wrong)) + 1))
            options = wrong[:wanted]
            options.insert(answer, truth)
            return query, phrase(query, rng), options, answer
    return None
