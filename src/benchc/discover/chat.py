"""A server of the OpenAI chat-completions protocol, asked many messages at once.

Never reads a reply, and never writes down the key.
"""

from __future__ import annotations

import asyncio
import base64
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import openai
from openai.types.chat import ChatCompletion

from benchc.discover.players import Picture
from benchc.errors import BadInput

SILENCE = 8
"""Messages in a row without a reply that end a game; more where more are on their way at once."""


class Chat:
    """One model on one server.

    Attributes:
        name: How messages call it.
        sent: Requests sent so far, further tries included.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key_variable: str | None,
        max_tokens: int,
        concurrency: int,
        timeout: float,
        retries: int,
        max_requests: int | None = None,
        count: Path | None = None,
        extra_body: Mapping[str, Any] | None = None,
    ):
        """Make ready; nothing is sent yet.

        Args:
            url: Where the server is.
            model: The name the server knows the model by.
            key_variable: The environment variable that holds the key; None for no key.
            max_tokens: Longest reply.
            concurrency: Requests on their way at once.
            timeout: Seconds to wait for one reply.
            retries: Further tries of a request that failed, ever later.
            max_requests: Bound on the requests sent in all; None for no bound.
            count: File that grows by one byte a request, so that the bound holds over several
                starts, however the last one ended; None to count this start alone.
            extra_body: Further fields of each request.

        Raises:
            BadInput: the variable that should hold the key is not set.
        """
        self.name = f"server {url} (model {model})"
        self.sent = count.stat().st_size if count is not None and count.is_file() else 0
        self._url, self._model, self._max_tokens = url, model, max_tokens
        self._concurrency, self._timeout, self._retries = concurrency, timeout, retries
        self._max_requests, self._count, self._extra_body = max_requests, count, extra_body
        self._silent = 0
        # Without a key of its own the client would send OPENAI_API_KEY to a server it is not for.
        self._key = None if key_variable is None else os.environ.get(key_variable, "")
        if self._key == "":
            raise BadInput(
                f"environment variable {key_variable} is not set; it should hold the key of {url}"
            )

    def ask_all(self, messages: Sequence[list[dict[str, Any]]]) -> list[str | None]:
        """Return one reply a message; None where the server timed out or failed at it.

        Args:
            messages: The parts of one user message each, in the protocol's form.

        Raises:
            BadInput: the server cannot be reached or refuses, fails at every message for long, or
                the bound would be passed.
        """
        if self._max_requests is not None and self.sent + len(messages) > self._max_requests:
            raise self._bound_reached(len(messages))
        return asyncio.run(self._gather(messages))

    async def _gather(self, messages: Sequence[list[dict[str, Any]]]) -> list[str | None]:
        slots = asyncio.Semaphore(self._concurrency)
        async with openai.AsyncOpenAI(
            base_url=self._url,
            api_key=self._key or "none",
            timeout=self._timeout,
            max_retries=self._retries,
            http_client=openai.DefaultAsyncHttpxClient(event_hooks={"request": [self._count_one]}),
        ) as client:
            return await asyncio.gather(*(self._ask(client, slots, parts) for parts in messages))

    async def _ask(
        self, client: openai.AsyncOpenAI, slots: asyncio.Semaphore, parts: list[dict[str, Any]]
    ) -> str | None:
        message: Any = {"role": "user", "content": parts}
        async with slots:
            try:
                answer = await client.chat.completions.create(
                    model=self._model,
                    messages=[message],
                    max_tokens=self._max_tokens,
                    temperature=0,
                    extra_body=self._extra_body,
                )
            except _Bound:
                raise self._bound_reached(1) from None
            except openai.APITimeoutError:
                reason = f"no reply within {self._timeout:g} s"
            except openai.InternalServerError as error:
                reason = self._said(error)
            except openai.APIError as error:
                raise BadInput(
                    f"{self.name} does not answer: {self._said(error)}. {_GOES_ON}"
                ) from None
            except ValueError:
                reason = "a reply that is no JSON"
            else:
                # The client hands on a page for people as it came.
                if isinstance(answer, ChatCompletion) and answer.choices:
                    self._silent = 0
                    return answer.choices[0].message.content
                reason = "a reply that is not in the protocol's form"
        self._refuse_silence(reason)
        return None

    async def _count_one(self, _: object) -> None:
        """Count a request, or keep it from being sent."""
        if self._max_requests is not None and self.sent >= self._max_requests:
            raise _Bound
        self.sent += 1
        if self._count is not None:
            with self._count.open("ab") as file:
                file.write(b".")

    def _refuse_silence(self, reason: str) -> None:
        """Count a message that got no reply; end the game where none has got one for long."""
        self._silent += 1
        if self._silent >= max(SILENCE, 2 * self._concurrency):
            raise BadInput(
                f"{self.name}: {self._silent} messages in a row got no reply in up to "
                f"{1 + self._retries} tries; the last: {reason}. {_GOES_ON}"
            )

    def _bound_reached(self, more: int) -> BadInput:
        return BadInput(
            f"{self.name}: {self.sent} requests were sent, and {more} more would pass the bound; "
            f"raise `max_requests` ({self._max_requests}). {_GOES_ON}"
        )

    def _said(self, error: openai.APIError) -> str:
        said = " ".join(str(error.__cause__ or error).split())[:300].rstrip(".")
        return said.replace(self._key, "***") if self._key else said


class _Bound(openai.OpenAIError):
    """No request may be sent any more; of a kind that the client hands on and does not retry."""


_GOES_ON = "A training goes on from its newest checkpoint: run it again."


def picture_part(picture: Picture) -> dict[str, Any]:
    """Return a picture in the protocol's form, without loss."""
    buffer = io.BytesIO()
    picture.load().save(buffer, format="PNG")
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}


def text_part(text: str) -> dict[str, Any]:
    """Return a text in the protocol's form."""
    return {"type": "text", "text": text}
