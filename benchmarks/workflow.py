"""What the workflow itself costs: planning, nothing to do, start-up of a job, overhead of a run.

    python benchmarks/workflow.py [plan] [idle] [jobs] [run]      all four when none is named

- plan: seconds and peak memory of a dry run of the default config, one of the source's scale (13
  models) and one with 100 models
- idle: seconds of a run with nothing to do
- jobs: seconds that Snakemake needs a job, with a stand-in for `benchc` that only makes files
- run: the default run, in a temporary folder: seconds of each command that are imports, and the
  share of the run that is not work. Takes as long as the run.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import yaml

PROJECT = Path(__file__).parents[1]
PRETEND = PROJECT / "tests" / "workflow" / "pretend"
CORES = len(os.sched_getaffinity(0))
REPEATS = 3


def main(parts: list[str]) -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as name:
        folder = Path(name)
        if not parts or "plan" in parts:
            plan(folder)
        if not parts or "jobs" in parts or "idle" in parts:
            jobs_and_idle(folder)
        if not parts or "run" in parts:
            default_run(folder)


def configs(folder: Path) -> dict[str, list[str]]:
    """Return, by name, the options that choose a config."""
    paper = PROJECT / "config" / "paper.yaml"
    if not paper.is_file():
        paper = many_models(folder / "paper.yaml", 13)
    hundred = many_models(folder / "hundred.yaml", 100)
    return {
        "default": [],
        "source's scale": ["--configfile", str(paper)],
        "100 models": ["--configfile", str(hundred)],
    }


def many_models(path: Path, count: int) -> Path:
    """Write a config with so many models of the hub; a tenth of them, ten at least, select."""
    models = {
        f"model-{number}": {"hub_id": f"org/model-{number}", "revision": f"{number:040x}"}
        for number in range(count)
    }
    selectors = list(models)[: max(10, count // 10)]
    path.write_text(yaml.safe_dump({"models": models, "selectors": selectors}))
    return path


def plan(folder: Path) -> None:
    """Print what planning every job of a run costs, before any of it is done."""
    for name, options in configs(folder).items():
        runs = [snakemake(folder / "empty", "--dry-run", *options) for _ in range(REPEATS)]
        memory = max(run.memory for run in runs) / 2**20
        print(f"plan, {name}: {runs[0].jobs} jobs, {least(runs)}, {memory:.0f} MB", flush=True)


def jobs_and_idle(folder: Path) -> None:
    """Print what Snakemake costs a job that does nothing, and a run that has nothing to do."""
    environment = {"PATH": f"{PRETEND}:{os.environ['PATH']}"}
    for name, options in configs(folder).items():
        place = folder / f"pretend {name}"
        planned = snakemake(place, "--dry-run", *options)
        run = snakemake(place, *options, **environment)
        each = 1000 * (run.seconds - planned.seconds) / planned.jobs
        print(
            f"jobs, {name}: {planned.jobs} empty jobs in {run.seconds:.1f} s, "
            f"{each:.0f} ms a job besides planning"
        )
        again = [snakemake(place, *options, **environment) for _ in range(REPEATS)]
        assert all("Nothing to be done" in run.said for run in again)
        print(f"idle, {name}: {least(again)} with nothing to do", flush=True)


def default_run(folder: Path) -> None:
    """Print what of the default run is not work: planning, start-up of jobs, cores without one."""
    place = folder / "run"
    log = folder / "jobs.txt"
    watched = folder / "bin" / "benchc"
    watched.parent.mkdir()
    watched.write_text(
        "#!/bin/sh\nstart=$(date +%s.%N)\n"
        f'{shutil.which("benchc")} "$@"\nstatus=$?\n'
        # One write a line, so that jobs that end together do not mix.
        f'printf "%s\\0" "$start" "$(date +%s.%N)" "$@" "|" >>{log}\nexit $status\n'
    )
    watched.chmod(0o755)
    environment = {"PATH": f"{watched.parent}:{os.environ['PATH']}"}
    wall = snakemake(place, **environment).seconds
    commands: dict[str, list[str]] = {}
    busy: Counter[str] = Counter()
    number: Counter[str] = Counter()
    for line in log.read_text().split("\0|\0")[:-1]:
        start, end, *arguments = line.split("\0")
        name = command_of(arguments)
        commands.setdefault(name, arguments)
        busy[name] += float(end) - float(start)
        number[name] += 1
    imports = {name: import_seconds(place, line) for name, line in commands.items()}
    print(f"{'command':18} jobs  seconds  of them imports")
    for name in commands:
        spent = imports[name] * number[name]
        print(
            f"{name:18} {number[name]:4} {busy[name]:8.1f} {spent:8.1f} ({imports[name]:.2f} each)"
        )
    started = sum(imports[name] * number[name] for name in commands)
    capacity = wall * CORES
    work = busy.total() - started
    print(
        f"run: {wall:.0f} s on {CORES} cores; of {capacity:.0f} core seconds, "
        f"{work / capacity:.1%} work, {started / capacity:.1%} imports, "
        f"{1 - busy.total() / capacity:.1%} planning, scheduling and cores without a job"
    )


def command_of(arguments: list[str]) -> str:
    """Return the two words that name a command, behind the options that all commands have."""
    first = next(i for i in range(0, len(arguments), 2) if not arguments[i].startswith("--"))
    return " ".join(arguments[first : first + 2])


def import_seconds(folder: Path, arguments: list[str]) -> float:
    """Return the seconds of imports of a command, run again where its inputs lie."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", shutil.which("benchc") or "benchc", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    own = re.findall(r"^import time: +(\d+) \|", done.stderr, flags=re.MULTILINE)
    return sum(map(int, own)) / 1e6


@dataclass
class Run:
    """One call of Snakemake: seconds by the clock and of CPU, peak bytes, and what it said."""

    seconds: float
    cpu_seconds: float
    memory: int
    said: str

    @property
    def jobs(self) -> int:
        """How many jobs were planned."""
        return int(re.findall(r"^total +(\d+)", self.said, flags=re.MULTILINE)[-1])


def least(runs: list[Run]) -> str:
    """Return the least seconds of several runs: neighbours on the machine only ever add."""
    seconds = min(run.seconds for run in runs)
    return f"{seconds:.2f} s ({min(run.cpu_seconds for run in runs):.2f} s of CPU)"


def snakemake(folder: Path, *arguments: str, **environment: str) -> Run:
    """Run the workflow in a folder and measure it."""
    with tempfile.TemporaryFile("w+") as said:
        start = time.perf_counter()
        process = subprocess.Popen(
            ["snakemake", "--cores", str(CORES), "--snakefile", str(PROJECT / "Snakefile"),
             "--directory", str(folder), *arguments],
            env=os.environ | environment,
            stdout=said,
            stderr=said,
        )  # fmt: skip
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        said.seek(0)
        text = said.read()
    if status:
        sys.exit(text)
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, text)


if __name__ == "__main__":
    main(sys.argv[1:])
