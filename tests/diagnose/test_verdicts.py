"""Verdicts follow from intervals, and from nothing else."""

import pytest

from benchc.diagnose.command import _print_verdicts
from benchc.diagnose.query import query
from benchc.diagnose.statements import FINDINGS
from benchc.fingerprint import packaged


def test_every_finding_is_judged_for_every_model(synthetic_database):
    assert {path.stem for path in packaged("diagnose/sql/verdicts/*.sql")} == set(FINDINGS)
    found = query(synthetic_database, "SELECT DISTINCT scope, model, finding FROM verdicts")
    about_models = 5 * (3 + 3 + 2)  # three models in selection and control, two on the pool
    about_all = 2 * 3
    assert found.height == about_models + about_all
    assert set(found["finding"]) == set(FINDINGS)


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


def test_verdicts_follow_from_their_numbers(synthetic_database):
    rows = query(synthetic_database, "FROM verdicts").rows(named=True)
    whole = {}
    for row in rows:
        sides = (row["high"] < 0, row["low"] > 0) if row["low"] is not None else (False, False)
        agrees, against = sides if row["expected"] == "negative" else sides[::-1]
        said = "agree" if agrees else "disagree" if against else "cannot tell"
        assert row["verdict"] == said
        key = (row["finding"], row["scope"], row["model"])
        whole.setdefault(key, (row["finding_verdict"], []))[1].append(said)
    for verdict, parts in whole.values():
        if set(parts) == {"agree"}:
            assert verdict == "agree"
        else:
            assert verdict == ("disagree" if "disagree" in parts else "cannot tell")


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
        ("clean_accuracy_does_not_predict_ras", "RAS", "ras", min),
        ("most_accurate_model_loses_most", "RAS", "ras", max),
        ("most_accurate_model_loses_most", "accuracy change", "accuracy_change", max),
    ):
        row = query(
            synthetic_database,
            f"""FROM verdicts WHERE scope = 'selection' AND finding = '{finding}'
                AND contrast LIKE '{quantity} of%'""",
        ).row(0, named=True)
        assert row["contrast"].startswith(f"{quantity} of {leader}")
        assert all(model in row["contrast"] for model in may_lead)
        assert row["value"] == contrast(measure, "difference", of_others)[leader]
        assert row["low"] == min(contrast(measure, "low", of_others).values())
        assert row["high"] == max(contrast(measure, "high", of_others).values())


def test_verdicts_are_printed_with_their_numbers(synthetic_database, capsys):
    _print_verdicts(synthetic_database)
    said = capsys.readouterr().out
    for finding in FINDINGS:
        assert finding in said
    assert max(map(len, said.splitlines())) < 160
