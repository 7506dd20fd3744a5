"""How well a way of asking finds failures: rates and diversity, each with a 95 % interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from benchc.keyed import generator

RESAMPLES = 1000
HALVES = 200


@dataclass(frozen=True)
class Estimate:
    """A number with the ends of its 95 % interval; NaN where nothing can be said."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Failures:
    """The failures of one way of asking.

    Attributes:
        pictures: Number of the picture of each failure, int of shape (failures,).
        embeddings: Unit vectors of the questions, shape (failures, width).
        openings: First three words of each question.
        primitives: What each question takes, one set per failure.
        skills: Name of the skill in the taxonomy, one per failure.
    """

    pictures: np.ndarray
    embeddings: np.ndarray
    openings: Sequence[str]
    primitives: Sequence[frozenset[str]]
    skills: Sequence[str]

    def __len__(self) -> int:
        return len(self.pictures)


def rate(hits: np.ndarray, tries: np.ndarray, pictures: np.ndarray, *key: str | int) -> Estimate:
    """Return hits / tries with a bootstrap interval that resamples whole pictures.

    Args:
        hits: Whether each question counts above the line, shape (questions,).
        tries: Whether it counts below the line, same shape.
        pictures: Number of its picture, same shape.
        key: Key of the random draws.
    """
    _, which = np.unique(pictures, return_inverse=True)
    above, below = (np.bincount(which, x) for x in (hits, tries))
    if below.sum() == 0:
        return Estimate(np.nan, np.nan, np.nan)
    count = len(above)
    chosen = generator("discover", "rate", *key).integers(count, size=(RESAMPLES, count))
    totals = below[chosen].sum(1)
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = above[chosen].sum(1) / totals
    low, high = np.nanpercentile(rates, [2.5, 97.5])
    return Estimate(float(above.sum() / below.sum()), float(low), float(high))


def semantic_diversity(failures: Failures, inside: np.ndarray, size: int) -> float:
    """Return 100 x the mean pairwise cosine distance of questions, the same for any `size`."""
    total = failures.embeddings[inside].sum(0)
    count = len(inside)
    return float(100 * (1 - (total @ total - count) / (count * (count - 1))))


def lexical_diversity(failures: Failures, inside: np.ndarray, size: int) -> float:
    """Return distinct three-word openings / failures in a draw."""
    return expected_kinds([failures.openings[i] for i in inside], size) / size


def primitives_per_question(failures: Failures, inside: np.ndarray, size: int) -> float:
    """Return the mean number of primitives that a question takes, the same for any `size`."""
    return float(np.mean([len(failures.primitives[i]) for i in inside]))


def unique_skills(failures: Failures, inside: np.ndarray, size: int) -> float:
    """Return the number of different skills in a draw."""
    return expected_kinds([failures.skills[i] for i in inside], size)


def combinations(failures: Failures, inside: np.ndarray, size: int) -> float:
    """Return the number of different sets of primitives in a draw."""
    return expected_kinds([failures.primitives[i] for i in inside], size)


def expected_kinds(labels: Sequence[Hashable], size: int) -> float:
    """Return how many different labels a draw of `size` without replacement holds on average.

    Rarefaction: each label counts by the probability that it is in the draw (Hurlbert 1971).
    """
    count = len(labels)
    others = count - np.array(list(Counter(labels).values()))
    enough = others >= size
    log_ways = gammaln(others[enough] + 1) - gammaln(others[enough] - size + 1)
    missed = np.exp(log_ways - gammaln(count + 1) + gammaln(count - size + 1))
    return float(len(others) - missed.sum())


Measure = Callable[[Failures, np.ndarray, int], float]
"""Its mean over all draws of some size from the failures of some indices."""

OF_FAILURES: dict[str, Measure] = {
    "sd": semantic_diversity,
    "ld": lexical_diversity,
    "skills_per_question": primitives_per_question,
    "unique_skills": unique_skills,
    "skill_combinations": combinations,
}
"""Measures of the failures, some of which grow or shrink with their number."""


def over_draws(measure: Measure, failures: Failures, size: int, *key: str | int) -> Estimate:
    """Return the mean of a measure over all draws of `size` failures without replacement.

    The interval is the spread of the same mean over halves of the pictures, with half as many
    failures drawn, moved onto the estimate. A half without replacement varies as much as the
    whole would (the delete-half jackknife), and holds no failure twice, as a bootstrap would.

    Args:
        measure: One of `OF_FAILURES`.
        failures: All failures of one way.
        size: Failures in a draw, at most as many as there are; NaN below 4.
        key: Key of the choice of halves.
    """
    if size < 4:
        return Estimate(np.nan, np.nan, np.nan)
    rng = generator("discover", "draws", *key)
    everything = np.arange(len(failures))
    value = measure(failures, everything, size)
    pictures = np.unique(failures.pictures)
    spread = []
    for _ in range(HALVES):
        half = rng.choice(pictures, max(1, len(pictures) // 2), replace=False)
        inside = everything[np.isin(failures.pictures, half)]
        if len(inside) >= 2:
            spread.append(measure(failures, inside, min(size // 2, len(inside))))
    low, high = np.percentile(spread, [2.5, 97.5]) - np.mean(spread)
    return Estimate(value, float(value + low), float(value + high))
