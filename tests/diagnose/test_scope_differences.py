"""Selection against control and pool: values and ends against a naive bootstrap over the union."""

import math
from collections import Counter

import numpy as np
import pytest

from benchc.diagnose.bootstrap import weights
from benchc.diagnose.query import query
from benchc.diagnose.statistics_schema import MEASURE_COLUMNS

TEMPERED = {"ras_matched", "ras_fitted"}
MEASURES = {column.name for column in MEASURE_COLUMNS}


def pairs_of(database, scope, model):
    return query(
        database,
        f"""SELECT image_id, benchmark, ras, correct, clean_correct FROM pairs
            WHERE scope = '{scope}' AND model = '{model}' AND ras IS NOT NULL""",
    ).rows(named=True)


def times_in_draws(database):
    """How often each picture of any scope stands in the whole, and in each draw."""
    images = query(
        database, "SELECT DISTINCT image_id FROM scopes JOIN samples USING (sample_id) ORDER BY 1"
    )["image_id"].to_list()
    for often in weights(len(images), 0, 100).T:
        yield dict(zip(images, often.astype(int), strict=True))


def mean(rows, times, value, shares=None):
    """A mean over rows, each as often as its picture; with shares, of the means by benchmark."""
    if shares is not None:
        by_benchmark = {
            name: mean([row for row in rows if row["benchmark"] == name], times, value)
            for name in shares
        }
        return math.fsum(share * by_benchmark[name] for name, share in shares.items())
    count = sum(times[row["image_id"]] for row in rows)
    return math.fsum(times[row["image_id"]] * value(row) for row in rows) / count


FIGURES = {
    "ras": lambda mean: mean(lambda row: row["ras"]),
    "accuracy_change": lambda mean: mean(lambda row: row["correct"] - row["clean_correct"]),
    "relative_robustness": lambda mean: (
        mean(lambda row: row["correct"]) / mean(lambda row: row["clean_correct"])
    ),
}


@pytest.mark.parametrize("measure", FIGURES)
@pytest.mark.parametrize("other", ["control", "pool", "pool_at_selection_mix"])
def test_differences_of_scopes_are_those_of_a_naive_bootstrap(synthetic_database, other, measure):
    chosen = pairs_of(synthetic_database, "selection", "007")
    beside = pairs_of(synthetic_database, other.partition("_")[0], "007")
    draws = []
    for times in times_in_draws(synthetic_database):
        counts = Counter()
        for row in chosen:
            counts[row["benchmark"]] += times[row["image_id"]]
        shares = {name: n / counts.total() for name, n in counts.items() if n}
        mixed = shares if other == "pool_at_selection_mix" else None

        def figure(rows, shares, times=times):
            return FIGURES[measure](lambda value: mean(rows, times, value, shares))

        draws.append(figure(chosen, None) - figure(beside, mixed))
    row = query(
        synthetic_database,
        f"""FROM differences WHERE scope = 'selection' AND model = '007' AND other = '007'
            AND other_scope = '{other}' AND measure = '{measure}'""",
    ).row(0, named=True)
    assert row["difference"] == pytest.approx(draws[0], abs=1e-9)
    assert row["low"] == pytest.approx(np.quantile(draws[1:], 0.025), abs=1e-9)
    assert row["high"] == pytest.approx(np.quantile(draws[1:], 0.975), abs=1e-9)
    assert row["n_pairs"] == len(chosen) + len(beside)
    pictures = [len({row["image_id"] for row in rows}) for rows in (chosen, beside)]
    assert row["n_images"] == min(pictures)


def test_every_model_is_compared_with_every_scope_it_was_asked_in(synthetic_database):
    found = query(
        synthetic_database,
        "SELECT model, other_scope, measure, difference FROM differences WHERE model = other",
    )
    asked = query(synthetic_database, "SELECT DISTINCT scope, model FROM leaderboard").rows()
    wanted = {(model, scope) for scope, model in asked if scope != "selection"}
    wanted |= {(model, "pool_at_selection_mix") for scope, model in asked if scope == "pool"}
    assert {row[:2] for row in found.rows()} == wanted
    for (_, scope), rows in found.group_by("model", "other_scope"):
        lost = TEMPERED if scope == "pool_at_selection_mix" else set()
        assert set(rows["measure"]) == MEASURES - lost
    stated = query(
        synthetic_database,
        """UNPIVOT (SELECT scope, model, ras, corrupted_ece, corrupted_squared_calibration_error,
                           corrupted_option_mass, ras_matched FROM measures WHERE crossing = 'all')
           ON * EXCLUDE (scope, model) INTO NAME measure VALUE value""",
    )
    values = {row[:3]: row[3] for row in stated.rows()}
    plain = [row for row in found.rows() if row[1] != "pool_at_selection_mix"]
    plain = [row for row in plain if ("pool", row[0], row[2]) in values or row[1] == "control"]
    checked = 0
    for model, scope, measure, difference in plain:
        if ("selection", model, measure) in values:
            apart = values["selection", model, measure] - values[scope, model, measure]
            assert difference == pytest.approx(apart, abs=1e-9)
            checked += 1
    assert checked == 5 * (3 + 2)
