"""The three players' interfaces and what passes between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from benchc.pictures.pixels import Pixels
from benchc.world.scene import Scene


@dataclass(frozen=True)
class Picture:
    """A picture that questions are asked about.

    Attributes:
        key: Its name, unique within a run.
        load: Returns it as uint8 (height, width, 3) RGB; called where the pixels are needed.
        scene: The description that drew it; None for a photograph.
    """

    key: str
    load: Callable[[], Pixels]
    scene: Scene | None = None


@dataclass(frozen=True)
class Judgement:
    """What a verifier says of a question, before any answer is given.

    Attributes:
        grammatical: It is a well-formed question.
        atomic: It asks one thing.
        grounded: What it speaks of is in the picture.
        objective: It has exactly one right answer.
        truth: The verifier's own answer; None where the question is not valid.
        failure: Why the verifier could not judge; None where it could.
        primitives: What must be perceived or inferred to answer it.
    """

    grammatical: bool
    atomic: bool
    grounded: bool
    objective: bool
    truth: str | None
    failure: str | None = None
    primitives: frozenset[str] = frozenset()

    @property
    def valid(self) -> bool:
        """Whether all four verdicts are granted."""
        return self.grammatical and self.atomic and self.grounded and self.objective


@dataclass(frozen=True)
class AskedQuestion:
    """One question of one sequence.

    Attributes:
        picture: What it is about.
        sequence: Number of the sequence it was written in, within one round of play.
        place: Its place in the sequence, from 0.
        text: The question; empty where the questioner wrote fewer than it should.
    """

    picture: Picture
    sequence: int
    place: int
    text: str


@dataclass(frozen=True)
class Unanswered:
    """Why a question could not be put to the model under test: no failure of the model's."""

    reason: str


class Questioner(Protocol):
    """Writes several questions about a picture in one sequence."""

    def ask(
        self, pictures: Sequence[Picture], examples: Sequence[Sequence[str]], seed: int
    ) -> list[list[str]]:
        """Return one sequence per picture: its questions, in order.

        Args:
            pictures: Pictures; one may stand there several times.
            examples: For each picture, questions that the new ones should be like, or none.
            seed: Seed of the sampling.
        """
        ...


class Answerer(Protocol):
    """The model under test."""

    def answer(
        self, pictures: Sequence[Picture], questions: Sequence[str]
    ) -> Sequence[str | Unanswered | None]:
        """Return one answer in words per question; why not, or None, where none could be had."""
        ...


class Verifier(Protocol):
    """Judges questions and answers."""

    def judge(self, pictures: Sequence[Picture], questions: Sequence[str]) -> list[Judgement]:
        """Return whether each question is valid, and what the right answer is."""
        ...

    def compare(
        self, asked: Sequence[tuple[Picture, str]], truths: Sequence[str], answers: Sequence[str]
    ) -> list[bool | None]:
        """Return whether each answer says the same as the truth; None where that failed."""
        ...
