"""The one client of servers that speak the OpenAI chat-completions protocol."""

import asyncio
import base64
import math
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import httpx2
import openai

from benchc.errors import BadInput
from benchc.errors.outward import without_secrets
from benchc.models.answer import Answer, Fault, of_status, read, sent_on
from benchc.models.bounded import BoundedClient

Content = list[dict[str, Any]]
"""The parts of one user message, in the protocol's form."""

_LONGEST = 2**22
"""Bytes of an answer, besides what is asked for."""
_TRIES_OF_THE_PLAIN = 2
_TRIES_OF_AN_ODD_ANSWER = 2
_KEPT_OF_A_REASON = 300


class Connection(Protocol):
    """The settings that say where a server is and how patiently it is asked."""

    @property
    def url(self) -> str: ...  # noqa: D102 - as in config/models.py, all of them
    @property
    def model(self) -> str: ...  # noqa: D102
    @property
    def key_variable(self) -> str | None: ...  # noqa: D102
    @property
    def concurrency(self) -> int: ...  # noqa: D102
    @property
    def timeout(self) -> float: ...  # noqa: D102
    @property
    def retries(self) -> int: ...  # noqa: D102


Heard = Callable[[int, Answer | Fault], None]
"""Told the place of a message among those sent, and what came of it."""


class Server:
    """One model on one server.

    Attributes:
        name: How messages call it.
        sent: Requests sent so far, further tries included.
    """

    def __init__(
        self,
        settings: Connection,
        longest: int = 0,
        max_requests: int | None = None,
        count: Path | None = None,
    ):
        """Make ready; nothing is sent yet.

        Args:
            settings: Where the server is and how it is asked.
            longest: Bytes of an answer that what is asked for may need.
            max_requests: Bound on the requests sent in all; None for no bound.
            count: File that grows by one byte a request, so that the bound holds over several
                starts, however the last one ended; None to count this start alone.

        Raises:
            BadInput: the variable that should hold the key is not set, or holds no key.
        """
        self.name = f"server {settings.url} (model {settings.model})"
        self.sent = count.stat().st_size if count is not None and count.is_file() else 0
        self._settings = settings
        self._longest = _LONGEST + longest
        self._max_requests, self._count = max_requests, count
        self._key = _key(settings)
        self._answered = 0

    def ask(
        self,
        messages: Sequence[Callable[[], Content]],
        fields: Mapping[str, Any],
        heard: Heard,
        plain: Content | None = None,
    ) -> None:
        """Send messages, at most `concurrency` at once, and tell what came of each.

        Args:
            messages: Each returns one user message; called when its turn has come.
            fields: What each request says besides model and message.
            heard: Told of each message as soon as it is decided, in any order; what it raises ends
                the asking.
            plain: A message that this server can answer. It is sent when another one failed though
                it may be answered later and nothing was answered meanwhile.

        Raises:
            Fault: `plain` was not answered: the server is of no use now.
            BadInput: the bound on requests is reached.
        """
        if self._max_requests is not None and self.sent + len(messages) > self._max_requests:
            raise self._bound_reached(len(messages))
        asyncio.run(self._ask_all(messages, fields, heard, plain))

    def ask_one(self, content: Content, fields: Mapping[str, Any], retries: int) -> Answer:
        """Return the answer to one message.

        Raises:
            Fault: there is none after all tries.
            BadInput: the bound on requests is reached.
        """

        async def ask() -> Answer | Fault:
            async with self._client() as client:
                return await self._asked(client.with_options(max_retries=retries), content, fields)

        answer = asyncio.run(ask())
        if isinstance(answer, Fault):
            raise answer
        return answer

    def get(self, address: str) -> object:
        """Return the JSON at an address of the server, without its key; None where there is none.

        Args:
            address: Relative to the server's url, or whole.
        """

        async def get() -> object:
            async with self._client() as client:
                return await client.with_options(max_retries=1).get(address, cast_to=object)

        try:
            return _clean(asyncio.run(get()))
        except (openai.OpenAIError, ValueError, RecursionError):
            return None

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[openai.AsyncOpenAI]:
        settings = self._settings
        http = BoundedClient(settings.timeout, self._longest, self._count_one)
        # Without a key of its own the client would send OPENAI_API_KEY to a server it is not for.
        async with openai.AsyncOpenAI(
            base_url=settings.url,
            api_key=self._key or "none",
            timeout=settings.timeout,
            max_retries=settings.retries,
            http_client=http,
        ) as client:
            # Taken from the environment, for the server that they are for.
            client.organization = client.project = None
            yield client

    async def _ask_all(
        self,
        messages: Sequence[Callable[[], Content]],
        fields: Mapping[str, Any],
        heard: Heard,
        plain: Content | None,
    ) -> None:
        waiting = iter(enumerate(messages))
        async with self._client() as client:
            await asyncio.gather(
                *(
                    self._work(client, waiting, fields, heard, plain)
                    for _ in range(min(self._settings.concurrency, len(messages)))
                )
            )

    async def _work(
        self,
        client: openai.AsyncOpenAI,
        waiting: Iterator[tuple[int, Callable[[], Content]]],
        fields: Mapping[str, Any],
        heard: Heard,
        plain: Content | None,
    ) -> None:
        for place, message in waiting:
            before = self._answered
            # Elsewhere: pictures are packed there, and the others' deadlines go on meanwhile.
            content = await asyncio.to_thread(message)
            answer = await self._asked(client, content, fields)
            if isinstance(answer, Fault):
                if answer.is_passing and plain is not None and self._answered == before:
                    await self._refuse_a_useless_server(client, plain, fields)
            else:
                self._answered += 1
            heard(place, answer)

    async def _refuse_a_useless_server(
        self, client: openai.AsyncOpenAI, plain: Content, fields: Mapping[str, Any]
    ) -> None:
        few = client.with_options(max_retries=min(_TRIES_OF_THE_PLAIN, self._settings.retries))
        answer = await self._asked(few, plain, fields)
        if isinstance(answer, Fault):
            raise answer

    async def _asked(
        self, client: openai.AsyncOpenAI, content: Content, fields: Mapping[str, Any]
    ) -> Answer | Fault:
        """Return what comes of one message; an odd answer is asked for again."""
        wants_tokens = bool(fields.get("logprobs"))
        message: Any = {"role": "user", "content": content}
        for _ in range(_TRIES_OF_AN_ODD_ANSWER):
            try:
                said = await client.chat.completions.with_raw_response.create(
                    model=self._settings.model,
                    messages=[message],
                    **fields,
                )
            except _BoundReached:
                raise self._bound_reached(1) from None
            except openai.OpenAIError as error:
                return self._fault(error)
            answer = read(said.content, wants_tokens)
            if isinstance(answer, Answer):
                break
        return answer

    def _count_one(self) -> None:
        """Count a request, or keep it from being sent."""
        if self._max_requests is not None and self.sent >= self._max_requests:
            raise _BoundReached
        self.sent += 1
        if self._count is not None:
            with self._count.open("ab") as file:
                file.write(b".")

    def _bound_reached(self, more: int) -> BadInput:
        return BadInput(
            f"{self.name}: {self.sent} requests were sent, and {more} more would pass the bound; "
            f"raise `max_requests` ({self._max_requests})"
        )

    def _fault(self, error: openai.OpenAIError) -> Fault:
        if isinstance(error, openai.APITimeoutError):
            return Fault(
                "timeout",
                f"no whole answer within {self._settings.timeout:g} s",
                "if it is up and slow, raise `timeout`",
            )
        if isinstance(error, openai.APIStatusError):
            if 300 <= error.status_code < 400:
                place = self._line(error.response.headers.get("location", "elsewhere"))
                return sent_on(error.status_code, place.partition("?")[0])
            return of_status(error.status_code, self._line(_message(error)))
        cause = error.__cause__
        said = self._line(str(cause or error) or type(cause or error).__name__)
        odd = isinstance(cause, httpx2.DecodingError)
        return Fault(
            "server_error",
            said,
            "is it the url?" if odd else "is it up?",
            is_of_the_server=isinstance(cause, httpx2.ConnectError),
        )

    def _line(self, said: object) -> str:
        """Return what was said in one line, its key taken out before it is cut."""
        text = str(_clean(" ".join(str(said).split())))
        return text[:_KEPT_OF_A_REASON].rstrip(".")


class _BoundReached(openai.OpenAIError):
    """No request may be sent any more; of a kind that the client hands on and does not retry."""


def _clean(said: object) -> object:
    """Return JSON without a secret anywhere in it, and without numbers that are none."""
    if isinstance(said, str):
        return without_secrets(said)
    if isinstance(said, float):
        return said if math.isfinite(said) else None
    if isinstance(said, list):
        return [_clean(item) for item in said]
    if isinstance(said, dict):
        return {str(_clean(name)): _clean(value) for name, value in said.items()}
    return said


def _key(settings: Connection) -> str | None:
    if settings.key_variable is None:
        return None
    key = os.environ.get(settings.key_variable, "").strip()
    if not key:
        raise BadInput(
            f"environment variable {settings.key_variable} is not set; it should hold the key of "
            f"{settings.url}"
        )
    if not (key.isascii() and key.isprintable()):
        raise BadInput(
            f"environment variable {settings.key_variable} holds characters that no key has; copy "
            f"the key of {settings.url} anew"
        )
    return key


def _message(error: openai.APIStatusError) -> object:
    """Return the words of an error, which servers put into several places."""
    said: object = error.body
    for name in ("error", "message", "detail"):
        if isinstance(said, dict) and said.get(name):
            said = said[name]
    return said or error.message


def picture_part(png: bytes) -> dict[str, Any]:
    """Return an encoded PNG in the protocol's form."""
    data = base64.b64encode(png).decode("ascii")
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}


def text_part(text: str) -> dict[str, Any]:
    """Return a text in the protocol's form."""
    return {"type": "text", "text": text}
