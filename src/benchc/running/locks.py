"""Who is still at work: runs and jobs that a killed run left behind, told apart from dead ones.

Snakemake's lock files outlive the process that made them; the operating system's do not.
"""

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import IO

from benchc.errors import BadInput
from benchc.tables.locks import lock

_held: list[IO[str]] = []


def hold(state: Path) -> bool:
    """Register this process as using the folder; if it is the only one, remove stale lock files.

    Call it before Snakemake looks at its locks. Where the disk knows no locks nothing is removed
    and Snakemake asks for `--unlock` as ever.

    Args:
        state: The folder in which Snakemake keeps its state, usually `.snakemake`.

    Returns:
        Whether no other process uses it; False where that is not known.

    Raises:
        BadInput: the folder, or one in it, must not be written.
    """
    alone = False
    with suppress(OSError):
        state.mkdir(exist_ok=True)
    if state.is_dir():
        for folder in (state, *filter(Path.is_dir, state.iterdir())):
            if not os.access(folder, os.W_OK, effective_ids=True):
                raise BadInput(
                    f"{folder}: cannot be written; another person's run, or a disk to read only: "
                    "get the right to write it, or give a --directory of your own"
                )
    with suppress(OSError):
        handle = _opened(state / "alive")
        _held.append(handle)
        alone = lock(handle)
        if alone:
            shutil.rmtree(state / "locks", ignore_errors=True)
        lock(handle, shared=True, wait=True)
    return alone


def _opened(path: Path) -> IO[str]:
    # Reading is enough, and allowed where another person of a shared folder made the file.
    return os.fdopen(os.open(path, os.O_RDONLY | os.O_CREAT, 0o666))


def take(path: Path, wait: bool = False) -> bool:
    """Take a lock for as long as this process lives, and return whether it did.

    Where the disk knows no locks, nobody else ever holds one.

    Args:
        path: An empty file, made where it is missing; the lock of a dead process is free.
        wait: Wait for the process that holds it.

    Raises:
        OSError: the file can be neither made nor opened.
    """
    handle = _opened(path)
    with suppress(OSError):
        if not lock(handle, wait=wait):
            handle.close()
            return False
    _held.append(handle)
    return True
