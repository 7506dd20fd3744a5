"""One file from an address, whole and with the right checksum or not at all.

Never sends a token, and never downloads a second time because a checksum was wrong.
"""

import hashlib
import os
import shutil
import ssl
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit
from urllib.request import getproxies

import httpx2
from tqdm import tqdm
from urllib3.exceptions import MaxRetryError
from urllib3.util import Retry

from benchc.errors import BadInput
from benchc.errors.outward import excerpt
from benchc.fetch.client import Bounds, bounded

TRIES = 5
"""Attempts in a row that bring nothing new."""
_LONGEST_WAIT = 600
_TIMEOUT = httpx2.Timeout(60, connect=10)
MOST = 20_000_000_000
"""Bytes of a file whose size nobody says, at most."""
BUSY = (408, 429, 500, 502, 503, 504)
_WEB_PAGES = (b"<!doctype html", b"<html")


def fetch_address(
    url: str, target: Path, algorithm: str, expected: str, size: int | None = None
) -> list[str]:
    """Fetch the file at `url` to `target`, unless it is there already.

    What has come so far is kept beside it as `NAME.part`, and a later call goes on from there.

    Args:
        url: Address, http or https.
        target: File to write; its folder is made.
        algorithm: `sha256` or `md5`.
        expected: The file's checksum, lower-case hexadecimal digits.
        size: The file's size in bytes, if it is known.

    Returns:
        Other hosts that the request was sent on to, in order.

    Raises:
        BadInput: the server refuses, cannot be reached, is too slow, or sends something else or
            more; the disk is too small; the checksum differs.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_file():
        found = checksum(target, algorithm)
        if found == expected:
            return []
        raise BadInput(
            f"{target}: its {algorithm} is {found}, and {expected} was expected; "
            "delete it to fetch it again"
        )
    part = target.with_name(f"{target.name}.part")
    parts = urlsplit(url)
    bounds = Bounds(str(parts.hostname), size or sys.maxsize, parts.scheme == "https")
    _fill(part, url, target.name, size, bounds)
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
    return bounds.sent_on_to


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
            f"{folder}: {readable(size)} are to be written and {readable(free)} are free; make room"
        )


def readable(size: float) -> str:
    """Return a number of bytes in the unit that fits it: 0 B, 999 B, 1.5 KB, 20 GB."""
    unit = "B"
    for larger in ("KB", "MB", "GB", "TB"):
        if abs(size) < 999.5:
            break
        size, unit = size / 1000, larger
    return f"{size:.0f} {unit}" if unit == "B" or abs(size) >= 9.95 else f"{size:.1f} {unit}"


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


def _fill(part: Path, url: str, name: str, size: int | None, bounds: Bounds) -> None:
    """Append to `part` until the server has no more, over cuts; a cut that brings bytes is free."""
    left = patience()
    furthest = _size(part)
    client = bounded(httpx2.Client(timeout=_TIMEOUT), bounds)
    with client, tqdm(desc=name, unit="B", unit_scale=True, disable=None, leave=False) as bar:
        while True:
            trouble: Exception
            answer = None
            try:
                return _append(part, client, url, size, bar)
            except _BusyError as error:
                trouble, answer = error, error.answer
            except (httpx2.TransportError, _CutError) as error:
                trouble = error
            except (httpx2.HTTPError, httpx2.InvalidURL) as error:
                raise BadInput(f"{shown(url)}: {_reason(error, url)}") from None
            _refuse_certificate(trouble, url)
            if _size(part) > furthest:
                furthest = _size(part)
                left = patience()
            try:
                left = left.increment(error=trouble)
            except MaxRetryError:
                raise BadInput(
                    f"{shown(url)}: {_reason(trouble, url)}; given up after {TRIES + 1} tries"
                    f"{through_proxy(url)}; {_size(part)} bytes are kept, run again to go on"
                ) from None
            # Only the answer's headers are looked at, and all libraries' answers have those.
            left.sleep(cast(Any, answer))


class _CutError(Exception):
    """The answer ended before the file did."""


class _BusyError(Exception):
    """The server has no time now."""

    def __init__(self, answer: httpx2.Response):
        super().__init__(f"{answer.status_code}, it has no time")
        self.answer = answer


def _append(
    part: Path, client: httpx2.Client, url: str, size: int | None, bar: "tqdm[Any]"
) -> None:
    start = _size(part)
    # Compressed in transit, a file could not be continued at a byte.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    with client.stream("GET", url, headers=headers) as answer:
        if answer.status_code == 416 and start:
            # The part is as long as the file or longer: its checksum tells.
            if answer.headers.get("Content-Range") != f"bytes */{start}":
                part.unlink()
                raise _CutError("the part kept from before was longer than the file")
            return
        _refuse(answer, url)
        if start and not answer.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
            start = 0  # the server does not continue files
        most = _most(answer, start, size, url)
        need_space(part.parent, (most or 0) - _size(part))
        bar.total, bar.n = most, start
        with _disk(part, url), part.open("r+b" if start else "wb") as out:
            out.seek(start)
            try:
                for chunk in answer.iter_raw():
                    if not out.tell() and is_web_page(chunk):
                        raise _web_page(url)
                    if out.tell() + len(chunk) > (most or MOST):
                        raise _too_long(url, most)
                    out.write(chunk)
                    bar.update(len(chunk))
            except httpx2.TransportError as error:
                if isinstance(error, httpx2.TimeoutException):
                    raise
                raise _CutError(f"the connection was cut at byte {out.tell()}") from error


def _most(answer: httpx2.Response, start: int, size: int | None, url: str) -> int | None:
    """Return the size of the whole file, as the config or the answer says; None if nobody does."""
    said = answer.headers.get("Content-Length")
    promised = start + int(said) if said and said.isdecimal() else None
    if size is not None and promised is not None and promised != size:
        raise BadInput(
            f"{shown(url)}: it has {promised} bytes, and `size` says {size}; nothing was fetched"
        )
    return promised if size is None else size


def _too_long(url: str, most: int | None) -> BadInput:
    if most is None:
        return BadInput(
            f"{shown(url)}: the server does not say how long the file is, and more than "
            f"{readable(MOST)} came; give its `size` in bytes if it is that long"
        )
    return BadInput(f"{shown(url)}: more came than the {most} bytes that it has")


@contextmanager
def _disk(part: Path, url: str) -> Iterator[None]:
    """Turn a disk that takes no more into one line."""
    try:
        yield
    except OSError as error:
        raise BadInput(
            f"{part}: cannot be written ({error.strerror}); what came is kept, make room and run "
            "again to go on"
        ) from None


def _refuse(answer: httpx2.Response, url: str) -> None:
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
    if status in BUSY:
        raise _BusyError(answer)
    if status not in (200, 206):
        raise BadInput(
            f"{place}: {status} {answer.reason_phrase}, which is no file; run again later to go on"
        )
    if answer.headers.get("Content-Type", "").startswith("text/html"):
        raise _web_page(url)
    packed = answer.headers.get("Content-Encoding", "identity").strip().lower()
    if packed not in ("", "identity"):
        raise BadInput(
            f"{place}: it comes compressed ({packed}) although it was asked for as it is; take "
            "another address of the same file"
        )


def _web_page(url: str) -> BadInput:
    return BadInput(
        f"{shown(url)}: a web page came in place of the file: a login, a notice or a proxy; "
        "open the address in a browser to see it"
    )


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _refuse_certificate(error: BaseException | None, url: str) -> None:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            raise BadInput(
                f"{shown(url)}: its certificate is not accepted ({error.verify_message}); "
                "take another address of the same file"
            ) from None
        error = error.__cause__ or error.__context__


def _reason(error: Exception, url: str) -> str:
    if isinstance(error, _CutError | _BusyError):
        return str(error)
    if isinstance(error, httpx2.TooManyRedirects):
        return "it sends the request on and on; check the address"
    if isinstance(error, httpx2.ProxyError) or (
        isinstance(error, httpx2.ConnectError) and through_proxy(url)
    ):
        return "the proxy does not answer"
    if isinstance(error, httpx2.TimeoutException):
        return "it does not answer in time"
    if isinstance(error, httpx2.ConnectError | httpx2.ReadError | httpx2.WriteError):
        return "it cannot be reached"
    return f"it does not answer as a web server does ({excerpt(str(error), 100)})"
