"""One round of the game: questions are judged, valid ones answered, answers compared.

Never trains, and never asks the answerer what is no valid question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchc.discover.players import (
    Answerer,
    AskedQuestion,
    Judgement,
    Picture,
    Unanswered,
    Verifier,
)


@dataclass(frozen=True)
class Outcome:
    """The result of one question.

    Attributes:
        asked: The question and where it stood.
        judgement: What the verifier said of it.
        answer: The answerer's words; None where it was not asked.
        correct: Whether they are right; None where that was not or could not be judged.
    """

    asked: AskedQuestion
    judgement: Judgement
    answer: str | None = None
    correct: bool | None = None

    @property
    def judged(self) -> bool:
        """Whether the verifier came to a verdict on all that it was asked."""
        return self.judgement.failure is None

    @property
    def failed(self) -> bool:
        """Whether this is a failure of the answerer: a valid question, answered wrongly."""
        return self.judged and self.judgement.valid and self.correct is False


_MISSING = Judgement(False, False, False, False, None)


def play(
    pictures: Sequence[Picture],
    sequences: Sequence[Sequence[str]],
    answerer: Answerer,
    verifier: Verifier,
) -> list[Outcome]:
    """Return the outcome of every question, sequence by sequence.

    Args:
        pictures: The picture of each sequence.
        sequences: The questions of each sequence; an empty one is missing, hence invalid.
        answerer: The model under test.
        verifier: Judges questions and answers.
    """
    asked = [
        AskedQuestion(picture, number, place, text)
        for number, (picture, texts) in enumerate(zip(pictures, sequences, strict=True))
        for place, text in enumerate(texts)
    ]
    written = [a for a in asked if a.text]
    verdicts = verifier.judge([a.picture for a in written], [a.text for a in written])
    said = dict(zip(((a.sequence, a.place) for a in written), verdicts, strict=True))
    outcomes = [Outcome(a, said.get((a.sequence, a.place), _MISSING)) for a in asked]

    open_ones = [i for i, o in enumerate(outcomes) if o.judged and o.judgement.valid]
    valid = [outcomes[i] for i in open_ones]
    answers = answerer.answer([o.asked.picture for o in valid], [o.asked.text for o in valid])
    answered = [(i, a) for i, a in zip(open_ones, answers, strict=True) if isinstance(a, str)]
    compared = verifier.compare(
        [(outcomes[i].asked.picture, outcomes[i].asked.text) for i, _ in answered],
        [outcomes[i].judgement.truth or "" for i, _ in answered],
        [answer for _, answer in answered],
    )
    verdicts_of = dict(zip((i for i, _ in answered), compared, strict=True))
    for i, answer in zip(open_ones, answers, strict=True):
        judgement, correct = outcomes[i].judgement, verdicts_of.get(i)
        if correct is None:
            judgement = replace(judgement, failure=_why_not(answer))
        words = answer if isinstance(answer, str) else None
        outcomes[i] = Outcome(outcomes[i].asked, judgement, words, correct)
    return outcomes


def _why_not(answer: str | Unanswered | None) -> str:
    """Return why an answer was not judged."""
    if isinstance(answer, Unanswered):
        return answer.reason
    return "no answer came" if answer is None else "the answers could not be compared"
