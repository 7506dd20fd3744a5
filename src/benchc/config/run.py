"""The config of a run, typed: every key, its meaning, its default; unknown keys are refused.

Paths stay as they are written.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from benchc.config import prompts, yaml_text
from benchc.config.checked import checked, nearest
from benchc.config.corruptions import CORRUPTIONS
from benchc.config.discovery import Discover
from benchc.config.models import Model
from benchc.config.origin import Origin, Request, request_for
from benchc.config.plugins import Plugin, PluginName
from benchc.config.section import Key, Section
from benchc.config.sources import DrawnSource, Source
from benchc.errors import BadInput
from benchc.tables import SAMPLES, SHIFTS

CORRUPTION_NAMES = tuple(CORRUPTIONS)

#: What open_clip reads of a hub's checkpoint.
CLIP_FILES = ("*.json", "*.txt", "open_clip_model.safetensors")


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
    plugins: dict[PluginName, Plugin] = Field(
        default={}, description="Corruptions of your own, by name: [how](corruptions.md#your-own)."
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

    impurity: Literal["normalised", "raw"] = Field(
        default="normalised",
        description="Which mean Gini impurity decides: divided by the largest that a question with "
        "as many options can have, or raw, as in the method's source.",
    )
    impurity_above: float = Field(
        default=0.22, ge=0, le=1, description="Keep samples whose impurity is above."
    )
    image_cosine_limit: float = Field(
        default=0.95, ge=-1, le=1, description="From here on two pictures count as alike."
    )
    text_cosine_limit: float = Field(
        default=0.95, ge=-1, le=1, description="From here on two questions count as alike."
    )
    stratify: Literal["benchmark"] | None = Field(
        default="benchmark",
        description="benchmark: each benchmark gets its share of the pool, and the threshold "
        "decides the number alone. null: the threshold decides everything, as in the source.",
    )
    cap: int | None = Field(default=None, ge=1, description="Stop after so many samples.")


#: What every run crosses by, or every sample has: an own column of such a name is not read.
_FIXED = {*SAMPLES.schema, *SHIFTS.schema, "corruption_group", "scope", "crossing", "class", "part"}


class Diagnose(Section):
    """What the database holds besides what every run has."""

    columns: tuple[str, ...] = Field(
        default=(),
        description="Own columns of the sources, such as `difficulty`, by whose values the "
        "measures are taken too, over all corruptions and by their groups: "
        "[how to ask](queries.md#does-it-depend-on-a-column-of-my-own).",
    )

    @field_validator("columns")
    @classmethod
    def _are_own(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if name in _FIXED:
                raise ValueError(
                    f"{name!r} is a column of every run, and no own column is found under it; "
                    "rename that one in its source"
                )
        if len(set(names)) < len(names):
            raise ValueError("a column occurs twice")
        return names


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
    corruptions: tuple[str, ...] = Field(
        default=CORRUPTION_NAMES,
        min_length=1,
        description="Names; all by default, those in `corrupt.plugins` too.",
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
    headline: Literal["selection", "pool"] = Field(
        default="selection",
        description="What the verdicts and the report are about first: `selection`, the samples "
        "that were chosen, or `pool`, all samples, which every model is then asked. Where all "
        "sources are folders of your own pictures, `pool` is the default.",
    )
    limit: Annotated[int, BeforeValidator(_number), Field(ge=1, strict=True)] | None = Field(
        default=None,
        description="For a trial: at most so many samples, spread over the sources, of which every "
        "one with any impurity is kept; in a folder of its own, `limit-N`.",
    )
    corrupt: Corrupt = Corrupt()
    embed: Embed = Embed()
    select: Select = Select()
    infer: Infer = Infer()
    diagnose: Diagnose = Diagnose()
    discover: Discover = Discover()

    @model_validator(mode="before")
    @classmethod
    def _all_select(cls, values: Any) -> Any:
        if isinstance(values, dict) and not values.get("selectors"):
            models = values.get("models")
            keys = tuple(map(str, models)) if isinstance(models, dict) else ()
            return {**values, "selectors": keys}
        return values

    @model_validator(mode="before")
    @classmethod
    def _own_pictures_are_all_meant(cls, values: Any) -> Any:
        sources = values.get("sources") if isinstance(values, dict) else None
        if not isinstance(sources, dict) or "headline" in values:
            return values
        own = [isinstance(spec, dict) and spec.get("kind") == "folder" for spec in sources.values()]
        return {**values, "headline": "pool"} if all(own) else values

    @model_validator(mode="before")
    @classmethod
    def _plugins_are_among_all(cls, values: Any) -> Any:
        corrupt = values.get("corrupt") if isinstance(values, dict) else None
        plugins = corrupt.get("plugins") if isinstance(corrupt, dict) else None
        if not isinstance(plugins, dict) or "corruptions" in values:
            return values
        return {**values, "corruptions": (*CORRUPTION_NAMES, *map(str, plugins))}

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
        names = (*CORRUPTION_NAMES, *self.corrupt.plugins)
        for name in self.corruptions:
            if name not in names:
                raise ValueError(f"corruptions: unknown value {name!r}{nearest(name, names)}")
        corruption = self.discover.corruption
        if corruption is not None and corruption not in names:
            raise ValueError(f"discover.corruption: {corruption!r}{nearest(corruption, names)}")
        for name in ("selectors", "leave_out", "corruptions", "severities"):
            values = getattr(self, name)
            if len(set(values)) < len(values):
                raise ValueError(f"{name}: a value occurs twice")
        if self.limit is not None and self.limit < len(self.sources):
            raise ValueError(
                f"limit: {self.limit} samples are not one for each of {len(self.sources)} sources"
            )
        if list(self.severities) != sorted(self.severities):
            raise ValueError("severities: list them from low to high")
        return self

    def limited(self) -> "Config":
        """Return this config with what `limit` asks for as settings of its sources."""
        if self.limit is None:
            return self
        each, more = divmod(self.limit, len(self.sources))
        sources = {}
        for number, (key, spec) in enumerate(self.sources.items()):
            share = each + (number < more)
            if isinstance(spec, DrawnSource):
                changed = {"samples": min(spec.samples, share)}
            else:
                changed = {"limit": min(spec.limit or share, share)}
            sources[key] = spec.model_copy(update=changed)
        select = self.select.model_copy(update={"impurity_above": 0.0, "stratify": None})
        return self.model_copy(update={"sources": sources, "select": select})

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
    for name, plugin in config.corrupt.plugins.items():
        if not (project / plugin.file).is_file():
            raise BadInput(
                f"config: corrupt.plugins.{name}.file: {plugin.file} is no file; relative paths "
                f"count from {project}"
            )
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
    for name, (role, prompt) in discover.prompts.items():
        place = prompt if not prompts.is_file(prompt) else str(project / prompt)
        try:
            prompts.check(role, place)
        except BadInput as error:
            raise BadInput(f"config: discover.{name}: {error}") from None
    if discover.images is not None and not (project / discover.images).is_dir():
        raise BadInput(
            f"config: discover.images: {discover.images} is no folder; relative paths count from "
            f"{project}"
        )
