"""A hash of files that a result depends on, by what they hold."""

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path

from benchc.running import closure

_WORTH_REMEMBERING = 16 * 2**20


def of_files(paths: Iterable[Path], cache: Path | None = None, root: Path | None = None) -> str:
    """Return a 16-digit hash of files' names and contents; SQL without its comments.

    Args:
        paths: The files.
        cache: A JSON file that remembers the hashes, where the files are large together, by
            device, inode, size and time of change; it spares reading them again and may be
            deleted at any time.
        root: A folder above the files from which their names count; by default a name is the last
            part of a path.
    """
    whole = hashlib.sha256()
    known = _remembered(cache)
    before = len(known)
    size = 0
    for path in sorted(paths):
        name = path.name if root is None else path.relative_to(root).as_posix()
        if path.suffix == ".sql":
            content = hashlib.sha256(_bare_sql(path.read_text()).encode()).hexdigest()
        else:
            found = path.stat()
            size += found.st_size
            key = f"{found.st_dev}:{found.st_ino}:{found.st_size}:{found.st_mtime_ns}"
            content = known.get(key) or known.setdefault(key, _of_content(path))
        whole.update(f"{name}={content}\n".encode())
    if cache is not None and len(known) > before and size >= _WORTH_REMEMBERING:
        from benchc.tables import write_json

        write_json(cache, known)
    return whole.hexdigest()[:16]


def of_place(place: Path, cache: Path | None = None) -> str:
    """Return a 16-digit hash of a file, or of all in a folder but hidden files, wherever it lies.

    Args:
        place: The file or folder; what is not there is known by its name.
        cache: See `of_files`.
    """
    if place.is_file():
        return of_files([place], cache)
    if not place.is_dir():
        return place.name
    shown = (f for f in place.rglob("*") if "/." not in f"/{f.relative_to(place).as_posix()}")
    return of_files(filter(Path.is_file, shown), cache, place)


def _of_content(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _remembered(cache: Path | None) -> dict[str, str]:
    try:
        found = json.loads(cache.read_text()) if cache is not None else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def packaged(*patterns: str) -> list[Path]:
    """Return the package's own data files, not code, that match patterns such as `report/*.css`."""
    found = {path for pattern in patterns for path in closure.root().glob(pattern)}
    return sorted(p for p in found if p.is_file() and p.suffix not in {".py", ".pyc"})


def _bare_sql(text: str) -> str:
    return " ".join(re.sub(r"--[^\n]*", " ", text).split())
