"""A lock of a dead run is removed, that of a living one is not; a job waits for its forerunner."""

import subprocess
import sys

import pytest

HOLD = "from pathlib import Path; from benchc import locks; locks.hold(Path('state')); "


@pytest.fixture
def state(tmp_path):
    folder = tmp_path / "state"
    (folder / "locks").mkdir(parents=True)
    (folder / "locks" / "0.output.lock").write_text("a")
    return folder


def start(folder, then: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", HOLD + then],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_what_a_killed_run_left_is_removed_and_what_a_living_one_holds_is_not(state):
    alive = start(state.parent, "print('held', flush=True); input()")
    assert alive.stdout.readline() == "held\n"
    assert not (state / "locks").exists()
    (state / "locks").mkdir()
    assert start(state.parent, "").wait() == 0
    assert (state / "locks").exists()
    alive.kill()
    alive.wait()
    assert start(state.parent, "").wait() == 0
    assert not (state / "locks").exists()


def test_a_folder_that_cannot_be_written_stops_nothing(tmp_path):
    (tmp_path / "state").write_text("a file in the way")
    assert start(tmp_path, "").wait() == 0


def test_a_job_waits_for_one_that_a_killed_run_left_behind(tmp_path):
    take = "from pathlib import Path; from benchc import locks; locks.take(Path('.job.log.lock')); "
    left_behind = start(tmp_path, take + "print('taken', flush=True); input()")
    assert left_behind.stdout.readline() == "taken\n"
    command = ["benchc", "--log", "job.log", "hash", "nowhere"]
    job = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    assert "left behind is still at work" in job.stderr.readline()
    assert job.poll() is None
    left_behind.kill()
    assert "nowhere: no such folder" in job.communicate()[1]
    assert "nowhere" in (tmp_path / "job.log").read_text()
    assert "nowhere" in subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stderr
