"""The bootstrap's parts against NumPy, SciPy and a loop that resamples rows one by one."""

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchc.diagnose.bootstrap import exact, interval, ratio, simultaneous, weights

NUMBERS = st.floats(-1e3, 1e3, allow_subnormal=False)


@given(arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(2, 40)), elements=NUMBERS))
def test_an_interval_is_numpys_quantiles_of_the_draws(draws):
    low, high = interval(np.concatenate([np.zeros((len(draws), 1)), draws], axis=1))
    assert low == pytest.approx(np.quantile(draws, 0.025, axis=1))
    assert high == pytest.approx(np.quantile(draws, 0.975, axis=1))


def test_draws_without_the_figure_are_left_out_unless_they_are_most():
    draws = np.array(
        [[9, 1, 2, 3, np.nan], [9, 1, 2, np.nan, np.nan], [9, 1, np.nan, np.nan, np.nan]]
    )
    low, high = interval(draws)
    for row, defined in enumerate([[1, 2, 3], [1, 2]]):
        assert low[row] == pytest.approx(np.quantile(defined, 0.025))
        assert high[row] == pytest.approx(np.quantile(defined, 0.975))
    assert np.isnan([low[2], high[2]]).all()


@given(st.integers(1, 30), st.integers(0, 5))
def test_each_draw_takes_as_many_pictures_as_there_are(n_images, seed):
    drawn = weights(n_images, seed, 20)
    assert (drawn[:, 0] == 1).all()
    assert (drawn.sum(axis=0) == n_images).all()
    assert (drawn == weights(n_images, seed, 20)).all()


def test_draws_depend_on_the_seed():
    assert (weights(50, 1, 20) != weights(50, 2, 20)).any()


@given(arrays(np.float64, st.integers(1, 60), elements=NUMBERS), st.randoms(use_true_random=False))
def test_exact_sums_have_the_same_bits_in_any_order(values, random):
    rounded = exact(values)
    assert rounded == pytest.approx(values, abs=1e-9)
    often = weights(values.size, 0, 1)[:, 1]
    order = list(range(values.size))
    random.shuffle(order)
    total = 0.0
    for place in order:
        total += often[place] * rounded[place]
    assert total == float((often * rounded).sum()) == float(often @ rounded)


def test_the_number_of_threads_changes_no_bit():
    program = (
        "import hashlib, numpy as np; from benchc.diagnose.bootstrap import exact, weights;"
        "x = exact(np.random.default_rng(0).normal(size=(300, 400)));"
        "print(hashlib.sha256((x @ weights(400, 0, 300)).tobytes()).hexdigest())"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    }
    assert len(said) == 1


def test_the_interval_of_a_mean_is_scipys():
    values = np.random.default_rng(3).normal(size=200)
    drawn = weights(200, 0, 4000)
    low, high = interval(ratio(exact(values) @ drawn, np.ones(200) @ drawn)[None])
    theirs = scipy.stats.bootstrap(
        (values,), np.mean, n_resamples=4000, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    # Two sets of 4,000 draws: their ends differ by Monte Carlo error alone.
    assert low[0] == pytest.approx(theirs.low, abs=0.012)
    assert high[0] == pytest.approx(theirs.high, abs=0.012)


def test_clusters_not_rows_are_resampled():
    """Ten copies of each row carry no more information than one."""
    values = np.random.default_rng(4).normal(size=100)
    drawn = weights(100, 0, 1000)
    once = interval(ratio(exact(values) @ drawn, np.ones(100) @ drawn)[None])
    ten = interval(ratio(exact(10 * values) @ drawn, np.full(100, 10.0) @ drawn)[None])
    assert np.concatenate(once) == pytest.approx(np.concatenate(ten))


def test_simultaneous_intervals_hold_together_where_single_ones_do_not():
    """Eight equal models: some pair looks apart in 5 % of the trials, not in most of them."""
    random = np.random.default_rng(0)
    drawn = weights(300, 0, 400)
    pairs = [(i, j) for i in range(8) for j in range(i)]
    together, single = [], []
    for _ in range(200):
        scores = random.normal(size=(8, 300)) @ drawn / 300
        apart = np.stack([scores[i] - scores[j] for i, j in pairs])
        for found, (low, high) in ((together, simultaneous(apart)), (single, interval(apart))):
            found.append(bool(((low > 0) | (high < 0)).any()))
    assert np.mean(together) < 0.1
    assert np.mean(single) > 0.3


def test_simultaneous_intervals_reach_as_far_as_the_most_deviant_figure():
    random = np.random.default_rng(1)
    draws = random.normal(size=(3, 2, 101)) * [[[1.0], [4.0]]]
    draws[0, 0] = np.nan
    draws[1, 1] = 2.0
    low, high = simultaneous(draws)
    reach = []
    for draw in range(1, 101):
        far = [
            abs(draws[i, j, draw] - draws[i, j, 0]) / np.std(draws[i, j, 1:], ddof=1)
            for i, j in ((0, 1), (1, 0), (2, 0), (2, 1))
        ]
        reach.append(max(far))
    expected = np.quantile(reach, 0.95) * np.std(draws[2, 1, 1:], ddof=1)
    assert high[2, 1] - draws[2, 1, 0] == pytest.approx(expected)
    assert draws[2, 1, 0] - low[2, 1] == pytest.approx(expected)
    assert np.isnan([low[0, 0], high[0, 0]]).all()
    assert low[1, 1] == high[1, 1] == 2.0
