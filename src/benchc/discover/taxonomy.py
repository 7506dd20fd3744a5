"""The taxonomy of failures: topics by clustering, skills by name, meta-skills by a higher cut.

Names come from what the questions take and from their most telling words.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist

NEAR_DUPLICATE = 0.97
"""Cosine from which on two questions count as one."""
SKILL_CUT, META_CUT = 0.25, 0.55
"""Cosine distances at which the tree is cut."""
TERMS = 3


@dataclass(frozen=True)
class Skill:
    """One topic of failed questions, named.

    Attributes:
        number: Its number, from 0.
        name: What its questions take, and the words that tell them apart.
        terms: These words.
        meta: Number of the meta-skill above it.
        meta_name: Name of the meta-skill.
        novel: Whether none of what it takes is in the list of known skills.
    """

    number: int
    name: str
    terms: tuple[str, ...]
    meta: int
    meta_name: str
    novel: bool


@dataclass(frozen=True)
class Taxonomy:
    """Skills, and where every question stands.

    Attributes:
        skills: The skills in order of their numbers.
        skill: Number of the skill of each question, int of shape (questions,).
        representative: Index of the near-duplicate that stands for each, int, same shape.
    """

    skills: tuple[Skill, ...]
    skill: np.ndarray
    representative: np.ndarray


def build_taxonomy(
    questions: Sequence[str], embeddings: np.ndarray, primitives: Sequence[frozenset[str]]
) -> Taxonomy:
    """Return the taxonomy of different questions.

    Near-duplicates are dropped first, in the order given; what is left is clustered by average
    linkage on cosine distance, and the one tree is cut twice, so that skills nest in meta-skills.

    Args:
        questions: Texts, each once.
        embeddings: Their unit vectors, shape (questions, width).
        primitives: What each takes.
    """
    representative = near_duplicates(embeddings)
    kept = np.unique(representative)
    topics, metas = two_cuts(embeddings[kept])
    place = {int(index): i for i, index in enumerate(kept)}
    skill = np.array([topics[place[int(r)]] for r in representative], dtype=int)
    terms = key_terms(questions, skill)
    known = known_primitives()
    meta_of = dict(zip(topics.tolist(), metas.tolist(), strict=True))
    meta = np.array([meta_of[s] for s in skill.tolist()], dtype=int)
    meta_names = {int(m): main_primitives(primitives, meta == m, 2) for m in np.unique(meta)}
    skills = []
    for number in range(int(skill.max(initial=-1)) + 1):
        mine = skill == number
        taken = main_primitives(primitives, mine, 3)
        name = f"{' + '.join(taken) or 'other'} ({', '.join(terms[number])})"
        above = meta_of[number]
        skills.append(
            Skill(
                number, name, terms[number], above,
                " + ".join(meta_names[above]) or "other", not set(taken) & known)
        )  # fmt: skip
    return Taxonomy(tuple(skills), skill, representative)


def near_duplicates(embeddings: np.ndarray, cosine: float = NEAR_DUPLICATE) -> np.ndarray:
    """Return for each vector the first earlier one that is nearly the same and was kept, or itself.

    Args:
        embeddings: Unit vectors, shape (questions, width).
        cosine: From here on two vectors count as the same.
    """
    found = np.arange(len(embeddings))
    kept: list[int] = []
    for index, vector in enumerate(embeddings):
        if kept:
            close = np.flatnonzero(embeddings[kept] @ vector >= cosine)
            if len(close):
                found[index] = kept[close[0]]
                continue
        kept.append(index)
    return found


def two_cuts(embeddings: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the skill and the meta-skill of each vector, numbered from 0 by first occurrence."""
    if len(embeddings) < 2:
        return np.zeros(len(embeddings), int), np.zeros(len(embeddings), int)
    tree = linkage(np.maximum(pdist(embeddings, "cosine"), 0), method="average")
    return _renumbered(fcluster(tree, SKILL_CUT, "distance")), _renumbered(
        fcluster(tree, META_CUT, "distance")
    )


def key_terms(questions: Sequence[str], skill: np.ndarray) -> list[tuple[str, ...]]:
    """Return the words of each skill that are frequent in it and rare in the others."""
    counts = [Counter[str]() for _ in range(int(skill.max(initial=-1)) + 1)]
    for text, number in zip(questions, skill.tolist(), strict=True):
        counts[number].update(set(re.findall(r"[a-z0-9]+", text.lower())))
    spread = Counter(word for count in counts for word in count)
    total = len(counts)
    return [
        tuple(
            word
            for word, _ in sorted(
                count.items(),
                key=lambda item: (-item[1] * np.log(1 + total / spread[item[0]]), item),
            )[:TERMS]
        )
        for count in counts
    ]


def main_primitives(
    primitives: Sequence[frozenset[str]], chosen: np.ndarray, limit: int
) -> list[str]:
    """Return what at least half of the chosen questions take, the most frequent first."""
    inside = np.flatnonzero(chosen).tolist()
    counts = Counter(name for index in inside for name in primitives[index])
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [name for name, count in ranked if 2 * count >= len(inside)][:limit]


def known_primitives() -> frozenset[str]:
    """Return the primitives that the packaged table of known skills cites."""
    text = (resources.files("benchc.discover") / "known_skills.csv").read_text("utf-8")
    return frozenset(row["skill"] for row in csv.DictReader(text.splitlines()))


def _renumbered(labels: np.ndarray) -> np.ndarray:
    """Number clusters from 0 in the order in which they first occur."""
    _, first, which = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    renumbered: np.ndarray = rank[which]
    return renumbered
