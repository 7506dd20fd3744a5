import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.discover import measures
from benchc.discover.drawn import read
from benchc.discover.measures import Failures, over_draws, rate
from benchc.discover.primitives import primitives
from benchc.discover.taxonomy import build_taxonomy, near_duplicates, two_cuts
from benchc.world.questions import TEMPLATES


def some_failures(count, kinds, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(kinds, 8))
    which = rng.integers(0, kinds, count)
    vectors = centres[which] + 0.05 * rng.normal(size=(count, 8))
    return Failures(
        pictures=np.arange(count) // 3,
        embeddings=vectors / np.linalg.norm(vectors, axis=1, keepdims=True),
        openings=[str(k) for k in which],
        primitives=[frozenset({str(k), "x"}) for k in which],
        skills=[str(k) for k in which],
    )


def test_semantic_diversity_is_the_mean_over_pairs():
    failures = some_failures(9, 3)
    chosen = np.array([0, 2, 3, 7])
    pairs = [
        1 - failures.embeddings[i] @ failures.embeddings[j]
        for i, j in itertools.combinations(chosen, 2)
    ]
    assert np.isclose(measures.semantic_diversity(failures, chosen, 2), 100 * np.mean(pairs))


def test_the_other_measures_count():
    failures = some_failures(9, 3)
    chosen = np.arange(9)
    distinct = len(set(failures.skills))
    assert measures.lexical_diversity(failures, chosen, 9) == pytest.approx(distinct / 9)
    assert measures.unique_skills(failures, chosen, 9) == pytest.approx(distinct)
    assert measures.combinations(failures, chosen, 9) == pytest.approx(distinct)
    assert measures.primitives_per_question(failures, chosen, 9) == 2


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=9), st.data())
def test_expected_kinds_are_the_mean_over_every_draw(labels, data):
    size = data.draw(st.integers(1, len(labels)))
    kinds = [len(set(draw)) for draw in itertools.combinations(labels, size)]
    assert measures.expected_kinds(labels, size) == pytest.approx(np.mean(kinds))


def test_an_interval_is_that_of_all_failures_and_not_of_one_draw():
    """A mean over 1,000 failures has the standard error of 1,000, however few a draw holds."""
    rng = np.random.default_rng(0)
    taken = rng.integers(1, 6, 1000)
    failures = Failures(
        np.arange(1000), np.zeros((1000, 1)), ["a"] * 1000,
        [frozenset(range(n)) for n in taken], ["s"] * 1000)  # fmt: skip
    for size in (1000, 100):
        found = over_draws(measures.primitives_per_question, failures, size, "x")
        error = (found.high - found.low) / (2 * 1.96)
        assert error == pytest.approx(taken.std() / np.sqrt(1000), rel=0.2)


def test_more_kinds_are_more_diverse_at_equal_numbers_of_failures():
    few, many = some_failures(400, 2), some_failures(900, 12)
    for name in ("sd", "ld", "unique_skills", "skill_combinations"):
        one = over_draws(measures.OF_FAILURES[name], few, 60, "few")
        two = over_draws(measures.OF_FAILURES[name], many, 60, "many")
        assert one.high < two.low, name
        assert one.low <= one.value <= one.high


def test_a_rate_and_its_interval():
    hits = np.array([1, 0, 1, 1, 0, 0], bool)
    every = np.ones(6, bool)
    found = rate(hits, every, np.array([0, 0, 1, 1, 2, 2]), "x")
    assert found.value == 0.5
    assert found.low < 0.5 < found.high
    assert rate(hits, every, np.array([0, 0, 1, 1, 2, 2]), "x") == found
    assert np.isnan(rate(hits & False, every & False, np.arange(6)).value)


def test_the_interval_of_a_rate_is_that_of_drawing_pictures_by_hand():
    rng = np.random.default_rng(0)
    pictures, hits = np.repeat(np.arange(40), 3), rng.random(120) < 0.3
    by_hand = []
    for _ in range(4000):
        drawn = rng.integers(40, size=40)
        by_hand.append(np.mean(np.concatenate([hits[pictures == picture] for picture in drawn])))
    found = rate(hits, np.ones(120, bool), pictures)
    # Two sets of draws: their ends differ by Monte Carlo error alone.
    assert [found.low, found.high] == pytest.approx(np.quantile(by_hand, [0.025, 0.975]), abs=0.015)


def test_too_few_failures_say_nothing():
    found = over_draws(measures.unique_skills, some_failures(9, 3), 3, "x")
    assert np.isnan([found.value, found.low, found.high]).all()


def test_intervals_count_pictures_not_questions():
    rng = np.random.default_rng(0)
    by_picture = rng.random(60) < 0.5
    hits = np.repeat(by_picture, 20)
    every = np.ones(len(hits), bool)
    clustered = rate(hits, every, np.repeat(np.arange(60), 20))
    apart = rate(hits, every, np.arange(len(hits)))
    assert clustered.high - clustered.low > 3 * (apart.high - apart.low)


def test_coverage_of_the_interval_of_a_draw():
    rng = np.random.default_rng(1)
    truth = some_failures(6000, 5)
    target = measures.semantic_diversity(truth, np.arange(6000), 200)
    covered = 0
    for trial in range(12):
        chosen = rng.choice(6000, 240, replace=False)
        part = Failures(
            np.arange(240) // 3, truth.embeddings[chosen], ["a"] * 240,
            [frozenset()] * 240, ["s"] * 240)  # fmt: skip
        found = over_draws(measures.semantic_diversity, part, 200, trial)
        covered += found.low <= target <= found.high
    assert covered >= 9


def test_the_taxonomy_keeps_near_duplicates_together_and_nests():
    failures = some_failures(60, 4)
    questions = [f"question {skill} number {i}" for i, skill in enumerate(failures.skills)]
    found = build_taxonomy(questions, failures.embeddings, failures.primitives)
    assert len(found.skills) == len(set(failures.skills))
    for index, near in enumerate(found.representative):
        assert found.skill[index] == found.skill[near]
        assert failures.skills[index] == failures.skills[near]
    metas = {skill.number: skill.meta for skill in found.skills}
    assert len(set(metas.values())) <= len(metas)
    assert all(skill.name for skill in found.skills)


def test_an_empty_taxonomy():
    found = build_taxonomy([], np.zeros((0, 4)), [])
    assert found.skills == ()
    assert len(found.skill) == 0


def test_the_two_cuts_nest():
    skills, metas = two_cuts(some_failures(80, 9, 3).embeddings)
    for skill in np.unique(skills):
        assert len(set(metas[skills == skill])) == 1


def test_a_near_duplicate_stands_with_the_first():
    a, b = np.eye(2)
    assert near_duplicates(np.stack([a, b, a, b])).tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("category", TEMPLATES)
def test_every_question_takes_something(category):
    filled = {"kind": "star", "kinds": "stars", "colour": "red", "pattern": "dotted",
              "side": "left", "end": "top", "a": "red star", "b": "oval"}  # fmt: skip
    found = {
        primitives(query) for way in TEMPLATES[category][1] for query in read(way.format(**filled))
    }
    assert len(found) == 1
    assert 1 <= len(found.pop()) <= 4
