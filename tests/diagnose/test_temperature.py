"""Temperatures that make models comparable, against definitions written out and SciPy."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from benchc.diagnose.temperature import Answers, fitted, matched, ras_at, scores_at


def answers(seed, n=60, scale=3.0, skill=1.0):
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, scale, (5, n))
    fewer = rng.integers(2, 6, n)
    logits[np.arange(5)[:, None] >= fewer] = -np.inf
    truth = rng.integers(0, fewer)
    logits[truth, np.arange(n)] += skill * scale
    return Answers(logits, truth)


def by_hand(logits, truth, t):
    """Confidence, normalised entropy, misalignment and NLL of one question, term by term."""
    known = [x / t for x in logits if math.isfinite(x)]
    top = max(known)
    total = math.fsum(math.exp(x - top) for x in known)
    p = [math.exp(x - top) / total for x in known]
    entropy = -math.fsum(x * math.log(x) for x in p if x > 0) / math.log(len(p))
    correct = p[truth] == max(p) and p.count(max(p)) == 1
    return max(p), entropy, abs(max(p) - correct), -math.log(max(p[truth], 1e-300))


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), t=st.floats(0.1, 10))
def test_scores_are_those_of_the_definition(seed, t):
    said = answers(seed)
    found = scores_at(said, t)
    for i in range(said.truth.size):
        confidence, entropy, misalignment, _ = by_hand(said.logits[:, i], said.truth[i], t)
        assert found.confidence[i] == pytest.approx(confidence, abs=1e-12)
        assert found.uncertainty[i] == pytest.approx(entropy, abs=1e-12)
        assert found.misalignment[i] == pytest.approx(misalignment, abs=1e-12)


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), t=st.floats(0.2, 5))
def test_ras_and_its_slope(seed, t):
    clean, corrupted = answers(seed), answers(seed + 1)
    corrupted = Answers(np.where(np.isfinite(clean.logits), corrupted.logits, -np.inf), clean.truth)
    corrupted = Answers(np.where(np.isfinite(clean.logits) & ~np.isfinite(corrupted.logits), 0.0,
                                 corrupted.logits), clean.truth)  # fmt: skip
    ras, slope = ras_at(clean, corrupted, t)
    for i in range(clean.truth.size):
        _, s0, c0, _ = by_hand(clean.logits[:, i], clean.truth[i], t)
        _, s1, c1, _ = by_hand(corrupted.logits[:, i], clean.truth[i], t)
        dc, ds = c1 - c0, s1 - s0
        stated = -dc - max(dc, 0) * max(-ds, 0) - max(-dc, 0) * max(ds, 0)
        assert ras[i] == pytest.approx(stated, abs=1e-12)
    step = 1e-6
    above, below = (ras_at(clean, corrupted, t * math.exp(h))[0] for h in (step, -step))
    close = np.abs((above - below) / (2 * step) - slope) < 1e-4
    # Where a shift changes its sign within the step there is no slope.
    assert close.mean() > 0.97


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), confidence=st.floats(0.5, 0.95))
def test_the_matched_temperature_gives_the_confidence(seed, confidence):
    said = answers(seed)
    found = matched(said, np.ones((said.truth.size, 1)), confidence)
    reached = scores_at(said, math.exp(found.log[0])).confidence.mean()
    assert reached == pytest.approx(confidence, abs=1e-9)


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000))
def test_the_fitted_temperature_is_that_of_the_least_likelihood(seed):
    said = answers(seed, n=200, skill=0.7)

    def nll(log_t):
        rows = zip(said.logits.T, said.truth, strict=True)
        return np.mean([by_hand(x, y, math.exp(log_t))[3] for x, y in rows])

    best = minimize_scalar(nll, bounds=(-3, 5), method="bounded", options={"xatol": 1e-8}).x
    found = fitted(said, np.ones((said.truth.size, 1)))
    assert found.log[0] == pytest.approx(best, abs=1e-4)


@pytest.mark.parametrize("solve", [matched, fitted])
def test_in_draws_one_newton_step_is_close_to_solving_again(solve):
    said = answers(7, n=140, skill=0.8)
    rng = np.random.default_rng(0)
    draws = np.column_stack(
        [np.ones(140), *(np.bincount(rng.integers(0, 140, 140), minlength=140) for _ in range(50))]
    )
    quick = solve(said, draws).log
    for column in range(1, 51):
        again = np.repeat(np.arange(140), draws[:, column].astype(int))
        drawn = Answers(said.logits[:, again], said.truth[again])
        exact = solve(drawn, np.ones((140, 1))).log[0]
        assert abs(quick[column] - exact) < 0.02 * max(1, np.std(quick[1:]) / 0.05)


def test_a_model_at_chance_has_no_temperature():
    even = Answers(np.zeros((4, 20)), np.zeros(20, dtype=int))
    weights = np.ones((20, 3))
    for found in (matched(even, weights), fitted(even, weights)):
        assert np.isnan(found.log).all()
        assert found.reason
    knows_all = Answers(np.eye(4)[:, [0] * 20] * 5, np.zeros(20, dtype=int))
    assert "knows all" in fitted(knows_all, weights).reason
    wrong = Answers(np.eye(4)[:, [1] * 20] * 5, np.zeros(20, dtype=int))
    assert fitted(wrong, weights).reason
    assert not matched(wrong, weights).reason
