"""One server that speaks the OpenAI chat-completions protocol, asked for its next token.

Never writes down the key, and never takes an answer without log-probabilities for an answer.
"""

import hashlib
import math
import os
import re
from collections.abc import Sequence
from typing import Any

import openai
from openai.types.chat import ChatCompletion

from benchc.errors import BadInput
from benchc.infer.settings import OpenAIModel

_TOO_LONG = re.compile(r"context (length|size|window)|exceed_context|too (long|many tokens)", re.I)
# What a server says of itself that changes from one call or start to the next.
_PASSING = frozenset({"created", "permission", "aliases", "tags", "status"})
_PROPERTIES = ("model_ftype", "modalities", "build_info", "chat_template")


class QuestionError(Exception):
    """The server answers, but not this question.

    Attributes:
        status: `too_long`, `server_refused` (4xx) or `server_error` (5xx in every try).
        reason: What the server said, one line.
    """

    def __init__(self, status: str, reason: str):
        super().__init__(f"{status}: {reason}")
        self.status = status
        self.reason = reason


class Server:
    """A client of one server, safe to use from several threads."""

    def __init__(self, settings: OpenAIModel):
        """Make a client; nothing is sent yet.

        Raises:
            BadInput: the variable that should hold the key is not set.
        """
        self.settings = settings
        self._key = _key(settings)
        # Without a key of its own the client would send OPENAI_API_KEY to a server it is not for.
        self._client = openai.OpenAI(
            base_url=settings.url,
            api_key=self._key or "none",
            timeout=settings.timeout,
            max_retries=settings.retries,
        )

    def top_tokens(
        self, content: Sequence[Any], retries: int | None = None
    ) -> list[tuple[str, float]]:
        """Return the likeliest next tokens, at most `top_logprobs`, likeliest first.

        Temperature 1 and top-p 1, so that servers which report log-probabilities after sampling
        settings give the same as those which report them before. Some servers add the token they
        happened to draw as one more; it is left out.

        Args:
            content: The parts of one user message, in the protocol's form.
            retries: Instead of the settings' own.

        Returns:
            Each token's text as the server writes it, and its natural log-probability over the
            whole vocabulary.

        Raises:
            QuestionError: the server does not answer this question.
            BadInput: the server cannot be used: not there, wrong key or name, no
                log-probabilities, or other numbers in their place.
        """
        client = self._client if retries is None else self._client.with_options(max_retries=retries)
        settings = self.settings
        try:
            answer = client.chat.completions.create(
                model=settings.model,
                messages=[{"role": "user", "content": list(content)}],
                max_tokens=1,
                temperature=1,
                top_p=1,
                logprobs=True,
                top_logprobs=settings.top_logprobs,
                extra_body=settings.extra_body,
            )
        except openai.APIError as error:
            raise self._translated(error) from None
        choices = answer.choices if isinstance(answer, ChatCompletion) else None
        if not choices:
            raise BadInput(f"{self.name} does not answer in the protocol's form; is it the url?")
        steps = choices[0].logprobs and choices[0].logprobs.content
        if not steps or not steps[0].top_logprobs:
            raise BadInput(
                f"{self.name} gives no log-probabilities of the next token, so there is nothing "
                "to read; docs/servers.md says which servers do"
            )
        # Some servers write a number that is none as null.
        found = [
            (token.token, math.nan if token.logprob is None else token.logprob)
            for token in steps[0].top_logprobs
        ]
        # Rounding in a server moves the sum by 1e-3 at most.
        if sum(math.exp(min(logprob, 1)) for _, logprob in found) > 1.01:
            raise BadInput(
                f"{self.name} returns numbers that are no log-probabilities (they add up to more "
                "than one); it may be set to return logits"
            )
        found.sort(key=lambda pair: -pair[1])
        return found[: settings.top_logprobs]

    def identity(self) -> dict[str, object]:
        """Return what the server says of the model: `/models`, and `/props` where it has that."""
        listed = self._get(f"{self.settings.url}/models")
        entries = listed.get("data") if isinstance(listed, dict) else None
        models = [entry for entry in entries or [] if isinstance(entry, dict)]
        named = [entry for entry in models if entry.get("id") == self.settings.model]
        props = self._get(f"{self.settings.url.removesuffix('/v1')}/props")
        return {
            "models": [
                {key: value for key, value in entry.items() if key not in _PASSING}
                for entry in named or models
            ],
            "properties": _properties(props) if isinstance(props, dict) else {},
        }

    def _get(self, address: str) -> object:
        try:
            return self._client.with_options(max_retries=1).get(address, cast_to=object)
        except (openai.APIError, ValueError):
            return None

    @property
    def name(self) -> str:
        """How messages call this server."""
        return f"server {self.settings.url} (model {self.settings.model})"

    def _translated(self, error: openai.APIError) -> Exception:
        """Return the error to raise: the question's own, or the end of the run."""
        reason = self._reason(error)
        if isinstance(error, openai.APIConnectionError):
            if isinstance(error, openai.APITimeoutError):
                reason = f"no answer within {self.settings.timeout:g} s"
            return BadInput(f"{self.name} does not answer: {reason}; is it up? {_GOES_ON}")
        status = error.status_code if isinstance(error, openai.APIStatusError) else 0
        if status in (401, 403):
            return BadInput(
                f"{self.name} refuses the key ({status}: {reason}); "
                "name the variable that holds it in `key_variable`"
            )
        if status == 404:
            return BadInput(
                f"{self.name}: not found ({reason}); the url ends in /v1 on most servers, and "
                "/v1/models lists the names it knows"
            )
        if status == 429:
            return BadInput(f"{self.name} is too busy ({reason}); ask less at once. {_GOES_ON}")
        if status >= 500:
            return QuestionError("server_error", reason)
        if status >= 400:
            return QuestionError(
                "too_long" if _TOO_LONG.search(reason) else "server_refused", reason
            )
        return BadInput(f"{self.name} does not answer in the protocol's form: {reason}")

    def _reason(self, error: openai.APIError) -> str:
        said: object = error.body
        if isinstance(said, dict):
            said = said.get("message") or said.get("detail") or said
        if isinstance(error, openai.APIConnectionError):
            said = error.__cause__
        text = " ".join(str(said or error.message).split())[:300].rstrip(".")
        return text.replace(self._key, "***") if self._key else text


_GOES_ON = "Finished chunks are kept: run it again to go on."


def _key(settings: OpenAIModel) -> str | None:
    if settings.key_variable is None:
        return None
    key = os.environ.get(settings.key_variable)
    if not key:
        raise BadInput(
            f"environment variable {settings.key_variable} is not set; it should hold the key of "
            f"{settings.url}"
        )
    return key


def _properties(props: dict[str, Any]) -> dict[str, object]:
    found = {name: props[name] for name in _PROPERTIES if name in props}
    if "chat_template" in found:
        template = str(found.pop("chat_template"))
        found["chat_template_sha256"] = hashlib.sha256(template.encode()).hexdigest()
    return found
