"""The verifier of the drawn world, which is exact.

Validity and truth come from the description that drew the picture.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchc.discover.players import Judgement, Picture
from benchc.discover.primitives import primitives
from benchc.world.questions import PLURALS, Query, evaluate, parse
from benchc.world.scene import Scene

_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_ARTICLES = frozenset({"a", "an", "the"})


class DrawnVerifier:
    """Reads the scene that drew a picture, and parses questions in the world's grammar.

    Grammatical: one question of the grammar, or several joined by "and". Atomic: exactly one.
    Grounded: everything that a question presupposes is in the picture; a count presupposes
    nothing. Objective: the scene gives exactly one right answer.
    """

    def judge(self, pictures: Sequence[Picture], questions: Sequence[str]) -> list[Judgement]:
        """Return the four verdicts and the right answers."""
        return [
            judge(_scene(picture), question)
            for picture, question in zip(pictures, questions, strict=True)
        ]

    def compare(
        self, asked: Sequence[tuple[Picture, str]], truths: Sequence[str], answers: Sequence[str]
    ) -> list[bool | None]:
        """Return whether each answer names the truth, or the same shape as the truth."""
        return [
            same_answer(_scene(picture), truth, answer)
            for (picture, _), truth, answer in zip(asked, truths, answers, strict=True)
        ]


def judge(scene: Scene, question: str) -> Judgement:
    """Return the verdicts on one question about one scene."""
    queries = read(question)
    if not queries:
        return Judgement(False, False, False, False, None)
    truths = [evaluate(query, scene) for query in queries]
    atomic = len(queries) == 1
    return Judgement(
        grammatical=True,
        atomic=atomic,
        grounded=all(is_grounded(query, scene) for query in queries),
        objective=None not in truths,
        truth=truths[0] if atomic else None,
        primitives=frozenset().union(*map(primitives, queries)),
    )


def read(question: str) -> list[Query]:
    """Return the queries that a question joins by "and"; empty where one is not in the grammar."""
    text = re.sub(r"\s+([?,])", r"\1", " ".join(question.lower().split()))
    if not text.endswith("?"):
        return []
    queries = [parse(f"{part[:1].upper()}{part[1:]}?") for part in text[:-1].split(" and ")]
    return [] if None in queries else [query for query in queries if query is not None]


def is_grounded(query: Query, scene: Scene) -> bool:
    """Tell whether what a query presupposes is in the scene."""
    if query.track == "counting":
        return True
    if query.category in ("word", "number"):
        return any(sign.text.isalpha() == (query.category == "word") for sign in scene.signs)
    if query.category == "sign":
        return len(scene.signs) >= 2
    slots = dict(query.slots)
    named = [find_all(slots[slot], scene) for slot in ("a", "b") if slot in slots]
    if named:
        return all(named) and (len(set(slots.values())) == len(slots))
    described = [slots[slot] for slot in ("kind", "colour", "pattern") if slot in slots]
    return bool(find_all(" ".join(described), scene))


def find_all(words: str, scene: Scene) -> list[int]:
    """Return the indices of the shapes of which every word is true."""
    return [
        index
        for index, s in enumerate(scene.shapes)
        if all(word in (s.kind, s.colour, s.pattern) for word in words.split())
    ]


def same_answer(scene: Scene, truth: str, answer: str) -> bool:
    """Tell whether an answer says the truth in the same or in other words.

    Case, punctuation, articles and the way a number is written do not matter. Where the truth
    names a shape, any name that fits only this shape is right.
    """
    wanted, given = normalise(truth), normalise(answer)
    if wanted == given:
        return True
    meant, named = _shape(wanted, scene), _shape(given, scene)
    return meant is not None and meant == named


def normalise(answer: str) -> str:
    """Return an answer in lower case, without punctuation and articles, numbers as digits."""
    words = re.findall(r"[a-z0-9]+", answer.lower())
    return " ".join(
        str(_NUMBERS.index(word)) if word in _NUMBERS else word
        for word in words
        if word not in _ARTICLES
    )


def _shape(name: str, scene: Scene) -> int | None:
    """Return the index of the one shape that a name such as "red star" fits, or None."""
    words = name.split()
    if not words or words[-1] not in PLURALS:
        return None
    found = find_all(name, scene)
    return found[0] if len(found) == 1 else None


def _scene(picture: Picture) -> Scene:
    """Return a picture's description, which a drawn picture has."""
    if picture.scene is None:
        raise ValueError(f"picture {picture.key} has no scene")
    return picture.scene
