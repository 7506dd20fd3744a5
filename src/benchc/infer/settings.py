"""What the config says about a model; light to import.

Never loads anything.
"""

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

KEY_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._-]*"

Key = Annotated[str, StringConstraints(pattern=rf"^{KEY_PATTERN}$", max_length=64)]

#: Settings that make inference faster or place it elsewhere, and change no result.
SPEED_SETTINGS = frozenset({"batch_size", "device"})


class Model(BaseModel):
    """One model under test: where its weights are and how its answers are read."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=())

    backend: Literal["transformers"] = Field(
        default="transformers", description="What runs the model."
    )
    path: str | None = Field(
        default=None,
        description="Folder of a checkpoint, relative to the folder of the Snakefile.",
    )
    hub_id: str | None = Field(
        default=None, description="Model on the Hugging Face hub, for instance org/name."
    )
    revision: str | None = Field(
        default=None, description="The hub commit, 40 hexadecimal digits; a branch moves."
    )
    scoring: Literal["letter", "text"] = Field(
        default="letter",
        description="Read the option's letter, or the log-likelihood of the option's text.",
    )
    instruction: str = Field(
        default="Answer with the option's letter from the given choices directly.",
        description="Last line of the prompt; empty for none.",
    )
    temperature: float = Field(
        default=1.0,
        gt=0,
        allow_inf_nan=False,
        description="Logits are divided by this before the softmax.",
    )
    dtype: Literal["float32", "bfloat16", "float16"] = Field(
        default="float32", description="Precision of the weights."
    )
    attention: Literal["eager", "sdpa", "flash_attention_2"] = Field(
        default="sdpa", description="Attention implementation; it changes the last digits."
    )
    image_backend: Literal["torchvision", "pil"] = Field(
        default="torchvision", description="What resizes pictures; it changes the last digits."
    )
    remote_code: bool = Field(
        default=False, description="Run code that the checkpoint brings. Read it first."
    )
    batch_size: int = Field(default=64, ge=1, description="Prompts in one forward pass.")
    device: Literal["auto", "cpu", "cuda"] = Field(
        default="auto", description="Where the model runs; auto takes a GPU if there is one."
    )

    @model_validator(mode="after")
    def _one_place(self) -> "Model":
        if (self.path is None) == (self.hub_id is None):
            raise ValueError("give either `path` (a folder) or `hub_id` with `revision`")
        if self.hub_id is not None:
            if self.revision is None:
                raise ValueError("`hub_id` needs `revision`: 40 hexadecimal digits, quoted")
            if not re.fullmatch(r"[0-9a-f]{40}", self.revision):
                raise ValueError(
                    f"revision {self.revision!r} is not a commit: give its 40 hexadecimal digits"
                )
        return self

    @property
    def weights(self) -> str:
        """The folder or hub id that the loaders take."""
        return self.path or self.hub_id or ""

    def result_settings(self) -> dict[str, object]:
        """The settings that can change a prediction, for fingerprints."""
        return self.model_dump(exclude=set(SPEED_SETTINGS))

    def checkpoint_files(self, folder: Path) -> list[Path]:
        """The files of a checkpoint folder that loading reads, sorted by name."""
        endings = {".json", ".safetensors", ".jinja", ".model", ".txt", ".bin"}
        return sorted(f for f in folder.iterdir() if f.suffix in endings and f.is_file())
