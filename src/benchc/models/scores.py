"""From option logits to the row of a table: softmax, top-1, ties, status."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np


@dataclass(frozen=True)
class Question:
    """One thing to ask: a picture (uint8 RGB, height x width x 3), a question and its options."""

    image: np.ndarray
    question: str
    options: tuple[str, ...]


#: Statuses of faults that may be gone when the same question is asked again.
PASSING = frozenset({"server_error", "timeout", "out_of_memory"})


@dataclass(frozen=True)
class Score:
    """What a model said: one logit per option (natural-log units), or none and why.

    Attributes:
        logits: With the status `missing_option` some are upper bounds.
        option_mass: The share of the full-vocabulary probability on the options' tokens, 0..1, and
            None where the scoring has no such share; a lower bound with `missing_option`.
        status: `ok`, or what is wrong.
        reasons: Why the status is not `ok`, each a phrase that goes on behind "60 of 60 ...".
    """

    logits: tuple[float, ...] | None
    option_mass: float | None
    status: str = "ok"
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Explanation:
    """One question as the model saw it, for a person to look at.

    Attributes:
        prompt: The words behind the picture, as they are sent.
        prompt_tokens: How many tokens they are with the picture; None where it is not known.
        option_tokens: What is scored for each option: the tokens as text, ids behind them if known.
        next_tokens: The likeliest tokens behind the prompt with their probabilities, likeliest
            first, at most ten.
        prompt_ids: The tokens that run, as text, each with its id; none where they are not known.
    """

    prompt: str
    prompt_tokens: int | None
    option_tokens: tuple[str, ...]
    next_tokens: tuple[tuple[str, float], ...]
    prompt_ids: tuple[tuple[str, int], ...] = ()


class Backend(Protocol):
    """Anything that turns questions into scores, one for one and in order."""

    def score(self, questions: Sequence[Question]) -> list[Score]:
        """Return one score a question; a question that cannot be asked gets a status."""
        ...

    def ran_on(self) -> dict[str, object]:
        """Return what the last `score` ran on: device, dtype, batch size or the like, as JSON.

        It is kept with each chunk of predictions; a model whose chunks differ in it is flagged.
        """
        ...

    def explain(self, question: Question) -> Explanation:
        """Return how one question is asked and what the model would say next, for `benchc check`.

        Raises:
            BadInput: the question cannot be asked.
        """
        ...

    def facts(self) -> dict[str, object]:
        """Return what else could change a prediction, for the run record, as JSON."""
        ...


@runtime_checkable
class OneByOne(Protocol):
    """A backend whose answer to a question depends on no other question asked with it.

    What such a backend has answered is kept question by question; of any other the whole batch.
    """

    def score_each(
        self, questions: Sequence[Question], heard: Callable[[int, Score], None]
    ) -> None:
        """Tell `heard` the place and the score of each question as soon as it is known."""
        ...


def most_seen(scores: Sequence[Score]) -> str:
    """Return what most of the scores that are not `ok` suffer from, with their number."""
    reasons = Counter(
        reason for score in scores for reason in score.reasons or _reasons_of(score.status)
    )
    if not reasons:
        return f"0 of {len(scores)} failed"
    reason, count = reasons.most_common(1)[0]
    return f"{count} of {len(scores)} {reason}"


def _reasons_of(status: str) -> tuple[str, ...]:
    return () if status == "ok" else (f"have the status {status}",)


def prediction_columns(score: Score, temperature: float) -> dict[str, object]:
    """Return the columns of `predictions` that follow from a score.

    p = softmax(logits / temperature) in float64; a logit that is not finite makes p NULL and the
    status `nonfinite_logits`. top1 is the lowest index that holds the maximum, `is_tie` says that
    several do. With any other status than `ok` there is no p, only what is known of the logits.
    """
    empty = {"logits": None, "p": None, "top1": None, "is_tie": None, "option_mass": None}
    if score.logits is None:
        return {**empty, "status": score.status}
    logits = np.asarray(score.logits, dtype=np.float64)
    if not np.isfinite(logits).all():
        return {**empty, "status": "nonfinite_logits"}
    if score.status != "ok":
        known = {"logits": logits.tolist(), "option_mass": score.option_mass}
        return {**empty, **known, "status": score.status}
    weights = np.exp((logits - logits.max()) / temperature)
    p = weights / weights.sum()
    return {
        "logits": logits.tolist(),
        "p": p.tolist(),
        "top1": int(p.argmax()),
        "is_tie": bool((p == p.max()).sum() > 1),
        "option_mass": score.option_mass,
        "status": score.status,
    }
