"""The reward's terms, each a function of its own, on arrays: R = Delta * V * (1 - C) - P.

The product and the terms' names are the source's; the formulas behind
Delta, the size of P and the mean over a sequence are this project's.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

OPENING = 3
"""Words of a question's opening."""


def opening(question: str) -> str:
    """Return a question's first three words in lower case."""
    return " ".join(question.lower().replace("?", " ").replace(",", " ").split()[:OPENING])


def semantic_diversity(
    embeddings: np.ndarray, sequences: np.ndarray, memory: np.ndarray
) -> np.ndarray:
    """Return how far each question is from known failures and from its sequence's earlier ones.

    Args:
        embeddings: Unit vectors of the questions in order of asking, shape (questions, size).
        sequences: Number of the sequence of each question, int of shape (questions,).
        memory: Unit vectors of known failures, shape (failures, size); may have no row.

    Returns:
        1 - clip(largest cosine, 0, 1), float64 of shape (questions,); 1 where there is nothing
        to compare with.
    """
    count = len(embeddings)
    earlier = np.tri(count, k=-1, dtype=bool) & (sequences[:, None] == sequences[None, :])
    within = np.where(earlier, embeddings @ embeddings.T, -np.inf).max(axis=1, initial=-np.inf)
    known = (embeddings @ memory.T).max(axis=1, initial=-np.inf)
    nearest: np.ndarray = np.maximum(within, known)
    return 1 - np.clip(nearest, 0, 1)


def lexical_diversity(openings: Sequence[str]) -> np.ndarray:
    """Return 1 - the share of the other questions of the batch with the same opening.

    Args:
        openings: One per question, as `opening` returns them.

    Returns:
        Float64 of shape (questions,), from 0 (all the same) to 1; 1 for a single question.
    """
    if not openings:
        return np.zeros(0)
    _, which, counts = np.unique(np.array(openings), return_inverse=True, return_counts=True)
    return 1 - (counts[which] - 1) / max(1, len(openings) - 1)


def question_reward(
    diversity: np.ndarray, valid: np.ndarray, correct: np.ndarray, penalty: float
) -> np.ndarray:
    """Return R = Delta * V * (1 - C) - P.

    Args:
        diversity: Delta, 0 to 1, shape (questions,).
        valid: V as bool, shape (questions,).
        correct: C as bool, shape (questions,).
        penalty: P of an invalid question.
    """
    reward: np.ndarray = diversity * valid * ~correct - penalty * ~valid
    return reward


def sequence_reward(rewards: np.ndarray, sequences: np.ndarray, count: int) -> list[float | None]:
    """Return the mean reward of each sequence over its judged questions.

    Args:
        rewards: One per question, NaN where the verifier failed, shape (questions,).
        sequences: Number of the sequence of each question, 0 to `count` - 1.
        count: Number of sequences.

    Returns:
        One a sequence; None where no question of it was judged, so that it takes no part.
    """
    judged = ~np.isnan(rewards)
    totals = np.bincount(sequences[judged], rewards[judged], count)
    numbers = np.bincount(sequences[judged], minlength=count)
    return [float(t / n) if n else None for t, n in zip(totals, numbers, strict=True)]
