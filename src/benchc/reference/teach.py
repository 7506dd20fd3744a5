"""Trains a reference model in stages: matching, language, vision, then all on pictures.

Never sees a held-out scene, and never a corrupted picture.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from transformers import PreTrainedTokenizerFast

from benchc.keyed import digest, generator
from benchc.reference.lessons import (
    FIELDS,
    SHORT,
    Batch,
    Lesson,
    collate,
    describe,
    matching_lessons,
    photograph,
    shorten,
    write_lessons,
)
from benchc.reference.models import PIECES, Architecture, build
from benchc.reference.plans import BATCH, Plan
from benchc.reference.tokens import PAD, token_id
from benchc.world.samples import training_samples
from benchc.world.scene import GRID, RADII

SMOOTHING = 0.06
"""Probability of a letter target that is spread evenly over the options of its question."""
WORD_WEIGHT = 0.5


@dataclass
class Trained:
    """A trained model and how it came about.

    Attributes:
        architecture: The model with its processor.
        log: One row a report: stage, step, seconds, loss and what the probe returned.
    """

    architecture: Architecture
    log: list[dict[str, Any]] = field(default_factory=list)


Probe = Callable[[Architecture, "Describer | None"], dict[str, float]]


class Helpers(nn.Module):
    """Heads that ask hidden states for the steps of a solution; they serve training only.

    The marker must tell at each option whether it is right; the finder must tell at a shape's
    name where the shape is and how large. Both make circuits easy to find that an answer alone
    teaches slowly.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.marker = nn.Linear(width, 1)
        self.finder = nn.Linear(width, 2 * GRID + len(RADII) + 1)


class Describer(nn.Module):
    """Turns a described scene into the tokens that stand in for its picture.

    A cell's token is the sum of the language model's own vectors of the words that say what is
    there (a striped red star: "striped" + "red" + "star"), of a learned vector of its place and
    of a learned direction of size.
    """

    def __init__(self, embedding: nn.Module, tokenizer: PreTrainedTokenizerFast) -> None:
        super().__init__()
        self._embedding = (embedding,)
        for name, values in FIELDS:
            ids = [token_id(tokenizer, value) for value in (PAD, *values)]
            self.register_buffer(f"ids_{name}", torch.tensor(ids))
        steps = len(RADII)
        self.scale: torch.Tensor
        self.register_buffer("scale", torch.tril(torch.ones(steps + 1, steps), -1))
        known = embedding(self.ids_colour).detach()
        spread, self.width = float(known.std()), known.shape[-1]
        self.size = nn.Parameter(torch.randn(steps, self.width) * spread / 4)
        self.row = nn.Parameter(torch.randn(GRID, 1, self.width) * spread)
        self.column = nn.Parameter(torch.randn(1, GRID, self.width) * spread)

    def forward(self, described: torch.Tensor) -> torch.Tensor:
        """Return tokens of shape (scenes, cells, width) for int64 (scenes, cells, fields)."""
        total = (self.row + self.column).reshape(1, PIECES, -1)
        for i, (name, _) in enumerate(FIELDS):
            value = described[..., i]
            if name == "radius":
                total = total + self.scale[value] @ self.size
            else:
                word = self._embedding[0](getattr(self, f"ids_{name}")[value])
                total = total + word * (value > 0)[..., None]
        return total


def train(key: str, seed: int, plan: Plan, probe: Probe, report: Callable[[str], None]) -> Trained:
    """Train the model of a key from scratch.

    Args:
        key: One of `benchc.reference.models.KEYS`.
        seed: Seed of weights, order and scenes.
        plan: Steps of each stage.
        probe: Called now and then for held-out numbers that go into the log.
        report: Called with a line of progress.
    """
    torch.manual_seed(int.from_bytes(digest("reference", "weights", key, seed)[:7], "little"))
    trained = Trained(build(key))
    architecture = trained.architecture
    rng = generator("reference", "lessons", key, seed)
    samples = list(training_samples(plan.scenes, seed))
    scenes, lessons = write_lessons(samples, architecture, 0.25, rng)
    described = describe(scenes)
    helpers = Helpers(architecture.model.config.get_text_config().hidden_size)
    report(f"{key}: {len(scenes)} scenes, {len(lessons)} lessons")

    model = architecture.model
    tower = [p for n, p in model.named_parameters() if _sees(n)]
    speech = [p for n, p in model.named_parameters() if not _sees(n)]
    pad = token_id(architecture.tokenizer, PAD)
    batches = endless_batches(lessons, pad, rng, BATCH)

    matches = endless_batches(matching_lessons(architecture, 12_000, rng), pad, rng, BATCH)
    few = endless_batches(matching_lessons(architecture, 12_000, rng), pad, rng, BATCH // 3)

    def matching() -> torch.Tensor:
        return lesson_loss(architecture, next(matches), None, helpers)

    briefly = write_lessons(samples, architecture, 0.25, rng, SHORT)[1]
    brief_batches = endless_batches(briefly, pad, rng, BATCH)

    def from_list() -> torch.Tensor:
        batch = next(brief_batches)
        known = described[batch.scenes]
        cells = shorten(known, rng)[..., None]
        tokens = describer(known)
        tokens = tokens.gather(1, cells.expand(-1, -1, tokens.shape[-1]))
        loss = lesson_loss(architecture, batch, tokens, helpers)
        return loss + 0.3 * lesson_loss(architecture, next(few), None, helpers)

    def from_description() -> torch.Tensor:
        batch = next(batches)
        loss = lesson_loss(architecture, batch, describer(described[batch.scenes]), helpers)
        return loss + 0.3 * lesson_loss(architecture, next(few), None, helpers)

    run_stage(
        "matching", plan.matching, [*speech, *helpers.parameters()], 0.02, 3e-3, matching, trained,
        dict, report)  # fmt: skip
    describer = Describer(model.get_input_embeddings(), architecture.tokenizer)
    run_stage(
        "listing", plan.listing, [*speech, *describer.parameters(), *helpers.parameters()],
        0.02, 3e-3, from_list, trained, lambda: probe(architecture, describer), report)  # fmt: skip
    run_stage(
        "language", plan.language, [*speech, *describer.parameters(), *helpers.parameters()],
        0.01, 1.5e-3, from_description, trained, lambda: probe(architecture, describer),
        report)  # fmt: skip

    pictures = photograph(scenes)
    heads = nn.ModuleList(nn.Linear(describer.width, len(values) + 1) for _, values in FIELDS)
    describer.requires_grad_(False)
    with torch.no_grad():
        spread = describer(described[:512]).var()

    def regression() -> torch.Tensor:
        at = torch.from_numpy(rng.integers(len(scenes), size=BATCH))
        seen = features(architecture, pictures[at])
        return vision_loss(seen, described[at], describer, heads, spread)

    run_stage(
        "vision", plan.vision, [*tower, *heads.parameters()], 0.02, 2e-3, regression, trained,
        lambda: probe(architecture, None), report)  # fmt: skip

    def on_pictures() -> torch.Tensor:
        batch = next(batches)
        seen = features(architecture, pictures[batch.scenes])
        kept = vision_loss(seen, described[batch.scenes], describer, heads, spread)
        return lesson_loss(architecture, batch, seen, helpers) + 0.3 * kept

    run_stage(
        "joint", plan.joint, [*tower, *speech, *heads.parameters(), *helpers.parameters()],
        0.006, 6e-4, on_pictures, trained, lambda: probe(architecture, None), report)  # fmt: skip
    return trained


def features(architecture: Architecture, pixels: torch.Tensor) -> torch.Tensor:
    """Return the picture tokens of uint8 pictures: float32 of shape (batch, cells, width)."""
    model = architecture.model.model
    found = type(model).get_image_features(model, **architecture.picture(pixels)).pooler_output
    return found if isinstance(found, torch.Tensor) else torch.stack(list(found))


def hidden(
    architecture: Architecture,
    ids: torch.Tensor,
    mask: torch.Tensor,
    tokens: torch.Tensor | None,
    spoken: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return the last hidden states of a forward pass with given picture tokens.

    The model's own forward pass runs; only its picture features are replaced by `tokens`.
    """
    model, call = architecture.model.model, architecture.inputs(ids, mask, spoken)
    if tokens is None:
        return model(**call, use_cache=False).last_hidden_state
    given = tokens if architecture.key == "paligemma" else list(tokens)
    model.get_image_features = lambda *args, **kwargs: SimpleNamespace(pooler_output=given)
    try:
        if architecture.key == "qwen2vl":
            rows = GRID if tokens.shape[1] == PIECES else 2
            grid = torch.tensor([[1, rows, tokens.shape[1] // rows]])
            call["image_grid_thw"] = grid.repeat(len(ids), 1)
        states = model(**call, pixel_values=torch.zeros(1), use_cache=False).last_hidden_state
    finally:
        del model.get_image_features
    return states


def lesson_loss(
    architecture: Architecture, batch: Batch, tokens: torch.Tensor | None, helpers: Helpers
) -> torch.Tensor:
    """Return the loss of a batch: letters with smoothed targets, words at half weight.

    The helpers serve training only and are then thrown away.
    """
    states = hidden(architecture, batch.ids, batch.mask, tokens, batch.spoken)
    head = head_of(architecture)
    rows, right, options = batch.letters
    guesses = F.log_softmax(head(states[rows, -1]), -1)
    first = token_id(architecture.tokenizer, "A")
    letters = guesses[:, first : first + 6]
    share = (torch.arange(6) < options[:, None]) / options[:, None]
    target = (1 - SMOOTHING) * F.one_hot(right, 6) + SMOOTHING * share
    loss = -(target * letters).sum(-1).mean()
    rows, positions, following = batch.words
    if len(rows):
        guess = head(states[rows, positions])
        loss = loss + WORD_WEIGHT * F.cross_entropy(guess, following)
    rows, positions, is_right = batch.marks
    marked = helpers.marker(states[rows, positions])[:, 0]
    loss = loss + F.binary_cross_entropy_with_logits(marked, is_right.float())
    rows, positions, cells, radii = batch.finds
    if len(rows):
        found = helpers.finder(states[rows, positions])
        for guess, truth in zip(
            found.split((GRID, GRID, len(RADII) + 1), -1),
            (cells // GRID, cells % GRID, radii),
            strict=True,
        ):
            loss = loss + 0.2 * F.cross_entropy(guess, truth)
    return loss


def head_of(architecture: Architecture) -> nn.Module:
    """Return the layer that turns hidden states into logits of next tokens."""
    head: nn.Module = architecture.model.lm_head
    return head


def vision_loss(
    seen: torch.Tensor,
    described: torch.Tensor,
    describer: Describer,
    heads: nn.ModuleList,
    spread: torch.Tensor,
) -> torch.Tensor:
    """Return how far picture tokens are from descriptions.

    Empty cells, filled cells and, because reading is the slowest to come, cells with a sign weigh
    alike.
    """
    filled, printed = described.any(-1), described[..., -1] > 0
    weight = torch.where(filled, 0.4 / filled.sum(), 0.4 / (~filled).sum())
    weight = weight + printed * (0.4 / printed.sum().clamp(min=1))
    with torch.no_grad():
        wanted = describer(described)
    apart = ((seen - wanted) ** 2).mean(-1) / spread
    loss = (apart * weight).sum()
    for i, guess in enumerate(heads):
        logits = guess(seen).flatten(0, 1)
        wrong = F.cross_entropy(logits, described[..., i].flatten(), reduction="none")
        loss = loss + 0.25 * (wrong * weight.flatten()).sum()
    return loss


def run_stage(
    name: str,
    steps: int,
    parameters: list[nn.Parameter],
    matrix_rate: float,
    rate: float,
    loss_of_step: Callable[[], torch.Tensor],
    trained: Trained,
    probe: Callable[[], dict[str, float]],
    report: Callable[[str], None],
) -> None:
    """Run one stage: Muon for matrices, AdamW for the rest, warm-up, then level, then a fall."""
    embedded = {
        id(m.weight) for m in trained.architecture.model.modules() if isinstance(m, nn.Embedding)
    } | {id(trained.architecture.model.lm_head.weight)}  # fmt: skip
    matrices = [
        p for p in parameters if p.ndim == 2 and id(p) not in embedded and min(p.shape) > 48
    ]
    rest = [p for p in parameters if all(p is not m for m in matrices)]
    optimizers: list[torch.optim.Optimizer] = [
        torch.optim.Muon(matrices, lr=matrix_rate, weight_decay=0.01),
        torch.optim.AdamW(rest, lr=rate, weight_decay=0.01, betas=(0.9, 0.98)),
    ]
    rates = (matrix_rate, rate)
    trained.architecture.model.train()
    start, running = time.monotonic(), 0.0
    every = max(1, steps // 8)
    for step in range(1, steps + 1):
        factor = min(1.0, step / 30, 0.02 + 1.8 * (1 - step / steps))
        for optimizer, base in zip(optimizers, rates, strict=True):
            for group in optimizer.param_groups:
                group["lr"] = base * factor
        loss = loss_of_step()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        running = loss.item() if step == 1 else 0.95 * running + 0.05 * loss.item()
        if step % every == 0 or step == steps:
            row: dict[str, Any] = {"stage": name, "step": step, "loss": round(running, 4)}
            row["seconds"] = round(time.monotonic() - start, 1)
            trained.architecture.model.eval()
            row |= {k: round(v, 4) for k, v in probe().items()}
            trained.architecture.model.train()
            trained.log.append(row)
            report(" ".join(f"{k}={v}" for k, v in row.items()))
    trained.architecture.model.eval()


def endless_batches(
    lessons: list[Lesson], pad: int, rng: np.random.Generator, size: int
) -> Iterator[Batch]:
    """Yield batches for ever, each lesson at most once an epoch."""
    while True:
        order = rng.permutation(len(lessons))
        for start in range(0, len(order) - size + 1, size):
            yield collate([lessons[i] for i in order[start : start + size]], pad)


def _sees(name: str) -> bool:
    """Tell whether a parameter belongs to the vision tower or its projector."""
    return any(part in name for part in ("vision", "visual", "projector", "connector"))
