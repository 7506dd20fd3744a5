import json

import duckdb
import numpy as np
import polars as pl
import pytest
from PIL import Image

from benchc.diagnose import schema as diagnose_schema
from benchc.diagnose.query import query
from benchc.discover import database, page, results, schema
from benchc.discover.export import export_failures
from benchc.discover.pictures import loader, pictures
from benchc.discover.play import Outcome
from benchc.discover.players import AskedQuestion, Judgement
from benchc.discover.tables import ASKED, MEASURES, QUESTION_SKILLS, SKILLS, STEPS, TRAINING
from benchc.errors import BadInput

GAMES = [
    ("one", "zero_shot", "clean", 0), ("one", "rl", "clean", 0), ("two", "rl", "clean", 0),
    ("one", "rl", "defocus_blur", 3),
]  # fmt: skip
TEXTS = ["How many stars are there?", "How many ovals are there?", "Which word can be read?"]


class Letters:
    """Embeds a text as its counts of letters."""

    width = 26

    def embed(self, texts):
        rows = [[text.lower().count(chr(97 + i)) for i in range(26)] for text in texts]
        counts = np.array(rows, float).reshape(len(texts), 26)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)


def outcomes(failing):
    """One sequence a picture: two valid questions, one of which may fail, an invalid, a missing."""
    granted = Judgement(True, True, True, True, "2", primitives=frozenset({"counting"}))
    refused = Judgement(True, True, False, False, None)
    unjudged = Judgement(False, False, False, False, None, failure="no reply")
    found = []
    for number, picture in enumerate(pictures("held-out", 6, 1)):
        text = TEXTS[number % 3]
        found += [
            Outcome(
                AskedQuestion(picture, number, 0, text), granted, "3", correct=number >= failing
            ),
            Outcome(AskedQuestion(picture, number, 1, "What is this?"), granted, "2", correct=True),
            Outcome(AskedQuestion(picture, number, 2, "Which colour?"), refused),
            Outcome(AskedQuestion(picture, number, 3, ""), unjudged if number == 0 else refused),
        ]
    return found


@pytest.fixture(scope="module")
def asked():
    failing = dict(zip(GAMES, (4, 6, 2, 5), strict=True))
    return pl.concat([results.asked_table(outcomes(failing[game]), *game) for game in GAMES])


@pytest.fixture(scope="module")
def built(asked, tmp_path_factory):
    """A whole database."""
    log = [
        {"step": step, "fdr": 0.1 * step, "validity": 0.5, "reward": 0.0,
         "primitives": {"counting": [4, 3, step]}}
        for step in (1, 2)
    ]  # fmt: skip
    skills, placed = results.skill_tables(asked, Letters())
    frames = {
        "asked": ASKED.conform(asked),
        "question_skills": QUESTION_SKILLS.conform(placed),
        "found_skills": SKILLS.conform(skills),
        "measures": MEASURES.conform(results.measure_table(asked, placed, Letters())),
        "training": TRAINING.conform(results.curve_table(log, *GAMES[1])),
        "steps": STEPS.conform(results.step_table(log, *GAMES[1])),
    }
    path = tmp_path_factory.mktemp("discovery") / "discovery.duckdb"
    database.build(frames, path)
    return path


def rows(path, statement):
    return query(path, statement).rows()


def test_the_database_counts_what_was_asked(built):
    found = rows(
        built,
        """
        SELECT model, way, corruption, count(*), count(*) FILTER (WHERE failed)
        FROM questions JOIN judgements USING (question_id) GROUP BY ALL ORDER BY ALL
    """,
    )
    assert found == [
        ("one", "rl", "clean", 24, 6), ("one", "rl", "defocus_blur", 24, 5),
        ("one", "zero_shot", "clean", 24, 4), ("two", "rl", "clean", 24, 2),
    ]  # fmt: skip


def test_every_table_column_and_macro_is_described_and_nothing_is_called_like_a_finding(built):
    for kind, where in (
        ("tables", "NOT internal"),
        ("columns", "NOT internal"),
        ("functions", "NOT internal AND function_type = 'macro'"),
    ):
        described = f"SELECT comment IS NOT NULL, count(*) FROM duckdb_{kind}() WHERE {where}"
        ((all_described, count),) = rows(built, f"{described} GROUP BY ALL")
        assert all_described
        assert count > 2
    names = {name for (name,) in rows(built, "SELECT table_name FROM duckdb_tables()")}
    assert names == {table.name for table in (*schema.GIVEN, *schema.DERIVED)}
    assert "verdicts" in {table.name for table in diagnose_schema.DERIVED} - names


def test_what_may_not_be_null_is_declared_so(built):
    found = dict(
        rows(
            built,
            "SELECT concat(table_name, '.', column_name), is_nullable FROM duckdb_columns() "
            "WHERE NOT internal",
        )
    )
    assert found == {
        f"{table.name}.{column.name}": column.nullable
        for table in (*schema.GIVEN, *schema.DERIVED)
        for column in table.columns
    }


def test_the_macros_give_the_rates_of_the_tables(built):
    found = rows(
        built,
        """
        SELECT model, way, corruption, failure_discovery_rate(failed, verifier_failure),
               validity(valid, verifier_failure), failure_rate(failed, valid, verifier_failure)
        FROM questions JOIN judgements USING (question_id) GROUP BY ALL ORDER BY ALL
    """,
    )
    stored = {
        tuple(place): value
        for *place, value in rows(
            built, "SELECT model, way, corruption, measure, value FROM measures"
        )
    }
    for model, way, corruption, *rates in found:
        names = ("fdr", "validity", "fdr_valid")
        assert rates == [pytest.approx(stored[model, way, corruption, name]) for name in names]


def test_failure_rates_count_what_went_well(built):
    found = rows(
        built,
        """
        SELECT model, sum(n_failed), sum(n_valid) FROM skill_failure_rates
        WHERE level = 'skill' AND corruption = 'clean' GROUP BY ALL ORDER BY ALL
    """,
    )
    assert found == [("one", 10, 24), ("two", 2, 12)]
    levels = rows(
        built,
        """
        SELECT level, sum(n_valid) FROM skill_failure_rates GROUP BY ALL ORDER BY ALL
    """,
    )
    assert levels[0][1] == levels[1][1]


def test_every_skill_has_a_meta_skill_and_names_who_failed_it(built):
    found = rows(
        built, "SELECT failed_by, only_one FROM skills JOIN meta_skills USING (meta_skill)"
    )
    assert len(found) == rows(built, "SELECT count(*) FROM skills")[0][0]
    assert all(only_one == (len(failed_by) == 1) for failed_by, only_one in found)


def test_what_the_verifier_did_not_judge_is_in_no_rate(built):
    (value,) = rows(
        built,
        """
        SELECT value FROM measures
        WHERE model = 'one' AND way = 'rl' AND corruption = 'clean' AND measure = 'fdr'
    """,
    )[0]
    assert value == pytest.approx(6 / 23)


def test_diversity_is_over_equally_many_failures(built):
    drawn = rows(
        built,
        """
        SELECT DISTINCT way, drawn FROM measures
        WHERE model = 'one' AND corruption = 'clean' AND measure = 'sd' ORDER BY way
    """,
    )
    assert drawn == [("rl", 4), ("zero_shot", 4)]


def test_the_page_shows_all_and_is_the_same_twice(built):
    shown = page.build_page(built, loader(None, 1))
    assert page.build_page(built, loader(None, 1)) == shown
    for said in ("How many stars are there?", "zero_shot", "defocus_blur, severity 3",
                 "data:image/webp", "vegaEmbed", "report/index.html", "not judged"):  # fmt: skip
        assert said in shown


def test_the_negative_control_is_never_said_to_find_most():
    place = {"model": "one", "corruption": "clean", "severity": 0}
    ways = {"zero_shot": 0.2, "rl": 0.6, "rl_no_diversity": 0.9}
    games = [{**place, "way": way} for way in ways]
    measured = [
        {**place, "way": way, "measure": "fdr", "value": v, "low": v, "high": v, "drawn": 0}
        for way, v in ways.items()
    ]
    (table,) = page._tables(games, measured, {way: i for i, way in enumerate(ways)})
    assert [row["way"] for row in table["rows"]] == list(ways)
    assert table["lead"]["way"] == "rl"


def test_rates_of_fewer_than_ten_questions_are_left_out(built):
    assert rows(built, "SELECT max(asked) FROM steps") == [(4,)]
    assert "Which failures come first" not in page.build_page(built, loader(None, 1))


def test_what_reaches_half_of_its_rate_first_stands_first():
    late = [("late", part, rate) for part, rate in enumerate((0.0, 0.0, 0.1, 0.9), 1)]
    early = [("early", part, rate) for part, rate in enumerate((0.3, 0.5, 0.5, 0.4), 1)]
    never = [("never", 1, 0.0)]
    rows = [
        {"model": "one", "primitive": name, "part": part, "rate": rate}
        for name, part, rate in [*late, *early, *never]
    ]
    (table,) = page._first(rows)
    assert [row["primitive"] for row in table["rows"]] == ["early", "late"]
    assert table["rows"][1]["rates"] == [0.0, 0.0, 0.1, 0.9, *[None] * 6]


def test_failures_are_exported_once_each(asked, tmp_path):
    load = loader(None, 1)
    count = export_failures(asked, load, tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "train.jsonl").read_text().splitlines()]
    assert count == len(lines) == 6 + 5
    for line in lines:
        assert all((tmp_path / name).is_file() for name in line["images"])
        assert line["messages"][1]["content"][0]["text"] == "2"
    with pytest.raises(BadInput, match="no failure"):
        export_failures(asked.filter(~pl.col("failed")), load, tmp_path)


def test_each_exported_picture_is_that_of_its_question(asked, tmp_path):
    colours = {"a/b.jpg": "red", "a-b.jpg": "blue"}
    failed = asked.filter("failed").head(2)
    failed = failed.with_columns(picture=pl.Series(list(colours)))

    def exported(load):
        export_failures(failed, load, tmp_path)
        lines = (tmp_path / "train.jsonl").read_text().splitlines()
        return {Image.open(tmp_path / json.loads(line)["images"][0]).getpixel((0, 0))
                for line in lines}  # fmt: skip

    def painted(colour):
        return np.array(Image.new("RGB", (1, 1), colour))

    shown = exported(lambda key, *_: painted(colours[key]))
    assert shown == {(255, 0, 0), (0, 0, 255)}
    again = exported(lambda *_: painted("white"))
    assert again == {(255, 255, 255)}


def test_no_failure_at_all_makes_an_empty_tree(asked):
    skills, placed = results.skill_tables(asked.filter(~pl.col("failed")), Letters())
    assert skills.is_empty()
    assert placed.is_empty()


def test_a_database_of_something_else_is_refused(tmp_path):
    duckdb.connect(str(tmp_path / "x.duckdb")).close()
    with pytest.raises(BadInput, match=r"x\.duckdb: not a database of this version"):
        page.build_page(tmp_path / "x.duckdb", loader(None, 1))


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "x.duckdb").write_text("no")
    for name in ("x.duckdb", "missing.duckdb"):
        with pytest.raises(BadInput, match=name), database.opened(tmp_path / name):
            pass
