"""The stored macros: worked values, bounds, and what missing numbers do."""

import math

import duckdb
import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchc.sql import statement


@pytest.fixture(scope="module")
def sql():
    connection = duckdb.connect()
    connection.execute(statement("diagnose/macros"))

    def ask(expression, *values):
        return connection.execute(f"SELECT {expression}", list(values)).fetchall()[0]

    yield ask
    connection.close()


PAIR = """state(is_correct($1::DOUBLE[], 0), is_correct($2::DOUBLE[], 0)),
          ras(misalignment($2::DOUBLE[], 0) - misalignment($1::DOUBLE[], 0),
              normalized_entropy($2::DOUBLE[]) - normalized_entropy($1::DOUBLE[]))"""


@pytest.mark.parametrize(
    ("clean", "corrupted", "state", "ras"),
    [
        ([0.95, 0.02, 0.02, 0.01], [0.45, 0.25, 0.20, 0.10], "cc", -0.50),
        ([0.40, 0.35, 0.15, 0.10], [0.35, 0.40, 0.15, 0.10], "cw", 0.20),
        ([0.35, 0.40, 0.15, 0.10], [0.40, 0.35, 0.15, 0.10], "wc", -0.20),
        ([0.10, 0.70, 0.10, 0.10], [0.25, 0.30, 0.25, 0.20], "ww", 0.274261),
        ([0.20, 0.30, 0.25, 0.25], [0.02, 0.94, 0.02, 0.02], "ww", -1.140138),
        ([0.30, 0.40, 0.20, 0.10], [0.90, 0.05, 0.03, 0.02], "wc", 0.30),
        ([1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], "cc", 0.0),
    ],
)
def test_worked_values(sql, clean, corrupted, state, ras):
    """Rows 2 and 3 have a sign that surprises: it is the published score's, not an error."""
    found_state, found_ras = sql(PAIR, clean, corrupted)
    assert found_state == state
    assert found_ras == pytest.approx(ras, abs=1e-6)


@pytest.mark.parametrize(
    ("dc", "ds", "wanted"),
    [
        (0.1, -0.2, -0.12),
        (-0.1, 0.2, 0.08),
        (0.1, 0.2, -0.1),
        (-0.1, -0.2, 0.1),
        (0.0, 0.0, 0.0),
        (0.1, None, None),
        (None, 0.2, None),
        (math.nan, 0.2, None),
        (0.1, math.nan, None),
        (None, None, None),
    ],
)
def test_ras_of_shifts(sql, dc, ds, wanted):
    (found,) = sql("ras($1::DOUBLE, $2::DOUBLE)", dc, ds)
    assert found == (None if wanted is None else pytest.approx(wanted, abs=1e-12))
    if found == 0:
        assert math.copysign(1, found) == 1


@pytest.mark.parametrize(
    "p",
    [
        None,
        [],
        [1.0],
        [0.5, None],
        [0.5, math.nan],
        [math.inf, 0.0],
        [0.5, 0.6],
        [0.5, 0.500002],
        [1.5, -0.5],
    ],
)
def test_what_is_no_distribution_has_no_scores(sql, p):
    found = sql(
        """is_distribution($1::DOUBLE[]), confidence($1::DOUBLE[]), is_correct($1::DOUBLE[], 0),
           normalized_entropy($1::DOUBLE[]), misalignment($1::DOUBLE[], 0)""",
        p,
    )
    assert found == (False, None, None, None, None)


def test_rounding_does_not_undo_a_distribution(sql):
    assert sql("is_distribution([0.5, 0.5000005]), is_distribution([0.5, 0.4999995])") == (
        True,
        True,
    )


@pytest.mark.parametrize(
    ("phenomenon", "shown", "not_shown"),
    [
        ("silent_degradation", ["'cc', -0.26"], ["'cc', -0.25", "'cw', -0.5", "'cc', 0.5"]),
        ("overconfident_degradation", ["0.26, -0.26"], ["0.25, -0.5", "0.5, -0.25", "-0.5, 0.5"]),
        ("hesitant_support", ["-0.26, 0.26"], ["-0.25, 0.5", "-0.5, 0.25", "0.5, -0.5"]),
    ],
)
def test_a_phenomenon_begins_beyond_tau(sql, phenomenon, shown, not_shown):
    for values in shown:
        assert sql(f"{phenomenon}({values}, 0.25)") == (True,)
    for values in not_shown:
        assert sql(f"{phenomenon}({values}, 0.25)") == (False,)


def test_known_entropies(sql):
    assert sql("normalized_entropy([1.0, 0.0, 0.0, 0.0])") == (0,)
    assert sql("normalized_entropy([0.5, 0.5, 0.0, 0.0])") == (pytest.approx(0.5),)
    for k in range(2, 27):
        (found,) = sql("normalized_entropy($1::DOUBLE[])", [1 / k] * k)
        assert found <= 1
        assert found == pytest.approx(1, abs=1e-12)


def test_a_tie_is_not_correct(sql):
    assert sql("is_correct([0.4, 0.4, 0.2], 0), is_correct([0.4, 0.4, 0.2], 1)") == (0, 0)
    assert sql("is_correct([0.5, 0.25, 0.25], 0), is_correct([0.5, 0.25, 0.25], 1)") == (1, 0)


@settings(max_examples=200)
@given(st.data())
def test_scores_equal_the_oracle(sql, data):
    k = data.draw(st.integers(2, 26))
    weights = data.draw(
        st.lists(
            st.sampled_from([0.0, 1e-300, 1e-9, 0.5, 1.0, 3.0, 7.0]), min_size=k, max_size=k
        ).filter(lambda w: sum(w) > 0.1)
    )
    p = (np.array(weights) / sum(weights)).tolist()
    answer = data.draw(st.integers(0, k - 1))
    found = sql(
        "normalized_entropy($1::DOUBLE[]), misalignment($1::DOUBLE[], $2), "
        "is_correct($1::DOUBLE[], $2), confidence($1::DOUBLE[])",
        p,
        answer,
    )
    wanted = (
        oracle.entropy(p),
        oracle.misalignment(p, answer),
        oracle.is_correct(p, answer),
        max(p),
    )
    assert found == pytest.approx(wanted, abs=1e-12)


@settings(max_examples=200)
@given(st.floats(-1, 1), st.floats(-1, 1))
def test_formal_bounds(sql, dc, ds):
    (found,) = sql("ras($1::DOUBLE, $2::DOUBLE)", dc, ds)
    assert -2 <= found <= 1
    assert found == pytest.approx(oracle.ras(dc, ds), abs=1e-12)


def test_the_crossed_form_is_the_one_with_the_reported_range(sql):
    """The source prints the same product twice; that form reaches -3."""
    assert sql("ras(1.0, -1.0), ras(-1.0, 0.0)") == (-2, 1)
    dc, ds = 1.0, -1.0
    assert -dc - 2 * max(dc, 0) * max(-ds, 0) == -3


@pytest.mark.parametrize(("k", "least"), [(2, -1.378), (3, -4 / 3), (4, -1.5), (10, -1.8)])
def test_reachable_bounds(sql, k, least):
    """From an even split that is not correct to certainty in a wrong option, and near it."""
    worst, best = 0.0, 0.0
    wrong = [0.0, 1.0, *[0.0] * (k - 2)]
    for tilt in np.linspace(0, 1 - 1 / k, 401):
        right = [1 / k + tilt, *[(1 - 1 / k - tilt) / (k - 1)] * (k - 1)]
        for clean in (right, [right[1], right[0], *right[2:]]):
            dc = oracle.misalignment(wrong, 0) - oracle.misalignment(clean, 0)
            ds = oracle.entropy(wrong) - oracle.entropy(clean)
            worst = min(worst, oracle.ras(dc, ds))
            best = max(best, oracle.ras(-dc, -ds))
    assert worst == pytest.approx(least, abs=2e-3)
    (found,) = sql("ras(misalignment($1::DOUBLE[], 0) - 1, 0)", [1.0, *[0.0] * (k - 1)])
    assert found == 1
    assert best <= 1
