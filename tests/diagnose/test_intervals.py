"""`intervals` and `differences`: values against the SQL tables, ends against a naive bootstrap."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import scipy.stats
from synthetic import synthetic_run, write_run

from benchc.diagnose.bootstrap import weights
from benchc.diagnose.database import build
from benchc.diagnose.intervals import RANKED
from benchc.diagnose.query import query
from benchc.diagnose.statistics_schema import MEASURE_COLUMNS

CELL = ["scope", "model", "crossing", "benchmark", "category", "corruption_group", "corruption"]
CELL += ["severity"]
MEASURES = [column.name for column in MEASURE_COLUMNS]


def test_values_are_those_of_measures(synthetic_database):
    measures = query(synthetic_database, "FROM measures").unpivot(
        MEASURES, index=[*CELL, "n_pairs"], variable_name="measure", value_name="stated"
    )
    found = query(
        synthetic_database, "FROM intervals WHERE part IS NULL AND measure NOT LIKE '%mild%'"
    )
    both = found.join(measures, on=[*CELL, "measure"], how="full", nulls_equal=True)
    both = both.filter(pl.col("n_pairs_right") > 0)
    assert both.height == found.height
    assert (both["value"].is_null() == both["stated"].is_null()).all()
    assert (both["value"] - both["stated"]).abs().max() < 1e-9


@pytest.mark.parametrize(
    ("table", "column"),
    [("source_attribution", "clean_state"), ("state_attribution", "state"),
     ("trajectory_attribution", "class")],
)  # fmt: skip
def test_values_are_those_of_the_attributions(synthetic_database, table, column):
    stated = query(synthetic_database, f"FROM {table}").rename({column: "part"})
    for measure in ("share", "mean_ras", "contribution"):
        found = query(synthetic_database, f"FROM intervals WHERE measure = '{measure}'")
        both = stated.join(found, on=[*CELL, "part"], nulls_equal=True, suffix="_found")
        assert both.height == stated.filter(pl.col("share").is_not_null()).height
        assert (both["value"].is_null() == both[measure].is_null()).all()
        assert (both["value"] - both[measure]).abs().max() < 1e-9


def test_values_are_those_of_the_phenomena(synthetic_database):
    stated = query(synthetic_database, "FROM phenomena").rename({"phenomenon": "part"})
    found = query(synthetic_database, "FROM intervals WHERE tau IS NOT NULL")
    both = stated.join(found, on=[*CELL, "part", "tau"], nulls_equal=True, suffix="_found")
    assert both.height == found.height
    assert (both["value"] - both["share"]).abs().max() < 1e-9


def test_every_interval_surrounds_draws_of_its_value(synthetic_database):
    odd = query(
        synthetic_database, "FROM intervals WHERE low > high OR (low IS NULL) <> (high IS NULL)"
    )
    assert odd.height == 0
    single = query(synthetic_database, "FROM intervals WHERE n_images < 10 AND low IS NOT NULL")
    assert single.height == 0
    twice = query(
        synthetic_database,
        f"SELECT count(*) AS n FROM intervals GROUP BY {', '.join(CELL)}, measure, part, tau",
    )
    assert twice["n"].max() == 1


def naive_draws(database, scope, models, figure):
    """`figure` of each model's pairs in each draw, by copying rows picture by picture."""
    pairs = {
        model: query(
            database,
            f"""SELECT image_id, ras, clean_state, state, correct, clean_correct, severity
                FROM pairs WHERE scope = '{scope}' AND model = '{model}' AND ras IS NOT NULL""",
        ).rows(named=True)
        for model in models
    }
    images = query(
        database,
        "SELECT DISTINCT image_id FROM scopes JOIN samples USING (sample_id) ORDER BY 1",
    )["image_id"].to_list()
    for often in weights(len(images), 0, 100).T[1:]:
        times = dict(zip(images, often.astype(int), strict=True))
        yield tuple(
            figure([row for row in pairs[m] for _ in range(times[row["image_id"]])]) for m in models
        )


def mean(values):
    values = list(values)
    return math.fsum(values) / len(values) if values else math.nan


FIGURES = {
    ("ras", None): lambda rows: mean(r["ras"] for r in rows),
    ("mean_ras", "cw"): lambda rows: mean(r["ras"] for r in rows if r["state"] == "cw"),
    ("contribution", "w"): lambda rows: mean(r["ras"] * (r["clean_state"] == "w") for r in rows),
    ("relative_robustness", None): lambda rows: (
        sum(r["correct"] for r in rows) / (sum(r["clean_correct"] for r in rows) or math.nan)
    ),
    ("severity_trend", "c"): lambda rows: (
        mean(r["ras"] for r in rows if r["clean_state"] == "c" and r["severity"] == 5)
        - mean(r["ras"] for r in rows if r["clean_state"] == "c" and r["severity"] == 1)
    ),
}


@pytest.mark.parametrize(("measure", "part"), FIGURES)
def test_ends_are_those_of_a_naive_bootstrap(synthetic_database, measure, part):
    draws = [x for (x,) in naive_draws(synthetic_database, "selection", ["007"],
                                       FIGURES[measure, part])]  # fmt: skip
    same_part = f"part = '{part}'" if part else "part IS NULL"
    row = query(
        synthetic_database,
        f"""FROM intervals WHERE scope = 'selection' AND model = '007' AND crossing = 'all'
            AND measure = '{measure}' AND {same_part}""",
    ).row(0, named=True)
    if measure == "mean_ras":
        k = row["n_images"]
        reach = scipy.stats.t.ppf(0.975, k - 1) * np.nanstd(draws, ddof=1) * math.sqrt(k / (k - 1))
        ends = row["value"] - reach, row["value"] + reach
    else:
        ends = np.nanquantile(draws, 0.025), np.nanquantile(draws, 0.975)
    assert (row["low"], row["high"]) == pytest.approx(ends, abs=1e-9)


def test_differences_are_paired(synthetic_database):
    """`1e5` has no failed row and neither has `inf`: the same pairs, the same draws."""
    draws = list(naive_draws(synthetic_database, "selection", ["1e5", "inf"], FIGURES["ras", None]))
    apart = [one - other for one, other in draws]
    row = query(
        synthetic_database,
        """FROM differences WHERE scope = 'selection' AND model = '1e5' AND other = 'inf'
           AND crossing = 'all' AND measure = 'ras'""",
    ).row(0, named=True)
    assert row["low"] == pytest.approx(np.quantile(apart, 0.025), abs=1e-9)
    assert row["high"] == pytest.approx(np.quantile(apart, 0.975), abs=1e-9)


def test_differences_are_over_the_pairs_both_models_have(synthetic_database):
    stated = query(
        synthetic_database,
        """SELECT avg(one.ras) - avg(two.ras) AS difference, count(*) AS n_pairs,
                  count(DISTINCT one.image_id) AS n_images
           FROM   pairs AS one
           JOIN   pairs AS two USING (scope, sample_id, corruption, severity)
           WHERE  scope = 'selection' AND one.model = '007' AND two.model = '1e5'
           AND    one.ras IS NOT NULL AND two.ras IS NOT NULL""",
    ).row(0, named=True)
    row = query(
        synthetic_database,
        """FROM differences WHERE scope = 'selection' AND model = '007' AND other = '1e5'
           AND crossing = 'all' AND measure = 'ras'""",
    ).row(0, named=True)
    assert row["difference"] == pytest.approx(stated["difference"], abs=1e-9)
    assert (row["n_pairs"], row["n_images"]) == (stated["n_pairs"], stated["n_images"])
    whole = query(
        synthetic_database,
        "SELECT n_pairs FROM leaderboard WHERE scope = 'selection' AND model = '1e5'",
    )["n_pairs"].item()
    assert row["n_pairs"] < whole


def test_comparisons_stand_both_ways(synthetic_database):
    rows = query(
        synthetic_database,
        """SELECT count(*) AS n, max(abs(one.low + two.high)) AS apart
           FROM   comparisons AS one
           JOIN   comparisons AS two
             ON   one.model = two.other AND one.other = two.model AND one.scope = two.scope
            AND   one.crossing = two.crossing AND one.measure = two.measure
           WHERE  one.crossing = 'all'""",
    ).row(0, named=True)
    # two scopes with three models, one with two; every measure
    assert rows["n"] == (6 + 6 + 2) * len(MEASURES)
    assert rows["apart"] == 0


def test_simultaneous_differences_stand_both_ways_and_reach_further(synthetic_database):
    rows = query(
        synthetic_database,
        """SELECT one.*, two.low AS turned_low, comparisons.difference AS stated,
                  comparisons.high - comparisons.low AS alone
           FROM   simultaneous_differences AS one
           JOIN   simultaneous_differences AS two
             ON   (two.scope, two.model, two.other, two.measure)
                = (one.scope, one.other, one.model, one.measure)
           JOIN   comparisons
             ON   comparisons.crossing = 'all'
            AND   (comparisons.scope, comparisons.model, comparisons.other, comparisons.measure)
                = (one.scope, one.model, one.other, one.measure)""",
    )
    assert rows.height == (6 + 6 + 2) * len(RANKED)
    assert (rows["difference"] == rows["stated"]).all()
    assert (rows["high"] == -rows["turned_low"]).all()
    assert (rows["high"] - rows["low"] > rows["alone"]).all()


def test_another_seed_moves_the_ends_and_not_the_values(tmp_path):
    run = synthetic_run(48, ("a",), ("fog",), (1, 5))
    frames = []
    for seed in (0, 1, 0):
        build(replace(write_run(run, tmp_path), seed=seed), tmp_path / "b.duckdb")
        # What is above flipped signs is itself a mean over them.
        rows = query(tmp_path / "b.duckdb", "FROM intervals WHERE measure NOT LIKE '%sign_flips'")
        frames.append(rows)
    first, other, again = frames
    assert first.equals(again)
    assert first.drop("low", "high").equals(other.drop("low", "high"))
    assert not first.equals(other)


def test_one_model_one_picture_one_condition(tmp_path):
    """Nothing to resample or compare: no interval, no verdict, no error."""
    run = synthetic_run(2, ("a",), ("fog",), (3,), kept_share=0.5, blank=False)
    build(write_run(run, tmp_path), tmp_path / "b.duckdb")
    assert query(tmp_path / "b.duckdb", "FROM intervals WHERE scope = 'selection'").height > 0
    assert query(tmp_path / "b.duckdb", "FROM intervals WHERE low IS NOT NULL").height == 0
    verdicts = query(tmp_path / "b.duckdb", "SELECT DISTINCT finding, verdict FROM verdicts")
    assert verdicts.height == 7
    assert set(verdicts["verdict"]) == {"cannot tell"}
    assert query(tmp_path / "b.duckdb", "FROM comparisons").height == 0
    assert query(tmp_path / "b.duckdb", "FROM differences WHERE low IS NOT NULL").height == 0


def test_a_model_whose_every_row_failed_says_so_and_nothing_else(tmp_path):
    run = synthetic_run(60, ("a", "b", "c"), ("fog",), (1, 5), failing={"b": 1.0})
    build(write_run(run, tmp_path), tmp_path / "b.duckdb")

    def ask(sql):
        return query(tmp_path / "b.duckdb", sql)

    line = ask("FROM leaderboard WHERE scope = 'selection' AND model = 'b'").row(0, named=True)
    assert (line["n_samples"], line["n_pairs"], line["ras"]) == (0, 0, None)
    assert line["n_missing"] > 0
    assert ask("FROM intervals WHERE model = 'b' AND low IS NOT NULL").height == 0
    assert ask("FROM comparisons WHERE model = 'b' AND difference IS NOT NULL").height == 0
    assert ask("FROM differences WHERE model = 'a' AND other = 'c' AND low IS NOT NULL").height > 0
    assert set(ask("FROM verdicts WHERE model = 'b'")["verdict"]) == {"cannot tell"}
    assert ask("FROM verdicts WHERE contrast LIKE '% b %'").height == 0
    assert ask("FROM simultaneous_differences WHERE model = 'b' AND low IS NOT NULL").height == 0
    status = ask("FROM model_status WHERE model = 'b'").row(0, named=True)
    assert status["state"] == "failed"
    assert status["n_failed"] == status["n_predictions"] > 0
    assert status["reason"] == f"nonfinite_logits {status['n_failed']}"
