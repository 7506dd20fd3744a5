import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchc.discover.drawn import DrawnVerifier, judge, normalise, read, same_answer
from benchc.discover.pictures import pictures
from benchc.world.questions import PLURALS, RATIO, TEMPLATES
from benchc.world.scene import COLOURS, KINDS, PATTERNS, Ground, Scene, Shape, Sign

SCENES = [picture.scene for picture in pictures("test", 12, 3)]
THINGS = [*KINDS, *(f"{colour} {kind}" for colour in COLOURS for kind in KINDS)]
FILLERS = {
    "kind": KINDS,
    "kinds": tuple(PLURALS.values()),
    "colour": COLOURS,
    "pattern": PATTERNS,
    "side": ("left", "right", "upper", "lower"),
    "end": ("left", "right", "top", "bottom"),
}
GROUND = Ground("flat", (232, 228, 218), (232, 228, 218), 0)


def fillings(template):
    """Every way to fill a template; things are thinned out to those of few words."""
    slots = [name for name in (*FILLERS, "a", "b") if "{" + name + "}" in template]
    choices = [FILLERS.get(name, THINGS[::5]) for name in slots]
    return [dict(zip(slots, values, strict=True)) for values in itertools.product(*choices)]


def fits(shape, words):
    return all(word in (shape.kind, shape.colour, shape.pattern) for word in words.split())


def truths(category, slots, scene):
    """All answers that a careful reader would accept, by trying every shape and every sign."""
    shapes, signs = scene.shapes, scene.signs
    if category in ("word", "number"):
        return [s.text for s in signs if s.text.isalpha() == (category == "word")]
    if category == "sign":
        sideways = slots["side"] in ("left", "right")
        low = slots["side"] in ("left", "upper")
        return [
            s.text
            for s in signs
            for t in signs
            if s is not t and ((t.x - s.x) if sideways else (t.y - s.y)) * (1 if low else -1) >= 40
        ]
    if category.startswith("count"):
        singular = {plural: kind for kind, plural in PLURALS.items()}
        words = " ".join(singular.get(v, v) for v in slots.values())
        return [str(len([s for s in shapes if fits(s, words)]))]
    for field in ("colour", "kind", "pattern"):
        if category.startswith(field + "_"):
            return [getattr(s, field) for s in shapes if fits(s, " ".join(slots.values()))]
    if category == "edge":
        axis, sign = {"left": ("x", 1), "right": ("x", -1), "top": ("y", 1), "bottom": ("y", -1)}[
            slots["end"]
        ]
        return [
            s.kind
            for s in shapes
            if all(sign * (getattr(t, axis) - getattr(s, axis)) >= 40 for t in shapes if t is not s)
            and sum(t.kind == s.kind for t in shapes) == 1
        ]
    if category in ("largest", "smallest"):
        large = category == "largest"
        return [
            f"{s.colour} {s.kind}"
            for s in shapes
            if all(
                (s.radius >= RATIO * t.radius) if large else (t.radius >= RATIO * s.radius)
                for t in shapes
                if t is not s
            )
            and len([t for t in shapes if fits(t, f"{s.colour} {s.kind}")]) == 1
        ]
    firsts = [s for s in shapes if fits(s, slots["a"])]
    seconds = [s for s in shapes if fits(s, slots["b"])]
    if len(firsts) != 1 or len(seconds) != 1 or firsts == seconds:
        return []
    (a,), (b,) = firsts, seconds
    if category in ("larger", "smaller", "compare"):
        if max(a.radius, b.radius) < RATIO * min(a.radius, b.radius):
            return []
        bigger = a.radius > b.radius
        if category == "compare":
            return ["larger" if bigger else "smaller"]
        return [slots["a"] if bigger == (category == "larger") else slots["b"]]
    dx, dy = a.x - b.x, a.y - b.y
    across = ["left" if dx < 0 else "right"] if abs(dx) >= 40 else []
    along = ["above" if dy < 0 else "below"] if abs(dy) >= 40 else []
    if category == "side":
        return across
    if category == "level":
        return along
    if abs(dx) >= 2 * abs(dy):
        return across
    return along if abs(dy) >= 2 * abs(dx) else []


@pytest.mark.parametrize("category", TEMPLATES)
def test_every_template_is_judged_as_brute_force_does(category):
    valid = 0
    for template in TEMPLATES[category][1]:
        for slots, scene in itertools.product(fillings(template), SCENES):
            found = judge(scene, template.format(**slots))
            right = truths(category, slots, scene)
            one = right[0] if len(set(right)) == 1 and len(right) == 1 else None
            assert found.grammatical, template
            assert found.atomic
            assert found.truth == one, (template, slots, scene)
            assert found.objective == (one is not None)
            assert found.valid == (one is not None)
            valid += found.valid
    assert valid > 0


@pytest.mark.parametrize(
    ("question", "verdicts"),
    [
        ("Which shape is red?", (True, True, True, True)),
        ("which shape is red ?", (True, True, True, True)),
        ("Which shape is green?", (True, True, False, False)),
        ("Which shape is striped?", (True, True, True, False)),
        ("How many green shapes are there?", (True, True, True, True)),
        ("Which shape is red and how many stars are there?", (True, False, True, True)),
        ("Which shape is red and which shape is green?", (True, False, False, False)),
        ("Is the star above or below the star?", (True, True, False, False)),
        ("What does the left sign say?", (True, True, False, False)),
        ("Which word can be read?", (True, True, True, True)),
        ("Which number can be read?", (True, True, False, False)),
        ("Which shape is red", (False, False, False, False)),
        ("Which shape is red? Which?", (False, False, False, False)),
        ("What is a star?", (False, False, False, False)),
        ("", (False, False, False, False)),
        ("?", (False, False, False, False)),
        ("and ?", (False, False, False, False)),
        ("Which shape is red? " * 500, (False, False, False, False)),
    ],
)
def test_the_four_verdicts(question, verdicts):
    found = judge(TWO_STRIPED, question)
    assert (found.grammatical, found.atomic, found.grounded, found.objective) == verdicts
    assert found.valid == all(verdicts)
    assert (found.truth is not None) == found.valid


TWO_STRIPED = Scene(
    (
        Shape(40, 40, "star", "red", "striped", 20),
        Shape(150, 150, "circle", "blue", "striped", 20),
        Shape(40, 150, "circle", "pink", "solid", 20),
    ),
    (Sign(150, 40, "bus", 28, False),),
    GROUND,
)


@pytest.mark.parametrize(
    ("truth", "answer", "same"),
    [
        ("2", "Two.", True),
        ("2", "the 2", True),
        ("2", "3", False),
        ("red star", "star", True),
        ("star", "The red star!", True),
        ("star", "the striped star", True),
        ("pink circle", "circle", False),
        ("red star", "blue star", False),
        ("bus", "BUS", True),
        ("left", "right", False),
        ("left", "", False),
        ("left", "left or right", False),
    ],
)
def test_answers_are_compared_by_what_they_say(truth, answer, same):
    assert same_answer(TWO_STRIPED, truth, answer) is same


@given(st.text(max_size=60))
@settings(max_examples=200, deadline=None)
def test_any_text_is_judged(text):
    found = judge(SCENES[0], text)
    assert found.valid == (found.truth is not None)
    assert normalise(normalise(text)) == normalise(text)


def test_two_questions_are_two_queries():
    assert len(read("How many stars are there and which word can be read?")) == 2


def test_splits_share_no_scene():
    ours = Counter(p.scene for split in ("training", "held-out") for p in pictures(split, 60, 1))
    assert max(ours.values()) == 1


def test_the_verifier_keeps_the_order():
    shown = list(pictures("test", 2, 3))
    texts = ["How many shapes are there?", "nonsense"]
    assert [j.valid for j in DrawnVerifier().judge(shown, texts)] == [True, False]
    truth = str(len(shown[0].scene.shapes))
    asked = [(shown[0], texts[0])] * 2
    assert DrawnVerifier().compare(asked, [truth, truth], [truth, "9"]) == [True, False]
