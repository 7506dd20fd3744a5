"""A model behind an OpenAI-protocol server: options read from the likeliest next tokens.

Never guesses the probability of an option that the server did not return.
"""

import base64
import math
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from benchc.errors import BadInput
from benchc.infer.openai_server import QuestionError, Server
from benchc.infer.prompt import letter_prompt, option_labels
from benchc.infer.scores import Explanation, Question, Score
from benchc.infer.settings import OpenAIModel
from benchc.pixels import encode

# A server turns these into tokens of its own wherever they stand, also inside a question.
_RESERVED = re.compile(
    r"<\|[^<>|\s]+\|>|</?(?:image|img|video|s|bos|eos|start_of_image|image_soft_token)>|\[IMG\]"
)
_FIRST_TRIES = 2


def load(settings: OpenAIModel, threads: int, shard: int) -> "OpenAIBackend":
    """Return the backend, its server tried; threads and GPUs are the server's own affair."""
    return OpenAIBackend(settings)


class OpenAIBackend:
    """One model on one server, asked `concurrency` questions at a time."""

    def __init__(self, settings: OpenAIModel):
        """Ask the server one question, to refuse it now rather than an hour from now.

        Raises:
            BadInput: the server is not there, refuses the key, the model's name or a picture,
                gives no log-probabilities, or writes letters otherwise than `label_prefix` says.
        """
        self.settings = settings
        self.server = Server(settings)
        self.first_refusals: dict[str, str] = {}
        self._try_out()
        self.identity = self.server.identity()

    def score(self, questions: Sequence[Question]) -> list[Score]:
        """Return one score a question; see `Backend`.

        Raises:
            BadInput: the server went away, or stayed too busy through every retry.
        """
        pool = ThreadPoolExecutor(self.settings.concurrency)
        try:
            return list(pool.map(self._score_one, questions))
        finally:
            pool.shutdown(cancel_futures=True)

    def ran_on(self) -> dict[str, object]:
        """Return what the server says of the model it runs."""
        return {"server": self.identity}

    def facts(self) -> dict[str, object]:
        """Return the first refusal of each kind, in the server's words."""
        return {"first_refusals": self.first_refusals}

    def explain(self, question: Question) -> Explanation:
        """Return the words sent and the likeliest next tokens; see `Backend`.

        The server alone knows its chat template and its tokens.

        Raises:
            BadInput: the server does not answer this question.
        """
        content = message(question, self.settings.instruction)
        try:
            tokens = self.server.top_tokens(content)
        except QuestionError as error:
            raise BadInput(f"{self.server.name} does not answer this: {error.reason}") from None
        labels = option_labels(len(question.options))
        return Explanation(
            prompt=content[1]["text"],
            prompt_tokens=None,
            option_tokens=tuple(self.settings.label_prefix + label for label in labels),
            next_tokens=tuple((text, math.exp(logprob)) for text, logprob in tokens[:10]),
        )

    def _score_one(self, question: Question) -> Score:
        if _RESERVED.search("\n".join([question.question, *question.options])):
            return Score(None, None, "reserved_token")
        try:
            tokens = self.server.top_tokens(message(question, self.settings.instruction))
        except QuestionError as error:
            if error.status == "server_error":
                self._try_out()
            self.first_refusals.setdefault(error.status, error.reason)
            return Score(None, None, error.status)
        return read_letters(tokens, len(question.options), self.settings.label_prefix)

    def _try_out(self) -> None:
        """Ask the simplest question there is; a server that fails it is no use for others."""
        grey = Question(np.full((224, 224, 3), 128, np.uint8), "What is this?", ("grey", "red"))
        content = message(grey, self.settings.instruction)
        try:
            tokens = self.server.top_tokens(content, retries=_FIRST_TRIES)
        except QuestionError as error:
            raise BadInput(
                f"{self.server.name} refuses a plain question with a picture: {error.reason}; "
                "docs/servers.md says how to start it"
            ) from None
        prefix = self.settings.label_prefix
        other = "" if prefix else " "
        mass, more = (read_letters(tokens, 2, p).option_mass or 0 for p in (prefix, other))
        if more > mass:
            raise BadInput(
                f"{self.server.name} writes its letters as {other + 'A'!r} (probability {more:.2g})"
                f", not as {prefix + 'A'!r} ({mass:.2g}); set `label_prefix: {other!r}`"
            )


def message(question: Question, instruction: str) -> list[dict[str, Any]]:
    """Return a question in the protocol's form: the picture as a PNG data URI, then the words."""
    png = base64.b64encode(encode(question.image, "png")).decode("ascii")
    text = letter_prompt(question.question, question.options, instruction)
    return [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{png}"}},
        {"type": "text", "text": text},
    ]


def read_letters(tokens: Sequence[tuple[str, float]], count: int, prefix: str) -> Score:
    """Read the options from the likeliest next tokens.

    An option's token is the one whose text is `prefix` and the letter, nothing else: other
    spellings (a space more, lower case) are other answers and are never added to it. Where two
    tokens have that same text, as with tokenizers whose word-initial tokens a server writes
    without their space, it is the likelier one.

    Args:
        tokens: Text and natural log-probability, likeliest first.
        count: Options, 2 to 26.
        prefix: Text in front of the letter.

    Returns:
        Log-probabilities as logits. Where an option is not among `tokens` the status is
        `missing_option`, its logit is the smallest one returned, which bounds it from above, and
        `option_mass` is that of the others.
    """
    if not all(math.isfinite(logprob) for _, logprob in tokens):
        return Score(None, None, "nonfinite_logits")
    found: dict[str, float] = {}
    for text, logprob in tokens:
        found.setdefault(text, logprob)
    labels = [prefix + label for label in option_labels(count)]
    bound = min(logprob for _, logprob in tokens)
    logits = tuple(found.get(label, bound) for label in labels)
    mass = sum(math.exp(found[label]) for label in labels if label in found)
    status = "ok" if all(label in found for label in labels) else "missing_option"
    return Score(logits, min(mass, 1.0), status)
