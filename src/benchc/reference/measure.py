"""Measures a reference model on held-out samples through its own processor and forward pass.

A letter's id comes from the model's own tokenizer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from transformers import PreTrainedModel, ProcessorMixin

from benchc.models.encode import processed
from benchc.models.template import render
from benchc.reference.lessons import Lesson, collate, describe, opening
from benchc.reference.models import Architecture, prompt
from benchc.reference.teach import Describer, head_of, hidden
from benchc.reference.tokens import PAD, token_id, token_ids
from benchc.world.samples import TRACKS, DrawnSample, draw

Answers = list[np.ndarray]


def option_probabilities(
    model: PreTrainedModel,
    processor: ProcessorMixin,
    samples: Sequence[DrawnSample],
    batch: int = 64,
) -> Answers:
    """Return one distribution over the options per sample, each float64 and summing to one."""
    found: Answers = []
    for start in range(0, len(samples), batch):
        part = samples[start : start + batch]
        inputs = encode(processor, part, [prompt(s.question, s.options) for s in part])
        with torch.inference_mode():
            last = model(**inputs, logits_to_keep=1).logits[:, -1].double()
        letters = [token_id(processor.tokenizer, chr(65 + i)) for i in range(6)]
        for row, sample in zip(last[:, letters], part, strict=True):
            found.append(torch.softmax(row[: len(sample.options)], 0).numpy())
    return found


def probe_described(
    architecture: Architecture, describer: Describer, samples: Sequence[DrawnSample]
) -> Answers:
    """Return distributions over the options when scenes are described instead of drawn."""
    tokenizer, start = architecture.tokenizer, opening(architecture)
    first, pad = token_id(tokenizer, "A"), token_id(tokenizer, PAD)
    texts = [prompt(s.question, s.options) + "\nanswer" for s in samples]
    asked = token_ids(tokenizer, texts)
    batch = collate([Lesson(start + ids, 0, [], -1, 0, [], []) for ids in asked], pad)
    with torch.inference_mode():
        tokens = describer(describe([sample.scene for sample in samples]))
        states = hidden(architecture, batch.ids, batch.mask, tokens)[:, -1]
        logits = head_of(architecture)(states).double()
    return [
        torch.softmax(row[first : first + len(s.options)], 0).numpy()
        for row, s in zip(logits, samples, strict=True)
    ]


def spoken_answers(
    model: PreTrainedModel,
    processor: ProcessorMixin,
    samples: Sequence[DrawnSample],
    batch: int = 64,
) -> list[str]:
    """Return what a model answers in words when it is given no options."""
    found: list[str] = []
    for start in range(0, len(samples), batch):
        part = samples[start : start + batch]
        inputs = encode(processor, part, [s.question for s in part])
        with torch.inference_mode():
            ids = model.generate(**inputs, max_new_tokens=4, do_sample=False)  # type: ignore[operator]
        said = ids[:, inputs["input_ids"].shape[1] :]
        found += processor.batch_decode(said, skip_special_tokens=True)
    return found


def encode(
    processor: ProcessorMixin, samples: Sequence[DrawnSample], texts: Sequence[str]
) -> dict[str, torch.Tensor]:
    """Return the inputs of a forward pass for pictures of samples with one user text each."""
    prompts = [render(processor, text, "chat") for text in texts]
    return processed(processor, prompts, [draw(s.scene) for s in samples])


def score(probabilities: Answers, samples: Sequence[DrawnSample]) -> dict[str, float]:
    """Return letter accuracy over all samples and by track, and the mean normalised entropy."""
    right = np.array(
        [int(p.argmax()) == s.answer for p, s in zip(probabilities, samples, strict=True)]
    )
    tracks = np.array([s.track for s in samples])
    result = {"accuracy": float(right.mean())}
    result |= {t: float(right[tracks == t].mean()) for t in TRACKS if (tracks == t).any()}
    entropy = [-(p * np.log(p + 1e-300)).sum() / np.log(len(p)) for p in probabilities]
    return {**result, "entropy": float(np.mean(entropy))}
