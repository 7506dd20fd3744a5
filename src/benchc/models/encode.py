"""From words and pictures to ids and tensors: the one place that calls a processor.

Scoring, generation and the reference models' training all come through here. Never truncates a
prompt, and never runs a model.
"""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from PIL import Image

from benchc.config.models import TransformersModel
from benchc.errors import BadInput
from benchc.models import checkpoint, contained, prefix, template

Prompt = dict[str, Any]

_TRIAL_WORDS = "What is this?\nA. red\nB. blue\nC. green\nD. two"
_LONGEST = 10**6
"""Characters of a template around a question: a thousand times what templates write."""
# What makes a pattern backtrack that splits a text: long runs, and an end that does not match.
_RUNS = "\n".join(character * 400 + "!\x00" for character in "aA1 .-\tä\u4e00")


class PromptError(Exception):
    """No tensors can be made of a prompt with its picture; says why.

    Attributes:
        status: What the question is counted as.
    """

    def __init__(self, why: str, status: str = "processor_error"):
        super().__init__(why)
        self.status = status


class Encoder:
    """A checkpoint's processor and chat template.

    Attributes:
        processor: The processor; its tokenizer pads on the left and writes no token that the chat
            template has written, so that others who call it get the same ids.
        context: Tokens that a prompt may have; None for no limit.
    """

    def __init__(self, settings: TransformersModel):
        """Load the processor, and ask once on trial.

        Raises:
            BadInput: the checkpoint is missing, has no chat template, or its prompts cannot be
                made as they should be.
        """
        self.settings = settings
        self.processor = checkpoint.load_processor(settings)
        refuse_what_never_ends(settings, self.processor)
        template.check(self.processor, settings)
        self.context: int | None = None
        self._reserved = reserved_tokens(self.processor)
        self._by_itself = True
        try:
            self.trial = self._settled()
        except PromptError as error:
            raise BadInput(
                f"model {settings.weights}: its processor fails on a plain question: {error}"
                + what_it_lacks(self.processor)
            ) from error
        except BadInput as error:
            raise BadInput(f"model {settings.weights}: {error}") from None

    def chat(self, words: str) -> str:
        """Return a prompt as the model's own chat template writes it."""
        return template.render(self.processor, words, self.settings.prompt_style)

    def holds_reserved(self, words: str) -> bool:
        """Say whether words hold what the processor takes for more than words."""
        return any(token in words for token in self._reserved)

    def tensors(self, prompts: Sequence[str], pictures: Sequence[np.ndarray]) -> Prompt:
        """Return prompts with a picture each as the model's inputs, padded on the left.

        Args:
            prompts: As `chat` renders them.
            pictures: One for each prompt, uint8 RGB of shape (height, width, 3).

        Raises:
            BadInput: the processor pads on the right.
            PromptError: the processor fails, for instance on a picture that it cannot cut.
        """
        inputs = self._processed(prompts, pictures, self._by_itself)
        if not bool(inputs["attention_mask"][:, -1].all()):
            raise BadInput(
                f"model {self.settings.weights}: its processor pads on the right although asked to "
                "pad on the left; its answers cannot be read in batches"
            )
        return inputs

    def write_prefix_in_template(self) -> None:
        """Let the chat template write what the tokenizer would: a trainer asks it for neither.

        Raises:
            BadInput: the tokenizer's way of writing cannot be set, or the ids would differ.
        """
        tokenizer = self.processor.tokenizer
        before = prefix.added_by(tokenizer).before
        if not before:
            return
        prefix.write_only(tokenizer, ())
        names = "".join(tokenizer.convert_ids_to_tokens(list(before)))
        self.processor.chat_template = template.beginning_with(names, self.processor.chat_template)
        trial = _ids(self.tensors(*self._question()))
        prefix.check_ids(trial, trial, tokenizer, prefix.Added(before))
        self.trial = trial

    def _settled(self) -> list[int]:
        """Let the tokenizer write nothing twice and nothing behind; return a trial prompt's ids."""
        tokenizer = self.processor.tokenizer
        added = prefix.added_by(tokenizer)
        written = _ids(self._processed(*self._question(), by_itself=False))
        before = prefix.needed(added, written, tokenizer)
        if not tokenizer.is_fast and not added.behind:
            self._by_itself = before == added.before
        elif (before, ()) != (added.before, added.behind):
            prefix.write_only(tokenizer, before)
        ids = _ids(self.tensors(*self._question()))
        prefix.check_ids(ids, written, tokenizer, added)
        return ids

    def _processed(
        self, prompts: Sequence[str], pictures: Sequence[np.ndarray], by_itself: bool
    ) -> Prompt:
        settings: dict[str, Any] = dict(self.settings.processor)
        if not by_itself:
            settings["add_special_tokens"] = False
        return processed(self.processor, prompts, pictures, settings)

    def _question(self) -> tuple[list[str], list[np.ndarray]]:
        return [self.chat(_TRIAL_WORDS)], [_trial_picture()]


def _trial_picture() -> np.ndarray:
    """Return a plain grey picture, uint8 RGB of 224 x 224."""
    return np.full((224, 224, 3), 128, dtype=np.uint8)


def processed(
    processor: Any,
    prompts: Sequence[str],
    pictures: Sequence[np.ndarray],
    settings: Mapping[str, Any] | None = None,
) -> Prompt:
    """Return what a processor makes of prompts with a picture each, as tensors.

    Args:
        processor: Any checkpoint's.
        prompts: Rendered, one picture's mark in each.
        pictures: One for each prompt, uint8 RGB of shape (height, width, 3).
        settings: Further arguments of the processor.

    Raises:
        PromptError: it fails.
    """
    try:
        inputs = processor(
            text=list(prompts),
            images=[[Image.fromarray(picture)] for picture in pictures],
            padding=True,
            return_tensors="pt",
            **(settings or {}),
        )
    except BaseException as error:
        # Processors raise errors of every kind, and those written in Rust panic.
        if not isinstance(error, Exception) and not contained.is_panic(error):
            raise
        raise PromptError(template.first_line(error)) from error
    inputs.pop("labels", None)
    return dict(inputs)


def refuse_what_never_ends(settings: TransformersModel, loaded: Any) -> None:
    """Do all that a first question needs on trial, in a process that can be stopped.

    Args:
        settings: The checkpoint's.
        loaded: Its processor, with its chat template settled.

    Raises:
        BadInput: the chat template, the tokenizer or the processor takes more than 5 seconds of
            processor time, or more memory than a question can need, or panics.
    """
    if fault := contained.first_fault(_first_steps, settings, loaded):
        raise BadInput(f"model {settings.weights}: its {fault}; it is not asked")


def _first_steps(settings: TransformersModel, loaded: Any) -> Iterator[contained.Step]:
    processor = checkpoint.load_processor(settings) if loaded is None else loaded
    rendered = [_RUNS]

    def render(words: str) -> None:
        text = template.render(processor, words, settings.prompt_style)
        if len(text) > len(words) + _LONGEST:
            raise contained.ExcessError(f"writes {len(text):,} characters around a question")
        rendered.append(text)

    chat_template = f"chat template{checkpoint.template_file(settings)}"
    yield chat_template, lambda: render(_RUNS)
    yield "tokenizer", lambda: processor.tokenizer(rendered[-1])
    yield chat_template, lambda: template.check(processor, settings)
    yield chat_template, lambda: template.reply_leads(processor, settings.prompt_style)
    yield chat_template, lambda: render(_TRIAL_WORDS)
    yield (
        "processor",
        lambda: processed(processor, rendered[-1:], [_trial_picture()], settings.processor),
    )


def placed(inputs: Prompt, model: Any) -> Prompt:
    """Return inputs where the model lies; numbers in its precision."""
    return {
        name: value.to(model.device, dtype=model.dtype)
        if value.is_floating_point()
        else value.to(model.device)
        for name, value in inputs.items()
    }


def reserved_tokens(processor: Any) -> list[str]:
    """Return the texts that a processor takes for more than words: in a question they lie."""
    tokenizer = processor.tokenizer
    found = {*tokenizer.all_special_tokens}
    found |= {t.content for t in tokenizer.added_tokens_decoder.values() if t.special}
    found |= {v for k, v in vars(processor).items() if k.endswith("_token") and isinstance(v, str)}
    return sorted(token for token in found if token.strip())


def _ids(inputs: Prompt) -> list[int]:
    """Return the ids of the only prompt."""
    ids: list[int] = inputs["input_ids"][0][inputs["attention_mask"][0].bool()].tolist()
    return ids


def what_it_lacks(processor: Any) -> str:
    """Name the settings that a processor asks for and its checkpoint does not give."""
    asked = inspect.signature(type(processor).__init__).parameters
    lacking = [
        name for name in asked if getattr(processor, name, 0) is None and name != "chat_template"
    ]
    if not lacking:
        return ""
    return f"; its processor_config.json does not say {', '.join(lacking)}"
