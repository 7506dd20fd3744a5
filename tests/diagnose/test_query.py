"""`benchc sql`: what it reads, how it prints, and what it refuses."""

import json

import polars as pl
import pytest

from benchc.diagnose.answers import SHOWN, print_query
from benchc.diagnose.query import query
from benchc.diagnose.scoped import SCOPES, scoped, stackings
from benchc.errors import BadInput


def test_query_is_read_only_and_says_what_is_wrong(synthetic_database, tmp_path):
    with pytest.raises(BadInput, match="no such database"):
        query(tmp_path / "none.duckdb", "SELECT 1")
    (tmp_path / "text.duckdb").write_text("hello " * 1000)
    with pytest.raises(BadInput, match="not a readable DuckDB database"):
        query(tmp_path / "text.duckdb", "SELECT 1")
    for sql in (
        "SELEC 1",
        "FROM nothing",
        "DROP TABLE run",
        "SELECT nope FROM run",
        "",
        "SELECT 1; SELECT 2",
    ):
        with pytest.raises(BadInput, match="SQL refused") as caught:
            query(synthetic_database, sql)
        assert "\n" not in str(caught.value)


def test_printed_forms(synthetic_database, tmp_path, capsys):
    sql = "SELECT model, p, sum(severity) AS s FROM predictions GROUP BY ALL ORDER BY ALL LIMIT 3"
    print_query(synthetic_database, sql, "csv")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "model,p,s"
    model, rest = lines[1].split(",", 1)
    assert (model, len(lines)) == ("007", 4)
    assert isinstance(json.loads(rest.rsplit(",", 1)[0].strip('"')), list)
    print_query(synthetic_database, sql, "json")
    assert [row["model"] for row in json.loads(capsys.readouterr().out)] == ["007"] * 3
    print_query(synthetic_database, sql)
    assert "007" in capsys.readouterr().out
    print_query(synthetic_database, sql, "parquet", tmp_path / "x.parquet")
    assert pl.read_parquet(tmp_path / "x.parquet").height == 3
    with pytest.raises(BadInput, match="--format"):
        print_query(synthetic_database, sql, "xml")
    with pytest.raises(BadInput, match="--out"):
        print_query(synthetic_database, sql, "parquet")


@pytest.mark.parametrize("format", ["table", "csv", "json"])
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("INTERVAL 1 DAY", "1 day"),
        ("'ab'::BLOB", "ab"),
        ("[INTERVAL 2 DAY]", "2 days"),
        ("'0101'::BIT", "0101"),
        ("union_value(k := 'ab')", "ab"),
        ("repeat('long', 100)", "long" * 100),
    ],
)
def test_every_value_can_be_printed(synthetic_database, capsys, value, text, format):
    print_query(synthetic_database, f"""SELECT 1 AS n, {value} AS 'a "name" of mine'""", format)
    assert text in capsys.readouterr().out


@pytest.mark.parametrize(
    ("statement", "wayout"),
    [
        ("COPY (SELECT 1) TO 'out.csv'", "--out FILE"),
        ("FROM read_csv('in.csv')", "reads only these databases"),
        ("DROP TABLE samples", "read-only"),
    ],
)
def test_a_query_can_only_read_the_database(synthetic_database, statement, wayout):
    with pytest.raises(BadInput, match=f"SQL refused.*{wayout}"):
        query(synthetic_database, statement)


def test_what_people_read_is_cut_and_says_so_unless_all_is_asked_for(
    synthetic_database, tmp_path, capsys
):
    sql = "SELECT sample_id FROM predictions ORDER BY ALL"
    count = query(synthetic_database, sql).height
    assert count > SHOWN
    for format, head in (("table", 4), ("markdown", 2), ("latex", 6)):
        print_query(synthetic_database, sql, format)
        shown = capsys.readouterr()
        assert len(shown.out.splitlines()) == SHOWN + head
        assert f"the first {SHOWN} rows; --rows 0 shows all" in shown.err
        print_query(synthetic_database, sql, format, rows=0)
        shown = capsys.readouterr()
        assert len(shown.out.splitlines()) == count + head
        assert shown.err == ""
    print_query(synthetic_database, sql, "csv", rows=3)
    assert len(capsys.readouterr().out.splitlines()) == 4


@pytest.mark.parametrize("format", ["csv", "json"])
def test_what_programs_read_is_never_cut(synthetic_database, tmp_path, capsys, format):
    sql = "SELECT sample_id FROM predictions"
    count = query(synthetic_database, sql).height
    print_query(synthetic_database, sql, format)
    text = capsys.readouterr().out
    assert (len(json.loads(text)) if format == "json" else len(text.splitlines()) - 1) == count
    print_query(synthetic_database, sql, "markdown", tmp_path / "all.md")
    assert len((tmp_path / "all.md").read_text().splitlines()) == count + 2


ODD = "SELECT 'a|b_c & 5 %' AS \"x_y\", 1.5 AS n, NULL AS nothing, [1, 2] AS l, chr(10) || 'z' AS s"


def test_markdown_and_latex_keep_their_form_whatever_a_cell_holds(synthetic_database, capsys):
    print_query(synthetic_database, ODD, "markdown")
    assert capsys.readouterr().out == (
        "| x_y | n | nothing | l | s |\n| --- | ---: | --- | --- | --- |\n"
        "| a\\|b_c & 5 % | 1.5 |  | [1, 2] | z |\n"
    )
    print_query(synthetic_database, ODD, "latex")
    said = capsys.readouterr().out
    assert said.startswith("\\begin{tabular}{lrlll}\n\\toprule\nx\\_y & n & nothing & l & s \\\\\n")
    assert "a|b\\_c \\& 5 \\% & 1.5 &  & [1, 2] & z \\\\\n\\bottomrule" in said


def test_every_scoped_view_holds_the_rows_of_its_scope_and_crossing(synthetic_database):
    for scope in SCOPES:
        for stacked, crossing in stackings():
            view = scoped(stacked, crossing)
            columns = ", ".join(f'"{column.name}"' for column in view.columns)
            where = f"scope = '{scope}'" + (f" AND crossing = '{crossing}'" if crossing else "")
            given = query(synthetic_database, f"SELECT {columns} FROM {stacked.name} WHERE {where}")
            assert query(synthetic_database, f"FROM {scope}.{view.name}").equals(given)
            assert len(set(view.key)) == len(given.select(view.key).columns)
            assert given.select(view.key).is_unique().all(), view.name


def test_a_plain_average_over_scoped_pairs_is_that_of_the_leaderboard(synthetic_database):
    plain = query(
        synthetic_database,
        "SELECT model, avg(ras) AS ras FROM selection.pairs GROUP BY ALL ORDER BY ALL",
    )
    board = query(synthetic_database, "SELECT model, ras FROM selection.leaderboard ORDER BY model")
    assert plain["ras"].to_list() == pytest.approx(board["ras"].to_list())


@pytest.mark.parametrize(
    ("sql", "warned"),
    [
        ("SELECT model, avg(ras) FROM pairs GROUP BY ALL", "scope"),
        ("SELECT avg(ras) FROM measures WHERE scope = 'selection'", "crossing"),
        ("SELECT sum(contribution) FROM state_attribution", "scope and crossing"),
        ("SELECT model, avg(ras) FROM pairs WHERE scope = 'pool' GROUP BY ALL", None),
        ("SELECT avg(ras) FROM selection.measures_by_severity", None),
        ("SELECT avg(correct) FROM scores", None),
        ("FROM leaderboard", None),
    ],
)
def test_an_average_over_stacked_rows_is_warned_of(synthetic_database, capsys, sql, warned):
    print_query(synthetic_database, sql)
    said = capsys.readouterr().err
    if warned is None:
        assert said == ""
    else:
        assert f"several of {warned} below each other" in said
