"""The queries of the README run word for word, and show the columns it shows; discovery's too."""

import re

import duckdb
import pytest
from small_run import PROJECT

from benchc.diagnose.query import DISCOVERIES, query

README = (PROJECT / "README.md").read_text(encoding="utf-8")
QUERIES = re.findall(r"```console\n\$ benchc sql \"(.*?)\"\n(.*?)```", README, flags=re.DOTALL)
DISCOVERY = re.findall(
    r"^\$ benchc sql \"((?:SELECT|PIVOT) .*?)\"\n(.*?)(?=^\$ |```)",
    (PROJECT / "docs/discovery.md").read_text(encoding="utf-8"),
    flags=re.DOTALL | re.MULTILINE,
)


def test_there_are_three_queries():
    assert len(QUERIES) >= 3
    assert len(DISCOVERY) >= 3


@pytest.mark.workflow
@pytest.mark.parametrize("number", range(len(QUERIES)))
def test_a_query_runs_and_has_its_columns(finished, number):
    statement, shown = QUERIES[number]
    frame = query(finished.folder / "results/bench-c.duckdb", statement)
    header = next(line for line in shown.splitlines() if "model" in line)
    # The small run has fewer corruptions, hence fewer columns where a query turns rows into them.
    assert len(frame.columns) > 1
    assert set(frame.columns) <= set(re.findall(r"\w+", header))


@pytest.mark.scale
@pytest.mark.parametrize("number", range(len(QUERIES)))
def test_a_query_gives_what_the_readme_shows(number, capsys):
    from benchc.diagnose.query import print_query

    statement, shown = QUERIES[number]
    print_query(PROJECT / "results/bench-c.duckdb", statement, "table", None)
    assert capsys.readouterr().out.strip() == shown.strip()


@pytest.mark.scale
@pytest.mark.parametrize("number", range(len(DISCOVERY)))
def test_a_query_gives_what_the_page_on_discovery_shows(number, capsys):
    from benchc.diagnose.query import print_query

    statement, shown = DISCOVERY[number]
    for name, (place, maker) in DISCOVERIES.items():
        if f"{name}." in statement and not (PROJECT / "results" / place).is_file():
            pytest.skip(f"there is no finished `{maker}` here")
    print_query(PROJECT / "results/bench-c.duckdb", statement, "table", None)
    assert capsys.readouterr().out.strip() == shown.strip()


@pytest.mark.scale
def test_the_default_run_is_at_the_scale_it_claims():
    with duckdb.connect(str(PROJECT / "results/bench-c.duckdb"), read_only=True) as connection:
        samples, predictions = connection.execute(
            "SELECT (SELECT count(*) FROM samples), (SELECT count(*) FROM predictions)"
        ).fetchone()
        kept = connection.execute("SELECT count(*) FROM selection WHERE kept").fetchone()[0]
    assert samples >= 300
    assert predictions >= 115_000
    assert 60 <= kept <= samples / 2
