"""What the config says about a model; light to import.

Never loads anything.
"""

import re
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from benchc.fetch.origin import Origin, Request, request_for
from benchc.section import Section

KEY_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._-]*"

#: Names that Windows keeps for devices, whatever ending they have.
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)


def _safe_as_a_name(key: str) -> str:
    if _DEVICES.fullmatch(key) or key.endswith("."):
        raise ValueError("no file can have this name on Windows; take another key")
    return key


Key = Annotated[
    str,
    StringConstraints(pattern=rf"^{KEY_PATTERN}$", max_length=64),
    AfterValidator(_safe_as_a_name),
]

#: What loading reads of a hub's checkpoint; other formats of the same weights are left there.
CHECKPOINT_FILES = ("*.json", "*.safetensors", "*.jinja", "*.model", "*.txt")


class Asked(Section):
    """How a model is asked and its answer read, whatever runs it."""

    #: Settings that make inference faster or place it elsewhere, and change no result.
    speed: ClassVar[frozenset[str]] = frozenset({"shards"})
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

    @property
    def places(self) -> tuple[str, ...]:
        """The settings that are paths: what lies there counts by its content."""
        return ()

    def request(self) -> Request | None:
        """What has to be fetched before the model can be asked, if anything."""
        return None

    def result_settings(self) -> dict[str, object]:
        """The settings that can change a prediction, for fingerprints."""
        return self.model_dump(mode="json", exclude={*self.speed, *self.places})

    def checkpoint_files(self, project: Path) -> list[Path]:
        """The files that decide predictions by their content, sorted; none for a hub or server."""
        return []


class TransformersModel(Origin, Asked):
    """A checkpoint that the transformers library loads, from a folder or the hub."""

    speed: ClassVar[frozenset[str]] = frozenset({"shards", "batch_size", "device", "url"})

    backend: Literal["transformers"] = Field(
        default="transformers", description="What runs the model."
    )
    path: str | None = Field(
        default=None,
        description="Folder of a checkpoint, relative to the folder of the Snakefile; "
        "of a fetched one, where it lies in what was fetched, if not at the top.",
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
        if self.path is None and not self.is_fetched:
            raise ValueError(
                "give `path` (a folder), `hub_id` with `revision`, or `url` with its checksum"
            )
        if self.chat_template is not None and self.prompt_style == "plain":
            raise ValueError("`prompt_style: plain` uses no chat template; leave one of them out")
        return self

    @property
    def weights(self) -> str:
        """The folder or hub id that the loaders take."""
        return self.path or self.hub_id or ""

    @property
    def places(self) -> tuple[str, ...]:
        """The settings that are paths; where something fetched lies is not one of the user's."""
        return ("chat_template",) if self.is_fetched else ("path", "chat_template")

    def request(self) -> Request | None:
        """What has to be fetched before it can be loaded, if anything."""
        code = ("*.py",) if self.remote_code else ()
        return request_for(self, "model", CHECKPOINT_FILES + code)

    def at_commit(self, commit: str | None) -> "TransformersModel":
        """The same model at the commit that its branch was resolved to."""
        return self.model_copy(update={"revision": commit})

    def lying_in(self, folder: Path) -> "TransformersModel":
        """The same model for a loader, which takes a folder."""
        nowhere = {"hub_id": None, "revision": None, "url": None}
        return self.model_copy(update={**nowhere, "path": str(folder)})

    def checkpoint_files(self, project: Path) -> list[Path]:
        """The files of a checkpoint folder that loading reads, and the template given for it."""
        endings = {".json", ".safetensors", ".jinja", ".model", ".txt", ".bin"}
        found = []
        if self.path is not None and not self.is_fetched:
            folder = project / self.path
            found += [f for f in folder.iterdir() if f.suffix in endings and f.is_file()]
        if self.chat_template is not None:
            found.append(project / self.chat_template)
        return sorted(found)


Model = TransformersModel
