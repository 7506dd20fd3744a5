"""Paired tests of accuracy, against enumeration, scipy and what a wrong unit would give."""

from itertools import combinations, product

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from benchc.diagnose.accuracy_tests import FLIPS, compared, holm, mcnemar, sign_flip
from benchc.diagnose.query import query


def answers(image, *correct):
    return {
        name: pl.DataFrame({"image": image, "correct": list(right)})
        for name, right in zip("abcdef", correct, strict=False)
    }


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_few_pictures_are_enumerated(sums):
    found = [
        abs(sum(s * x for s, x in zip(signs, sums, strict=True))) >= abs(sum(sums))
        for signs in product((-1, 1), repeat=len(sums))
    ]
    assert sign_flip([np.array(sums, float)], 0) == [pytest.approx(np.mean(found))]


def test_drawn_flips_agree_with_the_exact_distribution():
    sums = np.array([1.0] * 22 + [-1.0] * 10)
    exact = binomtest(22, 32).pvalue
    assert sign_flip([sums], 0)[0] == pytest.approx(exact, abs=4 * (exact / FLIPS) ** 0.5)


def test_the_smallest_p_value_is_one_over_all_flips():
    assert sign_flip([np.ones(60)], 0) == [1 / (1 + FLIPS)]
    assert sign_flip([np.zeros(60)], 0) == [1.0]


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 5))
def test_mcnemar_is_the_exact_binomial_test(one, other, same):
    apart = np.array([1] * one + [-1] * other + [0] * same)
    expected = binomtest(one, one + other).pvalue if one + other else 1.0
    assert mcnemar(apart) == pytest.approx(expected)


def test_a_picture_flips_as_a_whole():
    """Twenty answers about one picture are one observation: no evidence at all."""
    image = [0] * 20 + [1, 2, 3]
    rows = compared(answers(image, [1] * 20 + [1, 0, 1], [0] * 20 + [1, 0, 1]), 0, "corrupted")
    (row,) = rows.rows(named=True)
    assert (row["n_answers"], row["n_images"], row["n_differing"]) == (23, 4, 1)
    assert row["p_value"] == 1.0
    alone = compared(answers(list(range(23)), [1] * 23, [0] * 20 + [1] * 3), 0, "corrupted")
    assert alone["p_value"].item() < 0.001


@pytest.mark.parametrize(
    ("image", "condition", "tests"),
    [
        (range(30), "clean", ["mcnemar", "sign_flip"]),
        ([*range(29), 28], "clean", ["sign_flip"]),
        (range(30), "corrupted", ["sign_flip"]),
    ],
)
def test_mcnemar_stands_only_for_clean_pictures_with_one_question_each(image, condition, tests):
    rows = compared(answers(list(image), [1] * 30, [1] * 15 + [0] * 15), 0, condition)
    assert rows["test"].to_list() == tests


def test_unknown_answers_of_either_model_are_left_out():
    rows = compared(answers([0, 1, 2, 3], [1, None, 1, 1], [None, 0, 0, 1]), 0, "corrupted")
    assert rows.select("n_answers", "n_images", "difference").row(0) == (2, 2, 0.5)
    assert compared(answers([0], [None], [1]), 0, "clean").is_empty()


def test_holm_adjusts_for_all_comparisons_together():
    found = holm(np.array([0.04, 0.01, 0.03, 0.9]))
    assert found == pytest.approx([0.09, 0.04, 0.09, 0.9])
    assert (holm(np.array([0.6, 0.7])) <= 1).all()


def test_the_database_holds_every_two_models_of_a_scope(synthetic_database):
    rows = query(synthetic_database, "FROM accuracy_tests").rows(named=True)
    places = {(r["scope"], r["model"], r["other"], r["condition"]) for r in rows}
    scopes = {"selection": 3, "control": 3, "pool": 2}
    keys = ["007", "1e5", "inf"]
    assert places == {
        (scope, *two, condition)
        for scope, n in scopes.items()
        for two in combinations(keys[:n], 2)
        for condition in ("clean", "corrupted")
    }
    assert all(0 < r["p_value"] <= r["p_holm"] <= 1 for r in rows)
    apart = {
        (r["scope"], r["model"], r["other"]): r["difference"]
        for r in query(
            synthetic_database,
            "FROM differences WHERE crossing = 'all' AND measure = 'corrupted_accuracy'",
        ).rows(named=True)
    }
    for row in rows:
        if row["condition"] == "corrupted":
            found = apart[row["scope"], row["model"], row["other"]]
            assert row["difference"] == pytest.approx(found)
