"""One file from an address, whole and with the right checksum or not at all.

Never sends a token, and never downloads a second time because a checksum was wrong.
"""

import hashlib
import os
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

import requests
from requests.adapters import HTTPAdapter
from tqdm import tqdm
from urllib3.exceptions import MaxRetryError
from urllib3.util import Retry

from benchc.errors import BadInput

TRIES = 5
"""Attempts in a row that bring nothing new."""
_LONGEST_WAIT = 600
_TIMEOUT = (10, 60)
BUSY = (408, 429, 500, 502, 503, 504)
# What a cut loses of the last piece is fetched again.
_CHUNK = 1 << 16
_WEB_PAGES = (b"<!doctype html", b"<html")


def fetch_address(url: str, target: Path, algorithm: str, expected: str) -> None:
    """Fetch the file at `url` to `target`, unless it is there already.

    What has come so far is kept beside it as `NAME.part`, and a later call goes on from there.

    Args:
        url: Address, http or https.
        target: File to write; its folder is made.
        algorithm: `sha256` or `md5`.
        expected: The file's checksum, lower-case hexadecimal digits.

    Raises:
        BadInput: the server refuses, cannot be reached or sends something else; the disk is too
            small; the checksum differs.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_file():
        found = checksum(target, algorithm)
        if found == expected:
            return
        raise BadInput(
            f"{target}: its {algorithm} is {found}, and {expected} was expected; "
            "delete it to fetch it again"
        )
    part = target.with_name(f"{target.name}.part")
    _fill(part, url, target.name)
    found = checksum(part, algorithm)
    if found != expected:
        size = part.stat().st_size
        part.unlink()
        raise BadInput(
            f"{shown(url)}: its {algorithm} is {found} ({size} bytes), and {expected} was "
            "expected; nothing was kept. If its publisher changed it, look at what changed and "
            "put the new checksum into the config"
        )
    os.replace(part, target)


def checksum(path: Path, algorithm: str) -> str:
    """Return the checksum of a file in lower-case hexadecimal digits."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, lambda: _hash(algorithm)).hexdigest()


def patience(**counts: Any) -> Retry:
    """Return how often and how long a busy server is waited for: `TRIES` times, ever longer.

    A server's own `Retry-After` is kept to, up to ten minutes.

    Args:
        counts: Other numbers of tries, as `urllib3.util.Retry` takes them.
    """
    return Retry(
        **(counts or {"total": TRIES}),
        status_forcelist=BUSY,
        backoff_factor=1,
        backoff_max=60,
        retry_after_max=_LONGEST_WAIT,
        raise_on_status=False,
    )


def need_space(folder: Path, size: int) -> None:
    """Make sure that `size` more bytes fit beside what is in `folder`.

    Raises:
        BadInput: they do not.
    """
    free = shutil.disk_usage(folder).free
    if size > free:
        raise BadInput(
            f"{folder}: {size / 1e9:.1f} GB are to be written and {free / 1e9:.1f} GB are free; "
            "make room, or run in another folder with --directory"
        )


def is_web_page(start: bytes) -> bool:
    """Say whether a file that begins so is HTML."""
    return start.lstrip()[:15].lower().startswith(_WEB_PAGES)


def shown(url: str) -> str:
    """Return an address without its query, which may hold a key."""
    return urlsplit(url)._replace(query="", fragment="").geturl()


def through_proxy(url: str) -> str:
    """Say which environment variable leads to an address through a proxy; empty for none."""
    scheme = urlsplit(url).scheme
    return f" (through the proxy in {scheme.upper()}_PROXY)" if scheme in getproxies() else ""


def _hash(algorithm: str) -> "hashlib._Hash":
    return hashlib.new(algorithm, usedforsecurity=False)


def _fill(part: Path, url: str, name: str) -> None:
    """Append to `part` until the server has no more, over cuts; a cut that brings bytes is free."""
    session = requests.Session()
    # Connections are retried below, where it is known how much has come.
    answers = patience(connect=0, read=0, other=0, status=TRIES)
    session.mount("https://", HTTPAdapter(max_retries=answers))
    session.mount("http://", HTTPAdapter(max_retries=answers))
    left = patience()
    furthest = _size(part)
    with session, tqdm(desc=name, unit="B", unit_scale=True, disable=None, leave=False) as bar:
        while True:
            try:
                return _append(part, session, url, bar)
            except requests.exceptions.SSLError as error:
                raise BadInput(
                    f"{shown(url)}: its certificate is not accepted ({_reason(error)}); "
                    "take another address of the same file"
                ) from None
            except (requests.ConnectionError, requests.Timeout, _CutError) as error:
                if _size(part) > furthest:
                    furthest = _size(part)
                    left = patience()
                try:
                    left = left.increment(error=error)
                except MaxRetryError:
                    raise BadInput(
                        f"{shown(url)}: {_reason(error)}; given up after {TRIES + 1} tries"
                        f"{through_proxy(url)}; {_size(part)} bytes are kept, run again to go on"
                    ) from None
                left.sleep()


class _CutError(Exception):
    """The answer ended before the file did."""


def _append(part: Path, session: requests.Session, url: str, bar: tqdm) -> None:
    start = _size(part)
    # Compressed in transit, a file could not be continued at a byte.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    with session.get(url, headers=headers, stream=True, timeout=_TIMEOUT) as answer:
        if answer.status_code == 416 and start:
            # The part is as long as the file or longer: its checksum tells.
            if answer.headers.get("Content-Range") != f"bytes */{start}":
                part.unlink()
                raise _CutError("the part kept from before was longer than the file")
            return
        _refuse(answer, url)
        if start and not answer.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
            start = 0  # the server does not continue files
        rest = int(answer.headers.get("Content-Length") or 0)
        need_space(part.parent, rest - (_size(part) - start))
        bar.total, bar.n = start + rest, start
        with part.open("r+b" if start else "wb") as out:
            out.seek(start)
            try:
                for chunk in answer.iter_content(_CHUNK):
                    if not out.tell() and is_web_page(chunk):
                        raise _web_page(url)
                    out.write(chunk)
                    bar.update(len(chunk))
            except requests.exceptions.ChunkedEncodingError as error:
                raise _CutError(f"the connection was cut at byte {out.tell()}") from error


def _refuse(answer: requests.Response, url: str) -> None:
    place, status = shown(url), answer.status_code
    said = {
        401: "401, it wants a login, and addresses are fetched without one; "
        "fetch it yourself and give its `path`",
        403: "403, it is forbidden from here; fetch it yourself and give its `path`",
        404: "404, there is no such file; check the address",
        410: "410, the file was taken down; take another address",
    }
    if status in said:
        raise BadInput(f"{place}: {said[status]}")
    if status >= 400:
        tries = f", also after {TRIES} more tries" if status in BUSY else ""
        raise BadInput(f"{place}: {status} {answer.reason}{tries}; run again later to go on")
    if answer.headers.get("Content-Type", "").startswith("text/html"):
        raise _web_page(url)


def _web_page(url: str) -> BadInput:
    return BadInput(
        f"{shown(url)}: a web page came in place of the file: a login, a notice or a proxy; "
        "open the address in a browser to see it"
    )


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _reason(error: Exception) -> str:
    if isinstance(error, _CutError):
        return str(error)
    if isinstance(error, requests.exceptions.ProxyError):
        return "the proxy does not answer"
    if isinstance(error, requests.Timeout):
        return "it does not answer in time"
    if isinstance(error, requests.exceptions.SSLError):
        return str(error).rpartition("] ")[2].split(" (_ssl")[0].rstrip(")'\"")
    return "it cannot be reached"
