"""Does what may never end in a process of its own, within limits of time and memory.

A thread would not do: code in C that holds the interpreter can be stopped from outside alone.
Never changes the state of the process that asks, and never waits for ever.
"""

import faulthandler
import multiprocessing
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import torch

from benchc.errors.outward import excerpt

SECONDS = 5
"""Processor time of a step, not time on the clock, so that a busy machine refuses nothing; a good
checkpoint takes a few hundredths of a second."""
GIGABYTES = 8
CLOCK = 20 * SECONDS
"""Seconds on the clock, for a step that waits and takes no processor time."""
START = "fork" if sys.platform == "linux" else "spawn"
"""A fork has all that is loaded and costs hundredths of a second; it is safe where, as on Linux, no
system library forbids it, and the child keeps to one thread and to the CPU. Elsewhere a new process
loads everything again, which takes seconds."""
_NO_MEMORY = ("can't allocate memory", "not enough memory", "bad_alloc", "Cannot allocate memory")

Step = tuple[str, Callable[[], object]]


class ExcessError(Exception):
    """A step has made too much of something; says what, to stand behind the step's name."""


def first_fault(steps: Callable[..., Iterable[Step]], settings: Any, loaded: Any) -> str | None:
    """Do steps in a process of its own, until one of them takes too much or breaks down.

    Args:
        steps: Returns named steps in their order, from `settings` and `loaded`; a function of a
            module, so that a new process finds it. Errors of its steps other than want of memory,
            panics and `ExcessError` are left to whoever does the same in earnest.
        settings: What it reads, which can be pickled.
        loaded: What it works on; None where it has to load that itself.

    Returns:
        A step's name and what is wrong with it; None where all of them ended.
    """
    context: Any = multiprocessing.get_context(START)
    here, there = context.Pipe(duplex=False)
    given = loaded if START == "fork" else None
    child = context.Process(
        target=_do, args=(there, SECONDS, GIGABYTES, steps, settings, given), daemon=True
    )
    with warnings.catch_warnings():
        # Python warns of forks of a process with threads; see `START`.
        warnings.simplefilter("ignore", DeprecationWarning)
        child.start()
    there.close()
    try:
        return _watched(child, here)
    finally:
        child.kill()
        child.join()
        here.close()


def _watched(child: Any, messages: Connection) -> str | None:
    """Return the fault of a child's steps, told by itself or by its end."""
    name = "loading"
    while True:
        if not wait([messages, child.sentinel], CLOCK):
            return f"{name} does not end in {CLOCK} seconds"
        try:
            told = messages.recv() if messages.poll() else None
        except EOFError:
            told = None
        if told is None:
            child.join()
            return f"{name} {_said_of_end(child.exitcode)}"
        name, fault, is_last = told
        if fault:
            return f"{name} {fault}"
        if is_last:
            return None


def _said_of_end(code: int) -> str:
    if code == -signal.SIGXCPU:
        return f"takes more than {SECONDS} seconds of processor time"
    if code == -signal.SIGKILL:
        return "takes more memory than this machine has"
    how = signal.strsignal(-code) if code < 0 else f"exit status {code}"
    return f"breaks down on a trial ({how})"


def _do(
    messages: Connection,
    seconds: int,
    gigabytes: int,
    steps: Callable[..., Iterable[Step]],
    settings: Any,
    loaded: Any,
) -> None:
    """Do the steps, and tell of each: its name, its fault, and whether it was the last."""
    _settle_down(gigabytes)
    name = "loading"
    # Whatever happens, the process ends here, and nothing of its parent's is run at its end.
    try:
        for name, step in steps(settings, loaded):
            messages.send((name, None, False))
            _limit_time(seconds)
            if fault := _fault(step, gigabytes):
                messages.send((name, fault, False))
                os._exit(0)
        messages.send((name, None, True))
    finally:
        os._exit(0)


def _fault(step: Callable[[], object], gigabytes: int) -> str | None:
    """Return what a step took too much of, or that it panicked."""
    try:
        step()
    except BaseException as raised:
        # The encoder passes on what a processor raised as the cause of its own.
        for error in filter(None, (raised, raised.__cause__)):
            if isinstance(error, ExcessError):
                return str(error)
            if isinstance(error, MemoryError) or any(said in str(error) for said in _NO_MEMORY):
                return f"takes more than {gigabytes} GB of memory"
            if is_panic(error):
                return f"breaks down on a trial ({excerpt(str(error), 100)})"
    return None


def is_panic(error: BaseException) -> bool:
    """Say whether an error is a panic of code in Rust, which is no `Exception`."""
    return type(error).__name__ == "PanicException"


def _settle_down(gigabytes: int) -> None:
    """Keep this process silent, to one thread, and to so much memory beyond what it has."""
    import resource

    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(nothing, stream)
    # The threads of its parent are not in a fork.
    torch.set_num_threads(1)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    # It would write the end of this process to the real stderr.
    faulthandler.disable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform != "linux":
        return
    # Where memory ends all the same, this process goes first.
    with suppress(OSError):
        os.write(os.open("/proc/self/oom_score_adj", os.O_WRONLY), b"1000")
    # Address space is no measure of memory: threads reserve much that they never use.
    pages = int(Path("/proc/self/statm").read_text().split()[5])
    most = pages * os.sysconf("SC_PAGE_SIZE") + gigabytes * 2**30
    _lower(resource.RLIMIT_DATA, most)


def _limit_time(seconds: int) -> None:
    """Let this process take so many more seconds of processor time; at the end it is killed."""
    import resource

    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    _lower(resource.RLIMIT_CPU, int(time.process_time()) + seconds + 1)


def _lower(limit: int, most: int) -> None:
    import resource

    _, hard = resource.getrlimit(limit)
    within = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(limit, (within, hard))
