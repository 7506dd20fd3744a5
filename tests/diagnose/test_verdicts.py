"""Verdicts follow from intervals, and from nothing else."""

import math
from dataclasses import replace

import polars as pl
import pytest
from synthetic import synthetic_run, write_run

from benchc import tables
from benchc.diagnose.command import _print_verdicts
from benchc.diagnose.database import build
from benchc.diagnose.query import query
from benchc.diagnose.verdicts import FINDINGS
from benchc.running.fingerprint import packaged


def test_every_finding_is_judged_for_every_model(synthetic_database):
    assert {path.stem for path in packaged("diagnose/sql/verdicts/*.sql")} == set(FINDINGS)
    found = query(synthetic_database, "SELECT DISTINCT finding, scope, model FROM verdicts").rows()
    models = query(synthetic_database, "SELECT DISTINCT scope, model FROM leaderboard").rows()
    about_all = {finding for finding, _, model in found if model is None}
    expected = {
        (finding, scope, None if finding in about_all else model)
        for finding in FINDINGS
        for scope, model in models
    }
    assert set(found) == expected


@pytest.mark.parametrize(
    ("low", "high", "expected", "verdict"),
    [
        (-2, -1, "negative", "agree"),
        (-2, -1, "positive", "disagree"),
        (1, 2, "positive", "agree"),
        (1, 2, "negative", "disagree"),
        (-1, 1, "negative", "cannot tell"),
        (0, 1, "positive", "cannot tell"),
        (-1, 0, "negative", "cannot tell"),
        ("NULL", "NULL", "negative", "cannot tell"),
    ],
)
def test_a_verdict_is_where_the_interval_lies(synthetic_database, low, high, expected, verdict):
    sql = f"SELECT verdict({low}, {high}, '{expected}') AS verdict"
    assert query(synthetic_database, sql)["verdict"].item() == verdict


def side(low, high, expected):
    sides = (high < 0, low > 0) if low is not None else (False, False)
    agrees, against = sides if expected == "negative" else sides[::-1]
    return "agree" if agrees else "disagree" if against else "cannot tell"


@pytest.fixture(scope="module")
def about_the_pool(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pool")
    sources = write_run(synthetic_run(60, ["a", "b"], selectors=["a", "b"]), folder)
    build(replace(sources, run={"config": {"headline": "pool"}}), folder / "bench-c.duckdb")
    return folder / "bench-c.duckdb"


COUNTING = pytest.mark.parametrize(
    ("database", "counting"),
    [("synthetic_database", ("selection", "control")), ("about_the_pool", ("pool",))],
)


@COUNTING
def test_every_null_is_there_where_verdicts_count(request, database, counting):
    rows = query(request.getfixturevalue(database), "FROM verdicts").rows(named=True)
    asked = [row for row in rows if row["scope"] in counting and row["null_name"]]
    nulls = {row["null_name"] for row in asked}
    assert nulls == {row["null_name"] for row in asked if row["above_low"] is not None}
    assert nulls == {row["null_name"] for row in rows if row["null_name"]}


@COUNTING
def test_verdicts_follow_from_their_numbers(request, database, counting):
    """Against 0, against the null, and the one that counts: both, where the run is about."""
    rows = query(request.getfixturevalue(database), "FROM verdicts").rows(named=True)
    same: dict = {}
    for row in rows:
        assert row["against_zero"] == side(row["low"], row["high"], row["expected"])
        above = side(row["above_low"], row["above_high"], row["expected"])
        assert row["against_null"] == (above if row["null_name"] else None)
        key = (row["finding"], row["model"], row["contrast"], row["null_name"])
        same.setdefault(key, {})[row["scope"]] = row
    findings: dict = {}
    for key, by_scope in same.items():
        both = [by_scope[scope] for scope in counting]
        says = {row["against_zero"] for row in both} | {row["against_null"] for row in both} - {
            None
        }
        counts = "cannot tell"
        if says == {"agree"}:
            counts = "agree"
        elif {row["against_zero"] for row in both} == {"disagree"}:
            counts = "disagree"
        assert {row["verdict"] for row in by_scope.values()} == {counts}
        for row in by_scope.values():
            whole = findings.setdefault((key[0], key[1], row["scope"]), (set(), set()))
            whole[0].add(counts)
            whole[1].add(row["finding_verdict"])
    for parts, said in findings.values():
        expected = (
            "agree" if parts == {"agree"} else "disagree" if "disagree" in parts else "cannot tell"
        )
        assert said == {expected}


def softened(logits, factor):
    soft = [x * factor for x in logits]
    mass = [math.exp(x - max(soft)) for x in soft]
    p = [x / sum(mass) for x in mass]
    return {
        "logits": soft,
        "p": p,
        "top1": p.index(max(p)),
        "is_tie": p.count(max(p)) > 1,
    }


def test_flattened_answers_are_no_finding(tmp_path):
    """Corruption only shrinks the logits: kept answers lose RAS, but not beyond the null."""
    run = synthetic_run(120, ("a", "b"), ("fog", "gaussian_noise"), (1, 3, 5), kept_share=0.5)
    made = {}
    for model, frame in run.predictions.items():
        clean = dict(
            frame.filter(pl.col("corruption") == "clean").select("sample_id", "logits").iter_rows()
        )
        made[model] = tables.PREDICTIONS.from_rows(
            {**row, **softened(clean[row["sample_id"]], 1 - 0.12 * row["severity"])}
            for row in frame.iter_rows(named=True)
        )
    build(write_run(replace(run, predictions=made), tmp_path), tmp_path / "b.duckdb")
    rows = query(
        tmp_path / "b.duckdb", "FROM verdicts WHERE finding = 'kept_answers_lose_ras'"
    ).rows(named=True)
    assert {row["against_zero"] for row in rows if row["scope"] != "pool"} == {"agree"}
    assert {row["verdict"] for row in rows} == {"cannot tell"}


def test_verdicts_about_all_models_hold_whoever_is_best(synthetic_database):
    """The ends go over every model that may be the most accurate, and over every other model."""
    apart = {
        (row["measure"], row["model"], row["other"]): row
        for row in query(
            synthetic_database, "FROM simultaneous_differences WHERE scope = 'selection'"
        ).rows(named=True)
    }
    board = query(
        synthetic_database,
        "SELECT model, clean_accuracy FROM leaderboard WHERE scope = 'selection'",
    ).rows(named=True)
    models = {row["model"] for row in board}
    leader = max(board, key=lambda row: row["clean_accuracy"])["model"]
    may_lead = {
        one
        for one in models
        if not any(apart["clean_accuracy", one, other]["high"] < 0 for other in models - {one})
    }
    assert leader in may_lead

    def contrast(measure, end, of_others):
        return {
            one: of_others(apart[measure, one, other][end] for other in models - {one})
            for one in may_lead
        }

    for finding, quantity, measure, of_others in (
        ("clean_accuracy_is_no_guarantee", "RAS", "ras", min),
        ("clean_accuracy_is_no_guarantee", "matched RAS", "ras_matched", min),
        ("most_accurate_model_loses_most", "RAS", "ras", max),
        ("most_accurate_model_loses_most", "accuracy change", "accuracy_change", max),
    ):
        row = query(
            synthetic_database,
            f"""FROM verdicts WHERE scope = 'selection' AND finding = '{finding}'
                AND contrast LIKE '{quantity}, most accurate%'""",
        ).row(0, named=True)
        assert row["about"].startswith(leader)
        assert all(model in row["about"] for model in may_lead)
        assert row["value"] == contrast(measure, "difference", of_others)[leader]
        assert row["low"] == min(contrast(measure, "low", of_others).values())
        assert row["high"] == max(contrast(measure, "high", of_others).values())


def test_verdicts_are_printed_with_their_numbers(synthetic_database, capsys):
    _print_verdicts(synthetic_database)
    said = capsys.readouterr().out
    for finding in FINDINGS:
        assert finding in said
    assert max(map(len, said.splitlines())) < 200


@pytest.mark.parametrize("headline", ["selection", "control", "pool"])
def test_the_verdicts_of_what_the_run_is_about_are_printed(tmp_path, capsys, headline):
    sources = write_run(synthetic_run(60, ["a", "b"], selectors=["a", "b"]), tmp_path)
    database = tmp_path / "bench-c.duckdb"
    build(replace(sources, run={"config": {"headline": headline}}), database)
    _print_verdicts(database)
    said = capsys.readouterr().out
    rows = query(database, f"FROM verdicts WHERE scope = '{headline}'").rows(named=True)
    ends = [f"[{r['low']:+.3f}, {r['high']:+.3f}]" for r in rows if r["low"] is not None]
    assert ends
    assert all(end in said for end in ends)
    assert len(said.splitlines()) == len(rows) + 5
