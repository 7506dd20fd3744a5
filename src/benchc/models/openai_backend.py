"""A model behind an OpenAI-protocol server: options read from the likeliest next tokens."""

import hashlib
import json
import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchc.config.models import OpenAIModel
from benchc.errors import BadInput
from benchc.models.answer import Answer, Fault
from benchc.models.prompt import letter_prompt, option_labels
from benchc.models.scores import Explanation, Question, Score
from benchc.models.server import Content, Server, picture_part, text_part
from benchc.pictures.pixels import encode

# A server turns these into tokens of its own wherever they stand, also inside a question.
_RESERVED = re.compile(
    r"<\|[^<>|\s]+\|>|</?(?:image|img|video|s|bos|eos|start_of_image|image_soft_token)>|\[IMG\]"
)
_FIRST_TRIES = 2
_BYTES_OF_A_TOKEN = 512
# Of a float32 softmax no probability is smaller but zero: what is below stands for a missing
# number, as -9999 does in vLLM. -100 is such a stand-in too, and no more than a round number else.
_SMALLEST = math.log(2**-149)
_STAND_IN = -100.0
# What a server says of itself that changes from one call or start to the next.
_CHANGING = frozenset({"created", "permission", "aliases", "tags", "status"})
_PROPERTIES = ("model_ftype", "modalities", "build_info", "chat_template")
_MOST_MODELS = 20
_LONGEST_IDENTITY = 2**16


def load(settings: OpenAIModel, threads: int, shard: int) -> "OpenAIBackend":
    """Return the backend, its server tried; threads and GPUs are the server's own affair."""
    return OpenAIBackend(settings)


class OpenAIBackend:
    """One model on one server, asked `concurrency` questions at a time."""

    def __init__(self, settings: OpenAIModel):
        """Ask the server one question, to refuse it now rather than an hour from now.

        Raises:
            BadInput: the server is not there, refuses the key, the model's name or a picture,
                gives no log-probabilities or no letters, or writes them otherwise than
                `label_prefix` says.
        """
        self.settings = settings
        self.server = Server(settings, longest=_BYTES_OF_A_TOKEN * settings.top_logprobs)
        # Temperature 1 and top-p 1, so that servers which report log-probabilities after sampling
        # settings give the same as those which report them before.
        self._fields: dict[str, Any] = {
            "max_tokens": 1,
            "temperature": 1,
            "top_p": 1,
            "logprobs": True,
            "top_logprobs": settings.top_logprobs,
            "extra_body": settings.extra_body,
        }
        grey = Question(np.full((224, 224, 3), 128, np.uint8), "What is this?", ("grey", "red"))
        self._plain = message(grey, settings.instruction)
        self._try_out()
        self.identity = _identity(self.server, settings)

    def score(self, questions: Sequence[Question]) -> list[Score]:
        """Return one score per question; see `Backend`.

        Raises:
            BadInput: the server answers no more, not even the simplest question.
        """
        scores: dict[int, Score] = {}
        self.score_each(questions, scores.__setitem__)
        return [scores[place] for place in range(len(questions))]

    def score_each(
        self, questions: Sequence[Question], heard: Callable[[int, Score], None]
    ) -> None:
        """Tell `heard` each score as soon as the server has given it; see `OneByOne`.

        Raises:
            BadInput: see `score`.
        """
        askable = []
        for place, question in enumerate(questions):
            if _RESERVED.search("\n".join([question.question, *question.options])):
                heard(place, Score(None, None, "reserved_token"))
            else:
                askable.append(place)

        def read(number: int, answer: Answer | Fault) -> None:
            place = askable[number]
            heard(place, self._score(answer, len(questions[place].options)))

        messages = [
            partial(message, questions[place], self.settings.instruction) for place in askable
        ]
        try:
            self.server.ask(messages, self._fields, read, plain=self._plain)
        except Fault as fault:
            raise BadInput(
                f"{self.server.name} answers no more, not even a plain question: "
                f"{fault.said} What was answered is kept: run it again to go on"
            ) from None

    def ran_on(self) -> dict[str, object]:
        """Return what the server says of the model it runs."""
        return {"server": self.identity}

    def facts(self) -> dict[str, object]:
        """Return nothing: all that is known of a server stands in `ran_on`."""
        return {}

    def explain(self, question: Question) -> Explanation:
        """Return the words sent and the likeliest next tokens; see `Backend`.

        The server alone knows its chat template and its tokens.

        Raises:
            BadInput: the server does not answer this question.
        """
        content = message(question, self.settings.instruction)
        try:
            answer = self.server.ask_one(content, self._fields, self.settings.retries)
        except Fault as fault:
            raise BadInput(f"{self.server.name} does not answer this: {fault.reason}") from None
        labels = option_labels(len(question.options))
        return Explanation(
            prompt=content[1]["text"],
            prompt_tokens=None,
            option_tokens=tuple(self.settings.label_prefix + label for label in labels),
            next_tokens=tuple((text, _probability(p)) for text, p in answer.tokens[:10]),
        )

    def _score(self, answer: Answer | Fault, options: int) -> Score:
        if isinstance(answer, Fault):
            return Score(None, None, answer.status, (f"have {answer.status} ({answer.reason})",))
        # Some servers add the token they happened to draw as one more.
        tokens = answer.tokens[: self.settings.top_logprobs]
        return read_letters(tokens, options, self.settings.label_prefix)

    def _try_out(self) -> None:
        """Ask the simplest question there is; a server that fails it is no use for others."""
        tries = min(_FIRST_TRIES, self.settings.retries)
        try:
            tokens = self.server.ask_one(self._plain, self._fields, tries).tokens
        except Fault as fault:
            raise BadInput(
                f"{self.server.name} does not answer a plain question with a picture: "
                f"{fault.said} docs/servers.md says which servers to use, and how"
            ) from None
        prefix = self.settings.label_prefix
        other = "" if prefix else " "
        mass, more = (read_letters(tokens, 2, p).option_mass or 0 for p in (prefix, other))
        if more > mass:
            raise BadInput(
                f"{self.server.name} writes its letters as {other + 'A'!r} (probability {more:.2g})"
                f", not as {prefix + 'A'!r} ({mass:.2g}); set `label_prefix: {other!r}`"
            )
        if mass == 0:
            likeliest = ", ".join(repr(text) for text, _ in tokens[:5])
            raise BadInput(
                f"{self.server.name}: no option's letter is among the {len(tokens)} likeliest "
                f"tokens of its answer to a plain question; the likeliest are {likeliest}; "
                "docs/servers.md says what to change"
            )


def message(question: Question, instruction: str) -> Content:
    """Return a question in the protocol's form: the picture as a PNG data URI, then the words."""
    text = letter_prompt(question.question, question.options, instruction)
    return [picture_part(encode(question.image, "png")), text_part(text)]


def read_letters(tokens: Sequence[tuple[str, float]], count: int, prefix: str) -> Score:
    """Read the options from the likeliest next tokens.

    An option's token is the one whose text is `prefix` and the letter, nothing else: other
    spellings (a space more, lower case) are other answers and are never added to it. Where two
    tokens have that same text, as with tokenizers whose word-initial tokens a server writes
    without their space, it is the likelier one. Numbers that stand for minus infinity are none.

    Args:
        tokens: Text and natural log-probability, likeliest first.
        count: Options, 2 to 26.
        prefix: Text in front of the letter.

    Returns:
        Log-probabilities as logits. Where an option is not among `tokens` the status is
        `missing_option`, its logit is the smallest one returned, which bounds it from above, and
        `option_mass` is that of the others.
    """
    labels = [prefix + label for label in option_labels(count)]
    found: dict[str, float] = {}
    stand_ins: dict[str, float] = {}
    for text, logprob in tokens:
        (stand_ins if _is_stand_in(logprob) else found).setdefault(text, logprob)
    if not all(math.isfinite(found.get(label, 0.0)) for label in labels):
        return Score(None, None, "nonfinite_logits", ("give an option a number that is none",))
    missing = [label for label in labels if label not in found]
    if not missing:
        logits = tuple(found[label] for label in labels)
        return Score(logits, min(sum(map(math.exp, logits)), 1.0))
    reasons = tuple(
        f"give option {label.strip()} {stand_ins[label]:g}, which stands for no number"
        if label in stand_ins
        else f"miss option {label.strip()} among {len(tokens)} tokens; raise `top_logprobs`"
        for label in missing
    )
    finite = [logprob for logprob in found.values() if math.isfinite(logprob)]
    if not finite:
        return Score(None, None, "missing_option", reasons)
    logits = tuple(found.get(label, min(finite)) for label in labels)
    mass = sum(math.exp(found[label]) for label in labels if label in found)
    return Score(logits, min(mass, 1.0), "missing_option", reasons)


def _is_stand_in(logprob: float) -> bool:
    return logprob < _SMALLEST or logprob == _STAND_IN


def _probability(logprob: float) -> float:
    return math.exp(min(logprob, 0.0)) if not math.isnan(logprob) else math.nan


def _identity(server: Server, settings: OpenAIModel) -> dict[str, object]:
    """Return what a server says of the model: `/models`, and `/props` where it has that."""
    listed = server.get(f"{settings.url}/models")
    entries = listed.get("data") if isinstance(listed, dict) else None
    models = [e for e in (entries if isinstance(entries, list) else []) if isinstance(e, dict)]
    named = [entry for entry in models if entry.get("id") == settings.model]
    props = server.get(f"{settings.url.removesuffix('/v1')}/props")
    said: dict[str, object] = {
        "models": [
            {key: value for key, value in entry.items() if key not in _CHANGING}
            for entry in (named or models)[:_MOST_MODELS]
        ],
        "properties": _properties(props) if isinstance(props, dict) else {},
    }
    try:
        long = len(json.dumps(said, indent=1)) > _LONGEST_IDENTITY
    except RecursionError:
        long = True
    return {"models": [], "properties": {}} if long else said


def _properties(props: dict[str, Any]) -> dict[str, object]:
    found = {name: props[name] for name in _PROPERTIES if name in props}
    if "chat_template" in found:
        template = str(found.pop("chat_template"))
        digest = hashlib.sha256(template.encode("utf-8", "surrogatepass"))
        found["chat_template_sha256"] = digest.hexdigest()
    return found
