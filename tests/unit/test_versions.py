"""What made a database: said in it, and no part of what it holds."""

import json
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import duckdb

from benchc.running import versions
from benchc.sql import insert
from benchc.tables.contents import content_hashes
from benchc.tables.database import RUN, create, new_database, run_frame

PROJECT = Path(__file__).parents[2]


def database(path, facts):
    with new_database(path) as connection:
        create(connection, [RUN])
        insert(connection, "run", run_frame(facts))


def test_version_time_and_libraries_are_said(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    facts = versions.made_by()
    assert facts["made.at"] == "1970-01-01T00:00:00+00:00"
    assert facts["made.duckdb"] == duckdb.__version__
    assert {"made.benchc", "made.python", "made.torch", "made.polars"} <= facts.keys()
    assert all(name.startswith("made.") for name in facts)


def test_when_and_by_what_it_was_made_is_no_content(tmp_path):
    for name, facts in (
        ("one", {"config": {"seed": 1}, **versions.made_by()}),
        ("two", {"config": {"seed": 1}, "made.at": "never", "made.benchc": "9"}),
        ("other", {"config": {"seed": 2}}),
    ):
        database(tmp_path / name / "r.duckdb", facts)
    one, two, other = (list(content_hashes(tmp_path / n)) for n in ("one", "two", "other"))
    assert one == two != other


def test_a_table_of_ones_own_called_run_is_hashed_whole(tmp_path):
    with duckdb.connect(str(tmp_path / "r.duckdb")) as connection:
        connection.execute("CREATE TABLE run AS SELECT 'made.x' AS name")
    with_row = list(content_hashes(tmp_path))
    with duckdb.connect(str(tmp_path / "r.duckdb")) as connection:
        connection.execute("DELETE FROM run")
    assert list(content_hashes(tmp_path)) != with_row


def test_the_commit_is_that_of_the_package_and_of_no_project_around_it(tmp_path, monkeypatch):
    def git(*arguments):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        command = ["git", "-C", str(tmp_path), *identity, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    package = tmp_path / "venv/benchc"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    git("init")
    git("commit", "--allow-empty", "-m", "the project around it")
    monkeypatch.setattr(versions, "_PACKAGE", package)
    assert versions.commit() in (None, _given_to_pip())
    git("add", ".")
    git("commit", "-m", "the package")
    assert versions.commit() == git("rev-parse", "HEAD")
    (package / "__init__.py").write_text("changed")
    assert versions.commit() == git("rev-parse", "HEAD") + "+"


def _given_to_pip():
    given = json.loads(distribution("benchc").read_text("direct_url.json") or "{}")
    return given.get("vcs_info", {}).get("commit_id")


def test_the_command_says_its_version():
    command = [sys.executable, "-m", "benchc", "--version"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=PROJECT)
    assert done.stdout.startswith(f"benchc {versions.own_version()}")
