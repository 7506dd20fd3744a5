"""A verifier and a model under test behind servers of the chat-completions protocol.

Never takes a reply that cannot be read for a verdict: it is a failure of the verifier, counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from benchc.config.discovery import ServedVerifierSettings
from benchc.discover.players import Judgement, Picture
from benchc.discover.wording import render
from benchc.errors import BadInput
from benchc.errors.outward import without_secrets
from benchc.models.answer import Answer, Fault
from benchc.models.server import Connection, Content, Server, picture_part, text_part
from benchc.pictures.pixels import encode

MANY = 32
"""Replies in a row of which one at least must be of use."""
SILENCE = 8
"""Messages in a row without a reply that end a game; more where more are on their way at once."""
_GOES_ON = "A training goes on from its newest checkpoint: run it again."
_BYTES_OF_A_TOKEN = 64

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


class Chat:
    """One model on one server, asked for replies in words."""

    def __init__(
        self,
        settings: Connection,
        max_tokens: int,
        *,
        max_requests: int | None = None,
        count: Path | None = None,
        extra_body: Mapping[str, Any] | None = None,
    ):
        """Make ready; nothing is sent yet.

        Args:
            settings: Where the server is and how it is asked.
            max_tokens: Longest reply.
            max_requests: See `Server`.
            count: See `Server`.
            extra_body: Further fields of each request.

        Raises:
            BadInput: the variable that should hold the key is not set.
        """
        self.server = Server(settings, _BYTES_OF_A_TOKEN * max_tokens, max_requests, count)
        self._fields = {"max_tokens": max_tokens, "temperature": 0, "extra_body": extra_body}
        self._longest_silence = max(SILENCE, 2 * settings.concurrency)
        self._silent = 0

    @property
    def name(self) -> str:
        """How messages call the server."""
        return self.server.name

    def ask_all(self, messages: Sequence[Callable[[], Content]]) -> list[str | None]:
        """Return one reply per message; None where the server failed at it.

        Args:
            messages: Each returns the parts of one user message.

        Raises:
            BadInput: the server cannot be reached or refuses, fails at every message for long, or
                the bound would be passed.
        """
        replies: list[str | None] = [None] * len(messages)

        def hear(place: int, answer: Answer | Fault) -> None:
            if isinstance(answer, Answer):
                self._silent = 0
                replies[place] = answer.text
            else:
                self._refuse_silence(answer)

        self.server.ask(messages, self._fields, hear)
        return replies

    def _refuse_silence(self, fault: Fault) -> None:
        """Count a message that got no reply; end the game where none has got one for long."""
        self._silent += 1
        if fault.is_of_the_server:
            raise BadInput(f"{self.name} does not answer: {fault.said} {_GOES_ON}")
        if self._silent >= self._longest_silence:
            raise BadInput(
                f"{self.name}: {self._silent} messages in a row got no reply; the last: "
                f"{fault.said} {_GOES_ON}"
            )


class ServedVerifier:
    """Asks a server twice per question: for verdicts and its own answer, then for a comparison."""

    def __init__(self, settings: ServedVerifierSettings, count: Path | None = None):
        """Make ready; nothing is sent yet.

        Args:
            settings: Where the server is and how to ask it.
            count: File that keeps the number of requests over several starts; see `Server`.

        Raises:
            BadInput: the variable that should hold the server's key is not set.
        """
        self._settings = settings
        self.chat = Chat(
            settings, settings.max_tokens, max_requests=settings.max_requests, count=count
        )
        self._useless = 0

    def judge(self, pictures: Sequence[Picture], questions: Sequence[str]) -> list[Judgement]:
        """Return the server's verdicts; a judgement with a `failure` where there is none.

        Raises:
            BadInput: the server cannot be reached or refuses, the bound on requests is reached, or
                no reply for long could be read.
        """
        messages = [
            partial(_message, picture, render(self._settings.judge_prompt, question=question))
            for picture, question in zip(pictures, questions, strict=True)
        ]
        replies = self.chat.ask_all(messages)
        judgements = [_judgement(reply) for reply in replies]
        self._useless = _in_a_row(self._useless, [j.failure is None for j in judgements])
        if self._useless >= MANY:
            raise BadInput(
                f"{self.chat.name}: {self._useless} replies in a row hold no verdict; the last "
                f"ends {without_secrets(replies[-1] or '')[-80:]!r}; raise "
                "`discover.verifier.max_tokens` if they are cut off, let "
                "`discover.verifier.judge_prompt` ask for the form in docs/discovery.md, or take a "
                "stronger model"
            )
        return judgements

    def compare(
        self, asked: Sequence[tuple[Picture, str]], truths: Sequence[str], answers: Sequence[str]
    ) -> list[bool | None]:
        """Return whether each answer says the same as the truth; None where no verdict came.

        Raises:
            BadInput: the server cannot be reached or refuses, or the bound on requests is reached.
        """
        messages = [
            partial(
                _message,
                None,
                render(
                    self._settings.compare_prompt, question=question, truth=truth, answer=answer
                ),
            )
            for (_, question), truth, answer in zip(asked, truths, answers, strict=True)
        ]
        verdicts = [_parsed(_Sameness, reply) for reply in self.chat.ask_all(messages)]
        return [None if verdict is None else verdict.same for verdict in verdicts]


class ServedAnswerer:
    """A model under test behind a server; a question about a picture is asked only once."""

    def __init__(self, chat: Chat, prompt: str):
        """Take a server and the name of the packaged prompt around a question."""
        self.chat = chat
        self._prompt = prompt
        self._known: dict[tuple[str, str], str] = {}
        self._useless = 0

    def answer(self, pictures: Sequence[Picture], questions: Sequence[str]) -> list[str | None]:
        """Return one answer per question; None where the server gave none.

        A reply without words is none: a model that reasons may spend all its tokens on that.

        Raises:
            BadInput: the server cannot be reached or refuses, or no reply for long had words.
        """
        keys = [(p.key, q) for p, q in zip(pictures, questions, strict=True)]
        new = {k: p for k, p in zip(keys, pictures, strict=True) if k not in self._known}
        messages = [
            partial(_message, picture, render(self._prompt, question=question))
            for (_, question), picture in new.items()
        ]
        replies = [(reply or "").strip() for reply in self.chat.ask_all(messages)]
        self._useless = _in_a_row(self._useless, [bool(reply) for reply in replies])
        if self._useless >= MANY:
            raise BadInput(
                f"{self.chat.name}: {self._useless} replies in a row hold no word; raise "
                "`discover.answer_tokens` if the model reasons before it answers"
            )
        self._known |= {key: said for key, said in zip(new, replies, strict=True) if said}
        return [self._known.get(key) for key in keys]


def _message(picture: Picture | None, text: str) -> Content:
    if picture is None:
        return [text_part(text)]
    return [picture_part(encode(picture.load())), text_part(text)]


def _in_a_row(before: int, useful: Sequence[bool]) -> int:
    """Return how many of no use stand at the end, after `before` of them."""
    for number, use in enumerate(reversed(useful)):
        if use:
            return number
    return before + len(useful)


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
