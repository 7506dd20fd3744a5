"""What the config says about failure discovery; light to import.

Never loads anything.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Questioner(_Section):
    """The model that asks."""

    path: str = Field(
        default="reference/questioner", description="Folder of the base questioner's checkpoint."
    )
    prompt: Literal["questioner", "questioner_drawn"] = Field(
        default="questioner_drawn", description="Which packaged prompt asks for questions."
    )
    questions: int = Field(default=4, ge=1, description="Questions in one sequence.")
    max_tokens: int = Field(
        default=72, ge=4, description="Longest sequence; a question cut off by it is invalid."
    )
    temperature: float = Field(default=1.0, gt=0, description="Of the sampling.")
    separator: str = Field(default=" ", description="Between the questions of a sequence.")


class Reinforce(_Section):
    """Reinforcement learning of the questioner."""

    steps: int = Field(default=120, ge=1, description="Updates of the weights.")
    pictures: int = Field(default=8, ge=1, description="Pictures a step.")
    group: int = Field(
        default=8, ge=2, description="Sequences a picture, whose rewards are compared."
    )
    learning_rate: float = Field(default=3e-4, gt=0, description="Of AdamW.")
    warmup: int = Field(default=5, ge=0, description="Steps until the full learning rate.")
    kl: float = Field(default=0.02, ge=0, description="Weight of the KL divergence to the base.")
    memory: int = Field(default=256, ge=0, description="Newest failures that are remembered.")
    penalty: float = Field(default=0.5, ge=0, description="What an invalid question costs.")
    diversity: bool = Field(default=True, description="Whether the diversity term counts.")
    patience: int = Field(
        default=10, ge=1, description="Steps with equal rewards in every group before a stop."
    )
    validate_every: int = Field(default=20, ge=1, description="Steps between held-out measures.")
    checkpoint_every: int = Field(default=20, ge=1, description="Steps between checkpoints.")


class Imitate(_Section):
    """Supervised fine-tuning of the questioner on failures that it found."""

    epochs: int = Field(default=2, ge=1, description="Passes over the failures.")
    batch: int = Field(default=32, ge=1, description="Sequences a step.")
    learning_rate: float = Field(default=3e-4, gt=0, description="Of AdamW.")
