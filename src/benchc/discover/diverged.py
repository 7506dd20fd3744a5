"""Stops a training at the first number that is none, before anything of it is saved."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from transformers import TrainerCallback

from benchc.errors import BadInput

_WATCHED = ("loss", "grad_norm")


class Diverged(BadInput):
    """A loss, a gradient or a weight is not finite: nothing more can be learnt."""


class StopDiverged(TrainerCallback):
    """Raises `Diverged` behind the update that made a number infinite or none.

    The trainer saves behind it, so that no such checkpoint is ever written.
    """

    def __init__(self, folder: Path, setting: str, can_speak: Callable[[], bool]):
        """Take what is asked at each step, and what the message names.

        Args:
            folder: Where the training's checkpoints are.
            setting: What to lower.
            can_speak: Says whether the model gives every next token a finite logit: weights may be
                finite, and too large for that.
        """
        self.folder = folder
        self.setting = setting
        self.can_speak = can_speak

    def on_step_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Look at the weights that the update left."""
        if not all_finite(given["model"]):
            self._stop(state.global_step, "weights are not finite")
        if not self.can_speak():
            self._stop(state.global_step, "logits are not finite")

    def on_log(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Look at the loss and the gradient."""
        logs: dict[str, Any] = given["logs"]
        for name in _WATCHED:
            if name in logs and not math.isfinite(logs[name]):
                self._stop(state.global_step, f"{name} is {logs[name]}")

    def _stop(self, step: int, what: str) -> None:
        raise Diverged(
            f"{self.folder}: the training diverged in step {step} ({what}); nothing of that step "
            "is kept, and the same command goes on from the checkpoint before it, if there is one. "
            f"Lower `{self.setting}`"
        )


def all_finite(model: torch.nn.Module) -> bool:
    """Say whether all weights of a model that are trained are finite."""
    trained = (p for p in model.parameters() if p.requires_grad)
    return all(bool(torch.isfinite(weights).all()) for weights in trained)
