"""What is asked together: the questions of a block under one condition, the same in any history."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchc.corrupt import BLANK, CLEAN
from benchc.infer.journal import Journal, Where, unit_name
from benchc.infer.questionnaire import Questionnaire
from benchc.tables import SAMPLES

_BLOCK_SAMPLES = 128
"""Of a block at most: it is asked again as a whole where one of its pictures joins or leaves."""
_BLOCK_BYTES = 2**28
"""Pixels of a block's pictures at one severity: those of two blocks are held in memory."""


@dataclass(frozen=True)
class Unit:
    """Questions that are asked together and kept together, by the name of what decides them."""

    name: str
    rows: tuple[dict[str, object], ...]


@dataclass(frozen=True)
class Task:
    """Some pictures with all their questions under one corruption at one severity."""

    corruption: str
    severity: int
    units: tuple[Unit, ...]

    def __len__(self) -> int:
        return sum(len(unit.rows) for unit in self.units)

    def open(self, journal: Journal) -> list[tuple[Unit, int]]:
        """Return what has to be asked, each as its unit and its place in it."""
        found: dict[tuple[str, int], tuple[Unit, int]] = {}
        for unit in self.units:
            known = journal.find(unit.name)
            for place in range(len(unit.rows)):
                if known is None or not known[place].is_final:
                    found.setdefault((unit.name, place), (unit, place))
        return list(found.values())

    def where(self, unit: Unit) -> Where:
        """Return what a unit of this task asks."""
        samples = tuple(str(row["sample_id"]) for row in unit.rows)
        return Where(self.corruption, self.severity, samples)


def tasks_of(
    asked: Questionnaire, model_key: str, one_by_one: bool, shard: int, shards: int
) -> list[Task]:
    """Return what a shard asks; what is asked together is the same for any number of shards.

    Args:
        asked: Questions, pictures, conditions.
        model_key: Everything about the model that could change its logits, as one string.
        one_by_one: The backend answers each question by itself, as a server does.
        shard: 0-based share.
        shards: How many shares there are.
    """
    blocks = list(blocks_of(asked))
    everything = [
        (corruption, severity, block)
        for corruption, severities in asked.conditions.items()
        for severity in severities
        for block in blocks
    ]
    return [
        Task(
            corruption, severity, _units(asked, model_key, one_by_one, corruption, severity, block)
        )
        for corruption, severity, block in everything[shard::shards]
    ]


def _units(
    asked: Questionnaire,
    model_key: str,
    one_by_one: bool,
    corruption: str,
    severity: int,
    block: Sequence[dict[str, object]],
) -> tuple[Unit, ...]:
    """Return what is asked together of a block: a question of a server, else all of it."""
    names = []
    for row in block:
        words = json.dumps([row["question"], *row["options"]])  # type: ignore[misc]
        pixels = _pixels(asked, str(row["image_id"]), corruption, severity)
        names.append(unit_name(model_key, words, pixels))
    if one_by_one:
        return tuple(Unit(name, (row,)) for name, row in zip(names, block, strict=True))
    return (Unit(unit_name("batch", *names), tuple(block)),)


def _pixels(asked: Questionnaire, image_id: str, corruption: str, severity: int) -> str:
    """Return what stands for a picture's pixels under a condition."""
    if corruption in (CLEAN, BLANK):
        return f"{corruption} {image_id}"
    return asked.rendering.hashes(image_id, corruption, (severity,))[0]


def blocks_of(asked: Questionnaire) -> Iterator[list[dict[str, object]]]:
    """Split samples by picture, in halves until each block is small enough.

    Which half a picture is in depends on its own hash alone, so one that joins or leaves the pool
    changes one block. Prompts of like length are neighbours in a block, which spares padding.
    """
    sizes = {
        image_id: 3 * width * height
        for image_id, width, height in asked.images.select(
            "image_id", "width", "height"
        ).iter_rows()
    }
    rows = SAMPLES.conform(asked.samples).select("sample_id", "image_id", "question", "options")

    def split(part: list[dict[str, object]], bit: int) -> Iterator[list[dict[str, object]]]:
        pixels = sum(sizes[image_id] for image_id in {str(row["image_id"]) for row in part})
        if bit == 64 or (len(part) <= _BLOCK_SAMPLES and pixels <= _BLOCK_BYTES):
            if part:
                yield sorted(part, key=lambda row: (_length(row), str(row["sample_id"])))
            return
        halves: tuple[list[dict[str, object]], list[dict[str, object]]] = ([], [])
        for row in part:
            halves[int(str(row["image_id"])[:16], 16) >> (63 - bit) & 1].append(row)
        for half in halves:
            yield from split(half, bit + 1)

    yield from split(rows.to_dicts(), 0)


def _length(row: Mapping[str, object]) -> int:
    options: Sequence[str] = row["options"]  # type: ignore[assignment]
    return len(str(row["question"]).split()) + sum(2 + len(o.split()) for o in options)
