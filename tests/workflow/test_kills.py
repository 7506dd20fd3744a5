"""Whatever kills a run, the same command finishes it, with the bytes of an unbroken run."""

import os
import random
import shutil
import signal
import subprocess
import time

import pytest
from small_run import Workflow, tables_of

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


def answered(workflow: Workflow) -> set[str]:
    """Return what is kept of the models' answers, line by line."""
    files = (workflow.folder / "results/infer").rglob("chunks/*.jsonl")
    return {line for path in files for line in path.open() if line.endswith("\n")}


def break_and_finish(workflow: Workflow, unbroken: Workflow, kills: int) -> None:
    """Kill a run `kills` times at random moments, then let it finish; one that does, begins anew.

    A moment is up to three times as late as this machine now needs to plan the run.
    """
    began = time.monotonic()
    unbroken.planned("all")
    planning = time.monotonic() - began
    moments = random.Random(1)
    left = kills
    kept: set[str] = set()
    while left:
        name = list(SIGNALS)[left % len(SIGNALS)]
        process = start(workflow)
        seconds = moments.uniform(0.3, 3) * planning
        try:
            assert process.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            kill(process, name)
            left -= 1
        else:
            name = "none"
        found = answered(workflow)
        assert kept <= found
        kept = found
        tables = len(list((workflow.folder / "results").rglob("*.parquet")))
        print(f"{name:4} after {seconds:4.1f} s: {tables:2} tables, {len(kept)} lines of answers")
        if name == "none":
            compare(workflow, unbroken)
            shutil.rmtree(workflow.folder / "results")
            kept = set()
    workflow.run("all")
    assert kept <= answered(workflow)
    compare(workflow, unbroken)


def compare(workflow: Workflow, unbroken: Workflow) -> None:
    assert tables_of(workflow.folder) == tables_of(unbroken.folder)


@pytest.mark.workflow
def test_three_kills(finished, tmp_path):
    break_and_finish(Workflow(tmp_path, finished.config), finished, 3)


@pytest.mark.scale
def test_twenty_kills(finished, tmp_path):
    break_and_finish(Workflow(tmp_path, finished.config), finished, 20)
