"""What the reference models learn from: scenes as numbers, pictures and prompts with targets.

Never trains anything, and never uses a held-out sample.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torchvision.transforms.v2 import InterpolationMode
from torchvision.transforms.v2 import functional as vision
from transformers import PreTrainedTokenizerFast

from benchc.reference.models import PIECES, SIDE, Architecture, prompt
from benchc.reference.tokens import token_id, token_ids
from benchc.world.questions import find
from benchc.world.samples import DrawnSample, draw, parse
from benchc.world.scene import COLOURS, KINDS, NUMBERS, PATTERNS, RADII, WORDS, Scene, cell

FIELDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("kind", KINDS),
    ("colour", COLOURS),
    ("pattern", PATTERNS),
    ("radius", tuple(map(str, RADII))),
    ("sign", WORDS + NUMBERS),
)
"""What can be said about a cell, and the values; value 0 of a field stands for nothing there."""

SHORT = 10
"""Cells in the short list that stands for a scene at first; more than a scene has things."""
ANSWERS: tuple[tuple[str, ...], ...] = (
    KINDS,
    COLOURS,
    PATTERNS,
    WORDS,
    NUMBERS,
    tuple("0123456"),
    ("left", "right", "above", "below"),
    ("larger", "smaller"),
    tuple(f"{colour} {kind}" for colour in COLOURS for kind in KINDS),
)
"""Groups of answers that can stand beside each other as options."""


@dataclass(frozen=True)
class Lesson:
    """One prompt with what should follow it.

    Attributes:
        ids: Token ids of picture places, text and, for a lesson in words, the answer but its end.
        scene: Index of the scene.
        words: Pairs (position in `ids`, token that should follow).
        letter: Index of the right option's letter after the last position, or -1.
        options: Number of options.
        marks: Pairs (position of an option's last token, whether it is the right one).
        finds: Triples (position of the last token of a shape's name in a question that compares
            two shapes, the shape's cell, its radius as a value of `FIELDS`).
    """

    ids: list[int]
    scene: int
    words: list[tuple[int, int]]
    letter: int
    options: int
    marks: list[tuple[int, int]]
    finds: list[tuple[int, int, int]]


@dataclass(frozen=True)
class Batch:
    """Lessons padded on the left.

    Attributes:
        ids: Token ids, int64 of shape (batch, positions).
        mask: One where a token is, int64 of shape (batch, positions).
        spoken: One where a token is of an answer in words, int64 of shape (batch, positions).
        scenes: Index of each row's scene, int64 of shape (batch,).
        words: Rows, positions and next tokens of the word targets, int64 of shape (3, targets).
        letters: Rows, right options and numbers of options, int64 of shape (3, letter rows).
        marks: Rows, positions and 1 for the right option else 0, int64 of shape (3, options).
        finds: Rows, positions, cells and radius values of named shapes, int64 of shape (4, names).
    """

    ids: torch.Tensor
    mask: torch.Tensor
    spoken: torch.Tensor
    scenes: torch.Tensor
    words: torch.Tensor
    letters: torch.Tensor
    marks: torch.Tensor
    finds: torch.Tensor


def describe(scenes: list[Scene]) -> torch.Tensor:
    """Return scenes as numbers: int64 of shape (scenes, cells, fields), 0 for nothing."""
    table = np.zeros((len(scenes), PIECES, len(FIELDS)), np.int64)
    for row, scene in zip(table, scenes, strict=True):
        for shape in scene.shapes:
            said = (shape.kind, shape.colour, shape.pattern, str(shape.radius))
            row[cell(shape.x, shape.y), :4] = [
                values.index(v) + 1 for v, (_, values) in zip(said, FIELDS, strict=False)
            ]
        for sign in scene.signs:
            row[cell(sign.x, sign.y), 4] = FIELDS[4][1].index(sign.text) + 1
    return torch.from_numpy(table)


def shorten(described: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
    """Choose `SHORT` cells per scene: all that hold something and a few empty ones, in order.

    Args:
        described: Scenes as `describe` returns them.
        rng: Chooses the empty cells.

    Returns:
        Cells, int64 of shape (scenes, SHORT), ascending.
    """
    luck = torch.from_numpy(rng.random(described.shape[:2]))
    chosen = (described.any(-1) + luck).topk(SHORT, dim=1).indices
    return chosen.sort(dim=1).values


def photograph(scenes: list[Scene]) -> torch.Tensor:
    """Return drawn pictures as every image processor resizes them.

    Returns:
        Tensor uint8 of shape (scenes, 3, SIDE, SIDE).
    """
    pictures = torch.empty((len(scenes), 3, SIDE, SIDE), dtype=torch.uint8)
    for start in range(0, len(scenes), 64):
        drawn = np.stack([draw(scene) for scene in scenes[start : start + 64]])
        pictures[start : start + 64] = vision.resize(
            torch.from_numpy(drawn).permute(0, 3, 1, 2),
            [SIDE, SIDE],
            interpolation=InterpolationMode.BILINEAR,
            antialias=True,
        )
    return pictures


def write_lessons(
    samples: list[DrawnSample],
    architecture: Architecture,
    in_words: float,
    rng: np.random.Generator,
    places: int = PIECES,
) -> tuple[list[Scene], list[Lesson]]:
    """Return the scenes of samples and one lesson per sample.

    Args:
        samples: Training samples; those that share a scene follow each other.
        architecture: Whose tokenizer and prompt to use.
        in_words: Share of lessons that ask for the answer in words, without options.
        rng: Decides which lessons are in words.
        places: Number of picture places in the prompt.
    """
    tokenizer = architecture.tokenizer
    start, drawn = opening(architecture, places), rng.random(len(samples)) < in_words
    texts = [
        prompt(s.question, [] if worded else s.options) + "\nanswer"
        for s, worded in zip(samples, drawn, strict=True)
    ]
    asked = token_ids(tokenizer, texts)
    answers = token_ids(tokenizer, [s.options[s.answer] for s in samples])
    mark, first = token_id(tokenizer, "?"), token_id(tokenizer, "A")
    scenes: list[Scene] = []
    lessons: list[Lesson] = []
    for sample, text, answer, worded in zip(samples, asked, answers, drawn, strict=True):
        if not scenes or scenes[-1] is not sample.scene:
            scenes.append(sample.scene)
        ids, at = start + text, len(scenes) - 1
        finds = _finds(sample, ids, tokenizer)
        if worded:
            spoken = [*answer, tokenizer.eos_token_id]
            words = [(len(ids) - 1 + i, token) for i, token in enumerate(spoken)]
            lessons.append(Lesson(ids + answer, at, words, -1, 0, [], finds))
        else:
            hint = [(ids.index(mark), answer[0])]
            marks = _marks(ids, sample.answer, first)
            lessons.append(Lesson(ids, at, hint, sample.answer, len(sample.options), marks, finds))
    return scenes, lessons


def matching_lessons(
    architecture: Architecture, n_lessons: int, rng: np.random.Generator
) -> list[Lesson]:
    """Return short lessons without a picture that give the answer away and ask for its letter.

    They teach the step from a known answer to its label, which pictures alone teach slowly.
    """
    tokenizer = architecture.tokenizer
    texts, keys = [], []
    for _ in range(n_lessons):
        values = ANSWERS[rng.integers(len(ANSWERS))]
        options = [str(v) for v in rng.permutation(values)[: rng.integers(2, 7)]]
        right = int(rng.integers(len(options)))
        texts.append(prompt(f"which is {options[right]}?", options) + "\nanswer")
        keys.append((right, len(options)))
    mark, first = token_id(tokenizer, "?"), token_id(tokenizer, "A")
    start = [tokenizer.bos_token_id]
    asked = [start + ids for ids in token_ids(tokenizer, texts)]
    return [
        Lesson(ids, 0, [(ids.index(mark), ids[3])], right, options, _marks(ids, right, first), [])
        for ids, (right, options) in zip(asked, keys, strict=True)
    ]


def _marks(ids: list[int], right: int, first: int) -> list[tuple[int, int]]:
    """Return the position of each option's last token and whether the option is right."""
    labels = [i for i, token in enumerate(ids) if first <= token < first + 26]
    ends = [i - 1 for i in [*labels[1:], len(ids) - 1]]
    return [(end, int(i == right)) for i, end in enumerate(ends)]


def _finds(
    sample: DrawnSample, ids: list[int], tokenizer: PreTrainedTokenizerFast
) -> list[tuple[int, int, int]]:
    """Return where a comparing question names its shapes, with their cells and radii."""
    query = parse(sample.question)
    names = [] if query is None else [v for slot, v in query.slots if slot in ("a", "b")]
    finds = []
    for name in names:
        shape, words = find(name, sample.scene), [token_id(tokenizer, w) for w in name.split()]
        at = next(i for i in range(len(ids)) if ids[i : i + len(words)] == words)
        if shape is not None:
            radius = RADII.index(shape.radius) + 1
            finds.append((at + len(words) - 1, cell(shape.x, shape.y), radius))
    return finds


def opening(architecture: Architecture, places: int = PIECES) -> list[int]:
    """Return the ids that come before the question, picture places expanded to `places`."""
    repeated = {
        "llava": "<bos>" + "<image>" * places,
        "qwen2vl": "<bos><|vision_start|>" + "<|image_pad|>" * places + "<|vision_end|>",
        "paligemma": "<image>" * places + "<bos>",
        "idefics3": "<bos><fake_token_around_image><global-img>"
        + "<image>" * places
        + "<fake_token_around_image>",
    }[architecture.key]
    return token_ids(architecture.tokenizer, [repeated])[0]


def collate(lessons: list[Lesson], pad: int) -> Batch:
    """Return lessons as one batch, padded on the left."""
    longest = max(len(lesson.ids) for lesson in lessons)
    ids = torch.full((len(lessons), longest), pad)
    mask, spoken = torch.zeros_like(ids), torch.zeros_like(ids)
    words, letters, marks, finds = [], [], [], []
    for row, lesson in enumerate(lessons):
        shift = longest - len(lesson.ids)
        ids[row, shift:] = torch.tensor(lesson.ids)
        mask[row, shift:] = 1
        words += [(row, shift + position, token) for position, token in lesson.words]
        finds += [(row, shift + position, *place) for position, *place in lesson.finds]
        marks += [(row, shift + position, right) for position, right in lesson.marks]
        if lesson.letter < 0 and lesson.words:
            spoken[row, shift + lesson.words[0][0] + 1 :] = 1
        if lesson.letter >= 0:
            letters.append((row, lesson.letter, lesson.options))
    return Batch(
        ids,
        mask,
        spoken,
        torch.tensor([lesson.scene for lesson in lessons]),
        torch.tensor(words).reshape(-1, 3).T,
        torch.tensor(letters).reshape(-1, 3).T,
        torch.tensor(marks).reshape(-1, 3).T,
        torch.tensor(finds, dtype=torch.int64).reshape(-1, 4).T,
    )
