"""Refuses a checkpoint that would take for ever or all memory, before it is loaded or asked."""

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

from benchc.errors import BadInput
from benchc.errors.outward import excerpt

SECONDS = 5
"""Processor time, not time on the clock, so that a busy machine refuses nothing; a good checkpoint
takes a few hundredths of a second."""
_GIGABYTES = 8
_WEIGHTS = {".safetensors", ".bin", ".pt", ".pth"}
_LAYERS = re.compile(r"(layers?|depth|blocks)$")
_ROWS = re.compile(r"(vocab_size|experts)$")
_WIDTHS = ("hidden_size", "embed_dim", "d_model", "n_embd")
_WIDTH = 64
_HARMLESS = 2**30
"""Weights that any machine builds: configs of small models keep large defaults of their family."""
# What makes a pattern backtrack that splits a text: long runs, and an end that does not match.
_RUNS = "\n".join(character * 400 + "!\x00" for character in "aA1 .-\tä\u4e00")


def refuse_absurd_sizes(folder: Path) -> None:
    """Refuse a config of more layers, experts, words or width than the weights' files can hold.

    A layer is counted as one square matrix, and a weight as one bit: far less than any has.

    Raises:
        BadInput: with the count.
    """
    files = (file for file in folder.rglob("*") if file.suffix in _WEIGHTS and file.is_file())
    held = sum(file.stat().st_size for file in files)
    if not held:
        return
    for section in _sections(_read(folder / "config.json")):
        widths = [section[n] for n in _WIDTHS if type(section.get(n)) is int and section[n] > 0]
        width = min(widths, default=_WIDTH)
        # Widths first: layers and words are counted by them.
        for name, count in sorted(section.items(), key=lambda item: item[0] not in _WIDTHS):
            if type(count) is int and count * _each(name, count, width) > max(8 * held, _HARMLESS):
                raise BadInput(
                    f"{folder / 'config.json'}: `{name}: {count}` cannot be: the files of the "
                    f"weights are {held:,} bytes in all; it is not loaded"
                )


def refuse_what_never_ends(
    weights: str,
    render: Callable[[str], str],
    tokenize: Callable[[str], Any],
    ask: Callable[[], Any],
) -> None:
    """Render and tokenize long runs of characters, ask once, and refuse what takes too much.

    Args:
        weights: The checkpoint's name.
        render: Returns words as the chat template writes them.
        tokenize: What the tokenizer does with a prompt.
        ask: What the processor does with a plain question and its picture.

    Raises:
        BadInput: the chat template, the tokenizer or the processor takes more than 5 seconds of
            processor time, or more memory than a question can need, or panics.
    """
    rendered: list[str] = [_RUNS]
    steps = (
        ("chat template", lambda: rendered.append(render(_RUNS))),
        ("tokenizer", lambda: tokenize(rendered[-1])),
        ("processor", ask),
    )
    for name, step in steps:
        if fault := _fault(step):
            raise BadInput(f"model {weights}: its {name} {fault}; it is not asked")


def is_panic(error: BaseException) -> bool:
    """Say whether an error is a panic of code in Rust, which is no `Exception`."""
    return type(error).__name__ == "PanicException"


def _fault(step: Callable[[], Any]) -> str | None:
    """Return what a step took too much of, or that it panicked.

    Other errors are left to whoever does the same in earnest, who says what they mean.
    """
    ended: list[BaseException] = []

    def run() -> None:
        try:
            step()
        except BaseException as error:
            ended.append(error)

    # A thread that never ends is left behind; as a daemon it does not hold up the process's end.
    thread = Thread(target=run, daemon=True)
    start = time.process_time()
    with _limited_memory():
        thread.start()
        while thread.is_alive() and time.process_time() - start < SECONDS:
            thread.join(0.2)
    if thread.is_alive():
        return f"takes more than {SECONDS} seconds of processor time"
    # The encoder passes on what a processor raised as the cause of its own.
    for error in [cause for first in ended for cause in (first, first.__cause__)]:
        if isinstance(error, MemoryError):
            return f"takes more than {_GIGABYTES} GB of memory"
        if error and is_panic(error):
            return f"breaks down on a trial ({excerpt(str(error), 100)})"
    return None


@contextmanager
def _limited_memory() -> Iterator[None]:
    """Limit what this process may take beyond what it has; only Linux can.

    Address space is no measure of it: threads reserve much that they never use.
    """
    if sys.platform != "linux":
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    pages = int(Path("/proc/self/statm").read_text().split()[5])
    most = pages * os.sysconf("SC_PAGE_SIZE") + _GIGABYTES * 2**30
    limits = [most, *(limit for limit in before if limit != resource.RLIM_INFINITY)]
    resource.setrlimit(resource.RLIMIT_DATA, (min(limits), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def _each(name: str, count: int, width: int) -> int:
    """Return how many weights one more of what a config counts brings, at the very least."""
    if name in _WIDTHS:
        return count
    if _LAYERS.search(name):
        return width**2
    return width if _ROWS.search(name) else 0


def _sections(value: Any) -> Iterator[dict[str, Any]]:
    """Yield a config and the sections in it."""
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from _sections(inner)


def _read(file: Path) -> Any:
    """Return a file's JSON; nothing of one that is missing or damaged, which loading will name."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
