"""The one way to write a file: under a temporary name, synced, then renamed into place."""

import errno
import glob
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from benchc.errors import BadInput
from benchc.errors.outward import json_text, without_secrets
from benchc.tables.locks import lock

#: What an operating system says of a disk that takes no more; libraries repeat it word for word.
_REFUSED = tuple(
    os.strerror(number)
    for number in (
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EFBIG,
        errno.EROFS,
        errno.EACCES,
        errno.ENOTDIR,
        errno.EEXIST,
    )
)


@contextmanager
def renamed_into_place(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path`; on success sync it and rename it to `path`.

    Raises:
        BadInput: the disk is full or must not be written.
    """
    try:
        with _renamed(path) as temporary:
            yield temporary
    except BadInput:
        raise
    except Exception as error:
        for reason in _REFUSED:
            if reason in str(error):
                raise BadInput(
                    f"{path}: cannot be written ({reason}); what is finished is kept: mend that "
                    "and run the same command again"
                ) from None
        raise


def write_text(path: Path, text: str) -> None:
    """Write a file of text, without any secret: temporary name, synced, renamed into place.

    Raises:
        BadInput: the disk is full or must not be written.
    """
    with renamed_into_place(path) as temporary:
        temporary.write_text(without_secrets(text), encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write a file of JSON, without any secret; see `write_text`."""
    with renamed_into_place(path) as temporary:
        temporary.write_text(json_text(value, indent=2, sort_keys=True) + "\n", encoding="utf-8")


@contextmanager
def _renamed(path: Path) -> Iterator[Path]:
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_left_behind(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as held:
            _is_free(held)
            yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        # Before, not after: a kill in between must not leave a log beside a file it is not of.
        for log in companions(path):
            log.unlink(missing_ok=True)
            print(
                f"{log}: removed; it held changes that another session made to the old file",
                file=sys.stderr,
            )
        temporary.replace(path)
    finally:
        # DuckDB keeps a log, and a folder for what memory does not hold, under longer names.
        for left in path.parent.glob(f"{glob.escape(temporary.name)}*"):
            _remove(left)


def put_in_place(built: Path, place: Path) -> None:
    """Put a file or folder that is whole in the place of an old one, as a link or else a copy.

    Raises:
        BadInput: there is no such file or folder; or the disk is full or must not be written.
    """
    if built.is_dir():
        _put_folder_in_place(built, place)
    elif built.is_file():
        with renamed_into_place(place) as temporary:
            temporary.unlink()
            _link(built, temporary)
    else:
        raise BadInput(f"{built}: no such file or folder")


def _put_folder_in_place(built: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    new, old = (place.with_name(f".{place.name}.{secrets.token_hex(4)}") for _ in range(2))
    try:
        shutil.copytree(built, new, copy_function=_link)
        if place.exists():
            place.rename(old)
        new.rename(place)
    finally:
        _remove(old)
        _remove(new)


def _link(source: str | Path, target: str | Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # a disk that knows no links
        shutil.copy2(source, target)


def companions(path: Path) -> list[Path]:
    """Return the logs that DuckDB would replay into a database of this path."""
    logs = (path.with_name(path.name + end) for end in (".wal", ".wal.checkpoint", ".wal.recovery"))
    return [log for log in logs if log.exists()]


def _remove_left_behind(path: Path) -> None:
    """Remove what killed processes left of `path`; a living one holds a lock on its own."""
    ours = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{8}}")
    for left in path.parent.iterdir():
        name = ours.match(left.name)
        if name is None:
            continue
        with suppress(OSError):
            main = path.with_name(name[0])
            if main.exists():
                with main.open("rb+") as held:
                    if not _is_free(held):
                        continue
            _remove(left)


def _is_free(handle: IO[bytes]) -> bool:
    """Lock an open file, and return whether that was possible."""
    try:
        return lock(handle)
    except OSError:
        return False


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
