"""A chat template, made to write the same in every run, and what it writes around a question."""

import json
import re
from collections.abc import Sequence
from datetime import date, datetime, time
from typing import Any

from benchc.config.models import TransformersModel
from benchc.errors import BadInput

# What marks a stretch of text in templates: <think>, [THINK], <|channel|>, ◁think▷.
_MARK = re.compile(r"<[^<>\s]{1,40}>|\[[^\[\]\s]{1,40}\]|◁[^◁▷\s]{1,40}▷")
_CLOSES = re.compile(r"/|(?<![a-z])end(?![a-z])|close|^<[^|<>]+\|>$", re.IGNORECASE)
_THOUGHT = re.compile(r"(?<!no_)(?<!no)(think|thought|reason|reflect|analysis)", re.IGNORECASE)
_ANSWER = re.compile(r"answer|final|respon|reply|output|content", re.IGNORECASE)
_CHANCE = re.compile(r"\|\s*random\b|(['\"])random\1|\blipsum\b")
_ADDRESS = re.compile(r"<\S.{0,120}? at 0x[0-9a-f]{6,}>")
# One directive of strftime; `{%` opens a statement of the template itself.
_DIRECTIVE = re.compile(r"(?<!\{)%[-_0^#]?[A-Za-z%]")
#: What chat templates call the switch that is set to false: no thought before the answer.
THINKING_SWITCHES = ("enable_thinking", "thinking")
_REPLY = "Zebra"


def settle(template: str, day: date) -> str:
    """Return a template that writes the same whenever it is rendered, and opens no thought.

    Whoever renders it, a trainer too, so gets the same text: the date is fixed, and thinking is
    switched off in the ways that templates know. What stands in front of the template ends in a
    line break that Jinja drops, so that nothing else of it changes.

    Args:
        template: Jinja, as a checkpoint has it.
        day: What `strftime_now` tells the template, at midnight.

    Raises:
        BadInput: it draws at random.
    """
    if chance := _CHANCE.search(template):
        raise BadInput(f"its chat template draws at random ({chance[0].strip()})")
    before = [f"{{% set {name} = false %}}" for name in THINKING_SWITCHES if _names(name, template)]
    if _names("strftime_now", template):
        before.append(_clock(template, day))
    return "".join(before) + "\n" + template if before else template


def beginning_with(prefix: str, template: str) -> str:
    """Return a template that writes `prefix` in front of everything."""
    # The empty statement ends in the line break that Jinja drops: see `settle`.
    return f"{{{{ {json.dumps(prefix)} }}}}{{% if false %}}{{% endif %}}\n{template}"


def _names(name: str, template: str) -> bool:
    return re.search(rf"(?<![\w.'\"]){name}(?![\w'\"])", template) is not None


def _clock(template: str, day: date) -> str:
    """Return a macro that takes the place of `strftime_now`, and knows this template's formats."""
    moment = datetime.combine(day, time())
    steps = "".join(
        f" | replace({json.dumps(directive)}, {json.dumps(moment.strftime(directive))})"
        for directive in sorted(set(_DIRECTIVE.findall(template)))
    )
    return (
        "{% macro strftime_now(format) %}"
        f"{{% set told = format{steps} %}}"
        '{% if "%" in told %}{{ raise_exception("a date of the unknown form " ~ format) }}'
        "{% endif %}{{ told }}{% endmacro %}"
    )


def render(processor: Any, words: str, style: str, reply: Sequence[str] = ()) -> str:
    """Return a question as the model is sent it, with `reply` as its answer or open for one.

    Args:
        processor: With its chat template.
        words: What the user says behind the picture.
        style: `chat` or `plain`.
        reply: The assistant's words; none leaves the prompt open for them.
    """
    if style == "plain":
        return processor.image_token + words + "".join(reply)
    messages = [
        {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": words}]},
        *({"role": "assistant", "content": [{"type": "text", "text": r}]} for r in reply),
    ]
    rendered: str = processor.apply_chat_template(
        messages, add_generation_prompt=not reply, tokenize=False
    )
    return rendered


def check(processor: Any, settings: TransformersModel) -> None:
    """Refuse a chat template that fails, drops the question, or opens a thought before the reply.

    Raises:
        BadInput: with the reason and the way out.
    """
    words = "What is in the picture?"
    way_out = "give another one as `chat_template`"
    try:
        prompt = render(processor, words, settings.prompt_style)
    except Exception as error:
        # Templates raise errors of their own kinds.
        raise BadInput(
            f"model {settings.weights}: its chat template fails: {first_line(error)}; {way_out}"
        ) from error
    before, _, behind = prompt.rpartition(words)
    if not before or getattr(processor, "image_token", "") not in before:
        raise BadInput(
            f"model {settings.weights}: its chat template drops the question or the picture "
            f"(it gives {prompt[-60:]!r}); {way_out}"
        )
    if address := _ADDRESS.search(prompt):
        raise BadInput(
            f"model {settings.weights}: its chat template writes {address[0]!r}, which differs "
            f"from run to run; {way_out}"
        )
    answered = _answered(processor, words, settings.prompt_style)
    if thought := opened_thought(prompt, answered, behind):
        raise BadInput(
            f"model {settings.weights}: its chat template opens a thought, {thought!r}, in front "
            f"of the reply, so that what comes next is no answer; {way_out} that closes it"
        )


def opened_thought(prompt: str, answered: str | None, behind: str) -> str | None:
    """Return what opens a thought at the end of a prompt, or None.

    Args:
        prompt: The rendered prompt, open for a reply.
        answered: The same with the reply `Zebra`; None where the template knows no reply.
        behind: What the prompt says behind the user's words.
    """
    if answered is not None:
        # What the prompt has and a finished turn lacks, the model is to finish by itself.
        alike = _common(prompt, answered)
        added, instead = prompt[alike:], answered[alike:].lstrip()
        begins_reply = instead.startswith(_REPLY) and _MARK.search(added)
        if _is_open(added) and (begins_reply or _THOUGHT.search(added)):
            return added.strip()
        # What a finished turn has in front of the reply ends what the prompt has begun.
        ended = instead.partition(_REPLY)[0]
        if not added and any(_CLOSES.search(mark) for mark in _MARK.findall(ended)):
            return behind.strip()[-60:]
    named = [mark for mark in _MARK.finditer(behind) if _THOUGHT.search(mark[0])]
    if named and not any(_CLOSES.search(m) for m in _MARK.findall(behind[named[-1].start() :])):
        return named[-1][0]
    return None


def _common(some: str, other: str) -> int:
    """Return how many characters two texts begin with alike."""
    pairs = enumerate(zip(some, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(some), len(other)))


def _is_open(text: str) -> bool:
    """Say whether what a text begins last is still open, and is not the answer itself."""
    closed = [mark.end() for mark in _MARK.finditer(text) if _CLOSES.search(mark[0])]
    rest = text[closed[-1] :] if closed else text
    return bool(rest.strip()) and not _ANSWER.search(rest)


def _answered(processor: Any, words: str, style: str) -> str | None:
    """Return a question with a reply as the template writes them; None where it cannot."""
    try:
        return render(processor, words, style, reply=[_REPLY])
    except Exception:
        # Templates raise errors of their own kinds for roles they do not know.
        return None


def reply_leads(processor: Any, style: str) -> tuple[str, ...]:
    """Return the white space that a chat template writes between its header and the reply.

    A template that does not show it (its reply does not follow its own generation prompt) leaves
    both open: none, then a space.
    """
    prompt = render(processor, "?", style)
    whole = _answered(processor, "?", style)
    if style == "plain" or whole is None or not whole.startswith(prompt):
        return ("", " ")
    rest = whole[len(prompt) :]
    if not rest.lstrip().startswith(_REPLY):
        return ("", " ")
    return (rest[: len(rest) - len(rest.lstrip())],)


def first_line(error: BaseException) -> str:
    """Return what an error says, in one line; a line that ends in a colon goes on in the next."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    ends = next((i for i, line in enumerate(lines) if not line.endswith(":")), len(lines))
    return " ".join(lines[: ends + 1]) or repr(error)
