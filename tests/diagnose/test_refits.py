"""What is found anew in each draw, against finding it again; RAS at other temperatures in SQL."""

import numpy as np
import polars as pl
import pytest

from benchc.diagnose.bootstrap import weights
from benchc.diagnose.nulls import entropy_and_confidence, matching_factors
from benchc.diagnose.query import query
from benchc.diagnose.refits import Clean, with_flattening
from benchc.diagnose.temperature import Answers


@pytest.mark.parametrize("kind", ["matched", "fitted"])
def test_ras_at_a_temperature_is_that_of_the_macros(synthetic_database, kind):
    """The SQL way, by macros alone, from raw logits and the temperature in the table."""
    stated = query(
        synthetic_database,
        f"""WITH p AS (
                SELECT scope, model, sample_id, corruption, severity, answer,
                       softmax(logits, temperatures.temperature) AS p
                FROM   predictions
                JOIN   samples USING (sample_id)
                JOIN   scopes USING (model, sample_id)
                JOIN   temperatures USING (scope, model)
                WHERE  kind = '{kind}' AND status = 'ok'
            )
            SELECT   one.scope, one.model,
                     avg(ras(misalignment(two.p, two.answer) - misalignment(one.p, one.answer),
                             normalized_entropy(two.p) - normalized_entropy(one.p))) AS ras
            FROM     p AS one
            JOIN     p AS two USING (scope, model, sample_id)
            WHERE    one.corruption = 'clean' AND two.corruption NOT IN ('clean', 'blank')
            GROUP BY ALL""",
    )
    found = query(synthetic_database, "SELECT scope, model, ras, ras_matched, ras_fitted "
                                      "FROM leaderboard")  # fmt: skip
    both = found.join(stated, on=["scope", "model"], suffix="_stated")
    assert both.height == found.height
    assert (both[f"ras_{kind}"] - both["ras_stated"]).abs().max() < 1e-8
    assert (both[f"ras_{kind}"] - both["ras"]).abs().max() > 1e-3


def test_the_matched_temperature_matches(synthetic_database):
    confidence = query(
        synthetic_database,
        """SELECT scope, model, avg(confidence(softmax(logits, temperatures.temperature))) AS mean
           FROM   predictions JOIN scopes USING (model, sample_id)
           JOIN   temperatures USING (scope, model)
           WHERE  kind = 'matched' AND corruption = 'clean' AND status = 'ok' GROUP BY ALL""",
    )
    assert confidence.height
    assert confidence["mean"].to_list() == pytest.approx([0.8] * confidence.height, abs=1e-9)


def flattened_run(n, seed):
    """One cell: clean answers of n questions, two a picture, and what a corruption left of them."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 2, (4, n))
    truth = rng.integers(0, 4, n)
    after, _ = entropy_and_confidence(logits * 0.5 + rng.normal(0, 0.7, (4, n)))
    names = [f"s{i:04}" for i in range(n)]
    clean = Clean(pl.Series(names), Answers(logits, truth), np.arange(n) // 2, 1.0)
    factor = matching_factors(logits, np.ones((1, n), bool), np.array([after.mean()]))[0]
    cell = {"corruption": "fog", "severity": 3}
    pairs = pl.DataFrame(
        {"sample_id": names, "image": clean.images, "corrupted_uncertainty": after,
         "flattening_ras": np.zeros(n)}
    ).with_columns(**{k: pl.lit(v) for k, v in cell.items()})  # fmt: skip
    factors = pl.DataFrame({"kind": ["flattening"], "factor": [factor], **cell})
    return clean, pairs, factors, after, factor


@pytest.mark.parametrize(("n", "off"), [(60, 0.005), (280, 0.002)])
def test_the_factor_of_each_draw_matches_the_draws_own_entropy(n, off):
    clean, pairs, factors, after, factor = flattened_run(n, 1)
    drawn = weights(n // 2, 0, 200)
    _, moves = with_flattening(pairs, clean, factors, drawn)
    often = drawn[clean.images]
    reached = []
    for column, move in enumerate(moves["flattening"][0]):
        flat, _ = entropy_and_confidence(clean.answers.logits * factor * np.exp(move))
        reached.append(np.average(flat - after, weights=often[:, column]))
    assert np.abs(reached).max() < off
    fixed, _ = entropy_and_confidence(clean.answers.logits * factor)
    held = [np.average(fixed - after, weights=often[:, c]) for c in range(1, 201)]
    assert np.std(reached[1:]) < np.std(held) / 20


def test_null_ras_of_a_draw_is_close_to_computing_it_again():
    clean, pairs, factors, _, factor = flattened_run(140, 2)
    drawn = weights(70, 0, 200)
    pairs, moves = with_flattening(pairs, clean, factors, drawn)
    slopes = pairs["flattening_slope"].to_numpy()
    s0, c0 = entropy_and_confidence(clean.answers.logits)
    right = clean.answers.logits.argmax(axis=0) == clean.answers.truth

    def null_ras(factor):
        s1, c1 = entropy_and_confidence(clean.answers.logits * factor)
        dc, ds = np.abs(c1 - right) - np.abs(c0 - right), s1 - s0
        up = np.maximum
        return -dc - up(dc, 0) * up(-ds, 0) - up(-dc, 0) * up(ds, 0)

    at_estimate = null_ras(factor)
    for column, move in enumerate(moves["flattening"][0]):
        often = drawn[clean.images][:, column]
        quick = np.average(at_estimate + move * slopes, weights=often)
        again = np.average(null_ras(factor * np.exp(move)), weights=often)
        assert quick == pytest.approx(again, abs=2e-3)
