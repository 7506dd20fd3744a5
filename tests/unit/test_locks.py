"""A lock of a dead run is removed, that of a living one is not."""

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
