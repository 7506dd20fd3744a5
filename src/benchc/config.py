"""The config of a run, typed: every key, its meaning, its default; unknown keys are refused.

Never reads the network or loads a model; paths stay as they are written.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from benchc import yaml_text
from benchc.checked import checked, nearest
from benchc.discover.settings import Discover
from benchc.errors import BadInput
from benchc.fetch.origin import Origin, Request, request_for
from benchc.infer.settings import Model
from benchc.pool.specs import DrawnSource, Source
from benchc.section import Key, Section

CORRUPTION_NAMES = (
    "gaussian_noise",
    "shot_noise",
    "impulse_noise",
    "speckle_noise",
    "defocus_blur",
    "glass_blur",
    "motion_blur",
    "zoom_blur",
    "gaussian_blur",
    "snow",
    "frost",
    "fog",
    "spatter",
    "elastic_transform",
    "pixelate",
    "jpeg_compression",
    "brightness",
    "contrast",
    "saturate",
)

#: What open_clip reads of a hub's checkpoint.
CLIP_FILES = ("*.json", "*.txt", "open_clip_model.safetensors")

Corruption = Literal[CORRUPTION_NAMES]  # type: ignore[valid-type]


def _number(value: Any) -> Any:
    """Turn digits into a number: Snakemake hands the lists of --config over as texts."""
    return int(value) if isinstance(value, str) and value.isdigit() else value


Severity = Annotated[int, BeforeValidator(_number), Field(ge=1, le=5, strict=True)]


class Corrupt(Section):
    """How pictures are corrupted."""

    reference_side: int | None = Field(
        default=None,
        ge=1,
        description="Scale blurs that are given in pixels by (shorter side / this); "
        "left out, they are the same number of pixels on every picture, as in ImageNet-C.",
    )
    store: Literal["png", "webp"] | None = Field(
        default=None, description="Keep corrupted pictures too, losslessly."
    )


class Embed(Origin):
    """The CLIP model behind the diversity of the selection."""

    model: str = Field(
        default="reference/clip",
        description="A folder with open_clip_config.json, or an open_clip architecture.",
    )
    pretrained: str | None = Field(
        default=None, description="The weights of an open_clip architecture: a file or a tag."
    )

    @model_validator(mode="after")
    def _one_model(self) -> "Embed":
        if self.is_fetched and self.model_fields_set & {"model", "pretrained"}:
            raise ValueError("give either `model`, or where to fetch one")
        return self

    def request(self) -> Request | None:
        """What has to be fetched before it can be loaded, if anything."""
        return request_for(self, "model", CLIP_FILES)


class Select(Section):
    """Which samples of the pool make the benchmark."""

    impurity_above: float = Field(
        default=0.10, ge=0, le=1, description="Keep samples whose mean Gini impurity is above."
    )
    image_cosine_limit: float = Field(
        default=0.95, ge=-1, le=1, description="From here on two pictures count as alike."
    )
    text_cosine_limit: float = Field(
        default=0.95, ge=-1, le=1, description="From here on two questions count as alike."
    )
    cap: int | None = Field(default=None, ge=1, description="Stop after so many samples.")


class Infer(Section):
    """How models are run; none of it belongs to a model."""

    threads: int = Field(
        default=1, ge=1, description="CPU threads of one model; independent of --cores."
    )
    workers: int = Field(
        default=1,
        ge=0,
        description="Processes that corrupt pictures ahead of each model; 0 for none.",
    )


class Config(Section):
    """One run from pool to report."""

    seed: int = Field(default=1, ge=0, description="Seed of every random draw.")
    sources: dict[Key, Source] = Field(min_length=1, description="Where samples come from.")
    corruptions: tuple[Corruption, ...] = Field(
        default=CORRUPTION_NAMES, min_length=1, description="Names; all nineteen by default."
    )
    severities: tuple[Severity, ...] = Field(
        default=(1, 2, 3, 4, 5), min_length=1, description="Ascending, from 1 to 5."
    )
    models: dict[Key, Model] = Field(min_length=1, description="The models under test, by key.")
    selectors: tuple[Key, ...] = Field(
        default=(),
        description="Models whose answers choose the benchmark; all models where none is named. "
        "Any other model is run on the chosen samples only.",
    )
    leave_out: tuple[Key, ...] = Field(
        default=(),
        description="Models that this run goes on without, for instance one that fails; "
        "the table `model_status` names them.",
    )
    corrupt: Corrupt = Corrupt()
    embed: Embed = Embed()
    select: Select = Select()
    infer: Infer = Infer()
    discover: Discover = Discover()

    @model_validator(mode="before")
    @classmethod
    def _all_select(cls, values: Any) -> Any:
        if isinstance(values, dict) and not values.get("selectors"):
            models = values.get("models")
            keys = tuple(map(str, models)) if isinstance(models, dict) else ()
            return {**values, "selectors": keys}
        return values

    @model_validator(mode="after")
    def _consistent(self) -> "Config":
        for name, keys in (("models", self.models), ("sources", self.sources)):
            lowered: dict[str, str] = {}
            for key in keys:
                other = lowered.setdefault(key.lower(), key)
                if other != key:
                    raise ValueError(
                        f"{name}: keys {other!r} and {key!r} are one file on some disks; rename one"
                    )
        chosen: dict[str, tuple[str, ...]] = {
            "selectors": self.selectors,
            "leave_out": self.leave_out,
            "discover.full": self.discover.full,
            "discover.brief": self.discover.brief,
        }
        for name, chosen_keys in chosen.items():
            for key in chosen_keys:
                if key not in self.models:
                    raise ValueError(f"{name}: {key!r} is not in models{nearest(key, self.models)}")
        if set(self.selectors) <= set(self.leave_out):
            raise ValueError("leave_out: no selector is left; name another one in `selectors`")
        corruption = self.discover.corruption
        if corruption is not None and corruption not in CORRUPTION_NAMES:
            raise ValueError(
                f"discover.corruption: {corruption!r}{nearest(corruption, CORRUPTION_NAMES)}"
            )
        for name in ("selectors", "leave_out", "corruptions", "severities"):
            values = getattr(self, name)
            if len(set(values)) < len(values):
                raise ValueError(f"{name}: a value occurs twice")
        if list(self.severities) != sorted(self.severities):
            raise ValueError("severities: list them from low to high")
        return self

    def without_left_out(self) -> "Config":
        """Return this config without the models in `leave_out`."""
        models = {key: m for key, m in self.models.items() if key not in self.leave_out}
        selectors, full, brief = (
            tuple(key for key in keys if key in models)
            for keys in (self.selectors, self.discover.full, self.discover.brief)
        )
        discover = self.discover.model_copy(update={"full": full, "brief": brief})
        return self.model_copy(
            update={"models": models, "selectors": selectors, "discover": discover}
        )


def read_config(values: Mapping[str, Any], project: Path, files: Iterable[Path] = ()) -> Config:
    """Check a config and return it typed.

    Args:
        values: The keys of a run; top-level keys that are missing come from the project's own
            `config.yaml`. Where `models` is given, the default `selectors` and `discover` do not
            apply.
        project: The folder of the Snakefile, from which relative paths count.
        files: The YAML files that `values` come from: whoever read them took the last of two
            equal keys, so they are looked through for such keys.

    Raises:
        BadInput: a key is given twice, unknown, misspelt, of the wrong type or out of range, or a
            path does not exist; the line names the key and the way out.
    """
    for file in files:
        if file.suffix in (".yaml", ".yml"):
            yaml_text.load(file.read_text(encoding="utf-8"), str(file))
    own = project / "config.yaml"
    try:
        defaults = yaml_text.load(own.read_text(encoding="utf-8"), str(own))
    except OSError as error:
        raise BadInput(
            f"{own}: {error.strerror}; work in the folder of the Snakefile, or give it as --project"
        ) from None
    if "models" in values:
        defaults.pop("selectors", None)
        defaults.pop("discover", None)
    config: Config = checked(Config, {**defaults, **values}, "config")
    _check_paths(config, project)
    return config


def _check_paths(config: Config, project: Path) -> None:
    embed = config.embed
    here = (project / embed.model).is_dir() or embed.pretrained is not None
    if not embed.is_fetched and not here:
        raise BadInput(
            f"config: embed.model: {embed.model} is no folder; if it is an architecture of "
            "open_clip, name its weights in embed.pretrained"
        )
    for key, model in config.models.items():
        path = getattr(model, "path", None) if "path" in model.places else None
        if path is not None and not (project / path / "config.json").is_file():
            raise BadInput(
                f"config: models.{key}.path: {path} holds no checkpoint (no config.json); "
                f"relative paths count from {project}"
            )
        for name in model.places:
            path = getattr(model, name)
            if path is not None and not (project / path).exists():
                raise BadInput(
                    f"config: models.{key}.{name}: {path} does not exist; "
                    f"relative paths count from {project}"
                )
    _check_discovery(config.discover, project)
    for key, source in config.sources.items():
        if isinstance(source, DrawnSource) or source.is_fetched:
            continue
        if not (project / source.path).exists():
            raise BadInput(
                f"config: sources.{key}.path: {source.path} does not exist; "
                f"relative paths count from {project}"
            )


def _check_discovery(discover: Discover, project: Path) -> None:
    if not discover.full and not discover.brief:
        return
    if not (project / discover.questioner.path / "config.json").is_file():
        raise BadInput(
            f"config: discover.questioner.path: {discover.questioner.path} holds no checkpoint (no "
            f"config.json); relative paths count from {project}"
        )
    if discover.images is not None and not (project / discover.images).is_dir():
        raise BadInput(
            f"config: discover.images: {discover.images} is no folder; relative paths count from "
            f"{project}"
        )
