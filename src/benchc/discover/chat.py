"""A server of the OpenAI chat-completions protocol, asked many messages at once.

Never reads a reply, and never writes down the key.
"""

from __future__ import annotations

import asyncio
import base64
import io
import os
from collections.abc import Sequence
from typing import Any

import openai

from benchc.discover.players import Picture
from benchc.errors import BadInput


class Chat:
    """One model on one server."""

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
            max_requests: Bound on the messages sent in all; None for no bound.

        Raises:
            BadInput: the variable that should hold the key is not set.
        """
        self.name = f"server {url} (model {model})"
        self.sent = 0
        self._url, self._model, self._max_tokens = url, model, max_tokens
        self._concurrency, self._timeout, self._retries = concurrency, timeout, retries
        self._max_requests = max_requests
        # Without a key of its own the client would send OPENAI_API_KEY to a server it is not for.
        self._key = "none" if key_variable is None else os.environ.get(key_variable, "")
        if not self._key:
            raise BadInput(
                f"environment variable {key_variable} is not set; it should hold the key of {url}"
            )

    def ask_all(self, messages: Sequence[list[dict[str, Any]]]) -> list[str | None]:
        """Return one reply a message; None where the server timed out or failed at it.

        Args:
            messages: The parts of one user message each, in the protocol's form.

        Raises:
            BadInput: the server cannot be reached or refuses, or the bound would be passed.
        """
        if self._max_requests is not None and self.sent + len(messages) > self._max_requests:
            raise BadInput(
                f"{self.name}: {self.sent} requests were sent, and {len(messages)} more would pass "
                f"the bound; raise `max_requests` ({self._max_requests}) and run again: a training "
                "goes on from its newest checkpoint"
            )
        self.sent += len(messages)
        return asyncio.run(self._gather(messages))

    async def _gather(self, messages: Sequence[list[dict[str, Any]]]) -> list[str | None]:
        slots = asyncio.Semaphore(self._concurrency)
        async with openai.AsyncOpenAI(
            base_url=self._url,
            api_key=self._key,
            timeout=self._timeout,
            max_retries=self._retries,
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
                )
            except (openai.APITimeoutError, openai.InternalServerError):
                return None
            except openai.APIError as error:
                said = " ".join(str(error).split()).replace(self._key, "***")
                raise BadInput(f"{self.name} does not answer: {said}") from None
        return answer.choices[0].message.content if answer.choices else None


def picture_part(picture: Picture) -> dict[str, Any]:
    """Return a picture in the protocol's form, without loss."""
    buffer = io.BytesIO()
    picture.load().save(buffer, format="PNG")
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}


def text_part(text: str) -> dict[str, Any]:
    """Return a text in the protocol's form."""
    return {"type": "text", "text": text}
