"""Stores trained models as ordinary checkpoint folders, each with its log and its card.

Every number on a card comes from the log or the measurement it is given.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from benchc.reference.models import Architecture
from benchc.tables import write_text
from benchc.world.samples import TRACKS

LICENCE = "Licence: Apache-2.0"


def save_model(
    architecture: Architecture, folder: Path, log: list[dict[str, Any]], card: str
) -> None:
    """Write weights in half precision, processor, chat template, training log and card.

    Args:
        architecture: The trained model; its weights are left in float32.
        folder: Where to; made when missing.
        log: Rows of the training log.
        card: Text of README.md.
    """
    folder.mkdir(parents=True, exist_ok=True)
    architecture.model.half().save_pretrained(folder)
    (folder / "model.safetensors").chmod(0o644)  # written for its owner alone
    architecture.model.float()
    architecture.processor.save_pretrained(folder)
    save_notes(folder, log, card)


def save_notes(folder: Path, log: list[dict[str, Any]], card: str) -> None:
    """Write `training.json`, `training.csv` and `README.md` into a checkpoint's folder."""
    write_text(folder / "training.json", json.dumps(log, indent=1) + "\n")
    names = list(dict.fromkeys(name for row in log for name in row))
    table = io.StringIO()
    writer = csv.DictWriter(table, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(log)
    write_text(folder / "training.csv", table.getvalue())
    write_text(folder / "README.md", card)


def model_card(
    architecture: Architecture, command: str, recipe: str, scores: dict[str, float], n_samples: int
) -> str:
    """Return the card of a vision-language model.

    Args:
        architecture: The trained model.
        command: The command that trains it again.
        recipe: One sentence on how it was trained.
        scores: Accuracy over all, by track, and the mean normalised entropy.
        n_samples: Held-out samples behind the scores.
    """
    parameters = sum(p.numel() for p in architecture.model.parameters())
    rows = "\n".join(f"| {track} | {scores[track]:.3f} |" for track in ("accuracy", *TRACKS))
    return f"""\
# {type(architecture.model).__name__}, {parameters / 1e6:.2f} M parameters

A small vision-language model trained from scratch on drawn scenes: coloured shapes, printed words
and numbers. It answers multiple-choice questions about them with an option's letter, and short
questions in words. It knows nothing else and is meant for exercising an evaluation, not for use.

Trained by `{command}`. {recipe}

Letter accuracy on {n_samples} held-out samples (chance is about 0.31), clean pictures:

| track | accuracy |
|---|---|
{rows.replace("| accuracy |", "| all |")}

Mean normalised entropy of the option distribution: {scores["entropy"]:.3f}.

Loss and held-out accuracy during training: `training.csv`. Weights are stored in half precision;
`AutoProcessor` and `AutoModelForImageTextToText` load this folder, without a network.

{LICENCE}
"""


def questioner_card(
    architecture: Architecture, command: str, steps: int, scenes: int, validity: float
) -> str:
    """Return the card of a questioner.

    Args:
        architecture: The trained model.
        command: The command that trains it again.
        steps: Batches it learnt from.
        scenes: Scenes it learnt from.
        validity: Share of valid questions among those asked about held-out pictures.
    """
    parameters = sum(p.numel() for p in architecture.model.parameters())
    return f"""\
# Questioner: {type(architecture.model).__name__}, {parameters / 1e6:.2f} M parameters

Looks at a drawn picture and writes four questions about it in one sequence. Trained by
`{command}`: {steps} batches of 64 random valid questions about {scenes} scenes; half of the prompts
show questions about another picture and ask for questions like them. It knows nothing of any model
under test.

Valid among questions asked about 300 held-out pictures: {100 * validity:.1f} %.

Loss during training: `training.csv`. Weights are stored in half precision.

{LICENCE}
"""


def clip_card(command: str, n_parameters: int, log: list[dict[str, Any]]) -> str:
    """Return the card of the CLIP from its last row of the log."""
    last = log[-1]
    rows = "\n".join(f"| {k.replace('_', ' ')} | {v} |" for k, v in last.items() if "recall" in k)
    return f"""\
# CLIP of the drawn world, {n_parameters / 1e6:.2f} M parameters

Trained from scratch with open_clip on drawn scenes and their captions, by `{command}`
({last["step"]} steps). Most parameters are the token table of open_clip's own tokenizer.

Recall among 256 held-out pairs, clean pictures:

| measure | value |
|---|---|
{rows}

Load without a network: `open_clip.create_model_from_pretrained("local-dir:FOLDER")` and
`open_clip.get_tokenizer("local-dir:FOLDER")`.

{LICENCE}
"""
