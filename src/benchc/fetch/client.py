"""The HTTP client of this stage: with a pace and a size that every answer must keep to.

It goes through the proxies of the environment, and follows a redirect to another host only where
nothing secret goes along: https stays https, and what logs in at the first host is not sent on.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpcore2
import httpx2

from benchc.errors import BadInput

SILENCE = 60.0
"""Seconds without a byte until a connection counts as broken."""
WINDOW = 60.0
LEAST = 60_000
"""Bytes that come in `WINDOW` seconds at least, headers included."""
SLOW = 5
"""Connections slower than that until it is given up."""
_SENT_ON = 10


@dataclass
class Bounds:
    """What the answers to one thing's requests must keep to, and what was seen of them.

    Attributes:
        host: Where the first request goes, as messages call it.
        most: Bytes of one answer's body at most.
        is_secure: Whether the first request is encrypted, so that all must be.
        sent_on_to: Other hosts that answers came from, in order.
        slow: Connections that were too slow.
    """

    host: str
    most: int
    is_secure: bool
    sent_on_to: list[str] = field(default_factory=list)
    slow: int = 0

    def check(self, request: httpx2.Request) -> None:
        """Refuse a redirect to what is no web server or to a connection without encryption."""
        url = request.url
        place = f"{url.scheme}://{url.host}"
        if url.scheme not in ("http", "https") or (self.is_secure and url.scheme != "https"):
            raise BadInput(
                f"{self.host} sends the request on to {place}, which is not encrypted or no web "
                "server; take another address of the same file"
            )

    def measure(self, response: httpx2.Response) -> None:
        """Note whose answer it is; let it end in a refusal where it is longer than it may be."""
        host = response.request.url.host
        if host != self.host and host not in self.sent_on_to:
            self.sent_on_to.append(host)
        if isinstance(response.stream, httpx2.SyncByteStream):
            response.stream = _Measured(response.stream, self)

    def too_slow(self) -> None:
        """Count a slow connection; the last one is a refusal."""
        self.slow += 1
        if self.slow > SLOW:
            raise BadInput(
                f"{self.host}: fewer than {LEAST / WINDOW / 1000:.0f} KB came in a second, again "
                "and again; what came is kept, run again later to go on"
            )
        raise httpcore2.ReadTimeout("too slow")


def bounded(client: httpx2.Client, bounds: Bounds) -> httpx2.Client:
    """Return a client, not used yet, whose answers keep to `bounds`."""
    client.event_hooks = {
        "request": [bounds.check, *client.event_hooks["request"]],
        "response": [*client.event_hooks["response"], bounds.measure],
    }
    client.follow_redirects = True
    client.max_redirects = _SENT_ON
    for transport in {client._transport, *client._mounts.values()}:
        # The library takes a backend of one's own for a pool, and no pool for a client.
        pool = getattr(transport, "_pool", None)
        if pool is not None:
            pool._network_backend = _Backend(pool._network_backend, bounds)
    return client


class _Measured(httpx2.SyncByteStream):
    """The body of an answer that must not be endless."""

    def __init__(self, stream: httpx2.SyncByteStream, bounds: Bounds):
        self._stream, self._bounds = stream, bounds

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for piece in self._stream:
            size += len(piece)
            if size > self._bounds.most:
                raise BadInput(
                    f"{self._bounds.host}: the answer is longer than the {self._bounds.most} "
                    "bytes that it may have; nothing of it was kept"
                )
            yield piece

    def close(self) -> None:
        self._stream.close()


class _Backend(httpcore2.NetworkBackend):
    """Opens connections that keep a pace."""

    def __init__(self, backend: httpcore2.NetworkBackend, bounds: Bounds):
        self._backend, self._bounds = backend, bounds

    def connect_tcp(self, *arguments: Any, **named: Any) -> httpcore2.NetworkStream:
        return _Paced(self._backend.connect_tcp(*arguments, **named), self._bounds)

    def sleep(self, seconds: float) -> None:
        self._backend.sleep(seconds)


class _Paced(httpcore2.NetworkStream):
    """A connection whose answers, headers included, must come at a pace."""

    def __init__(self, stream: httpcore2.NetworkStream, bounds: Bounds):
        self._stream, self._bounds = stream, bounds
        self._since, self._size = 0.0, 0

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = self._stream.read(max_bytes, min(timeout or SILENCE, SILENCE))
        now = time.monotonic()
        if not self._since or self._size >= LEAST:
            self._since, self._size = now, 0
        self._size += len(data)
        if data and now - self._since > WINDOW and self._size < LEAST:
            self._bounds.too_slow()
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._since, self._size = 0.0, 0
        self._stream.write(buffer, min(timeout or SILENCE, SILENCE))

    def start_tls(self, *arguments: Any, **named: Any) -> httpcore2.NetworkStream:
        return _Paced(self._stream.start_tls(*arguments, **named), self._bounds)

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
