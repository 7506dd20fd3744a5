"""What a server of the chat-completions protocol answers, and what may be wrong with it."""

import json
import math
import re
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ValidationError


@dataclass(frozen=True)
class Answer:
    """What a server said to one message.

    Attributes:
        text: The reply; None where there is none.
        tokens: The likeliest first tokens with their natural log-probabilities, likeliest first;
            minus infinity where the server gives no number. Empty where it tells none.
    """

    text: str | None
    tokens: tuple[tuple[str, float], ...] = ()


class Fault(Exception):  # noqa: N818 - a server's, for one message
    """Why one message has no answer, after all tries.

    Attributes:
        status: `too_long`, `server_refused`, `no_logprobs`, `server_error` or `timeout`.
        reason: What the server did or said, one line without its key.
        advice: What the user can do if it happens to every message; empty where nothing is known.
        is_of_the_server: Every other message would meet it too: wrong key, name or address.
    """

    def __init__(self, status: str, reason: str, advice: str = "", is_of_the_server: bool = False):
        super().__init__(f"{status}: {reason}")
        self.status = status
        self.reason = reason
        self.advice = advice
        self.is_of_the_server = is_of_the_server

    @property
    def said(self) -> str:
        """The reason, with the advice behind it, up to a full stop or question mark."""
        said = f"{self.reason}; {self.advice}" if self.advice else self.reason
        return said if said.endswith("?") else f"{said}."

    @property
    def is_passing(self) -> bool:
        """Whether the same message may be answered later."""
        return self.status in ("server_error", "timeout") or self.is_of_the_server


def sent_on(status: int, place: str) -> Fault:
    """Return the fault of an answer that names another place to ask at."""
    return Fault(
        "server_refused",
        f"HTTP {status}: it sends on to {place}",
        "questions go nowhere but to `url`; if that is your server, put it there",
        is_of_the_server=True,
    )


def of_status(status: int, said: str) -> Fault:
    """Return the fault behind an HTTP status of 400 or more, with the server's words."""
    reason = f"HTTP {status}: {said}"
    if status in (401, 403):
        advice = "it refuses the key; name the variable that holds it in `key_variable`"
        return Fault("server_refused", reason, advice, is_of_the_server=True)
    if status == 404:
        advice = "the url ends in /v1 on most servers, and /v1/models lists the names it knows"
        return Fault("server_refused", reason, advice, is_of_the_server=True)
    if status == 429:
        return Fault("server_error", reason, "it is too busy; ask less at once")
    if is_about_length(said):
        return Fault("too_long", reason)
    if status in (408, 409) or status >= 500:
        return Fault("server_error", reason)
    return Fault("server_refused", reason)


_LENGTH = r"(?:len|length|size|window|limit)"
_TOO_LONG = re.compile(
    "|".join(
        (
            rf"context[\s_-]*{_LENGTH}",
            r"exceed_context",
            r"(?:model|sequence|session|input|prompt|allowed)['’s]*[\s_-]*(?:max\w*[\s_-]*)?len(?:gth)?\b",
            r"max(?:imum)?[\s_-]*(?:model|seq(?:uence)?|input|session|prompt|total)[\s_-]*"
            r"(?:len(?:gth)?|tokens?)\b",
            r"(?:input|prompt|message|conversation|sequence)s?\b[^.]{0,40}"
            r"\btoo (?:long|large|many)",
            r"too many (?:input |prompt )?tokens",
            r"max(?:imum)? (?:number of |allowed )?(?:input |prompt |context )?tokens?\b",
            r"tokens?\b[^.]{0,60}\b(?:exceed|too (?:long|large|many)|(?:longer|greater|larger|more|"
            r"fewer|less) than|must be <=|over the limit)",
            r"(?:exceeds?|longer than|greater than|larger than|limited to|limit of)\b[^.]{0,60}"
            r"\btokens?\b",
            r"(?:less|fewer|more) than \d+ (?:\w+ )?tokens",
            r"reduce the length|token limit",
        )
    ),
    re.IGNORECASE,
)
#: Settings of a request and things about a picture, which those words may be said of, too.
_NOT_THE_LENGTH = re.compile(
    r"top_?logprobs|"
    r"max_?(?:completion_?|new_?)?tokens\W{0,3}(?:must|should|cannot) be (?:great|at least|posi|>)|"
    r"(?:image|picture|pixel|aspect|file|body|entity|payload)[^.]{0,40}(?:too (?:large|big|long)|"
    r"exceed|size)",
    re.IGNORECASE,
)


def is_about_length(said: str) -> bool:
    """Return whether a server says that a prompt does not fit into the model's context."""
    return bool(_TOO_LONG.search(said)) and not _NOT_THE_LENGTH.search(said)


def _text(value: object) -> object:
    """Replace halves of characters, which some servers write for tokens of a byte or two."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


_Text = Annotated[str, BeforeValidator(_text)]


class _Token(BaseModel, strict=True):
    token: _Text
    logprob: float | None = None


class _Step(BaseModel, strict=True):
    top_logprobs: list[_Token] | None = None


class _Logprobs(BaseModel, strict=True):
    content: list[_Step] | None = None


class _Message(BaseModel, strict=True):
    content: _Text | None = None


class _Choice(BaseModel, strict=True):
    message: _Message | None = None
    logprobs: _Logprobs | None = None


class _Completion(BaseModel, strict=True):
    """What an answer must hold; all else in it is of no interest."""

    choices: list[_Choice]


def read(content: bytes, wants_tokens: bool) -> Answer | Fault:
    """Return what the body of a good answer says.

    Args:
        content: The body, whatever it holds.
        wants_tokens: Whether log-probabilities were asked for.
    """
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        start = " ".join(content[:60].decode("utf-8", "replace").split())
        what = f"begins {start!r}" if start else "is empty"
        return Fault("server_error", f"an answer that is no JSON; it {what}", "is it the url?")
    try:
        choices = _Completion.model_validate(said).choices
    except (ValidationError, OverflowError) as error:
        where = ""
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False, include_input=False)[0]
            where = f" ({'.'.join(map(str, first['loc'])) or 'answer'}: {first['msg']})"[:200]
        return Fault(
            "server_error", f"an answer that is not in the protocol's form{where}", "is it the url?"
        )
    if not choices:
        return Fault("server_error", "an answer without a choice", "is it the url?")
    message, logprobs = choices[0].message, choices[0].logprobs
    text = message.content if message else None
    if not wants_tokens:
        return Answer(text)
    steps = logprobs.content if logprobs else None
    if not steps or not steps[0].top_logprobs:
        return Fault(
            "no_logprobs",
            "an answer without log-probabilities of the next token",
            "there is nothing to read",
        )
    tokens = [
        (t.token, -math.inf if t.logprob is None else t.logprob) for t in steps[0].top_logprobs
    ]
    # Rounding in a server moves the sum by 1e-3 at most.
    if not sum(math.exp(min(p, 1)) for _, p in tokens if not math.isnan(p)) <= 1.01:
        return Fault(
            "no_logprobs",
            "numbers that are no log-probabilities (they add up to more than one)",
            "it may be set to return logits",
        )
    tokens.sort(key=lambda pair: -pair[1] if not math.isnan(pair[1]) else math.inf)
    return Answer(text, tuple(tokens))
