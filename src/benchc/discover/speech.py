"""Vision-language models of the transformers library that write text: asking and answering."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchc.discover.players import Picture, Unanswered
from benchc.discover.wording import render
from benchc.errors import BadInput
from benchc.models.checkpoint import context_length
from benchc.models.encode import Encoder, PromptError, placed

BATCH = 128


class ModelQuestioner:
    """A model that writes several questions about a picture in one sequence."""

    def __init__(self, model: Any, encoder: Encoder, settings: Any):
        """Take a loaded model.

        Args:
            model: A model for image-text-to-text generation.
            encoder: Its encoder; the chat template will write all of a prompt's special tokens,
                since that is how trainers encode it.
            settings: `benchc.config.discovery.Questioner`.

        Raises:
            BadInput: the tokenizer writes some by itself and cannot be stopped.
        """
        encoder.write_prefix_in_template()
        self.model = model
        self.encoder = encoder
        self.settings = settings

    def ask(
        self, pictures: Sequence[Picture], examples: Sequence[Sequence[str]], seed: int
    ) -> list[list[str]]:
        """Return one sampled sequence of questions per picture.

        Raises:
            BadInput: the processor cannot make tensors of a picture.
        """
        prompts = [self.prompt(list(shown)) for shown in examples]
        texts: list[list[str]] = []
        # A measure in the middle of a training must not change what the training draws.
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            for start in range(0, len(pictures), BATCH):
                part = slice(start, start + BATCH)
                written = self._written(pictures[part], prompts[part])
                texts += [self.split(text, finished) for text, finished in written]
        return texts

    def _written(
        self, pictures: Sequence[Picture], prompts: Sequence[str]
    ) -> list[tuple[str, bool]]:
        try:
            return generate(
                self.model, self.encoder, pictures, prompts,
                max_new_tokens=self.settings.max_tokens, do_sample=True,
                temperature=self.settings.temperature, top_k=0, top_p=1.0)  # fmt: skip
        except RuntimeError as error:
            if "probability tensor" not in str(error):
                raise
            raise BadInput(
                f"questioner {self.encoder.settings.weights}: what it would write next has no "
                "finite probability; its weights are damaged, or `dtype` is too coarse for them"
            ) from None
        except PromptError as error:
            names = pictures[0].key if len(pictures) == 1 else f"one of {len(pictures)} pictures"
            raise BadInput(f"the questioner cannot be shown {names}: {error}") from error

    @property
    def end_ids(self) -> frozenset[int]:
        """Token ids that end a sequence."""
        return frozenset(_end_ids(self.model, self.encoder))

    def can_speak(self) -> bool:
        """Say whether the model gives every token behind a prompt a finite logit."""
        grey = np.full((224, 224, 3), 128, dtype=np.uint8)
        inputs = self.encoder.tensors([self.encoder.chat(self.prompt())], [grey])
        with torch.inference_mode():
            logits = self.model(**placed(inputs, self.model)).logits[:, -1]
        return bool(torch.isfinite(logits).all())

    def save(self, folder: Path) -> None:
        """Write the model and its processor as a checkpoint."""
        self.model.save_pretrained(folder)
        self.encoder.processor.save_pretrained(folder)

    def load(self, folder: Path) -> None:
        """Go on with the weights of a checkpoint that `save` wrote."""
        if self.settings.lora_rank is not None:
            self.model.load_adapter(str(folder), "default", is_trainable=True)
            return
        place, dtype = self.model.device, self.model.dtype
        self.model = type(self.model).from_pretrained(folder, dtype=dtype).to(place)

    def go_on_from(self, checkpoint: Path) -> None:
        """Take the weights of a training's checkpoint, and stay a descendant of the same base.

        The trainer's own loading passes over weights whose names changed when they were stored,
        and says nothing; the base's name is where the trainer finds the reference of its KL term.
        """
        base = self.model.config._name_or_path
        self.load(checkpoint)
        self.model.config._name_or_path = base

    def prompt(self, examples: Sequence[str] = ()) -> str:
        """Return the user's text: what to write, and questions to be like, if any.

        An example that holds a special token of the questioner's is left out: it would be read as
        more than words.
        """
        shown = [example for example in examples if not self.encoder.holds_reserved(example)]
        return render(self.settings.prompt, count=self.settings.questions, examples=shown)

    def join(self, questions: Sequence[str]) -> str:
        """Return questions as one sequence, as the model writes them."""
        return self.settings.separator.join(questions)

    def split(self, text: str, finished: bool) -> list[str]:
        """Return exactly the configured number of questions from a sequence."""
        return split_questions(text, finished, self.settings.questions)


class ModelAnswerer:
    """A model under test that answers in words, greedily; a question about a picture only once."""

    def __init__(self, model: Any, encoder: Encoder, prompt: str, max_tokens: int):
        """Take a loaded model.

        Args:
            model: A model for image-text-to-text generation.
            encoder: Its encoder.
            prompt: Name of the packaged prompt around a question.
            max_tokens: Longest answer.
        """
        self.model = model
        self.encoder = encoder
        self._prompt = prompt
        self._max_tokens = max_tokens
        self._known: dict[tuple[str, str], str | Unanswered] = {}

    def answer(
        self, pictures: Sequence[Picture], questions: Sequence[str]
    ) -> list[str | Unanswered]:
        """Return one answer per question, or the status of one that cannot be asked.

        The statuses are those of the predictions: `reserved_token`, `processor_error`, `too_long`.
        """
        keys = [(p.key, q) for p, q in zip(pictures, questions, strict=True)]
        new = {k: p for k, p in zip(keys, pictures, strict=True) if k not in self._known}
        reserved = {key for key in new if self.encoder.holds_reserved(key[1])}
        self._known |= dict.fromkeys(reserved, Unanswered("reserved_token"))
        # Prompts of like length share a batch, so that little of it is padding.
        ordered = sorted((key for key in new if key not in reserved), key=lambda key: len(key[1]))
        for start in range(0, len(ordered), BATCH):
            part = [(new[key], key[1]) for key in ordered[start : start + BATCH]]
            said = self._said(part)
            self._known |= dict(zip(ordered[start : start + BATCH], said, strict=True))
        return [self._known[key] for key in keys]

    def _said(self, asked: Sequence[tuple[Picture, str]]) -> list[str | Unanswered]:
        """Return the answers of one batch; one that cannot be asked does not cost the others."""
        prompts = [render(self._prompt, question=question) for _, question in asked]
        try:
            said = generate(
                self.model, self.encoder, [picture for picture, _ in asked], prompts,
                max_new_tokens=self._max_tokens, do_sample=False)  # fmt: skip
        except PromptError as error:
            if len(asked) == 1:
                return [Unanswered(error.status)]
            return [answer for one in asked for answer in self._said([one])]
        return [text.strip() for text, _ in said]


def generate(
    model: Any,
    encoder: Encoder,
    pictures: Sequence[Picture],
    prompts: Sequence[str],
    max_new_tokens: int,
    **settings: Any,
) -> list[tuple[str, bool]]:
    """Return what a model writes after each picture and prompt, and whether it came to an end.

    Raises:
        PromptError: a prompt cannot be made, or is too long for the model with its answer.
    """
    inputs = encoder.tensors(
        [encoder.chat(prompt) for prompt in prompts], [picture.load() for picture in pictures]
    )
    width = inputs["input_ids"].shape[1]
    context = context_length(model.config)
    if context is not None and width + max_new_tokens > context:
        raise PromptError(f"{width} tokens and {max_new_tokens} more, of {context}", "too_long")
    # The trainer logs a step by the mode that it finds the model in.
    training = model.training
    model.eval()
    with torch.inference_mode():
        ids = model.generate(**placed(inputs, model), max_new_tokens=max_new_tokens, **settings)[
            :, width:
        ]
    model.train(training)
    ends = torch.tensor(_end_ids(model, encoder), device=ids.device)
    finished = torch.isin(ids, ends).any(dim=1).tolist()
    said = encoder.processor.batch_decode(ids, skip_special_tokens=True)
    return list(zip(said, finished, strict=True))


def split_questions(text: str, finished: bool, count: int) -> list[str]:
    """Return exactly `count` questions from a sequence; empty texts for those that are missing.

    A question ends with a question mark. What follows the last one counts as a question only
    where the sequence ended by itself; a question cut off by the limit is dropped, and hence
    missing.
    """
    parts = re.findall(r"[^?]*\?|[^?]+$", text)
    if not finished and parts and not parts[-1].endswith("?"):
        parts.pop()
    questions = [tidy(part) for part in parts if part.strip()]
    return (questions + [""] * count)[:count]


def tidy(question: str) -> str:
    """Return a question without a list's number, with single spaces and a capital letter."""
    bare = re.sub(r"^\s*(?:[-*]|\d+[.)])\s*", "", question)
    text = re.sub(r"\s+([?,.])", r"\1", " ".join(bare.split()))
    return text[:1].upper() + text[1:]


def _end_ids(model: Any, encoder: Encoder) -> list[int]:
    """Return the ids that end a text."""
    ends = model.generation_config.eos_token_id
    ends = [] if ends is None else [ends] if isinstance(ends, int) else list(ends)
    return [*ends, encoder.processor.tokenizer.eos_token_id]
