"""`benchc sql`: what it reads, how it prints, and what it refuses."""

import json

import polars as pl
import pytest

from benchc.diagnose.query import print_query, query
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
