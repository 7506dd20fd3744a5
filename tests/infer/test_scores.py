"""From logits to a row: the softmax, the ties, and what is not a number."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax

from benchc.models.scores import Score, prediction_columns

LOGITS = st.lists(st.floats(-80, 80), min_size=2, max_size=26)


@given(LOGITS, st.floats(0.1, 10))
def test_p_is_the_softmax(logits, temperature):
    row: dict[str, Any] = prediction_columns(Score(tuple(logits), 0.5), temperature)
    np.testing.assert_allclose(row["p"], softmax(np.array(logits) / temperature), atol=1e-12)
    assert sum(row["p"]) == pytest.approx(1, abs=1e-12)
    assert row["top1"] == row["p"].index(max(row["p"]))


def test_a_tie_is_the_lowest_index_and_says_so():
    row = prediction_columns(Score((1.0, 3.0, 3.0), 1.0), 1.0)
    assert (row["top1"], row["is_tie"]) == (1, True)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_a_logit_that_is_no_number_is_a_status_and_no_answer(bad):
    row = prediction_columns(Score((1.0, bad, 3.0), 0.5), 1.0)
    assert row["status"] == "nonfinite_logits"
    assert all(row[name] is None for name in ("logits", "p", "top1", "is_tie", "option_mass"))
