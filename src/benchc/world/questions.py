"""The questions of the drawn world: a grammar, its parser, and the truth computed from a scene.

A question without exactly one right answer for a scene has the answer None.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchc.world.scene import COLOURS, KINDS, NUMBERS, PATTERNS, WORDS, Scene, Shape, Sign

TRACKS = ("text", "counting", "colour", "shape", "spatial", "size")
PLURALS = {kind: "crosses" if kind == "cross" else kind + "s" for kind in KINDS}
MARGIN = 40
"""Pixels by which two centres must differ along an axis before a question may ask about it."""
RATIO = 1.15
"""Least ratio of two radii before a question may compare the sizes."""

_SIDES = ("left", "right")
_LEVELS = ("above", "below")
_ENDS = ("left", "right", "top", "bottom")
_THING = rf"(?:(?:{'|'.join(COLOURS)}) )?(?:{'|'.join(KINDS)})"
_SLOTS = {
    "kind": "|".join(KINDS),
    "kinds": "|".join(PLURALS.values()),
    "colour": "|".join(COLOURS),
    "pattern": "|".join(PATTERNS),
    "side": "left|right|upper|lower",
    "end": "|".join(_ENDS),
    "a": _THING,
    "b": _THING,
}


@dataclass(frozen=True)
class Query:
    """A question in structured form.

    Attributes:
        track: One of `TRACKS`.
        category: A key of `TEMPLATES`.
        slots: Names and values of the template's slots, sorted by name.
    """

    track: str
    category: str
    slots: tuple[tuple[str, str], ...]

    def slot(self, name: str) -> str:
        """Return the value of a slot, which must exist."""
        return dict(self.slots)[name]


TEMPLATES: dict[str, tuple[str, tuple[str, ...]]] = {
    "word": ("text", (
        "What word is printed in the picture?",
        "Which word can be read?",
        "Which word is on a sign?")),
    "number": ("text", (
        "What number is printed in the picture?",
        "Which number can be read?",
        "Which number is on a sign?")),
    "sign": ("text", (
        "What is printed on the {side} sign?",
        "What does the {side} sign say?")),
    "count_all": ("counting", (
        "How many shapes are there?",
        "How many shapes can be seen?",
        "What is the number of shapes?")),
    "count_kind": ("counting", (
        "How many {kinds} are there?",
        "How many {kinds} can be seen?",
        "What is the number of {kinds}?")),
    "count_colour": ("counting", (
        "How many {colour} shapes are there?",
        "How many shapes are {colour}?")),
    "count_pattern": ("counting", (
        "How many {pattern} shapes are there?",
        "How many shapes are {pattern}?")),
    "colour_kind": ("colour", (
        "What colour is the {kind}?",
        "Which colour does the {kind} have?")),
    "colour_pattern": ("colour", (
        "What colour is the {pattern} shape?",
        "Which colour does the {pattern} shape have?")),
    "colour_both": ("colour", (
        "What colour is the {pattern} {kind}?",
        "Which colour does the {pattern} {kind} have?")),
    "kind_colour": ("shape", (
        "Which shape is {colour}?",
        "What is the {colour} shape?")),
    "kind_pattern": ("shape", (
        "Which shape is {pattern}?",
        "What is the {pattern} shape?")),
    "pattern_kind": ("shape", (
        "How is the {kind} filled?",
        "What pattern does the {kind} have?")),
    "pattern_colour": ("shape", (
        "How is the {colour} shape filled?",
        "What pattern does the {colour} shape have?")),
    "side": ("spatial", (
        "Is the {a} left or right of the {b}?",
        "On which side of the {b} is the {a}?")),
    "level": ("spatial", (
        "Is the {a} above or below the {b}?",)),
    "relation": ("spatial", (
        "Where is the {a} seen from the {b}?",
        "Where is the {a} relative to the {b}?")),
    "edge": ("spatial", (
        "Which shape is nearest the {end} edge?",
        "Which shape is furthest to the {end}?")),
    "larger": ("size", (
        "Which is larger, the {a} or the {b}?",
        "Which is bigger, the {a} or the {b}?")),
    "smaller": ("size", (
        "Which is smaller, the {a} or the {b}?",)),
    "largest": ("size", (
        "Which shape is the largest?",
        "Which is the biggest shape?")),
    "smallest": ("size", (
        "Which shape is the smallest?",
        "Which is the smallest shape?")),
    "compare": ("size", (
        "Is the {a} larger or smaller than the {b}?",)),
}  # fmt: skip
"""Category to its track and the ways to ask it."""

CATEGORIES = {track: tuple(c for c, (t, _) in TEMPLATES.items() if t == track) for track in TRACKS}


def phrase(query: Query, rng: np.random.Generator) -> str:
    """Return a query as an English question, in one of its category's ways."""
    ways = TEMPLATES[query.category][1]
    return ways[rng.integers(len(ways))].format(**dict(query.slots))


def parse(question: str) -> Query | None:
    """Return the query that a question asks, or None when the grammar does not hold it."""
    for pattern, category in _PATTERNS:
        match = pattern.fullmatch(question.strip())
        if match:
            return Query(TEMPLATES[category][0], category, tuple(sorted(match.groupdict().items())))
    return None


def evaluate(query: Query, scene: Scene) -> str | None:
    """Return the one right answer for a scene, or None when there is none or more than one."""
    return _TRUTHS[query.category](query, scene)


def wrong_answers(query: Query, scene: Scene, truth: str, rng: np.random.Generator) -> list[str]:
    """Return wrong answers, the most tempting first; empty only for a query without a truth.

    Things that occur in the scene come before things that do not. A closed question (left or
    right, the larger of two) has only its own alternatives.
    """
    shapes, category = scene.shapes, query.category
    if category in ("word", "number"):
        pools = [[], list(WORDS if category == "word" else NUMBERS)]
    elif category == "sign":
        near = NUMBERS if truth in NUMBERS else WORDS
        pools = [[s.text for s in scene.signs], list(near)]
    elif query.track == "counting":
        n = int(truth)
        return [
            str(v) for v in sorted(range(7), key=lambda v: (abs(v - n), rng.random())) if v != n
        ]
    elif category.startswith("colour_"):
        pools = [[s.colour for s in shapes], list(COLOURS)]
    elif category.startswith("kind_") or category == "edge":
        pools = [[s.kind for s in shapes], [] if category == "edge" else list(KINDS)]
    elif category.startswith("pattern_"):
        pools = [[s.pattern for s in shapes], list(PATTERNS)]
    elif category in ("side", "level", "relation", "compare"):
        pools = [[], list(_CLOSED[category])]
    elif category in ("larger", "smaller"):
        pools = [[query.slot("a"), query.slot("b")], []]
    else:
        pools = [[f"{s.colour} {s.kind}" for s in shapes], []]
    shuffled = [str(v) for pool in pools for v in rng.permutation(np.array(pool, dtype=str))]
    return [v for v in dict.fromkeys(shuffled) if v != truth]


def draw_query(category: str, scene: Scene, rng: np.random.Generator) -> Query:
    """Return a query of a category whose slots are taken mostly from the scene.

    The query need not have an answer; `evaluate` tells.
    """
    shapes = scene.shapes
    one = shapes[rng.integers(len(shapes))]
    absent = rng.random() < 0.15
    values: dict[str, Callable[[], str]] = {
        "kind": lambda: one.kind,
        "kinds": lambda: PLURALS[_any(KINDS, rng) if absent else one.kind],
        "colour": lambda: _any(COLOURS, rng) if absent and "count" in category else one.colour,
        "pattern": lambda: _any(PATTERNS, rng) if absent and "count" in category else one.pattern,
        "side": lambda: _any(("left", "right", "upper", "lower"), rng),
        "end": lambda: _any(_ENDS, rng),
        "a": lambda: _name(one, shapes, rng),
        "b": lambda: _name(_other(one, shapes, rng), shapes, rng),
    }
    names = sorted(set(re.findall(r"{(\w+)}", TEMPLATES[category][1][0])))
    return Query(TEMPLATES[category][0], category, tuple((n, values[n]()) for n in names))


def find(name: str, scene: Scene) -> Shape | None:
    """Return the one shape that a name such as "star" or "red star" fits, or None."""
    *colour, kind = name.split()
    return _only([s for s in scene.shapes if s.kind == kind and (not colour or s.colour in colour)])


def _name(shape: Shape, shapes: tuple[Shape, ...], rng: np.random.Generator) -> str:
    """Return a name for a shape, with its colour where the kind alone does not suffice."""
    alone = sum(s.kind == shape.kind for s in shapes) == 1
    return shape.kind if alone and rng.random() < 0.6 else f"{shape.colour} {shape.kind}"


def _other(shape: Shape, shapes: tuple[Shape, ...], rng: np.random.Generator) -> Shape:
    """Return a random shape that is not the given one."""
    rest = [s for s in shapes if s is not shape]
    return rest[rng.integers(len(rest))]


def _any(values: tuple[str, ...], rng: np.random.Generator) -> str:
    """Return a random element."""
    return values[rng.integers(len(values))]


def _only(found: list[Shape]) -> Shape | None:
    """Return the element of a list of one, else None."""
    return found[0] if len(found) == 1 else None


def _printed(words: bool) -> Callable[[Query, Scene], str | None]:
    """Make the truth of "which word" or "which number"."""

    def truth(query: Query, scene: Scene) -> str | None:
        texts = [s.text for s in scene.signs if s.text.isalpha() == words]
        return texts[0] if len(texts) == 1 else None

    return truth


def _sign(query: Query, scene: Scene) -> str | None:
    """Return the text of the left, right, upper or lower of two signs."""
    if len(scene.signs) != 2:
        return None
    side = query.slot("side")
    sign = -1 if side in ("left", "upper") else 1
    value: Callable[[Sign], int] = (
        (lambda s: sign * s.x) if side in _SIDES else (lambda s: sign * s.y)
    )
    low, high = sorted(scene.signs, key=value)
    return high.text if value(high) - value(low) >= MARGIN else None


def _count(test: Callable[[Query, Shape], bool]) -> Callable[[Query, Scene], str | None]:
    """Make the truth of a count of the shapes that pass a test."""
    return lambda query, scene: str(sum(test(query, s) for s in scene.shapes))


def _read(field: str, *given: str) -> Callable[[Query, Scene], str | None]:
    """Make the truth of "which FIELD has the one shape with the GIVEN properties"."""

    def truth(query: Query, scene: Scene) -> str | None:
        shape = _only(
            [s for s in scene.shapes if all(getattr(s, g) == query.slot(g) for g in given)]
        )
        return str(getattr(shape, field)) if shape else None

    return truth


def _relation(query: Query, scene: Scene) -> str | None:
    """Return where a lies seen from b, along the asked axis or the clearly dominant one."""
    a, b = find(query.slot("a"), scene), find(query.slot("b"), scene)
    if a is None or b is None or a is b:
        return None
    dx, dy = a.x - b.x, a.y - b.y
    across = _SIDES[dx > 0] if abs(dx) >= MARGIN else None
    along = _LEVELS[dy > 0] if abs(dy) >= MARGIN else None
    if query.category == "side":
        return across
    if query.category == "level":
        return along
    if abs(dx) >= 2 * abs(dy):
        return across
    return along if abs(dy) >= 2 * abs(dx) else None


def _edge(query: Query, scene: Scene) -> str | None:
    """Return the kind of the shape whose centre is clearly nearest an edge of the picture."""
    end = query.slot("end")
    sign = 1 if end in ("left", "top") else -1
    ranked = sorted(scene.shapes, key=lambda s: sign * (s.x if end in _SIDES else s.y))
    first, second = ((s.x if end in _SIDES else s.y) for s in ranked[:2])
    kinds = [s.kind for s in scene.shapes]
    clear = abs(first - second) >= MARGIN and kinds.count(ranked[0].kind) == 1
    return ranked[0].kind if clear else None


def _size(query: Query, scene: Scene) -> str | None:
    """Return the name of the larger or smaller of two, or the word for how a compares with b."""
    a, b = find(query.slot("a"), scene), find(query.slot("b"), scene)
    if a is None or b is None or a is b:
        return None
    if max(a.radius, b.radius) < RATIO * min(a.radius, b.radius):
        return None
    larger = a.radius > b.radius
    if query.category == "compare":
        return "larger" if larger else "smaller"
    return query.slot("a" if larger == (query.category == "larger") else "b")


def _extreme(query: Query, scene: Scene) -> str | None:
    """Return the name of the clearly largest or smallest shape of the scene."""
    sign = -1 if query.category == "largest" else 1
    first, second = sorted(scene.shapes, key=lambda s: sign * s.radius)[:2]
    small, large = sorted((first.radius, second.radius))
    name = f"{first.colour} {first.kind}"
    return name if large >= RATIO * small and find(name, scene) else None


_CLOSED = {
    "side": _SIDES,
    "level": _LEVELS,
    "relation": (*_SIDES, *_LEVELS),
    "compare": ("larger", "smaller"),
}
_TRUTHS: dict[str, Callable[[Query, Scene], str | None]] = {
    "word": _printed(True),
    "number": _printed(False),
    "sign": _sign,
    "count_all": _count(lambda q, s: True),
    "count_kind": _count(lambda q, s: PLURALS[s.kind] == q.slot("kinds")),
    "count_colour": _count(lambda q, s: s.colour == q.slot("colour")),
    "count_pattern": _count(lambda q, s: s.pattern == q.slot("pattern")),
    "colour_kind": _read("colour", "kind"),
    "colour_pattern": _read("colour", "pattern"),
    "colour_both": _read("colour", "kind", "pattern"),
    "kind_colour": _read("kind", "colour"),
    "kind_pattern": _read("kind", "pattern"),
    "pattern_kind": _read("pattern", "kind"),
    "pattern_colour": _read("pattern", "colour"),
    "side": _relation,
    "level": _relation,
    "relation": _relation,
    "edge": _edge,
    "larger": _size,
    "smaller": _size,
    "compare": _size,
    "largest": _extreme,
    "smallest": _extreme,
}


def _compile(template: str) -> re.Pattern[str]:
    """Return a template as a regular expression with one named group per slot."""
    parts = re.split(r"{(\w+)}", template)
    return re.compile(
        "".join(f"(?P<{p}>{_SLOTS[p]})" if i % 2 else re.escape(p) for i, p in enumerate(parts))
    )


_PATTERNS = [(_compile(way), c) for c, (_, ways) in TEMPLATES.items() for way in ways]
