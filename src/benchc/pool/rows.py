"""What every source gives: rows of one shape, and the closed list of reasons to leave one out."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from string import ascii_uppercase

import numpy as np

MAX_OPTIONS = len(ascii_uppercase)
_LONGEST_SHOWN = 60
_NUMBER = re.compile(r"[0-9]{1,15}")


class Reason(StrEnum):
    """Why a row of a source is not in the pool."""

    NO_ANSWER = "no_answer"
    ANSWER_OUTSIDE_OPTIONS = "answer_outside_options"
    TOO_FEW_OPTIONS = "too_few_options"
    TOO_MANY_OPTIONS = "too_many_options"
    MULTI_IMAGE = "multi_image"
    NO_IMAGE = "no_image"
    UNDECODABLE_IMAGE = "undecodable_image"
    OPEN_ENDED = "open_ended"
    MALFORMED = "malformed"
    CIRCULAR_COPY = "circular_copy"
    DUPLICATE = "duplicate"
    EXCLUDED_CATEGORY = "excluded_category"
    EXCLUDED_ID = "excluded_id"
    NOT_SAMPLED = "not_sampled"


HARMLESS = frozenset(
    {
        Reason.CIRCULAR_COPY,
        Reason.DUPLICATE,
        Reason.EXCLUDED_CATEGORY,
        Reason.EXCLUDED_ID,
        Reason.NOT_SAMPLED,
    }
)
"""Reasons that are no fault of the row."""


@dataclass(frozen=True)
class Row:
    """One multiple-choice question with one picture.

    Attributes:
        source_ref: The row's id in its source.
        category: The source's own category, or empty.
        question: The question, hint first if there is one.
        options: 2 to 26 option texts, as the source spells them.
        answer: 0-based index of the right option.
        picture: Returns uint8 (height, width, 3) RGB, or raises BadInput.
        scene: JSON of the drawn scene, or empty.
        benchmark: Where the row comes from if not from the source as a whole.
        where: Where a person finds the row, such as `line 7`.
        picture_file: The file that holds the picture, as the row names it, or empty.
        extra: The source's own columns, as JSON knows them; no result depends on them.
    """

    source_ref: str
    category: str
    question: str
    options: tuple[str, ...]
    answer: int
    picture: Callable[[], np.ndarray]
    scene: str = ""
    benchmark: str = ""
    where: str = ""
    picture_file: str = ""
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Rejection:
    """One row left out.

    Attributes:
        source_ref: The row's id in its source.
        reason: Why.
        detail: What exactly is wrong, in words.
        where: Where a person finds the row, such as `line 7`.
    """

    source_ref: str
    reason: Reason
    detail: str = ""
    where: str = ""


@dataclass
class SourceRows:
    """All rows of a source in their order: the usable ones and the others.

    Attributes:
        rows: Rows that can be asked, their pictures not decoded yet.
        rejected: The others.
        file: The file that a person would open to mend a row, or empty.
    """

    rows: list[Row] = field(default_factory=list)
    rejected: list[Rejection] = field(default_factory=list)
    file: str = ""

    def __len__(self) -> int:
        return len(self.rows) + len(self.rejected)

    @contextmanager
    def rejecting(self, source_ref: str, where: str) -> Iterator[None]:
        """Let a row be read; where that raises `Unusable`, it goes to the rejected ones."""
        try:
            yield
        except Unusable as verdict:
            rejection = Rejection(source_ref, verdict.reason, verdict.detail, where)
            self.rejected.append(rejection)


class Unusable(Exception):  # noqa: N818 - a verdict on a row, not a fault
    """Raised while a row is read: it goes to the rejected ones for this reason."""

    def __init__(self, reason: Reason, detail: str):
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def lettered(options: Mapping[str, str | None]) -> tuple[tuple[str, ...], dict[str, int]]:
    """Return the options that are there, in the order of their letters, and each letter's index.

    A hole (A, C, D) closes up; the mapping keeps the answer with its option.

    Raises:
        Unusable: Fewer than two options, or more than 26.
    """
    there = sorted((letter, text) for letter, text in options.items() if text is not None)
    texts = tuple(text for _, text in there)
    check_count(texts)
    return texts, {letter: index for index, (letter, _) in enumerate(there)}


def check_count(options: Sequence[str]) -> None:
    """Refuse a row that has not 2 to 26 options.

    Raises:
        Unusable: too_few_options or too_many_options.
    """
    if len(options) < 2:
        count = "only one option" if options else "no option"
        raise Unusable(Reason.TOO_FEW_OPTIONS, f"it has {count}; a question needs at least two")
    if len(options) > MAX_OPTIONS:
        raise Unusable(
            Reason.TOO_MANY_OPTIONS, f"it has {len(options)} options; at most {MAX_OPTIONS} can be"
        )


def answer_index(answer: str, indices: Mapping[str, int]) -> int:
    """Return the index of the option whose letter is `answer`.

    Raises:
        Unusable: no_answer or answer_outside_options.
    """
    if not answer:
        raise Unusable(Reason.NO_ANSWER, "it has no answer")
    if answer not in indices:
        raise outside(answer, indices)
    return indices[answer]


def whole_number(text: str) -> int | None:
    """Return the number that a text of up to 15 digits spells, 1.0 as 1; None for another text."""
    whole, _, fraction = text.partition(".")
    return int(whole) if _NUMBER.fullmatch(whole) and not fraction.strip("0") else None


def brief(value: object) -> str:
    """Return a value as a message shows it: quoted where it is text, and never long."""
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def outside(answer: object, letters: Mapping[str, int]) -> Unusable:
    """Return the verdict on an answer that names none of the letters."""
    names = ", ".join(letters)
    return Unusable(
        Reason.ANSWER_OUTSIDE_OPTIONS, f"answer {brief(answer)} is not among its options {names}"
    )


def with_hint(hint: str, question: str) -> str:
    """Return the question, after its hint on a line of its own if there is one."""
    return f"{hint}\n{question}" if hint.strip() else question
