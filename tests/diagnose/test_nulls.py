"""The nulls: the factor by properties, the shifts by the protocol's oracle."""

import numpy as np
import oracle
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchc.diagnose.nulls import entropy_and_confidence, matching_factors
from benchc.diagnose.query import query

LOGITS = arrays(np.float64, (4, 5), elements=st.floats(-8, 8).map(lambda x: round(x, 3)))


def softmax(logits):
    mass = np.exp(logits - logits.max())
    return mass / mass.sum()


@given(LOGITS, st.integers(2, 4))
def test_entropy_and_confidence_are_the_oracles(logits, options):
    logits[options:] = -np.inf
    entropy, confidence = entropy_and_confidence(logits)
    for column, s, top in zip(logits[:options].T, entropy, confidence, strict=True):
        assert s == pytest.approx(oracle.entropy(softmax(column)), abs=1e-12)
        assert top == pytest.approx(softmax(column).max())


@given(LOGITS, st.floats(-4, 4))
def test_the_factor_that_made_an_entropy_is_found_again(logits, log2_factor):
    known = np.ones((1, logits.shape[1]), bool)
    target = entropy_and_confidence(2.0**log2_factor * logits)[0].mean()
    (factor,) = matching_factors(logits, known, np.array([target]))
    if np.ptp(logits, axis=0).max() == 0:  # every factor gives the uniform distribution
        assert target == pytest.approx(1)
        return
    reached = entropy_and_confidence(factor * logits)[0].mean()
    assert reached == pytest.approx(target, abs=1e-9)


def test_a_factor_is_above_one_where_a_corruption_sharpens_and_none_where_none_can():
    logits = np.array([[2.0, 1.0], [0.0, 0.5]])
    known = np.array([[True, True], [True, True], [True, False], [False, False], [True, True]])
    clean = entropy_and_confidence(logits)[0]
    targets = np.array([clean.mean() - 0.1, clean.mean() + 0.1, clean[0], 0.5, 1.5])
    sharper, flatter, same, nothing, impossible = matching_factors(logits, known, targets)
    assert sharper > 1 > flatter > 0
    assert same == pytest.approx(1, abs=1e-9)
    assert np.isnan([nothing, impossible]).all()


def test_no_factor_makes_an_entropy_below_that_of_a_tie():
    tied = np.array([[1.0], [1.0], [0.0], [0.0]])  # towards two equal options: entropy 1/2
    factors = matching_factors(tied, np.ones((2, 1), bool), np.array([0.45, 0.55]))
    assert np.isnan(factors).tolist() == [True, False]


def test_flattening_reaches_each_cell_and_flips_nothing(synthetic_database):
    found = query(synthetic_database, "FROM flattening")
    assert found.height > 0
    assert (found["target"] - found["reached"]).abs().max() < 1e-9
    stated = query(
        synthetic_database,
        """SELECT scope, model, corruption, severity, avg(uncertainty) AS target, count(*) AS n
           FROM   pairs JOIN scores USING (model, sample_id, corruption, severity)
           WHERE  ras IS NOT NULL AND scope <> 'pool' GROUP BY ALL""",
    ).with_columns(kind=pl.lit("flattening"))
    kept = query(
        synthetic_database,
        """SELECT scope, model, corruption, severity, avg(uncertainty) AS target, count(*) AS n
           FROM   pairs JOIN scores USING (model, sample_id, corruption, severity)
           WHERE  state = 'cc' AND ras IS NOT NULL AND scope <> 'pool' GROUP BY ALL""",
    ).with_columns(kind=pl.lit("flattening_kept"))
    stated = pl.concat([stated, kept])
    on = ["scope", "model", "kind", "corruption", "severity"]
    both = found.join(stated, on=on, suffix="_stated")
    assert both.height == found.height == stated.height
    assert (both["n"] == both["n_pairs"]).all()
    assert (both["target"] - both["target_stated"]).abs().max() < 1e-12


def test_shifts_of_both_nulls_are_the_oracles(synthetic_database):
    rows = query(
        synthetic_database,
        """SELECT nulls.*, answer, clean.p AS clean_p, clean.logits, factor, blank.p AS blank_p
           FROM   nulls
           JOIN   samples USING (sample_id)
           JOIN   predictions AS clean
             ON   clean.model = nulls.model AND clean.sample_id = nulls.sample_id
            AND   clean.corruption = 'clean'
           JOIN   predictions AS blank
             ON   blank.model = nulls.model AND blank.sample_id = nulls.sample_id
            AND   blank.corruption = 'blank'
           LEFT JOIN flattening
             ON   flattening.scope = nulls.scope AND flattening.model = nulls.model
            AND   flattening.kind = nulls.kind
            AND   flattening.corruption = nulls.corruption
            AND   flattening.severity = nulls.severity
           USING SAMPLE reservoir(300 ROWS) REPEATABLE (1)""",
    ).rows(named=True)
    assert {row["kind"] for row in rows} == {"flattening", "flattening_kept", "blank"}
    for row in rows:
        null = row["blank_p"]
        if row["kind"] != "blank":
            null = softmax(row["factor"] * np.array(row["logits"]))
        ds, dc, ras, state = oracle.shift(row["clean_p"], null, row["answer"])
        if ras is None:
            assert row["ras"] is None
            continue
        assert row["ras"] == pytest.approx(ras, abs=1e-9)
        assert row["uncertainty_shift"] == pytest.approx(ds, abs=1e-9)
        assert row["misalignment_shift"] == pytest.approx(dc, abs=1e-9)
        assert row["kind"] == "blank" or state in ("cc", "ww")


def test_measured_stands_beside_the_nulls(synthetic_database):
    for kind in ("flattening", "blank"):
        on = (
            "" if kind == "blank" else "AND n.corruption = p.corruption AND n.severity = p.severity"
        )
        stated = query(
            synthetic_database,
            f"""SELECT p.scope, p.model, clean_state AS part, avg(n.ras) AS null_ras,
                       avg(p.ras) - avg(n.ras) AS above, count(*) AS n
                FROM   pairs AS p JOIN nulls AS n
                  ON   n.kind = '{kind}' AND n.scope = p.scope AND n.model = p.model
                 AND   n.sample_id = p.sample_id {on}
                WHERE  p.ras IS NOT NULL AND n.ras IS NOT NULL GROUP BY ALL""",
        )
        assert stated.height > 0
        for measure, column in ((f"{kind}_ras", "null_ras"), (f"ras_above_{kind}", "above")):
            found = query(
                synthetic_database,
                f"FROM intervals WHERE crossing = 'all' AND measure = '{measure}' AND n_pairs > 0",
            )
            both = found.join(stated, on=["scope", "model", "part"], suffix="_stated")
            assert both.height == found.height == stated.height
            assert (both["n"] == both["n_pairs"]).all()
            assert (both["value"] - both[column]).abs().max() < 1e-9
