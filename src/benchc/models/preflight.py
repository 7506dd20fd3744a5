"""Refuses a checkpoint whose config counts more than its files hold, before it is loaded."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchc.errors import BadInput

_WEIGHTS = {".safetensors", ".bin", ".pt", ".pth"}
_LAYERS = re.compile(r"(layers?|depth|blocks)$")
_ROWS = re.compile(r"(vocab_size|experts)$")
_WIDTHS = ("hidden_size", "embed_dim", "d_model", "n_embd")
_WIDTH = 64
_HARMLESS = 2**30
"""Weights that any machine builds: configs of small models keep large defaults of their family."""


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
