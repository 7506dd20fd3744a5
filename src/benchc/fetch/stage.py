"""Fetch one thing into a folder, and write down what came: `NAME.json` beside the folder `NAME`.

Never fetches what an earlier call has fetched, and writes the record last.
"""

import json
from pathlib import Path
from typing import Any

from benchc.errors import BadInput
from benchc.fetch.origin import COMMIT, Request, file_name
from benchc.tables import renamed_into_place


def fetch(wanted: Request, folder: Path) -> dict[str, Any]:
    """Fetch what `wanted` names into `folder`, and return its record.

    The record says `hub_id` and `commit`, or `url` and checksum, and the names of the `files`.

    Raises:
        BadInput: it cannot be fetched; what has come stays for the next call.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if wanted.url is not None:
        from benchc.fetch.address import fetch_address, shown

        algorithm = "sha256" if wanted.sha256 else "md5"
        name, expected = file_name(wanted.url), wanted.sha256 or str(wanted.md5)
        fetch_address(wanted.url, folder / name, algorithm, expected)
        record: dict[str, Any] = {"url": shown(wanted.url), algorithm: expected, "files": [name]}
    else:
        from benchc.fetch.hub import connect, fetch_hub, resolve

        api = connect()
        commit = _remembered(folder) or resolve(api, wanted)
        _write({"commit": commit}, _commit_file(folder))
        names = fetch_hub(api, wanted, commit, folder)
        record = {"hub_id": wanted.hub_id, "commit": commit, "files": names}
    if wanted.unpack:
        _unpack_all(folder, record["files"])
    record = {**record, "unpacked": wanted.unpack}
    _write(record, _record_file(folder))
    return record


def read_record(folder: Path) -> dict[str, Any]:
    """Return the record of a folder that `fetch` filled.

    Raises:
        BadInput: it was not filled, or not to the end.
    """
    try:
        return json.loads(_record_file(folder).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise BadInput(
            f"{folder}: nothing was fetched there to the end; run `snakemake fetch_all --cores 1`"
        ) from None


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
    commit = json.loads(file.read_text(encoding="utf-8"))["commit"]
    assert COMMIT.fullmatch(commit)
    return commit


def _unpack_all(folder: Path, names: list[str]) -> None:
    from benchc.fetch.archive import ENDINGS, unpack

    archives = [name for name in names if name.lower().endswith(ENDINGS)]
    if not archives:
        raise BadInput(f"{folder}: `unpack` is set, and no archive is among {', '.join(names)}")
    for name in archives:
        unpack(folder / name)


def _record_file(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.json")


def _commit_file(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.commit.json")


def _write(content: dict[str, Any], path: Path) -> None:
    with renamed_into_place(path) as temporary:
        temporary.write_text(json.dumps(content, indent=2, sort_keys=True) + "\n")
