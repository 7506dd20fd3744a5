"""Measures by the values of own columns: against plain sums, a naive bootstrap, and bad input."""

import json
import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from synthetic import synthetic_run, write_run

from benchc.config.run import Diagnose
from benchc.diagnose.bootstrap import weights
from benchc.diagnose.database import build
from benchc.diagnose.own_columns import MOST_VALUES, own_values
from benchc.diagnose.query import query
from benchc.diagnose.statistics_schema import MEASURE_COLUMNS
from benchc.errors import BadInput
from benchc.report.page import build_report


@pytest.fixture(scope="module")
def crossed(tmp_path_factory):
    """A database that is crossed by both own columns of its samples; every fifth has no camera."""
    folder = tmp_path_factory.mktemp("crossed")
    run = synthetic_run(n_samples=96, models=("alpha", "beta"), failing={"alpha": 0.05})
    extras = [json.loads(extra) for extra in run.samples["extra"]]
    for extra in extras[::5]:
        del extra["camera"]
    run = replace(run, samples=run.samples.with_columns(extra=pl.Series(map(json.dumps, extras))))
    sources = replace(write_run(run, folder), columns=("camera", "level"), draws=100)
    build(sources, folder / "bench-c.duckdb")
    return folder / "bench-c.duckdb"


def pairs_of(database, column, value, group=None):
    where = f"AND corruption_group = '{group}'" if group else ""
    return query(
        database,
        f"""SELECT image_id, ras, correct, clean_correct FROM pool.pairs
            JOIN own_columns USING (sample_id)
            WHERE model = 'alpha' AND own_column = '{column}' AND own_value = '{value}'
              AND ras IS NOT NULL {where}""",
    ).rows(named=True)


MEASURES = {
    "ras": lambda row: row["ras"],
    "accuracy_change": lambda row: row["correct"] - row["clean_correct"],
    "corrupted_accuracy": lambda row: row["correct"],
}


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("group", [None, "noise", "blur", "weather"])
@pytest.mark.parametrize(("column", "value"), [("camera", "left"), ("level", "2")])
def test_values_and_ends_are_those_of_a_naive_bootstrap(crossed, column, value, group, measure):
    rows = pairs_of(crossed, column, value, group)
    images = query(crossed, "SELECT DISTINCT image_id FROM samples ORDER BY 1")["image_id"]
    draws = []
    for often in weights(len(images), 0, 100).T:
        times = dict(zip(images, often, strict=True))
        total = math.fsum(times[row["image_id"]] * MEASURES[measure](row) for row in rows)
        draws.append(total / sum(times[row["image_id"]] for row in rows))
    found = query(
        crossed,
        f"""FROM pool.own_column_intervals WHERE model = 'alpha' AND own_column = '{column}'
            AND own_value = '{value}' AND measure = '{measure}'
            AND corruption_group IS NOT DISTINCT FROM {f"'{group}'" if group else "NULL"}""",
    ).row(0, named=True)
    assert found["n_pairs"] == len(rows)
    assert found["n_images"] == len({row["image_id"] for row in rows}) >= 10
    assert found["value"] == pytest.approx(draws[0], abs=1e-9)
    assert found["low"] == pytest.approx(np.quantile(draws[1:], 0.025), abs=1e-9)
    assert found["high"] == pytest.approx(np.quantile(draws[1:], 0.975), abs=1e-9)


def test_every_measure_has_its_row_for_every_value_and_group(crossed):
    found = query(
        crossed,
        """SELECT scope, model, own_column, own_value, corruption_group,
                  list(measure ORDER BY measure) AS measures
           FROM own_column_intervals GROUP BY ALL""",
    )
    names = sorted(column.name for column in MEASURE_COLUMNS)
    assert all(measures == names for measures in found["measures"].to_list())
    # Five values, and all corruptions with three groups; the last model knows no pool.
    assert found.height == 5 * 4 * (3 + 2)


def test_the_page_has_a_table_for_each_column(crossed):
    page = build_report(crossed, crossed.parent / "images.parquet", 0).page
    for column in ("camera", "level"):
        assert f"own column “{column}”" in page
    assert "all corruptions</th>" in page


def test_a_run_that_names_no_column_has_none(synthetic_database):
    assert query(synthetic_database, "FROM own_columns").is_empty()
    assert query(synthetic_database, "FROM own_column_intervals").is_empty()
    page = build_report(synthetic_database, synthetic_database.parent / "images.parquet", 0).page
    assert "own column “" not in page


def samples(*values, name="x"):
    extras = [None if value is ... else json.dumps({name: value}) for value in values]
    ids = [f"s/{number:03d}" for number in range(len(values))]
    return pl.DataFrame(
        {"sample_id": ids, "extra": extras}, schema={"sample_id": pl.String, "extra": pl.String}
    )


def test_values_are_text_and_none_has_no_row():
    found = own_values(samples("a", " a ", 1, 1.5, True, None, "", ...), ["x"])
    assert found["own_value"].to_list() == ["a", "a", "1", "1.5", "true"]
    assert found["sample_id"].to_list() == [f"s/{number:03d}" for number in range(5)]


def test_one_value_beside_others_may_be_alone():
    assert own_values(samples("a", "a", "b"), ["x"]).height == 3


BAD = {
    "unknown": (
        samples("a", "a", name="difficulty"),
        "no source has a column 'x'; known: difficulty",
    ),
    "misspelt": (samples("a", "a", name="X"), "no source has a column 'x'; known: X"),
    "no columns at all": (samples(..., ...), "the sources have none"),
    "no samples": (samples(), "the sources have none"),
    "too many values": (samples(*range(MOST_VALUES + 1), 0), "has 31 values, more than 30"),
    "names of samples": (samples("a", "b", "c"), "no two samples share a value of 'x'"),
    "a value in one sample": (samples("a", None, None), "no two samples share a value of 'x'"),
    "nothing but null": (samples(None, ""), "no two samples share a value of 'x'"),
    "a list": (samples("a", ["a", "b"]), r"of sample s/001 is \[\"a\", \"b\"\], a list or map"),
    "a map": (samples({"a": 1}), "a list or map"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_column_that_cannot_be_crossed_is_refused_in_one_line(kind):
    pool, says = BAD[kind]
    with pytest.raises(BadInput, match=f"^diagnose.columns: .*{says}") as found:
        own_values(pool, ["x"])
    assert "\n" not in str(found.value)


def test_as_many_values_as_may_be_are_crossed():
    assert own_values(samples(*range(MOST_VALUES), 0), ["x"]).height == MOST_VALUES + 1


@pytest.mark.parametrize(
    "name",
    ["category", "benchmark", "model", "scope", "severity", "corruption_group", "answer", "state"],
)
def test_the_name_of_a_fixed_column_is_refused(name):
    with pytest.raises(ValueError, match=f"'{name}' is a column of every run"):
        Diagnose(columns=(name,))


def test_a_column_twice_is_refused():
    with pytest.raises(ValueError, match="a column occurs twice"):
        Diagnose(columns=("x", "x"))
