import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchc.keyed import generator
from benchc.world import questions
from benchc.world.picture import draw
from benchc.world.samples import (
    TRACKS,
    caption,
    draw_pool,
    evaluate,
    parse,
    training_samples,
)
from benchc.world.scene import GRID, SIDE, Scene, cell, half_extent, sample_scene

from .oracle import right_options

SEEDS = st.integers(0, 2**31)


@pytest.fixture(scope="module")
def pool():
    return list(draw_pool(3000, 5))


def test_the_same_key_gives_the_same_world(pool):
    again = list(draw_pool(60, 5))
    assert again == pool[:60]
    assert all((draw(a.scene) == draw(b.scene)).all() for a, b in zip(again, pool, strict=False))


def test_a_shorter_pool_is_a_prefix(pool):
    for n in (1, 2, 7):
        assert list(draw_pool(n, 5)) == pool[:n]


def test_a_picture_is_what_the_corruptions_expect(pool):
    picture = draw(pool[0].scene)
    assert picture.shape == (SIDE, SIDE, 3)
    assert picture.dtype == np.uint8


def test_the_oracle_finds_exactly_the_marked_option(pool):
    for sample in pool:
        truth = {sample.options[sample.answer]}
        assert right_options(sample.question, sample.options, sample.scene) == truth, sample


def test_options_are_two_to_six_and_unique(pool):
    for sample in pool:
        assert 2 <= len(sample.options) <= 6
        assert len(set(sample.options)) == len(sample.options)


def test_tracks_are_balanced_and_two_samples_share_a_picture(pool):
    assert set(Counter(s.track for s in pool).values()) == {500}
    for first, second in zip(pool[::2], pool[1::2], strict=True):
        assert first.scene is second.scene
        assert first.track != second.track


def test_the_right_option_is_anywhere(pool):
    for count in range(2, 7):
        places = Counter(s.answer for s in pool if len(s.options) == count)
        expected = sum(places.values()) / count
        assert all(abs(places[i] - expected) < 5 * expected**0.5 for i in range(count))


def test_every_category_occurs(pool):
    assert {s.category for s in pool} == set(questions.TEMPLATES)


def test_training_and_held_out_scenes_are_apart(pool):
    learned = {s.scene for s in training_samples(200, 5)}
    assert not learned & {s.scene for s in pool}


@given(SEEDS)
@settings(max_examples=60)
def test_scenes_survive_json(seed):
    scene = sample_scene("test", seed)
    assert Scene.from_json(scene.to_json()) == scene


@given(SEEDS)
@settings(max_examples=60)
def test_things_stay_apart_and_in_cells_of_their_own(seed):
    scene = sample_scene("test", seed)
    things: list[Any] = [*scene.shapes, *scene.signs]
    assert len({cell(t.x, t.y) for t in things}) == len(things)
    assert all(0 <= cell(t.x, t.y) < GRID * GRID for t in things)
    for a, b in itertools.combinations(scene.shapes, 2):
        reach = half_extent(a.kind, a.radius) + half_extent(b.kind, b.radius)
        assert max(abs(a.x - b.x), abs(a.y - b.y)) > reach


@given(SEEDS, st.sampled_from(sorted(questions.TEMPLATES)))
@settings(max_examples=200)
def test_a_question_parses_back_to_its_query(seed, category):
    rng = generator("test", seed)
    scene = sample_scene("test", seed)
    query = questions.draw_query(category, scene, rng)
    back = parse(questions.phrase(query, rng))
    assert back == query
    truth = evaluate(query, scene)
    if truth is not None:
        wrong = questions.wrong_answers(query, scene, truth, rng)
        assert wrong
        assert truth not in wrong


@pytest.mark.parametrize("text", ["", "What is the meaning of life?", "What colour is the dog?"])
def test_other_questions_are_refused(text):
    assert parse(text) is None


def test_the_area_of_a_shape_follows_its_radius():
    from benchc.world.picture import _mask
    from benchc.world.scene import KINDS

    for kind in KINDS:
        area = np.asarray(_mask(kind, 20, half_extent(kind, 20) + 1, 0)).sum() / 255 / 16
        assert area == pytest.approx(np.pi * 400, rel=0.06)


def test_captions_name_everything():
    scene = sample_scene("test", 1)
    text = caption(scene, generator("test"))
    assert all(f"{s.pattern} {s.colour} {s.kind}" in text for s in scene.shapes)
    assert all(s.text.upper() in text for s in scene.signs)


def test_tracks_are_the_six():
    assert TRACKS == ("text", "counting", "colour", "shape", "spatial", "size")


def test_the_world_loads_without_a_learning_library():
    import subprocess
    import sys

    code = "import sys, benchc.world.samples; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
