"""A discovery beside the run's database answers under its own name."""

import shutil

import duckdb
import pytest

from benchc.diagnose.query import query
from benchc.errors import BadInput


@pytest.fixture
def run(synthetic_database, tmp_path):
    """A run's database, with what `make discover` would leave beside it."""
    shutil.copy(synthetic_database, tmp_path / "bench-c.duckdb")
    place = tmp_path / "discover/default/discovery.duckdb"
    place.parent.mkdir(parents=True)
    with duckdb.connect(str(place)) as connection:
        connection.execute("CREATE TABLE skills AS SELECT '007' AS model, 'counting' AS name")
    return tmp_path / "bench-c.duckdb"


def test_a_discovery_is_asked_and_joined_from_the_runs_database(run):
    assert query(run, "FROM discovery.skills").rows() == [("007", "counting")]
    joined = "SELECT name FROM models JOIN Discovery.skills USING (model)"
    assert query(run, joined).rows() == [("counting",)]


def test_neither_database_nor_any_other_file_is_open_to_writing_or_reading(run):
    for refused in (
        "DROP TABLE discovery.skills",
        "CREATE TABLE more AS SELECT 1",
        f"FROM read_csv('{run.parent}/x.csv')",
        f"ATTACH '{run.parent}/y.duckdb'",
    ):
        with pytest.raises(BadInput, match="SQL refused"):
            query(run, refused)


def test_a_discovery_that_is_not_there_names_the_command_that_makes_it(synthetic_database):
    with pytest.raises(BadInput, match="`make discover` builds one"):
        query(synthetic_database, "FROM discovery.skills")
    with pytest.raises(BadInput, match="`make discover-full` builds one"):
        query(synthetic_database, "FROM discovery_full.skills")


def test_the_tables_of_a_discovery_are_listed(run):
    assert query(run, "SHOW ALL TABLES").filter(database="discovery")["name"].to_list() == [
        "skills"
    ]


def test_a_damaged_discovery_is_in_the_way_of_its_own_statements_only(run):
    (run.parent / "discover/default/discovery.duckdb").write_text("no database")
    assert query(run, "SELECT count(*) AS discovery FROM models").rows() == [(3,)]
    with pytest.raises(BadInput, match="not a readable DuckDB database"):
        query(run, "FROM discovery.skills")
