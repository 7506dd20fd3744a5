import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from benchc.discover.memory import FailureMemory
from benchc.discover.reward import (
    lexical_diversity,
    opening,
    question_reward,
    semantic_diversity,
    sequence_reward,
)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_semantic_diversity_is_the_distance_to_the_nearest(seed, count, known):
    rng = np.random.default_rng(seed)
    embeddings, memory = unit(rng.normal(size=(count, 4))), unit(rng.normal(size=(known, 4)))
    sequences = np.sort(rng.integers(0, 3, count))
    found = semantic_diversity(embeddings, sequences, memory)
    for i in range(count):
        others = [embeddings[j] for j in range(i) if sequences[j] == sequences[i]] + list(memory)
        nearest = max((float(embeddings[i] @ other) for other in others), default=0.0)
        assert np.isclose(found[i], 1 - min(max(nearest, 0), 1))


def test_a_known_failure_and_a_repeated_question_are_worth_nothing():
    a, b = np.eye(3)[:2]
    found = semantic_diversity(np.stack([a, b, b, a]), np.array([0, 0, 0, 1]), np.zeros((0, 3)))
    np.testing.assert_allclose(found, [1, 1, 0, 1])
    np.testing.assert_allclose(semantic_diversity(a[None], np.array([0]), a[None]), [0])


@given(st.lists(st.sampled_from("abc"), max_size=12))
def test_lexical_diversity_counts_the_others_with_the_same_opening(openings):
    found = lexical_diversity(openings)
    for i, own in enumerate(openings):
        others = openings[:i] + openings[i + 1 :]
        share = sum(o == own for o in others) / len(others) if others else 0.0
        assert np.isclose(found[i], 1 - share)


def test_an_opening_is_three_words():
    assert opening("Which is larger, the star or the oval?") == "which is larger"
    assert opening("How many?") == "how many"
    assert opening("") == ""


def test_the_reward_of_each_kind_of_question():
    diversity = np.array([0.4, 0.4, 0.4, 0.0])
    valid = np.array([True, True, False, True])
    correct = np.array([False, True, False, False])
    np.testing.assert_allclose(question_reward(diversity, valid, correct, 0.5), [0.4, 0, -0.5, 0])


def test_no_invalid_question_beats_an_honest_one():
    rng = np.random.default_rng(0)
    diversity, correct = rng.random(100), rng.random(100) < 0.5
    honest = question_reward(diversity, np.ones(100, bool), correct, 0.5)
    invalid = question_reward(diversity, np.zeros(100, bool), correct, 0.5)
    assert honest.min() > invalid.max()


def test_a_sequence_is_worth_the_mean_of_its_judged_questions():
    rewards = np.array([0.2, 0.4, np.nan, -0.5, np.nan])
    found = sequence_reward(rewards, np.array([0, 0, 0, 1, 2]), 3)
    np.testing.assert_allclose(found[:2], [0.3, -0.5])
    assert found[2] is None


def test_the_memory_forgets_the_oldest():
    memory = FailureMemory(3, 2)
    assert memory.embeddings.shape == (0, 2)
    memory.add(np.zeros((0, 2)))
    memory.add(np.arange(4.0).reshape(2, 2))
    memory.add(np.arange(4.0, 8.0).reshape(2, 2))
    np.testing.assert_allclose(memory.embeddings, [[2, 3], [4, 5], [6, 7]])


def test_a_memory_of_size_zero_stays_empty():
    memory = FailureMemory(0, 2)
    memory.add(np.ones((3, 2)))
    assert len(memory.embeddings) == 0
