"""What a model has answered, kept line by line as soon as it is known, and never asked for again.

A line holds one unit: what was asked together and is kept together. From a server that is one
question, from a local model a fixed batch of them. A job appends to a file of its own, so a killed
one loses the line it was writing, and jobs that share a model read each other's.
"""

import json
import os
import sys
import zlib
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from benchc.errors import BadInput
from benchc.errors.outward import json_text
from benchc.keyed import digest
from benchc.models.scores import PASSING, Score
from benchc.tables import renamed_into_place

MOST_TRIES = 3
"""Runs in which a question may fail for a passing reason before that is its answer."""
_UNIT = b'{"unit":"'
_DIGITS = 32


def unit_name(*parts: str) -> str:
    """Return a name for what is asked together, from everything that decides the answers."""
    return digest(*parts).hex()[:_DIGITS]


@dataclass(frozen=True, slots=True)
class Kept:
    """One answer.

    Attributes:
        score: What the model said.
        made: Name of the `Origin` it was made on.
        tries: Runs in which it failed for a passing reason.
    """

    score: Score
    made: str
    tries: int = 0

    @property
    def is_final(self) -> bool:
        """Whether it is not asked again."""
        return self.score.status not in PASSING or self.tries >= MOST_TRIES


@dataclass(frozen=True)
class Origin:
    """What answers were made on.

    Attributes:
        ran_on: See `Backend`.
        facts: What a run record says besides.
    """

    ran_on: dict[str, Any]
    facts: dict[str, Any]

    @property
    def name(self) -> str:
        """Eight hexadecimal digits that stand for `ran_on`."""
        return digest(json.dumps(self.ran_on, sort_keys=True)).hex()[:8]


@dataclass(frozen=True)
class Where:
    """What a unit asked: for people, and for `benchc infer status`."""

    corruption: str
    severity: int
    samples: tuple[str, ...]


class Journal:
    """The answers of one model in a folder, and a file of them to append to.

    Attributes:
        origins: What answers were made on, by name.
    """

    def __init__(self, key: str, folder: Path, name: str, units: Container[str]):
        """Read what the folder holds of some units; nothing else is kept in memory.

        Args:
            key: The model's key in the config, for messages.
            folder: Where its answers are; need not exist.
            name: Of the file to append to, without its ending.
            units: Names of those that will be asked for.
        """
        self.origins: dict[str, Origin] = {}
        self._units: dict[str, tuple[Kept, ...]] = {}
        self._path = folder / f"{name}.jsonl"
        for path in sorted(folder.glob("*.jsonl")):
            for entry in _entries(key, path, units):
                self._take(entry)

    def find(self, unit: str) -> tuple[Kept, ...] | None:
        """Return a unit's answers in the order they were asked in; None if there are none."""
        return self._units.get(unit)

    def origin(self, origin: Origin) -> str:
        """Keep what the next answers are made on, and return its name."""
        if self.origins.get(origin.name) != origin:
            self._append({"made": origin.name, "ran_on": origin.ran_on, "facts": origin.facts})
        return origin.name

    def keep(self, unit: str, where: Where, answers: Sequence[Kept]) -> None:
        """Keep the answers of a unit in place of what is known of it.

        Raises:
            BadInput: the disk takes no more.
        """
        rows = [
            [a.made, a.score.status, a.score.logits, a.score.option_mass]
            + ([a.tries, *a.score.reasons] if a.tries or a.score.reasons else [])
            for a in answers
        ]
        asked = [where.corruption, where.severity, *where.samples]
        self._append({"unit": unit, "asked": asked, "answers": rows})

    def _append(self, entry: dict[str, Any]) -> None:
        text = json_text(entry, separators=(",", ":"))
        line = f"{zlib.crc32(text.encode()):08x} {text}\n"
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab+") as file:
                if file.tell() and not _ends_a_line(file):
                    line = "\n" + line
                file.write(line.encode())
        except OSError as error:
            raise BadInput(
                f"{self._path}: cannot be written ({error.strerror}); what is finished is kept: "
                "mend that and run the same command again"
            ) from None
        self._take(json.loads(text))

    def _take(self, entry: dict[str, Any]) -> None:
        if "unit" in entry:
            self._units[entry["unit"]] = _better(
                tuple(_kept(row) for row in entry["answers"]), self._units.get(entry["unit"])
            )
        else:
            self.origins[entry["made"]] = Origin(entry["ran_on"], entry["facts"])


def listed(key: str, folder: Path) -> Iterator[tuple[Where, Kept]]:
    """Yield each question asked in a folder, with the last word on it.

    Args:
        key: See `Journal`.
        folder: See `Journal`.
    """
    last: dict[str, tuple[Where, tuple[Kept, ...]]] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for entry in _entries(key, path):
            if "unit" in entry:
                corruption, severity, *samples = entry["asked"]
                answers = tuple(_kept(row) for row in entry["answers"])
                known = last.get(entry["unit"])
                last[entry["unit"]] = (
                    Where(corruption, severity, tuple(samples)),
                    _better(answers, known and known[1]),
                )
    for where, answers in last.values():
        for sample, answer in zip(where.samples, answers, strict=True):
            yield replace(where, samples=(sample,)), answer


def forget_failures(key: str, folder: Path) -> int:
    """Let what failed for a passing reason be asked again, however often it did.

    Args:
        key: See `Journal`.
        folder: See `Journal`.

    Returns:
        How many answers that are.
    """
    forgotten = sum(answer.score.status in PASSING for _, answer in listed(key, folder))
    for path in sorted(folder.glob("*.jsonl")):
        lines = []
        for entry in _entries(key, path):
            if "unit" in entry:
                rows = entry["answers"]
                entry["answers"] = [[*r[:4], 0, *r[5:]] if r[1] in PASSING else r for r in rows]
            text = json_text(entry, separators=(",", ":"))
            lines.append(f"{zlib.crc32(text.encode()):08x} {text}\n")
        with renamed_into_place(path) as temporary:
            temporary.write_text("".join(lines), encoding="utf-8")
    return forgotten


def _better(new: tuple[Kept, ...], old: tuple[Kept, ...] | None) -> tuple[Kept, ...]:
    """Return, answer by answer, the better of two: none that failed, else the one tried oftener."""
    if old is None or len(old) != len(new):
        return new
    return tuple(
        o if (o.score.status not in PASSING, o.tries) > (n.score.status not in PASSING, n.tries)
        else n
        for o, n in zip(old, new, strict=True)
    )  # fmt: skip


def _kept(row: list[Any]) -> Kept:
    made, status, logits, mass, *more = row
    tries, *reasons = more or [0]
    logits = None if logits is None else tuple(logits)
    return Kept(Score(logits, mass, status, tuple(reasons)), made, tries)


def _entries(key: str, path: Path, units: Container[str] | None = None) -> Iterator[dict[str, Any]]:
    """Yield what the whole lines of a file say, of some units or of all.

    Damaged lines are counted and left out.
    """
    damaged = 0
    with path.open("rb") as file:
        for line in file:
            checksum, _, text = line.rstrip(b"\n").partition(b" ")
            if checksum == f"{zlib.crc32(text):08x}".encode() and line.endswith(b"\n"):
                name = text[len(_UNIT) :][:_DIGITS].decode() if text.startswith(_UNIT) else None
                if name is None or units is None or name in units:
                    yield json.loads(text)
            elif line.strip():
                damaged += 1
    if damaged:
        tqdm.write(
            f"{key}: {path}: {damaged} damaged lines are left out; what they held is asked again",
            file=sys.stderr,
        )


def _ends_a_line(file: Any) -> bool:
    file.seek(-1, os.SEEK_END)
    return bool(file.read(1) == b"\n")
