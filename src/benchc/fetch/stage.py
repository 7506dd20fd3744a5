"""Fetch one thing into a folder, and write down what came: `NAME.json` beside the folder `NAME`.

Never fetches what an earlier call has fetched, and writes the record last.
"""

import json
import os
from pathlib import Path
from typing import Any

from benchc.config.origin import COMMIT, Request, file_name
from benchc.errors import BadInput
from benchc.tables import write_json


def fetch(wanted: Request, folder: Path) -> dict[str, Any]:
    """Fetch what `wanted` names into `folder`, and return its record.

    The record says `hub_id` and `commit`, or `url` and checksum, the names of the `files`, and the
    other hosts that requests were `sent_on_to`, if any.

    Raises:
        BadInput: it cannot be fetched; what has come stays for the next call.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if wanted.url is not None:
        from benchc.fetch.address import fetch_address, shown

        algorithm = "sha256" if wanted.sha256 else "md5"
        name, expected = file_name(wanted.url), wanted.sha256 or str(wanted.md5)
        url = wanted.url + _query(wanted)
        elsewhere = fetch_address(url, folder / name, algorithm, expected, wanted.size)
        record: dict[str, Any] = {"url": shown(wanted.url), algorithm: expected, "files": [name]}
    else:
        from benchc.fetch.hub import connect, fetch_hub, resolve

        api = connect()
        commit = _remembered(folder) or resolve(api, wanted)
        write_json(_commit_file(folder), {"commit": commit})
        names, elsewhere = fetch_hub(api, wanted, commit, folder)
        record = {"hub_id": wanted.hub_id, "commit": commit, "files": names}
    if wanted.unpack:
        _unpack_all(folder, record["files"])
    record = {**record, "unpacked": wanted.unpack}
    if elsewhere:
        record["sent_on_to"] = elsewhere
    write_json(_record_file(folder), record)
    return record


def read_record(folder: Path) -> dict[str, Any]:
    """Return the record of a folder that `fetch` filled.

    Raises:
        BadInput: it was not filled, or not to the end, or its record is damaged.
    """
    file = _record_file(folder)
    if not file.is_file():
        raise BadInput(
            f"{folder}: nothing was fetched there to the end; run `snakemake fetch_all --cores 1`"
        )
    record = _read(file)
    files = record.get("files")
    if not isinstance(files, list) or not all(isinstance(name, str) for name in files):
        raise BadInput(f"{file}: it does not say which files came; {_ANEW}")
    return record


def place(folder: Path, inner: Path = Path()) -> Path:
    """Return where the thing fetched into `folder` lies.

    Args:
        folder: A folder that `fetch` filled.
        inner: Its path inside the folder, if the config says one. Without it the thing is the
            only file fetched, or the folder where there are several or they were unpacked.

    Raises:
        BadInput: `read_record` refuses, or nothing lies there.
    """
    record = read_record(folder)
    if inner != Path():
        found = folder / inner
    elif len(record["files"]) == 1 and not record["unpacked"]:
        found = folder / record["files"][0]
    else:
        found = folder
    if not found.exists():
        raise BadInput(f"{found}: it was not among what was fetched; `path` counts from {folder}")
    return found


def _remembered(folder: Path) -> str | None:
    """Return the commit that an earlier call resolved a branch to, also one that was killed."""
    file = _commit_file(folder)
    if not file.is_file():
        return None
    commit = _read(file).get("commit")
    if not isinstance(commit, str) or not COMMIT.fullmatch(commit):
        raise BadInput(f"{file}: it holds no commit of 40 hexadecimal digits; {_ANEW}")
    return commit


_ANEW = "delete it and fetch again"


def _read(file: Path) -> dict[str, Any]:
    """Return what a file of this stage says."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or "it is damaged"
        raise BadInput(f"{file}: cannot be read ({reason}); {_ANEW}") from None
    if not isinstance(content, dict):
        raise BadInput(f"{file}: it is damaged; {_ANEW}")
    return content


def _query(wanted: Request) -> str:
    """Return what stands behind an address, from the variable that holds it."""
    if wanted.query_variable is None:
        return ""
    query = os.environ.get(wanted.query_variable, "").strip()
    if not query:
        raise BadInput(
            f"environment variable {wanted.query_variable} is not set; it should hold what stands "
            f"behind the ? of {wanted.url}"
        )
    return f"?{query.removeprefix('?')}"


def _unpack_all(folder: Path, names: list[str]) -> None:
    from benchc.fetch.archive import ENDINGS, unpack

    archives = [name for name in names if name.lower().endswith(ENDINGS)]
    if not archives:
        raise BadInput(f"{folder}: `unpack` is set, and no archive is among {', '.join(names)}")
    for name in archives:
        unpack(folder / name, keep=names)


def _record_file(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.json")


def _commit_file(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.commit.json")
