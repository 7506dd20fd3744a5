"""Locks that a killed run left behind, told apart from those of a run that lives.

Snakemake's lock files outlive the process that made them; the operating system's do not.
"""

import fcntl
import shutil
from contextlib import suppress
from pathlib import Path
from typing import IO

_held: list[IO[bytes]] = []


def hold(state: Path) -> None:
    """Say that this process runs in a folder; if it is the only one, remove stale lock files.

    Call it before Snakemake looks at its locks. Where the disk knows no locks, or cannot be
    written, nothing is removed and Snakemake asks for `--unlock` as ever.

    Args:
        state: The folder in which Snakemake keeps its state, usually `.snakemake`.
    """
    with suppress(OSError):
        state.mkdir(exist_ok=True)
        handle = (state / "alive").open("ab")
        _held.append(handle)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass
        else:
            shutil.rmtree(state / "locks", ignore_errors=True)
        fcntl.flock(handle, fcntl.LOCK_SH)
