"""Vision-language models of the transformers library that write text: asking and answering.

Never trains, and never reads what it writes as anything but text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from benchc.discover.players import Picture
from benchc.discover.wording import render
from benchc.infer.checkpoint import render as render_chat

BATCH = 128


class ModelQuestioner:
    """A model that writes several questions about a picture in one sequence."""

    def __init__(self, model: Any, processor: Any, settings: Any):
        """Take a loaded model.

        Args:
            model: A model for image-text-to-text generation.
            processor: Its processor; its tokenizer must pad on the left.
            settings: `benchc.discover.settings.Questioner`.
        """
        self.model = model
        self.processor = processor
        self.settings = settings

    def ask(
        self, pictures: Sequence[Picture], examples: Sequence[Sequence[str]], seed: int
    ) -> list[list[str]]:
        """Return one sampled sequence of questions a picture."""
        prompts = [self.prompt(list(shown)) for shown in examples]
        texts: list[list[str]] = []
        # A measure in the middle of a training must not change what the training draws.
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            for start in range(0, len(pictures), BATCH):
                part = slice(start, start + BATCH)
                written = generate(
                    self.model, self.processor, pictures[part], prompts[part],
                    max_new_tokens=self.settings.max_tokens, do_sample=True,
                    temperature=self.settings.temperature, top_k=0, top_p=1.0)  # fmt: skip
                texts += [self.split(text, finished) for text, finished in written]
        return texts

    @property
    def end_ids(self) -> frozenset[int]:
        """Token ids that end a sequence."""
        return frozenset(_end_ids(self.model, self.processor))

    def save(self, folder: Path) -> None:
        """Write the model and its processor as a checkpoint."""
        self.model.save_pretrained(folder)
        self.processor.save_pretrained(folder)

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
        """Return the user's text: what to write, and questions to be like, if any."""
        return render(self.settings.prompt, count=self.settings.questions, examples=examples)

    def join(self, questions: Sequence[str]) -> str:
        """Return questions as one sequence, as the model writes them."""
        return self.settings.separator.join(questions)

    def split(self, text: str, finished: bool) -> list[str]:
        """Return exactly the configured number of questions from a sequence."""
        return split_questions(text, finished, self.settings.questions)


class ModelAnswerer:
    """A model under test that answers in words, greedily; a question about a picture only once."""

    def __init__(
        self,
        model: Any,
        processor: Any,
        prompt: str,
        max_tokens: int,
        style: str = "chat",
        options: Mapping[str, Any] | None = None,
    ):
        """Take a loaded model.

        Args:
            model: A model for image-text-to-text generation.
            processor: Its processor; its tokenizer must pad on the left.
            prompt: Name of the packaged prompt around a question.
            max_tokens: Longest answer.
            style: `chat` or `plain`, as `benchc.infer.checkpoint.render` knows them.
            options: Settings of the image processor in place of its own.
        """
        self.model = model
        self.processor = processor
        self._prompt = prompt
        self._max_tokens = max_tokens
        self._style, self._options = style, options
        self._known: dict[tuple[str, str], str] = {}

    def answer(self, pictures: Sequence[Picture], questions: Sequence[str]) -> list[str]:
        """Return one answer a question."""
        keys = [(p.key, q) for p, q in zip(pictures, questions, strict=True)]
        new = {k: p for k, p in zip(keys, pictures, strict=True) if k not in self._known}
        # Prompts of like length share a batch, so that little of it is padding.
        ordered = sorted(new, key=lambda key: len(key[1]))
        for start in range(0, len(ordered), BATCH):
            part = ordered[start : start + BATCH]
            prompts = [render(self._prompt, question=question) for _, question in part]
            said = generate(
                self.model, self.processor, [new[key] for key in part], prompts, self._style,
                self._options, max_new_tokens=self._max_tokens, do_sample=False)  # fmt: skip
            self._known |= {key: text.strip() for key, (text, _) in zip(part, said, strict=True)}
        return [self._known[key] for key in keys]


def generate(
    model: Any,
    processor: Any,
    pictures: Sequence[Picture],
    prompts: Sequence[str],
    style: str = "chat",
    options: Mapping[str, Any] | None = None,
    **settings: Any,
) -> list[tuple[str, bool]]:
    """Return what a model writes after each picture and prompt, and whether it came to an end."""
    texts = [render_chat(processor, prompt, style) for prompt in prompts]
    images = [[picture.load()] for picture in pictures]
    inputs = processor(
        text=texts, images=images, return_tensors="pt", padding=True, **(options or {})
    )
    inputs.pop("labels", None)
    inputs = inputs.to(model.device)
    # The trainer logs a step by the mode that it finds the model in.
    training = model.training
    model.eval()
    with torch.inference_mode():
        ids = model.generate(**inputs, **settings)[:, inputs["input_ids"].shape[1] :]
    model.train(training)
    ends = torch.tensor(_end_ids(model, processor), device=ids.device)
    finished = torch.isin(ids, ends).any(dim=1).tolist()
    said = processor.batch_decode(ids, skip_special_tokens=True)
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


def _end_ids(model: Any, processor: Any) -> list[int]:
    """Return the ids that end a text."""
    ends = model.generation_config.eos_token_id
    ends = [] if ends is None else [ends] if isinstance(ends, int) else list(ends)
    return [*ends, processor.tokenizer.eos_token_id]
