"""An HTTP client that waits, reads and follows only so far, whatever the other side sends."""

import asyncio
import ssl
import zlib
from collections.abc import Callable
from functools import cache
from typing import Any

import httpx2

_ERROR_BYTES = 2**16
"""Of an error's text no more is of use."""


class BoundedClient(httpx2.AsyncClient):
    """A client whose every answer is whole, in memory, uncompressed and no longer than allowed.

    Redirects are not followed: a question and its picture go to nobody whom the user did not name.
    """

    def __init__(self, deadline: float, longest: int, before_send: Callable[[], None]):
        """Make a client.

        Args:
            deadline: Seconds from sending a request to the last byte of its answer.
            longest: Bytes of an answer, uncompressed; an error's text is cut instead.
            before_send: Called before each request; what it raises keeps the request from
                being sent.
        """
        super().__init__(
            timeout=deadline,
            follow_redirects=False,
            verify=_trusted(),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
            headers={"Accept-Encoding": "gzip, deflate"},
        )
        self._deadline, self._longest, self._before_send = deadline, longest, before_send

    async def send(
        self, request: httpx2.Request, *, stream: bool = False, **more: Any
    ) -> httpx2.Response:
        """Return the whole answer.

        Raises:
            httpx2.ReadTimeout: it was not whole at the deadline.
            httpx2.DecodingError: it is too long, or in a compression that cannot be read.
            httpx2.RequestError: as any client does.
        """
        self._before_send()
        more["follow_redirects"] = False
        request.headers["Accept-Encoding"] = "gzip, deflate"
        try:
            async with asyncio.timeout(self._deadline):
                answer = await super().send(request, stream=True, **more)
                try:
                    content = await self._content(answer)
                finally:
                    await answer.aclose()
        except TimeoutError:
            raise httpx2.ReadTimeout("no whole answer in time", request=request) from None
        except httpx2.InvalidURL as error:
            raise httpx2.UnsupportedProtocol(str(error), request=request) from None
        kept = {
            name: value
            for name, value in answer.headers.items()
            if name not in ("content-encoding", "content-length", "transfer-encoding")
        }
        return httpx2.Response(answer.status_code, headers=kept, content=content, request=request)

    async def _content(self, answer: httpx2.Response) -> bytes:
        most = self._longest if answer.is_success else _ERROR_BYTES
        content = bytearray()
        unpack = _unpacker(answer)
        async for piece in answer.aiter_raw():
            content += unpack(piece, most + 1 - len(content))
            if len(content) > most:
                if answer.is_success:
                    raise httpx2.DecodingError(f"an answer of more than {most} bytes")
                break
        return bytes(content[:most])


@cache
def _trusted() -> ssl.SSLContext:
    """Return the certificates to trust; reading them takes longer than many an answer."""
    return httpx2.create_ssl_context()


def _unpacker(answer: httpx2.Response) -> Callable[[bytes, int], bytes]:
    """Return what turns the next bytes of an answer into at most so many plain ones."""
    coding = answer.headers.get("content-encoding", "identity").strip().lower()
    if coding in ("", "identity"):
        return lambda piece, most: piece[:most]
    if coding not in ("gzip", "x-gzip", "deflate"):
        raise httpx2.DecodingError(f"an answer compressed as {coding[:20]!r}, not as asked")
    # 32: by their first bytes, gzip and zlib are told apart.
    packed = zlib.decompressobj(zlib.MAX_WBITS | 32)

    def unpack(piece: bytes, most: int) -> bytes:
        try:
            return packed.decompress(piece, most)
        except zlib.error:
            raise httpx2.DecodingError("an answer whose compression is damaged") from None

    return unpack
