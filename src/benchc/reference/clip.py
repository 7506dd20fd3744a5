"""A small CLIP of the drawn world: pictures and their captions in one space.

The tokenizer is the one that ships with open_clip.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import open_clip
import torch
from open_clip.model import CLIP
from PIL import Image
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional as F

from benchc.keyed import digest, generator
from benchc.reference.lessons import photograph
from benchc.reference.models import SIDE
from benchc.tables import write_text
from benchc.world.samples import caption, draw
from benchc.world.scene import Scene, sample_scene

CONFIG: dict[str, Any] = {
    "embed_dim": 128,
    "vision_cfg": {
        "image_size": SIDE, "layers": 4, "width": 128, "head_width": 32, "patch_size": 16,
        "mlp_ratio": 3.0, "pool_type": "avg"},
    "text_cfg": {
        "context_length": 64, "vocab_size": 49408, "width": 64, "heads": 4, "layers": 3,
        "mlp_ratio": 3.0},
}  # fmt: skip
_PREPROCESS = {
    "mean": [0.5, 0.5, 0.5],
    "std": [0.5, 0.5, 0.5],
    "interpolation": "bilinear",
    "resize_mode": "squash",
}
STEPS, SCENES = 250, 6_000
"""The plan of the stored checkpoint."""
_CAPTIONS = 4
_BATCH = 192


def train_clip(
    seed: int, steps: int, n_scenes: int, report: Callable[[str], None]
) -> tuple[CLIP, list[dict[str, Any]]]:
    """Train a CLIP from scratch on drawn scenes and their captions.

    Args:
        seed: Seed of weights, order, scenes and captions.
        steps: Steps of 192 pairs.
        n_scenes: Drawn scenes, with four captions each.
        report: Called with a line of progress.

    Returns:
        The model and one row per report: step, seconds, loss and held-out recall.
    """
    torch.manual_seed(int.from_bytes(digest("reference", "weights", "clip", seed)[:7], "little"))
    rng = generator("reference", "lessons", "clip", seed)
    model = CLIP(**CONFIG)
    scenes = [sample_scene("training", seed, i, 0) for i in range(n_scenes)]
    tokenizer = open_clip.SimpleTokenizer(context_length=CONFIG["text_cfg"]["context_length"])
    texts = tokenizer([caption(s, rng) for s in scenes for _ in range(_CAPTIONS)])
    texts = texts.reshape(n_scenes, _CAPTIONS, -1)
    pictures = photograph(scenes)
    report(f"clip: {n_scenes} scenes, {sum(p.numel() for p in model.parameters())} parameters")

    matrices = [p for n, p in model.named_parameters() if p.ndim == 2 and "resblocks" in n]
    rest = [p for p in model.parameters() if all(p is not m for m in matrices)]
    optimizers: list[tuple[torch.optim.Optimizer, float]] = [
        (torch.optim.Muon(matrices, lr=0.02, weight_decay=0.01), 0.02),
        (torch.optim.AdamW(rest, lr=2e-3, weight_decay=0.01, betas=(0.9, 0.98)), 2e-3),
    ]
    log: list[dict[str, Any]] = []
    start, every = time.monotonic(), max(1, steps // 8)
    for step in range(1, steps + 1):
        factor = min(1.0, step / 30) * (0.05 + 0.95 * (1 + math.cos(math.pi * step / steps)) / 2)
        for optimizer, rate in optimizers:
            optimizer.param_groups[0]["lr"] = rate * factor
        at = torch.from_numpy(rng.choice(n_scenes, _BATCH, replace=False))
        said = texts[at, torch.from_numpy(rng.integers(_CAPTIONS, size=_BATCH))]
        loss = _contrast(model, pictures[at].float() / 127.5 - 1, said)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer, _ in optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        with torch.no_grad():
            model.logit_scale.clamp_(0, math.log(100))
        if step % every == 0 or step == steps:
            model.eval()
            row = {"step": step, "loss": round(loss.item(), 4)}
            row |= {"seconds": round(time.monotonic() - start, 1), **recall(model)}
            model.train()
            log.append(row)
            report(" ".join(f"{k}={v}" for k, v in row.items()))
    model.eval()
    return model, log


def recall(model: CLIP, n_pairs: int = 256) -> dict[str, float]:
    """Return recall@1 and @5 among held-out pairs, both ways, with the stored preprocessing."""
    scenes = held_out_scenes(n_pairs)
    rng = generator("reference", "captions", "clip")
    tokenizer = open_clip.SimpleTokenizer(context_length=CONFIG["text_cfg"]["context_length"])
    pictures = torch.stack([_prepare(Image.fromarray(draw(scene))) for scene in scenes])
    with torch.inference_mode():
        seen = model.encode_image(pictures, normalize=True)
        said = model.encode_text(tokenizer([caption(s, rng) for s in scenes]), normalize=True)
    near = seen @ said.T
    result: dict[str, float] = {}
    for name, table in (("image_to_text", near), ("text_to_image", near.T)):
        rank = (table > table.diagonal()[:, None]).sum(1)
        result |= {f"{name}_recall{k}": round(float((rank < k).float().mean()), 4) for k in (1, 5)}
    return result


def held_out_scenes(n_scenes: int) -> list[Scene]:
    """Return scenes that no training key reaches."""
    return [sample_scene("held-out", "pairs", i) for i in range(n_scenes)]


def save_clip(model: CLIP, folder: Path) -> None:
    """Write `open_clip_config.json` and half-precision weights, as `local-dir:` needs them."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {"model_cfg": CONFIG, "preprocess_cfg": _PREPROCESS}
    write_text(folder / "open_clip_config.json", json.dumps(config, indent=2) + "\n")
    state = {name: value.half().contiguous() for name, value in model.state_dict().items()}
    save_file(state, folder / "open_clip_model.safetensors", metadata={"format": "pt"})


def _contrast(model: CLIP, pixels: torch.Tensor, texts: torch.Tensor) -> torch.Tensor:
    """Return the symmetric contrastive loss of a batch of pairs."""
    seen = model.encode_image(pixels, normalize=True)
    said = model.encode_text(texts, normalize=True)
    logits = model.logit_scale.exp() * seen @ said.T
    pairs = torch.arange(len(logits))
    return (F.cross_entropy(logits, pairs) + F.cross_entropy(logits.T, pairs)) / 2


def _prepare(image: Image.Image) -> torch.Tensor:
    """Return a picture as the stored preprocessing makes it: float32 of shape (3, SIDE, SIDE)."""
    transform = open_clip.image_transform(
        SIDE,
        is_train=False,
        mean=(0.5, 0.5, 0.5),
        std=(0.5, 0.5, 0.5),
        resize_mode="squash",
        interpolation="bilinear",
    )
    prepared: torch.Tensor = transform(image)
    return prepared
