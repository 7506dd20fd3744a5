"""A lock of a dead run is removed, that of a living one is not; a job waits for its forerunner."""

import subprocess
import sys
from pathlib import Path

import pytest

SOMEBODY = "import os; from benchc.running import locks; os.getuid() or os.setuid(65534); "
HOLD = "from pathlib import Path; from benchc.running import locks; locks.hold(Path('state')); "


@pytest.fixture
def state(tmp_path):
    folder = tmp_path / "state"
    (folder / "locks").mkdir(parents=True)
    (folder / "locks" / "0.output.lock").write_text("a")
    return folder


def start(folder, then: str, before: str = "", hold: str = HOLD, **streams) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", before + hold + then],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        **streams,
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


@pytest.fixture
def shared(state):
    """A state of another person: root, as long as the tests are root's."""
    state.parent.chmod(0o755)
    for folder in (state, state / "locks"):
        folder.chmod(0o777)
    (state / "alive").touch()
    (state / "alive").chmod(0o444)
    return state


def test_everyone_who_shares_a_folder_is_seen(shared):
    somebody = start(shared.parent, "print('held', flush=True); input()", SOMEBODY)
    assert somebody.stdout.readline() == "held\n"
    assert not (shared / "locks").exists()
    (shared / "locks").mkdir()
    assert start(shared.parent, "").wait() == 0
    assert (shared / "locks").exists()
    somebody.kill()
    somebody.wait()


@pytest.mark.parametrize("name", [".", "locks"])
def test_another_persons_folder_is_refused_by_name(shared, name):
    (shared / name).chmod(0o555)
    said = start(shared.parent, "", SOMEBODY, stderr=subprocess.PIPE).communicate()[1]
    (shared / name).chmod(0o755)
    assert f"{Path('state', name)}: cannot be written" in said
    assert "--directory" in said


def test_a_job_waits_for_one_that_a_killed_run_left_behind(tmp_path):
    take = (
        "from pathlib import Path; from benchc.running import locks; "
        "locks.take(Path('.job.log.lock')); "
    )
    left_behind = start(tmp_path, "print('taken', flush=True); input()", hold=take)
    assert left_behind.stdout.readline() == "taken\n"
    command = ["benchc", "--log", "job.log", "hash", "nowhere"]
    job = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    assert "left behind is still at work" in job.stderr.readline()
    assert job.poll() is None
    left_behind.kill()
    assert "nowhere: no such folder" in job.communicate()[1]
    assert "nowhere" in (tmp_path / "job.log").read_text()
    assert "nowhere" in subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stderr
