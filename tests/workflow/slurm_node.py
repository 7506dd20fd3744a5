"""A real Slurm of one node on this machine, for as long as a command runs.

    python tests/workflow/slurm_node.py sinfo

prints last what each of its jobs took. Needs root and Debian's slurm-wlm and munge. Everything it
writes lies in a temporary folder; no running Slurm is touched, since ports and sockets are its own.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from slurm_accounting import accounting

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "sinfo")
SECONDS_TO_START = 20

CONFIG = """
ClusterName=benchc
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
# A container has no systemd and may have no control groups.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/jobs.txt
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
{more}
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE DefMemPerCPU=1000 State=UP
"""


class CannotStartError(Exception):
    """Slurm does not start on this machine; the message says why."""


@contextmanager
def running(more: str = "") -> Iterator[dict[str, str]]:
    """Start munge and Slurm, yield the environment that its commands need, and stop them.

    Args:
        more: Further lines of slurm.conf.

    Raises:
        CannotStartError: a program is missing, the user is not root, or the node stays down.
    """
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        raise CannotStartError(f"not installed: {', '.join(missing)} (Debian: slurm-wlm, munge)")
    if os.geteuid() != 0:
        raise CannotStartError("needs root")
    with tempfile.TemporaryDirectory(prefix="slurm-") as name, ExitStack() as stack:
        folder = Path(name)
        config = _configure(folder, more)
        environment = {
            key: value for key, value in os.environ.items() if not key.startswith("SLURM")
        } | {"SLURM_CONF": str(config), "PATH": f"{folder}/bin:{os.environ['PATH']}"}
        host = _host()
        for command in (
            ["munged", "--foreground", "--force", f"--key-file={folder}/munge.key",
             f"--socket={folder}/munge.socket", f"--pid-file={folder}/munged.pid",
             f"--log-file={folder}/munged.log", f"--seed-file={folder}/munge.seed"],
            ["slurmctld", "-D", "-f", str(config)],
            ["slurmd", "-D", "-f", str(config), "-N", host],
        ):  # fmt: skip
            process = subprocess.Popen(
                command,
                env=environment,
                stdout=(folder / f"{command[0]}.out").open("w"),
                stderr=subprocess.STDOUT,
            )
            stack.callback(_stop, process)
        stack.callback(_cancel_all, environment)
        _wait_until_idle(environment, folder)
        yield environment


def _configure(folder: Path, more: str) -> Path:
    folder.chmod(0o755)
    for name in ("state", "spool"):
        (folder / name).mkdir()
    config = folder / "slurm.conf"
    # The executor plugin drops SLURM_CONF before it calls srun.
    srun = folder / "bin" / "srun"
    srun.parent.mkdir()
    srun.write_text(f'#!/bin/sh\nSLURM_CONF={config} exec {shutil.which("srun")} "$@"\n')
    srun.chmod(0o755)
    key = folder / "munge.key"
    key.write_bytes(os.urandom(64))
    key.chmod(0o600)
    pages = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    config.write_text(
        CONFIG.format(
            host=_host(),
            folder=folder,
            ports=_free_ports(2),
            cpus=len(os.sched_getaffinity(0)),
            memory=pages // 2**20,
            more=more,
        )
    )
    return config


def _host() -> str:
    return socket.gethostname().partition(".")[0]


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _wait_until_idle(environment: dict[str, str], folder: Path) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < deadline:
        seen = subprocess.run(
            ["sinfo", "--noheader", "--format=%T"],
            env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if seen.stdout.strip() == "idle":
            return
        time.sleep(0.2)
    said = [line for log in sorted(folder.glob("*.out")) for line in log.read_text().splitlines()]
    errors = [line for line in said if "error" in line.lower()]
    raise CannotStartError((errors or said or [seen.stderr or "the node stays down"])[-1])


def _cancel_all(environment: dict[str, str]) -> None:
    subprocess.run(["scancel", "--user=root"], env=environment, capture_output=True, check=False)


def _stop(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


if __name__ == "__main__":
    # Killed politely, it still stops what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with running() as environment:
            with accounting(environment) as jobs:
                done = subprocess.run(sys.argv[1:], env=environment, check=False)
            print(*jobs, sep="\n")
            sys.exit(done.returncode)
    except CannotStartError as error:
        sys.exit(f"Slurm cannot start: {error}")
