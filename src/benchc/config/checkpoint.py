"""Which files loading a checkpoint's folder reads: all of it, and nothing that lies elsewhere."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from benchc.errors import BadInput

# What stands in a checkpoint's folder for people, or was left there by a trainer or by Python.
_NOT_READ = re.compile(r"\.|.*\.md$|__pycache__$|checkpoint-[0-9]+$")
_ADAPTER = "adapter_config.json"


def files(folder: Path) -> list[Path]:
    """Return the files of a checkpoint's folder that count: weights, code, all but notes.

    Files in sub-folders count, behind links too: an index may name them, and code may import them.

    Raises:
        BadInput: see `refuse_what_lies_elsewhere`.
    """
    refuse_what_lies_elsewhere(folder)
    named = (folder / name for _, name in _named(folder))
    return sorted({*_walked(folder), *filter(Path.is_file, named)})


def refuse_what_lies_elsewhere(folder: Path) -> None:
    """Refuse a checkpoint that takes weights or code from outside of its folder.

    Raises:
        BadInput: with the file that names them.
    """
    for file, name in _named(folder):
        if not isinstance(name, str) or not _is_inside(name):
            raise BadInput(
                f"{file}: it names {str(name)!r}, which lies outside of the checkpoint's folder; "
                "put the file into the folder and its name there into the index"
            )
    if (folder / _ADAPTER).is_file():
        base = _read(folder / _ADAPTER).get("base_model_name_or_path")
        raise BadInput(
            f"{folder / _ADAPTER}: an adapter takes its weights from {str(base)!r}, outside of the "
            "folder; merge it into its base (PEFT's `merge_and_unload`) and save the whole model"
        )
    for file in sorted(folder.glob("*config.json")):
        for code in _strings(_read(file).get("auto_map")):
            if "--" in code:
                raise BadInput(
                    f"{file}: `auto_map` takes code from elsewhere ({code!r}); put its files into "
                    "the folder and leave out what stands before `--`"
                )


def _walked(folder: Path) -> Iterator[Path]:
    """Yield all files below a folder but notes, links followed, each folder once."""
    seen = set()
    for place, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(place)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        folders[:] = sorted(name for name in folders if not _NOT_READ.match(name))
        found = (Path(place, name) for name in names if not _NOT_READ.match(name))
        yield from filter(Path.is_file, found)


def _named(folder: Path) -> Iterator[tuple[Path, Any]]:
    """Yield the files that an index or the config names, and where it does."""
    for index in sorted(folder.glob("*.index.json")):
        shards = _read(index).get("weight_map")
        for name in sorted(set(map(str, shards.values()))) if isinstance(shards, dict) else ():
            yield index, name
    weights = _read(folder / "config.json").get("transformers_weights")
    if weights is not None:
        yield folder / "config.json", weights


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name.replace("\\", "/"))
    parts = path.parts
    return bool(parts) and not path.is_absolute() and ".." not in parts and ":" not in parts[0]


def _read(file: Path) -> dict[str, Any]:
    """Return a file's JSON; nothing of one that is missing or damaged, which loading will name."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else ():
        yield from _strings(inner)
    for inner in value if isinstance(value, list) else ():
        yield from _strings(inner)
