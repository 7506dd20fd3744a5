"""A verifier behind a server that speaks the OpenAI chat-completions protocol.

Never takes a reply that cannot be read for a verdict: it is a failure of the verifier, counted.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import re
from collections.abc import Sequence
from typing import Any, TypeVar

import openai
from pydantic import BaseModel, ValidationError

from benchc.discover.players import Judgement, Picture
from benchc.discover.settings import ServedVerifierSettings
from benchc.discover.wording import render
from benchc.errors import BadInput

Form = TypeVar("Form", bound=BaseModel)


class _Verdicts(BaseModel):
    """What a reply about a question must hold."""

    grammatical: bool
    atomic: bool
    grounded: bool
    objective: bool
    answer: str
    skills: list[str] = []


class _Sameness(BaseModel):
    """What a reply about an answer must hold."""

    same: bool


class ServedVerifier:
    """Asks a server twice a question: for verdicts and its own answer, then for a comparison."""

    def __init__(self, settings: ServedVerifierSettings):
        """Make ready; nothing is sent yet.

        Raises:
            BadInput: the variable that should hold the server's key is not set.
        """
        self.settings = settings
        self.sent = 0
        self._key = "none"
        if settings.key_variable is not None:
            self._key = os.environ.get(settings.key_variable, "")
            if not self._key:
                raise BadInput(
                    f"environment variable {settings.key_variable} is not set; it should hold the "
                    f"key of {settings.url}"
                )

    def judge(self, pictures: Sequence[Picture], questions: Sequence[str]) -> list[Judgement]:
        """Return the server's verdicts; a judgement with a `failure` where there is none.

        Raises:
            BadInput: the server cannot be reached or refuses, or the bound on requests is reached.
        """
        messages = [
            [_picture_part(picture), _text_part(render("verifier_judge", question=question))]
            for picture, question in zip(pictures, questions, strict=True)
        ]
        return [_judgement(reply) for reply in self._ask_all(messages)]

    def compare(
        self, asked: Sequence[tuple[Picture, str]], truths: Sequence[str], answers: Sequence[str]
    ) -> list[bool | None]:
        """Return whether each answer says the same as the truth; None where no verdict came.

        Raises:
            BadInput: the server cannot be reached or refuses, or the bound on requests is reached.
        """
        messages = [
            [_text_part(render("verifier_compare", question=question, truth=truth, answer=answer))]
            for (_, question), truth, answer in zip(asked, truths, answers, strict=True)
        ]
        verdicts = [_parsed(_Sameness, reply) for reply in self._ask_all(messages)]
        return [None if verdict is None else verdict.same for verdict in verdicts]

    def _ask_all(self, messages: Sequence[list[dict[str, Any]]]) -> list[str | None]:
        """Return the replies to messages, several on their way at once; None for no reply."""
        if self.sent + len(messages) > self.settings.max_requests:
            raise BadInput(
                f"discover.verifier: {self.sent} requests were sent, and {len(messages)} more "
                f"would pass the bound; raise `max_requests` ({self.settings.max_requests}) and "
                "run again: a training goes on from its newest checkpoint"
            )
        self.sent += len(messages)
        return asyncio.run(self._gather(messages))

    async def _gather(self, messages: Sequence[list[dict[str, Any]]]) -> list[str | None]:
        settings = self.settings
        slots = asyncio.Semaphore(settings.concurrency)
        async with openai.AsyncOpenAI(
            base_url=settings.url,
            api_key=self._key,
            timeout=settings.timeout,
            max_retries=settings.retries,
        ) as client:
            return await asyncio.gather(*(self._ask(client, slots, parts) for parts in messages))

    async def _ask(
        self, client: openai.AsyncOpenAI, slots: asyncio.Semaphore, parts: list[dict[str, Any]]
    ) -> str | None:
        """Return one reply; None where the server timed out or failed at this message."""
        message: Any = {"role": "user", "content": parts}
        async with slots:
            try:
                answer = await client.chat.completions.create(
                    model=self.settings.model,
                    messages=[message],
                    max_tokens=self.settings.max_tokens,
                    temperature=0,
                )
            except (openai.APITimeoutError, openai.InternalServerError):
                return None
            except openai.APIError as error:
                said = " ".join(str(error).split()).replace(self._key, "***")
                raise BadInput(
                    f"discover.verifier: server {self.settings.url} (model {self.settings.model}) "
                    f"does not judge: {said}"
                ) from None
        return answer.choices[0].message.content if answer.choices else None


def _judgement(reply: str | None) -> Judgement:
    if reply is None:
        return Judgement(False, False, False, False, None, failure="no reply")
    found = _parsed(_Verdicts, reply)
    if found is None:
        return Judgement(False, False, False, False, None, failure="a reply that is no verdict")
    valid = found.grammatical and found.atomic and found.grounded and found.objective
    return Judgement(
        grammatical=found.grammatical,
        atomic=found.atomic,
        grounded=found.grounded,
        objective=found.objective,
        truth=found.answer if valid else None,
        primitives=frozenset(" ".join(skill.lower().split()) for skill in found.skills),
    )


def _parsed(form: type[Form], reply: str | None) -> Form | None:
    """Return the last JSON object of a reply where it has the form, so that reasoning may precede.

    Values of another type do not count: "yes" is no verdict.
    """
    for found in reversed(re.findall(r"\{[^{}]*\}", reply or "")):
        try:
            return form.model_validate(json.loads(found), strict=True)
        except (ValidationError, ValueError):
            continue
    return None


def _picture_part(picture: Picture) -> dict[str, Any]:
    buffer = io.BytesIO()
    picture.load().save(buffer, format="PNG")
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
