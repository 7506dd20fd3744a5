"""A verifier and a model under test behind servers of the chat-completions protocol.

Never takes a reply that cannot be read for a verdict: it is a failure of the verifier, counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from benchc.discover.chat import Chat, picture_part, text_part
from benchc.discover.players import Judgement, Picture
from benchc.discover.settings import ServedVerifierSettings
from benchc.discover.wording import render
from benchc.errors import BadInput

MANY = 32
"""Replies in a row of which one at least must be of use."""

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

    def __init__(self, settings: ServedVerifierSettings, count: Path | None = None):
        """Make ready; nothing is sent yet.

        Args:
            settings: Where the server is and how to ask it.
            count: File that keeps the number of requests over several starts; see `Chat`.

        Raises:
            BadInput: the variable that should hold the server's key is not set.
        """
        self.chat = Chat(**settings.model_dump(), count=count)
        self._useless = 0

    def judge(self, pictures: Sequence[Picture], questions: Sequence[str]) -> list[Judgement]:
        """Return the server's verdicts; a judgement with a `failure` where there is none.

        Raises:
            BadInput: the server cannot be reached or refuses, the bound on requests is reached, or
                no reply for long could be read.
        """
        messages = [
            [picture_part(picture), text_part(render("verifier_judge", question=question))]
            for picture, question in zip(pictures, questions, strict=True)
        ]
        replies = self.chat.ask_all(messages)
        judgements = [_judgement(reply) for reply in replies]
        self._useless = _in_a_row(self._useless, [j.failure is None for j in judgements])
        if self._useless >= MANY:
            raise BadInput(
                f"{self.chat.name}: {self._useless} replies in a row hold no verdict; the last "
                f"ends {(replies[-1] or '')[-80:]!r}; raise `discover.verifier.max_tokens` if they "
                "are cut off, or take a stronger model"
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
            [text_part(render("verifier_compare", question=question, truth=truth, answer=answer))]
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
        """Return one answer a question; None where the server gave none.

        A reply without words is none: a model that reasons may spend all its tokens on that.

        Raises:
            BadInput: the server cannot be reached or refuses, or no reply for long had words.
        """
        keys = [(p.key, q) for p, q in zip(pictures, questions, strict=True)]
        new = {k: p for k, p in zip(keys, pictures, strict=True) if k not in self._known}
        messages = [
            [picture_part(picture), text_part(render(self._prompt, question=question))]
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
