"""What goes wrong is one clear line, and once the cause is gone the same command finishes."""

import resource
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import duckdb
import polars as pl
import psutil
import pytest
from small_run import TINY, Workflow, tables_of

pytestmark = pytest.mark.workflow

POOL = "results/pool/samples.parquet"
DRAW = ("benchc", "--log", "logs/pool.log", "pool", "source", "drawn")
SPEC = ("--spec", '{"kind": "drawn", "samples": 24}', "--out", "pool")


@pytest.fixture
def copied(finished, tmp_path_factory) -> Workflow:
    """The finished small run once more, to be damaged."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(finished.folder, folder, dirs_exist_ok=True)
    return Workflow(folder, folder / finished.config.name)


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a disk of 100 KB, and how to change that disk's options."""
    folder = tmp_path / "results"
    folder.mkdir()

    def mount(options: str) -> None:
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"cannot mount a small disk: {done.stderr.strip()}")

    mount("size=100k")
    yield mount
    subprocess.run(["umount", str(folder)], check=True)


def test_a_file_that_cannot_grow_is_one_line(tmp_path):
    done = subprocess.run(
        [*DRAW, *SPEC],
        cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8000, 8000)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("benchc: pool/")
    assert "cannot be written (File too large)" in line
    assert not list((tmp_path / "pool").glob("*images*"))


def test_a_log_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "logs").write_text("no folder")
    done = subprocess.run([*DRAW, *SPEC], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "logs/pool.log: cannot be written" in done.stderr


def test_after_a_full_disk_the_same_command_finishes(finished, small_disk, tmp_path):
    workflow = Workflow(tmp_path, finished.config)
    said = workflow.run(POOL, ok=False)
    assert "cannot be written (No space left on device)" in said
    assert "Traceback" not in said
    small_disk("remount,size=10m")
    workflow.run(POOL)
    assert tables_of(tmp_path).items() <= tables_of(finished.folder).items()


def test_after_a_read_only_disk_the_same_command_finishes(finished, small_disk, tmp_path):
    workflow = Workflow(tmp_path, finished.config)
    small_disk("remount,ro,size=10m")
    said = workflow.run(POOL, ok=False)
    assert "results: this folder cannot be written" in said
    assert "Traceback" not in said
    small_disk("remount,rw,size=10m")
    workflow.run(POOL)


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def foreign(path: Path) -> None:
    pl.DataFrame({"of": ["someone else"]}).write_parquet(path)


@pytest.mark.parametrize(
    ("name", "damage", "says"),
    [
        ("infer/llava/predictions.parquet", cut_short, "not a readable Parquet file"),
        ("select/selection.parquet", foreign, "not a `selection` table"),
    ],
)
def test_a_damaged_table_is_named(finished, copied, name, damage, says):
    path = copied.folder / "results" / name
    damage(path)
    said = copied.run("all", ok=False)
    (line, *_) = [line for line in said.splitlines() if says in line]
    assert line.startswith(f"benchc: results/{name}: ")
    assert "delete it and run again" in line
    path.unlink()
    copied.run("all")
    assert tables_of(copied.folder) == tables_of(finished.folder)


def test_after_a_job_is_killed_the_same_command_finishes(finished, tmp_path):
    workflow = Workflow(tmp_path, finished.config)
    process = subprocess.Popen(
        workflow.command(POOL),
        cwd=workflow.project,
        env=workflow.variables(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    job = None
    while job is None and process.poll() is None:
        # Others come and go while they are looked at.
        with suppress(psutil.NoSuchProcess):
            children = psutil.Process(process.pid).children(recursive=True)
            job = next((child for child in children if "--spec" in child.cmdline()), None)
    assert job is not None
    job.send_signal(signal.SIGKILL)
    said, _ = process.communicate()
    assert process.returncode != 0
    assert "pool source drawn" in said
    assert "died with <Signals.SIGKILL: 9>" in said
    workflow.run(POOL)


def test_one_bad_model_keeps_nobody_else_from_the_database(copied):
    bad = copied.folder / "bad"
    bad.mkdir()
    (bad / "config.json").write_text("{}")
    copied.config.write_text(
        TINY.replace("selectors:", f"  bad: {{path: '{bad}', instruction: ''}}\nselectors:")
    )
    said = copied.run("all", "--keep-going", ok=False)
    assert "No predictions: bad" in said
    assert "--config 'leave_out=[bad]'" in said
    said = copied.run("all", "--config", "leave_out=[bad]")
    assert "2 models, without bad" in said
    with duckdb.connect(str(copied.folder / "results/bench-c.duckdb"), read_only=True) as opened:
        states = opened.execute("SELECT model, state, n_failed FROM model_status").fetchall()
        measured = opened.execute("SELECT DISTINCT model FROM leaderboard ORDER BY ALL").fetchall()
    assert states == [("bad", "left_out", 0), ("idefics3", "measured", 0), ("llava", "measured", 0)]
    assert measured == [("idefics3",), ("llava",)]
    assert copied.planned("all")["infer_chosen"] == 1


def test_without_a_selector_the_others_choose_and_nobody_is_asked_again(copied):
    planned = copied.planned("all", "--config", "leave_out=[idefics3]")
    assert set(planned) == {
        *("select", "diagnose_model", "database", "publish", "report", "publish_report", "all")
    }


@pytest.mark.parametrize("other", ["a setting", "a damaged table"])
def test_a_refused_rebuild_leaves_the_good_database_and_page(copied, other):
    database, page = (
        copied.folder / "results" / n for n in ("bench-c.duckdb", "report/index.html")
    )
    good = database.read_bytes(), page.read_bytes()
    before = copied.config.read_text()
    if other == "a setting":
        copied.config.write_text(before.replace('instruction: ""', 'instruction: "Now."', 1))
        copied.run("--touch", "all")
        said = "model llava: its predictions were made with instruction"
    else:
        damaged = copied.folder / "results/models/llava/diagnosis.parquet"
        whole = damaged.read_bytes()
        damaged.write_bytes(whole[: len(whole) // 2])
        said = "diagnosis.parquet"
    refused = copied.run("all", "--forcerun", "database", ok=False)
    assert said in refused
    assert (database.read_bytes(), page.read_bytes()) == good
    # And it is not taken for the new one: the rebuild is still to be done.
    assert {"database", "publish", "report"} <= copied.planned("all").keys()
    copied.config.write_text(before)
    if other == "a damaged table":
        damaged.unlink()
    copied.run("all")
    assert copied.planned("all") == {}


def test_the_log_of_another_session_goes_with_the_database_it_is_of(copied):
    path = copied.folder / "results/bench-c.duckdb"
    with duckdb.connect(str(path), read_only=True) as connection:
        before = connection.execute(
            "SELECT model, sum(correct) FROM scores GROUP BY ALL"
        ).fetchall()
    session = (
        "import os, duckdb; c = duckdb.connect(os.sys.argv[1]);"
        "c.execute(\"SET wal_autocheckpoint = '1TB'\");"
        "c.execute('CREATE TABLE notes AS FROM leaderboard');"
        "c.execute('UPDATE scores SET correct = 1 - correct'); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", session, str(path)], check=False)
    log = path.with_name("bench-c.duckdb.wal")
    assert log.exists()
    said = copied.run("all", "--forcerun", "database")
    assert "bench-c.duckdb.wal: removed" in said
    assert "notes of your own will not be in the new database" in said
    assert not log.exists()
    with duckdb.connect(str(path), read_only=True) as connection:
        after = connection.execute("SELECT model, sum(correct) FROM scores GROUP BY ALL").fetchall()
    assert sorted(after) == sorted(before)
