"""What the config says about a model; light to import.

Never loads anything.
"""

import re
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

KEY_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._-]*"

Key = Annotated[str, StringConstraints(pattern=rf"^{KEY_PATTERN}$", max_length=64)]


class Asked(BaseModel):
    """How a model is asked and its answer read, whatever runs it."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=())

    #: Settings that make inference faster or place it elsewhere, and change no result.
    speed: ClassVar[frozenset[str]] = frozenset({"shards"})
    #: Settings that are paths: what lies there counts by its content.
    places: ClassVar[tuple[str, ...]] = ()

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
    shards: int = Field(
        default=1, ge=1, description="Jobs that share the model's questions; one a GPU."
    )

    def result_settings(self) -> dict[str, object]:
        """The settings that can change a prediction, for fingerprints."""
        return self.model_dump(exclude={*self.speed, *self.places})

    def checkpoint_files(self, project: Path) -> list[Path]:
        """The files that decide predictions by their content, sorted; none for a hub or server."""
        return []


class TransformersModel(Asked):
    """A checkpoint that the transformers library loads, from a folder or the hub."""

    speed: ClassVar[frozenset[str]] = frozenset({"shards", "batch_size", "device"})
    places: ClassVar[tuple[str, ...]] = ("path", "chat_template")

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
    chat_template: str | None = Field(
        default=None,
        description="A Jinja file in place of the checkpoint's own chat template.",
    )
    prompt_style: Literal["chat", "plain"] = Field(
        default="chat",
        description="chat: through the chat template. plain: the picture, then the words and "
        "nothing else, for a base model.",
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
    processor: dict[str, bool | int | float | str | dict[str, int]] = Field(
        default={},
        description="Settings of the model's image processor in place of its own, for instance "
        "{size: {shortest_edge: 3136, longest_edge: 1003520}}, the pixel limits of Qwen's.",
    )
    remote_code: bool = Field(
        default=False, description="Run code that the checkpoint brings. Read it first."
    )
    batch_size: Annotated[int, Field(ge=1)] | Literal["auto"] = Field(
        default="auto",
        description="Prompts in one forward pass; auto is 64 on a CPU and the largest that fits "
        "on a GPU.",
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        default="auto", description="Where the model runs; auto takes a GPU if there is one."
    )

    @model_validator(mode="after")
    def _one_place(self) -> "TransformersModel":
        if (self.path is None) == (self.hub_id is None):
            raise ValueError("give either `path` (a folder) or `hub_id` with `revision`")
        if self.hub_id is not None:
            if self.revision is None:
                raise ValueError("`hub_id` needs `revision`: 40 hexadecimal digits, quoted")
            if not re.fullmatch(r"[0-9a-f]{40}", self.revision):
                raise ValueError(
                    f"revision {self.revision!r} is not a commit: give its 40 hexadecimal digits"
                )
        if self.chat_template is not None and self.prompt_style == "plain":
            raise ValueError("`prompt_style: plain` uses no chat template; leave one of them out")
        return self

    @property
    def weights(self) -> str:
        """The folder or hub id that the loaders take."""
        return self.path or self.hub_id or ""

    def checkpoint_files(self, project: Path) -> list[Path]:
        """The files of a checkpoint folder that loading reads, and the template given for it."""
        endings = {".json", ".safetensors", ".jinja", ".model", ".txt", ".bin"}
        found = []
        if self.path is not None:
            folder = project / self.path
            found += [f for f in folder.iterdir() if f.suffix in endings and f.is_file()]
        if self.chat_template is not None:
            found.append(project / self.chat_template)
        return sorted(found)


Model = TransformersModel
