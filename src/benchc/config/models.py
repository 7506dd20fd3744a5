"""What the config says about a model; light to import."""

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    Discriminator,
    Field,
    JsonValue,
    Tag,
    field_validator,
    model_validator,
)

from benchc.config import checkpoint
from benchc.config.origin import Origin, Request, request_for
from benchc.config.section import Section, ServerAddress, Variable
from benchc.errors import BadInput

#: What loading reads of a hub's checkpoint; other formats of the same weights are left there.
CHECKPOINT_FILES = ("*.json", "*.safetensors", "*.jinja", "*.model", "*.txt")


class ModelSettings(Section):
    """How a model is asked and its answer read, whatever runs it."""

    #: Settings that make inference faster, place it elsewhere or forbid it, and change no result.
    speed: ClassVar[frozenset[str]] = frozenset({"shards", "least_option_mass"})
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
    least_option_mass: float = Field(
        default=0.1,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="Refuse the model where the options' letters hold less of the probability in "
        "the median of a few trial questions; 0 allows all.",
    )
    shards: int = Field(
        default=1, ge=1, description="Jobs that share the model's questions; one per GPU."
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


class TransformersModel(Origin, ModelSettings):
    """A checkpoint that the transformers library loads, from a folder or the hub."""

    speed: ClassVar[frozenset[str]] = frozenset(
        {"shards", "least_option_mass", "batch_size", "device", "url", "query_variable", "size"}
    )

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
    date: datetime.date = Field(
        default=datetime.date(2026, 1, 1),
        description="The day that a chat template which writes today's date is told.",
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
        nowhere = dict.fromkeys(("hub_id", "revision", "url", "query_variable", "size"))
        return self.model_copy(update={**nowhere, "path": str(folder)})

    def checkpoint_files(self, project: Path) -> list[Path]:
        """The files of a checkpoint folder that loading reads, and the template given for it.

        Raises:
            BadInput: there is no such folder, or it takes weights or code from elsewhere.
        """
        found = []
        if self.path is not None and not self.is_fetched:
            folder = project / self.path
            if not folder.is_dir():
                raise BadInput(f"{folder}: no such folder; `path` names that of a checkpoint")
            found += checkpoint.files(folder)
        if self.chat_template is not None:
            found.append(project / self.chat_template)
        return sorted(found)


class OpenAIModel(ModelSettings):
    """A model behind a server that speaks the OpenAI chat-completions protocol."""

    speed: ClassVar[frozenset[str]] = frozenset(
        {"shards", "least_option_mass", "url", "key_variable", "concurrency", "timeout", "retries"}
    )

    backend: Literal["openai"] = Field(description="What runs the model.")
    url: ServerAddress = Field(
        description="Where the server is, for instance http://localhost:8000/v1."
    )
    model: str = Field(min_length=1, description="The name the server knows the model by.")
    revision: str | None = Field(
        default=None,
        description="What tells these weights from others of that name: a commit, a checksum. "
        "Change it and every question is asked again.",
    )
    key_variable: Variable | None = Field(
        default=None,
        description="The environment variable that holds the server's key; none for no key.",
    )
    label_prefix: Literal["", " "] = Field(
        default="",
        description="What the model writes before an option's letter; a space where the chat "
        "template ends in none.",
    )
    top_logprobs: int = Field(
        default=20, ge=2, description="Next tokens to ask for; more finds rarer letters."
    )
    extra_body: dict[str, JsonValue] = Field(
        default={},
        description="Further fields of each request, for instance "
        "`{chat_template_kwargs: {enable_thinking: false}}`.",
    )
    concurrency: int = Field(default=8, ge=1, description="Requests on their way at once.")
    timeout: float = Field(
        default=120, gt=0, allow_inf_nan=False, description="Seconds to wait for one answer."
    )
    retries: int = Field(
        default=8, ge=0, description="Further tries of a request that failed, ever later."
    )

    @field_validator("scoring")
    @classmethod
    def _letters_only(cls, scoring: str) -> str:
        if scoring == "text":
            raise ValueError("a server tells the next token alone; use `scoring: letter`")
        return scoring

    @field_validator("extra_body")
    @classmethod
    def _only_further_fields(cls, extra: dict[str, JsonValue]) -> dict[str, JsonValue]:
        taken = sorted(extra.keys() & REQUEST_FIELDS)
        if taken:
            raise ValueError(f"{', '.join(taken)}: set by benchc itself; leave it out")
        secret = next(_credentials(extra), None)
        if secret is not None:
            raise ValueError(
                f"{secret}: a key in a config would be shown in logs and tables; name the variable "
                "that holds it in `key_variable`"
            )
        return extra


@dataclass(frozen=True)
class BackendModule:
    """What runs a model.

    Attributes:
        module: Has `load(settings, threads, shard) -> benchc.models.scores.Backend`.
        libraries: Packages whose versions can change a prediction.
        one_by_one: Whether it is a `benchc.models.scores.OneByOne`, whose answers are kept
            question by question.
    """

    module: str
    libraries: tuple[str, ...]
    one_by_one: bool = False


BACKENDS = {
    "transformers": BackendModule(
        "benchc.models.transformers_backend",
        ("torch", "torchvision", "transformers", "tokenizers", "pillow", "numpy"),
    ),
    "openai": BackendModule("benchc.models.openai_backend", (), one_by_one=True),
}

#: What each request to a server says in any case.
REQUEST_FIELDS = frozenset(
    {"model", "messages", "max_tokens", "temperature", "top_p", "n", "stream"}
    | {"logprobs", "top_logprobs"}
)


_CREDENTIAL = re.compile(
    r"(x[-_])?(api[-_]?key|authori[sz]ation|(access|auth|bearer|secret)[-_]?(token|key)|token|password|secret)",
    re.IGNORECASE,
)


def _credentials(value: JsonValue) -> Iterator[str]:
    """Yield the names, at any depth, under which a key would stand."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if _CREDENTIAL.fullmatch(name):
                yield name
            yield from _credentials(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _credentials(inner)


def _backend(values: Any) -> str:
    if isinstance(values, dict):
        return str(values.get("backend", "transformers"))
    return str(getattr(values, "backend", "transformers"))


#: A model of any backend, told apart by its `backend`.
Model = Annotated[
    Annotated[TransformersModel, Tag("transformers")] | Annotated[OpenAIModel, Tag("openai")],
    Discriminator(
        _backend,
        custom_error_type="unknown_backend",
        custom_error_message="backend is `transformers` or `openai`",
    ),
]
