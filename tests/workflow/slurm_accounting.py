"""What each job of a Slurm without a database took: its seconds, its memory, how it ended.

Slurm writes down a job when it ends (jobcomp/filetxt), all but its peak of memory. That is asked
for while it runs, so that a job shorter than a second or two has none.
"""

import re
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

SECONDS_BETWEEN_LOOKS = 1
SECONDS_TO_WRITE = 10


@dataclass
class Job:
    """One job: what it ran, how it ended, its seconds, its memory in MB, at most and as asked."""

    number: str
    what: str
    state: str = ""
    seconds: float = 0
    asked: int = 0
    peak: float | None = None

    def __str__(self) -> str:
        peak = "-" if self.peak is None else f"{self.peak:.0f}"
        return f"{self.what:44} {self.state:10} {self.seconds:5.0f} s {peak:>5} of {self.asked} MB"


@contextmanager
def accounting(environment: dict[str, str]) -> Iterator[list[Job]]:
    """Yield a list that holds, afterwards, every job that was sent in between."""
    jobs: dict[str, Job] = {}
    over = threading.Event()
    watching = threading.Thread(target=_watch, args=(environment, jobs, over))
    watching.start()
    found: list[Job] = []
    try:
        yield found
    finally:
        over.set()
        watching.join()
    _complete(jobs, Path(environment["SLURM_CONF"]).parent / "jobs.txt")
    found += jobs.values()


def _watch(environment: dict[str, str], jobs: dict[str, Job], over: threading.Event) -> None:
    while not over.wait(SECONDS_BETWEEN_LOOKS):
        for line in _said(environment, "squeue", "--noheader", "--states=all", "--format=%i %k"):
            number, what = line.split(maxsplit=1)
            jobs.setdefault(number, Job(number, what.strip()))
        running = _said(environment, "squeue", "--noheader", "--states=running", "--format=%i")
        for line in _said(
            environment, "sstat", "--allsteps", "--noheader", "--parsable2", "--noconvert",
            "--format=JobID,MaxRSS", "--jobs", ",".join(running),
        ):  # fmt: skip
            step, _, peak = line.partition("|")
            job = jobs.get(step.partition(".")[0])
            if job is not None and peak.isdigit():
                job.peak = max(job.peak or 0, int(peak) / 2**20)


def _said(environment: dict[str, str], *command: str) -> list[str]:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def _complete(jobs: dict[str, Job], path: Path) -> None:
    """Add what Slurm wrote down, once it has."""
    deadline = time.monotonic() + SECONDS_TO_WRITE
    records: dict[str, dict[str, str]] = {}
    while jobs.keys() - records.keys() and time.monotonic() < deadline:
        time.sleep(0.1)
        lines = path.read_text().splitlines() if path.exists() else []
        written = [dict(re.findall(r"(\w+)=(\S*)", line)) for line in lines]
        records = {record["JobId"]: record for record in written}
    for number, job in jobs.items():
        record = records[number]
        job.state = record["JobState"]
        start, end = (datetime.fromisoformat(record[key]) for key in ("StartTime", "EndTime"))
        job.seconds = (end - start).total_seconds()
        memory = re.search(r"mem=(\d+)([MG])", record["Tres"])
        assert memory is not None, record["Tres"]
        job.asked = int(memory[1]) * {"M": 1, "G": 1024}[memory[2]]
