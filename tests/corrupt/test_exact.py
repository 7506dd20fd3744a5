"""The tables behind the draws: exact, symmetric, and far from any rounding boundary."""

from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

from benchc import keyed
from benchc.corrupt.digital import _displacement, _field
from benchc.corrupt.draws import bits16, strips
from benchc.corrupt.exact import (
    ONE,
    STEPS,
    direction,
    half_gaussian,
    normal_quantiles,
    poisson_table,
)


def test_no_quantile_depends_on_the_last_bits_of_a_float():
    """The nearest rounding boundary is 1,000 times further than libm may be off."""
    inverse = NormalDist().inv_cdf
    exact = np.array([inverse((i + 0.5) / 65536) * ONE + 0.5 for i in range(32768, 65536)])
    assert np.abs(exact - np.rint(exact)).min() > 1e-9
    table = normal_quantiles()
    assert (table == -table[::-1]).all()
    assert (table / ONE).std() == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("photons", [60, 25, 12, 5, 3])
def test_poisson_table_has_the_mean_of_its_formula(photons):
    table = poisson_table(photons).reshape(256, 4096)
    assert (np.diff(table.astype(int), axis=1) >= 0).all()
    assert (table[0] == 0).all()
    dark = slice(0, 26)
    assert np.abs(table[dark].mean(axis=1) - np.arange(26)).max() < 0.25


def test_weights_sum_to_one_and_fall():
    for count, sigma in ((21, 3), (31, 12), (41, 15), (3, 0.4), (1, 1)):
        weights = half_gaussian(count, sigma)
        assert sum(weights) == ONE
        assert list(weights) == sorted(weights, reverse=True)


def test_directions_are_on_the_circle():
    for step in (0, 1, 511, 512, STEPS - 1):
        for start in (-135, -45, 0, 90):
            x, y = direction(step, start)
            angle = np.deg2rad(start + 90 * (step + 0.5) / STEPS)
            assert abs(x - np.cos(angle) * 2**30) < 2
            assert abs(y - np.sin(angle) * 2**30) < 2
            assert abs(Fraction(x * x + y * y, 2**60) - 1) < 1e-8


def test_bits_are_uniform_and_cut_to_length():
    draws = bits16(keyed.philox("t"), 100_003)
    assert len(draws) == 100_003
    assert abs(draws.mean() / 65535 - 0.5) < 0.004


def test_strips_cover_every_row_once():
    for height, row in ((1, 1), (7, 10**7), (1000, 700), (5, 3)):
        rows = [i for part in strips(height, row) for i in range(part.start, part.stop)]
        assert rows == list(range(height))


@pytest.mark.parametrize("shape", [(224, 224), (480, 640), (300, 900)])
def test_elastic_field_has_the_conventions_variance(shape):
    """Also where the noise is drawn on a coarser grid."""
    from skimage.filters import gaussian

    rng = np.random.default_rng(0)
    bound, sigma = 0.005 * shape[0], (0.01 * shape[0], 0.01 * shape[1])
    theirs = [
        gaussian(rng.uniform(-bound, bound, shape), sigma, mode="reflect", truncate=3) * 20
        for _ in range(8)
    ]
    drawn = [_field(keyed.philox("t", i), shape[0], shape[1], 20) for i in range(8)]
    ours = [_displacement(*field, slice(None)) / 32 for field in drawn]
    assert np.std(ours) == pytest.approx(np.std(theirs), rel=0.05)
