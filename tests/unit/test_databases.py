"""Database files: what is put in place is whole and alone; what is read can read nothing else."""

import shutil
import signal
import subprocess
import sys
from contextlib import suppress

import duckdb
import pytest

from benchc.diagnose.query import query
from benchc.errors import BadInput
from benchc.tables import INTEGER, Column, Table
from benchc.tables.database import comment, create, damage, new_database, opened, say_what_goes
from benchc.tables.files import companions, renamed_into_place

NUMBERS = Table("numbers", "some numbers", (Column("n", INTEGER, "a number"),), ("n",))

#: A session that changes a database and dies: its log stays behind.
SESSION = """
import os, sys, duckdb
connection = duckdb.connect(sys.argv[1])
connection.execute("SET wal_autocheckpoint = '1TB'")
connection.execute("CREATE TABLE notes AS SELECT 1 AS mine")
connection.execute("UPDATE numbers SET n = -n")
os.kill(os.getpid(), 9)
"""


def build(path, upto):
    with new_database(path) as connection:
        create(connection, [NUMBERS])
        connection.execute(f"INSERT INTO numbers FROM range(1, {upto + 1})")
        comment(connection, [NUMBERS])


def leave_a_log(path):
    done = subprocess.run([sys.executable, "-c", SESSION, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert companions(path)


@pytest.mark.parametrize("upto", [3, 10, 100_000])
def test_a_new_database_never_sees_the_log_of_the_old_one(tmp_path, capsys, upto):
    path = tmp_path / "run.duckdb"
    build(path, 10)
    leave_a_log(path)
    build(path, upto)
    assert "run.duckdb.wal: removed" in capsys.readouterr().err
    assert not companions(path)
    found = query(
        path, "SELECT sum(n) AS n, (SELECT count(*) FROM duckdb_tables()) AS t FROM numbers"
    )
    assert found.row(0) == (upto * (upto + 1) // 2, 1)


@pytest.mark.parametrize("end", [".wal", ".wal.checkpoint", ".wal.recovery"])
def test_whatever_duckdb_would_replay_is_removed_with_the_old_file(tmp_path, capsys, end):
    (tmp_path / f"x.duckdb{end}").write_text("old")
    (tmp_path / "x.duckdb.mine").write_text("kept")
    with renamed_into_place(tmp_path / "x.duckdb") as temporary:
        temporary.write_text("new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.duckdb", "x.duckdb.mine"]
    assert f"x.duckdb{end}: removed" in capsys.readouterr().err


def test_a_log_stays_where_the_new_file_is_refused(tmp_path):
    (tmp_path / "x.duckdb.wal").write_text("old")
    with pytest.raises(BadInput), renamed_into_place(tmp_path / "x.duckdb"):
        raise BadInput("no")
    assert (tmp_path / "x.duckdb.wal").exists()


def test_a_reader_says_that_another_session_left_changes(tmp_path, capsys):
    build(tmp_path / "run.duckdb", 3)
    leave_a_log(tmp_path / "run.duckdb")
    assert query(tmp_path / "run.duckdb", "FROM notes").rows() == [(1,)]
    assert "run.duckdb.wal: changes that another session made" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("CREATE TABLE notes AS SELECT 1 AS x", "notes"),
        ("CREATE VIEW seen AS FROM numbers", "seen"),
        ("CREATE MACRO twice(x) AS 2 * x", "twice"),
        ("CREATE MACRO all_of() AS TABLE FROM numbers", "all_of"),
        ("CREATE SCHEMA mine; CREATE TABLE mine.notes AS SELECT 1 AS x", "mine.notes"),
    ],
)
def test_what_a_user_added_is_named_before_it_goes(tmp_path, capsys, statement, name):
    path = tmp_path / "run.duckdb"
    build(path, 3)
    say_what_goes(path)
    assert capsys.readouterr().err == ""
    with duckdb.connect(str(path)) as connection:
        connection.execute(statement)
    say_what_goes(path)
    assert f"run.duckdb: {name} of your own" in capsys.readouterr().err


def test_things_of_ones_own_are_kept_in_a_file_of_ones_own(tmp_path):
    path, own = tmp_path / "run.duckdb", tmp_path / "own.duckdb"
    build(path, 3)
    with duckdb.connect(str(own)) as connection:
        connection.execute(f"ATTACH '{path}' AS run (READ_ONLY)")
        connection.execute("CREATE VIEW large AS FROM run.numbers WHERE n > 2")
    build(path, 10)
    assert query(path, "SELECT count(*) FROM own.large", [str(own)]).item() == 8
    assert query(path, "SELECT count(*) FROM mine.large", [f"mine={own}"]).item() == 8
    for attached, says in (
        (["nowhere.duckdb"], "nowhere.duckdb: no such database"),
        ([f"run={own}"], "'run' is taken"),
        ([str(own), str(own)], "'own' is taken"),
    ):
        with pytest.raises(BadInput, match=says):
            query(path, "SELECT 1", attached)


VARIABLE = "a secret of the program"

#: What a view of somebody else's database may try.
REACHES = (
    "SELECT content FROM read_text('{secret}')",
    "SELECT * FROM read_blob('{secret}')",
    "SELECT * FROM read_csv('{secret}', header = false)",
    "SELECT * FROM read_parquet('{secret}')",
    "SELECT * FROM '{secret}'",
    "SELECT * FROM glob('{folder}/*')",
    "SELECT * FROM read_duckdb('{folder}/third.duckdb')",
    "SELECT * FROM sniff_csv('{secret}')",
    "SELECT * FROM read_json('{secret}')",
    "SELECT * FROM read_text('https://127.0.0.1:1/x')",
    "SELECT * FROM sqlite_scan('{secret}', 'x')",
    "SELECT * FROM st_read('{secret}')",
    "SELECT * FROM VARIABLE",
)


@pytest.mark.parametrize("reach", REACHES)
def test_a_foreign_database_reaches_no_file_extension_or_variable(tmp_path, reach):
    secret = tmp_path / "secret.csv"
    secret.write_text("token\n")
    path = tmp_path / "foreign.duckdb"
    for database in (path, tmp_path / "other.duckdb", tmp_path / "third.duckdb"):
        build(database, 3)
    sql = reach.format(secret=secret, folder=tmp_path)
    with duckdb.connect(str(path)) as connection, suppress(duckdb.Error):
        connection.execute(f"CREATE VIEW leaderboard AS {sql}")
    for statement in ("FROM leaderboard", sql):
        with pytest.raises(BadInput) as caught:
            query(path, statement)
        assert "token" not in str(caught.value)
    for paths in (
        {"first": path},
        {"first": tmp_path / "other.duckdb", "second": path},
    ):
        with opened(paths) as connection:
            for statement in (f"FROM {list(paths)[-1]}.leaderboard", sql):
                with pytest.raises(duckdb.Error):
                    connection.execute(statement).fetchall()


def test_views_that_read_files_do_bind_where_nothing_is_locked(tmp_path):
    """So the test above is refused by the lock, and not by views that nobody could read."""
    (tmp_path / "secret.csv").write_text("token\n")
    build(tmp_path / "foreign.duckdb", 3)
    with duckdb.connect(str(tmp_path / "foreign.duckdb")) as connection:
        for reach in (REACHES[0], REACHES[2], REACHES[5]):
            sql = reach.format(secret=tmp_path / "secret.csv", folder=tmp_path)
            connection.execute(f"CREATE OR REPLACE VIEW leaderboard AS {sql}")
            assert connection.execute("FROM leaderboard").fetchall()


@pytest.mark.parametrize(
    "statement",
    [
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET autoload_known_extensions = true",
        "SET python_enable_replacements = true",
        "SET temp_directory = '/tmp'",
        "ATTACH 'more.duckdb' AS more",
        "COPY (SELECT 1) TO 'x.csv'",
        "EXPORT DATABASE 'x'",
    ],
)
def test_the_lock_cannot_be_opened(tmp_path, statement):
    build(tmp_path / "run.duckdb", 3)
    with opened({"run": tmp_path / "run.duckdb"}) as connection, pytest.raises(duckdb.Error):
        connection.execute(statement)


def test_only_duckdb_files_are_attached(tmp_path):
    (tmp_path / "x.duckdb").write_bytes(b"SQLite format 3\0" + bytes(4000))
    with pytest.raises(BadInput, match=r"x\.duckdb: not a readable"):
        query(tmp_path / "x.duckdb", "SELECT 1")


def test_a_damaged_file_is_named(tmp_path):
    whole, broken = tmp_path / "whole.duckdb", tmp_path / "broken.duckdb"
    build(whole, 300_000)
    size = whole.stat().st_size
    said = []
    for place in range(12_288, size, (size - 12_288) // 12):
        shutil.copy(whole, broken)
        with broken.open("rb+") as file:
            file.seek(place)
            byte = file.read(1)[0]
            file.seek(place)
            file.write(bytes([byte ^ 16]))
        try:
            total = query(whole, "SELECT sum(n) AS s FROM broken.numbers", [f"{broken}"])
            assert total["s"].item() == 300_000 * 300_001 // 2
        except BadInput as error:
            said.append(str(error))
    assert len(said) > 2
    assert [line for line in said if "broken.duckdb: " not in line or "\n" in line] == []
    assert "SQL refused" not in "".join(said)
    assert damage(duckdb.Error(), [whole]) is None
