"""Supervised fine-tuning of a questioner on failures it found, through TRL."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from transformers import PrinterCallback
from trl import SFTConfig, SFTTrainer

from benchc.config.discovery import Imitate
from benchc.discover.diverged import StopDiverged
from benchc.discover.play import Outcome
from benchc.discover.players import Picture
from benchc.discover.rows import lazy_rows
from benchc.discover.speech import ModelQuestioner
from benchc.keyed import generator
from benchc.models.checkpoint import has_bfloat16


def failure_sequences(
    outcomes: Sequence[Outcome], count: int, seed: int
) -> list[tuple[Picture, list[str]]]:
    """Return sequences of `count` different failures of one picture each, in keyed order.

    A picture's failures that fill no whole sequence are left out: a shorter one would teach the
    questioner to write fewer questions.
    """
    found: dict[str, tuple[Picture, dict[str, None]]] = {}
    for outcome in outcomes:
        if outcome.failed:
            picture = outcome.asked.picture
            found.setdefault(picture.key, (picture, {}))[1][outcome.asked.text] = None
    sequences = []
    for key, (picture, texts) in found.items():
        order = generator("discover", "sequences", key, seed).permutation(len(texts))
        shuffled = [list(texts)[i] for i in order]
        starts = range(0, len(shuffled) - count + 1, count)
        sequences += [(picture, shuffled[start : start + count]) for start in starts]
    return sequences


def imitate(
    questioner: ModelQuestioner,
    sequences: Sequence[tuple[Picture, Sequence[str]]],
    folder: Path,
    settings: Imitate,
    seed: int,
) -> None:
    """Fine-tune a questioner in place on sequences of failures.

    Args:
        questioner: The model that learns.
        sequences: Pictures with the questions to write about them.
        folder: Scratch folder of the trainer.
        settings: How to train.
        seed: Seed of the order.

    Raises:
        Diverged: a loss, a gradient or a weight is not finite.
    """
    chat = [{"role": "user", "content": questioner.prompt()}]

    def row(index: int) -> dict[str, Any]:
        picture, texts = sequences[index]
        said = [{"role": "assistant", "content": questioner.join(texts)}]
        return {"prompt": chat, "completion": said, "images": [Image.fromarray(picture.load())]}

    trainer = SFTTrainer(
        model=questioner.model,
        args=SFTConfig(
            output_dir=str(folder),
            num_train_epochs=settings.epochs,
            per_device_train_batch_size=min(settings.batch, len(sequences)),
            learning_rate=settings.learning_rate,
            lr_scheduler_type="linear",
            warmup_steps=0,
            weight_decay=0.0,
            max_length=None,
            completion_only_loss=True,
            use_cpu=not torch.cuda.is_available(),
            bf16=has_bfloat16(),
            logging_nan_inf_filter=False,
            seed=seed,
            data_seed=seed,
            save_strategy="no",
            logging_steps=10,
            report_to=[],
            disable_tqdm=True,
            remove_unused_columns=False,
            dataset_kwargs={"skip_prepare_dataset": True},
        ),
        train_dataset=lazy_rows(len(sequences), row),
        processing_class=questioner.encoder.processor,
        callbacks=[StopDiverged(folder, "discover.imitate.learning_rate", questioner.can_speak)],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    questioner.model.eval()
