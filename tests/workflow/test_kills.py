"""Whatever kills a run, the same command finishes it, with the bytes of an unbroken run."""

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from small_run import Workflow

from benchc.contents import content_hashes

SIGNALS = {"INT": signal.SIGINT, "TERM": signal.SIGTERM, "KILL": signal.SIGKILL}


def start(workflow: Workflow) -> subprocess.Popen:
    return subprocess.Popen(
        workflow.command("all"),
        cwd=workflow.project,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def kill(process: subprocess.Popen, name: str) -> None:
    """Send a signal as people do: Ctrl-C to the group, TERM to Snakemake, KILL to all."""
    if name == "TERM":
        process.send_signal(signal.SIGTERM)
    else:
        os.killpg(process.pid, SIGNALS[name])
    process.wait()


def chunks(workflow: Workflow) -> dict[Path, int]:
    found = (workflow.folder / "results/infer").rglob("chunks/*.parquet")
    return {path: path.stat().st_mtime_ns for path in found}


def break_and_finish(workflow: Workflow, unbroken: Workflow, kills: int, seconds: float) -> int:
    """Kill a run `kills` times at random moments, then let it finish; return kills that hit."""
    moments = random.Random(1)
    hits = 0
    for number in range(kills):
        process = start(workflow)
        time.sleep(moments.uniform(1, seconds))
        if process.poll() is not None:
            break
        kill(process, list(SIGNALS)[number % len(SIGNALS)])
        hits += 1
    before = chunks(workflow)
    workflow.run("all")
    after = chunks(workflow)
    assert all(after[path] == date for path, date in before.items())
    theirs = dict(content_hashes(unbroken.folder / "results"))
    assert dict(content_hashes(workflow.folder / "results")) == theirs
    return hits


@pytest.mark.workflow
def test_three_kills(finished, tmp_path):
    assert break_and_finish(Workflow(tmp_path, finished.config), finished, 3, seconds=6) == 3


@pytest.mark.scale
def test_twenty_kills(finished, tmp_path):
    assert break_and_finish(Workflow(tmp_path, finished.config), finished, 20, seconds=10) >= 10
