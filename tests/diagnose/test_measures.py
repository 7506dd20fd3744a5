"""The plain companions against scikit-learn, and why pairs are missing."""

import numpy as np
import polars as pl
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss

from benchc.diagnose.query import query

BINS = np.arange(16) / 15


@pytest.fixture(scope="module")
def answers(synthetic_database):
    """Clean and corrupted p, right option and tie of every pair of `007` that has a RAS."""
    return query(
        synthetic_database,
        """SELECT corrupted.p AS corrupted_p, clean.p AS clean_p, answer, len(options) AS k,
                  corrupted.option_mass AS corrupted_mass, clean.option_mass AS clean_mass,
                  corrupted.is_tie AS corrupted_tie, clean.is_tie AS clean_tie,
                  clean_correct, correct
           FROM   pairs
           JOIN   samples USING (sample_id)
           JOIN   predictions AS corrupted USING (model, sample_id, corruption, severity)
           JOIN   predictions AS clean
             ON   clean.model = pairs.model AND clean.sample_id = pairs.sample_id
            AND   clean.corruption = 'clean'
           WHERE  scope = 'selection' AND pairs.model = '007' AND ras IS NOT NULL""",
    )


@pytest.fixture(scope="module")
def stated(synthetic_database):
    where = "scope = 'selection' AND model = '007' AND crossing = 'all'"
    return query(synthetic_database, f"FROM measures WHERE {where}").row(0, named=True)


def split(answers, condition):
    """(number of options, p as a matrix, right options) of the questions of each size."""
    for (k,), same in answers.group_by("k"):
        yield k, np.array(same[f"{condition}_p"].to_list()), same["answer"].to_numpy()


@pytest.mark.parametrize("condition", ["clean", "corrupted"])
def test_companions_are_scikit_learns(answers, stated, condition):
    n = answers.height
    assert n == stated["n_pairs"]
    brier = nll = right = 0.0
    for k, p, answer in split(answers, condition):
        labels = list(range(k))
        onehot = np.eye(k)[answer]
        if k == 2:  # scikit-learn's score of two classes counts one of them only
            brier += 2 * brier_score_loss(onehot[:, 1], p[:, 1]) * len(p)
        else:
            brier += brier_score_loss(answer, p, labels=labels, scale_by_half=False) * len(p)
        nll += log_loss(answer, p, labels=labels, normalize=False)
        right += accuracy_score(answer, p.argmax(axis=1), normalize=False)
    ties = answers[f"{condition}_tie"].sum()
    assert ties == 0, "argmax and the protocol agree only without ties"
    assert stated[f"{condition}_accuracy"] == pytest.approx(right / n)
    assert stated[f"{condition}_brier"] == pytest.approx(brier / n)
    assert stated[f"{condition}_nll"] == pytest.approx(nll / n)
    assert stated[f"{condition}_option_mass"] == pytest.approx(answers[f"{condition}_mass"].mean())
    assert stated[f"{condition}_ties"] == 0


@pytest.mark.parametrize("condition", ["clean", "corrupted"])
def test_calibration_is_scikit_learns(synthetic_database, answers, stated, condition):
    confidence = answers[f"{condition}_p"].list.max().to_numpy()
    correct = answers["correct" if condition == "corrupted" else "clean_correct"].to_numpy()
    assert not np.isin(confidence, BINS).any(), "edges are the one thing conventions differ in"
    accuracy, mean = calibration_curve(correct, confidence, n_bins=15)
    counts = np.histogram(confidence, BINS)[0]
    counts = counts[counts > 0]
    found = query(
        synthetic_database,
        f"""FROM calibration WHERE scope = 'selection' AND model = '007' AND crossing = 'all'
            AND condition = '{condition}' ORDER BY bin""",
    )
    assert found["n_pairs"].to_list() == counts.tolist()
    assert found["accuracy"].to_numpy() == pytest.approx(accuracy)
    assert found["confidence"].to_numpy() == pytest.approx(mean)
    error = (counts / counts.sum() * np.abs(accuracy - mean)).sum()
    assert stated[f"{condition}_ece"] == pytest.approx(error)


def test_weights_of_bins_add_to_one_and_confidence_lies_in_its_bin(synthetic_database):
    sums = query(
        synthetic_database,
        """SELECT sum(weight) AS weight, sum(n_pairs) AS n_pairs
           FROM   calibration
           GROUP BY scope, model, crossing, benchmark, category, corruption_group, corruption,
                    severity, condition""",
    )
    assert (sums["weight"] - 1).abs().max() < 1e-12
    out = "FROM calibration WHERE confidence < bin_low - 1e-12 OR confidence > bin_high + 1e-12"
    assert query(synthetic_database, out).height == 0


@pytest.mark.parametrize(
    ("confidence", "number"),
    [(0.0, 1), (1 / 15 - 1e-9, 1), (0.2, 4), (0.5, 8), (14 / 15 - 1e-9, 14), (1.0, 15)],
)
def test_bins_hold_their_lower_edge_and_the_last_is_closed(synthetic_database, confidence, number):
    found = query(synthetic_database, f"SELECT confidence_bin(CAST({confidence} AS DOUBLE)) AS b")
    assert found["b"].item() == number


def test_relative_robustness_flips_and_parts_belong_together(synthetic_database):
    rows = query(synthetic_database, "FROM measures WHERE n_pairs > 0")
    assert rows.filter(crossing="category").height > 0
    change = pl.col("wrong_to_right") - pl.col("right_to_wrong")
    apart = rows.select(
        change=(pl.col("accuracy_change") - change).abs().max(),
        parts=(pl.col("destructive") + pl.col("corrective") - pl.col("ras")).abs().max(),
        ratio=(
            pl.col("relative_robustness") * pl.col("clean_accuracy") - pl.col("corrupted_accuracy")
        )
        .abs()
        .max(),
    )
    assert max(apart.row(0)) < 1e-12


def test_pair_status_says_why_pairs_are_missing(synthetic_database):
    found = query(
        synthetic_database,
        """SELECT scope, model, sum(n_pairs) AS missing, list(DISTINCT status) AS statuses
           FROM   pair_status
           WHERE  severity > 0 AND (status <> 'ok' OR clean_status <> 'ok')
           GROUP BY ALL ORDER BY ALL""",
    )
    missing = query(
        synthetic_database, "SELECT scope, model, n_missing FROM leaderboard ORDER BY ALL"
    ).filter(pl.col("n_missing") > 0)
    assert found.select("scope", "model", "missing").rows() == missing.rows()
    assert set(found["statuses"].explode()) == {"ok", "nonfinite_logits"}
    for scope, model, n_pairs in query(
        synthetic_database, "SELECT scope, model, n_pairs + n_missing FROM leaderboard"
    ).rows():
        total = query(
            synthetic_database,
            f"""SELECT sum(n_pairs) AS n FROM pair_status
                WHERE scope = '{scope}' AND model = '{model}' AND severity > 0""",
        )
        assert total["n"].item() == n_pairs


def test_onsets_count_every_trajectory_once(synthetic_database):
    counted = query(
        synthetic_database,
        """SELECT scope, model, class, onset, sum(n_trajectories) AS n
           FROM   onsets GROUP BY ALL ORDER BY ALL""",
    )
    again = query(
        synthetic_database,
        """SELECT   scope, model, class, onset, count(*) AS n
           FROM     (SELECT DISTINCT scope, model, sample_id, corruption, class, onset FROM pairs)
           GROUP BY ALL ORDER BY ALL""",
    )
    assert counted.rows() == again.rows()
    whole = counted.filter(pl.col("class") != "incomplete")
    assert (whole["class"].str.starts_with("stable") == whole["onset"].is_null()).all()
