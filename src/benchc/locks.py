"""Who is still at work: runs and jobs that a killed run left behind, told apart from dead ones.

Snakemake's lock files outlive the process that made them; the operating system's do not.
"""

import fcntl
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

_held: list[IO[Any]] = []


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


def take(lock: Path, wait: bool = False) -> bool:
    """Take a lock for as long as this process lives, and return whether it did.

    Where the disk knows no locks, nobody else ever holds one.

    Args:
        lock: An empty file, made where it is missing; the lock of a dead process is free.
        wait: Wait for the process that holds it.

    Raises:
        OSError: the file can be neither made nor opened.
    """
    # Reading is enough, and allowed in a folder that several people share.
    handle = os.fdopen(os.open(lock, os.O_RDONLY | os.O_CREAT, 0o666))
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        handle.close()
        return False
    except OSError:
        pass
    _held.append(handle)
    return True
