"""What the rules ask of a run: its config, its paths, its fingerprints.

Never imports Snakemake, and never runs a stage.
"""

import json
import os
import re
import shlex
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from benchc import fingerprint, gpus
from benchc.config import Config, Embed, read_config
from benchc.discover.plan import DiscoveryPlan
from benchc.fetch.origin import Origin, Request
from benchc.infer.backends import KINDS
from benchc.infer.settings import Model
from benchc.options import options
from benchc.pool.specs import DrawnSource, Source

#: The code behind each stage's results; what only shows or moves them is left out.
_CODE = {
    "pool": ("benchc.pool.command:source", "benchc.pool.command:merge"),
    "embed": ("benchc.embed.clip:embed_samples", "benchc.embed.command:samples"),
    "infer": (
        "benchc.infer.command:predict",
        *(kind.module for kind in KINDS.values()),
    ),
    "infer_merge": ("benchc.infer.command:merge",),
    "select": ("benchc.select.command:build",),
    "diagnose": ("benchc.diagnose.command:model", "benchc.diagnose.command:build"),
    "report": ("benchc.report.command:build",),
    "discover_play": ("benchc.discover.command:play",),
    "discover_taxonomy": ("benchc.discover.command:taxonomy",),
    "discover_measure": ("benchc.discover.command:measure",),
    "discover_database": ("benchc.discover.command:build",),
    "discover_report": ("benchc.discover.command:report",),
}

#: What decides no result, or is known otherwise: a corruption's code has a fingerprint of its own,
#: its pixels are checked by hash, and settings are parameters of the rules.
_NOT_FOLLOWED = (
    *fingerprint.SETTINGS,
    "benchc.cli",
    "benchc.corrupt",
    "benchc.corrupt.selftest",
    "benchc.fingerprint",
    "benchc.gpus",
    "benchc.locks",
)

#: The files of the package, besides code, that a stage's results depend on.
_DATA = {
    "diagnose": ("diagnose/sql/**/*.sql",),
    "report": ("report/sql/*.sql", "report/templates/*"),
    "discover_play": ("discover/prompts/*.j2",),
    "discover_taxonomy": ("discover/*.csv",),
    "discover_database": ("discover/sql/*.sql",),
    "discover_report": (
        "discover/sql/page/*.sql",
        "discover/templates/*",
        "report/templates/page.css",
    ),
}


class Workflow:
    """A checked config, with what rules need to know of it."""

    def __init__(
        self,
        values: Mapping[str, Any],
        project: str,
        files: Iterable[str] = (),
        results: str = "results",
    ):
        """Check the config.

        Args:
            values: See `read_config`.
            project: The folder of the Snakefile.
            files: See `read_config`.
            results: Where rules write, as the working directory sees it: inside another workflow
                it has that one's prefix. In what rules are given, Snakemake puts the prefix
                itself.

        Raises:
            BadInput: see `read_config`.
        """
        self.project = Path(project)
        self.results = Path(results)
        whole = read_config(values, self.project, map(Path, files))
        self.config: Config = whole.without_left_out()
        self.discovery = DiscoveryPlan(self)

    def is_read_only(self) -> bool:
        """Return whether the results of the working directory must not be written."""
        return self.results.exists() and not os.access(self.results, os.W_OK)

    def each_model(self, pattern: str) -> list[str]:
        """Return `pattern` for every model."""
        return [pattern.format(model=key) for key in self.config.models]

    def each_selector(self, pattern: str) -> list[str]:
        """Return `pattern` for every selector."""
        return [pattern.format(model=key) for key in self.config.selectors]

    def each_source(self, pattern: str) -> list[str]:
        """Return `pattern` for every source, in the order of the config."""
        return [pattern.format(source=key) for key in self.config.sources]

    def each_corruption(self, pattern: str) -> list[str]:
        """Return `pattern` for every corruption."""
        return [pattern.format(corruption=name) for name in self.config.corruptions]

    def whole(self, keys: Iterable[str]) -> list[str]:
        """Return those of some models that one job asks."""
        return [key for key in keys if self.config.models[key].shards == 1]

    def sharded(self, keys: Iterable[str]) -> list[str]:
        """Return those of some models that several jobs ask."""
        return [key for key in keys if self.config.models[key].shards > 1]

    def each_shard(self, key: str, pattern: str) -> list[str]:
        """Return `pattern` for every shard of a model."""
        shards = self.config.models[key].shards
        return [pattern.format(model=key, shard=shard, shards=shards) for shard in range(shards)]

    def selection_of(self, key: str) -> list[str]:
        """Return the selection that a model is asked by; none for a selector."""
        return ["results/select/selection.parquet"] if key in self.followers else []

    @property
    def followers(self) -> list[str]:
        """The models that do not select: they are run on the chosen samples only."""
        return [key for key in self.config.models if key not in self.config.selectors]

    def located(self, path: Path | str) -> str:
        """Return a config's path as the working directory sees it."""
        return Path(os.path.relpath(self.project / path)).as_posix()

    def source_spec(self, key: str) -> str:
        """Return a source's settings as JSON, its path as the working directory sees it.

        Where it was fetched from is left out: the folder it was fetched to stands for that.
        """
        spec = self.config.sources[key]
        values = spec.model_dump(mode="json")
        if not isinstance(spec, DrawnSource):
            if not spec.is_fetched:
                values["path"] = self.located(spec.path)
            values = {name: v for name, v in values.items() if name not in Origin.model_fields}
        return json.dumps(values, sort_keys=True)

    @cached_property
    def fetches(self) -> dict[str, Request]:
        """Everything that has to be fetched, by name; what two keys share stands once."""
        users = (*self.config.sources.values(), *self.config.models.values(), self.config.embed)
        wanted = [request for user in users if (request := user.request())]
        return {request.name: request for request in wanted}

    def fetch_spec(self, name: str) -> str:
        """Return what to fetch under a name, as JSON."""
        return self.fetches[name].model_dump_json(exclude_defaults=True)

    def record_of(self, user: Source | Model | Embed) -> list[str]:
        """Return the record of what is fetched for a source or a model; none for a local one."""
        request = user.request()
        return [f"results/fetch/{request.name}.json"] if request else []

    def option(self, name: str, paths: Iterable[str]) -> list[str]:
        """Return an option of a command line once for every path."""
        return [f"{name} {shlex.quote(str(path))}" for path in paths]

    def fetched_option(self, records: Iterable[str]) -> list[str]:
        """Return the option that tells a command which folder a source or model was fetched to."""
        return self.option("--fetched", (str(record).removesuffix(".json") for record in records))

    def shard_options(self, wildcards: Mapping[str, str], predictions: str) -> str:
        """Return which part of a model's questions a job asks, and where all keep their chunks.

        Args:
            wildcards: Those of the job, `shard` and `shards` where several share the model.
            predictions: The table that the job writes.
        """
        shard = wildcards.get("shard")
        if shard is None:
            return ""
        chunks = (Path(predictions).parents[2] / "chunks").as_posix()
        return options(shard=shard, shards=wildcards.get("shards"), chunks=chunks)

    def source_fingerprint(self, key: str) -> str:
        """Return what makes a source's samples its own: its settings, and its files' contents."""
        spec = self.config.sources[key]
        values = json.loads(self.source_spec(key))
        if not isinstance(spec, DrawnSource) and not spec.is_fetched:
            cache = f"pool/sources/{key}/hashes.json"
            values["path"] = self.content(spec.path, cache)
        return json.dumps(values, sort_keys=True)

    def model_settings(self, key: str) -> str:
        """Return a model's settings as JSON, its path as the working directory sees it."""
        model = self.config.models[key]
        values = model.model_dump(mode="json")
        for name in model.places:
            if values[name] is not None:
                values[name] = self.located(values[name])
        return json.dumps(values, sort_keys=True)

    def model_fingerprint(self, key: str) -> str:
        """Return what makes a model's predictions its own: result settings and weights."""
        model = self.config.models[key]
        values = model.result_settings()
        values["weights"] = fingerprint.of_files(
            model.checkpoint_files(self.project), self.results / f"infer/{key}/hashes.json"
        )
        return json.dumps(values, sort_keys=True)

    def gpus(self, key: str) -> int:
        """Return how many GPUs a job of a model takes: one, or none on a CPU or a server."""
        device = getattr(self.config.models[key], "device", "cpu")
        return int(device == "cuda" or (device == "auto" and gpus.any_here()))

    def models_facts(self) -> str:
        """Return what the database says of the models, as JSON."""
        return json.dumps(
            [
                {
                    "key": key,
                    "selector": key in self.config.selectors,
                    "settings": model.result_settings(),
                    "fingerprint": self.model_fingerprint(key),
                }
                for key, model in self.config.models.items()
            ],
            sort_keys=True,
        )

    def way_on(self) -> str:
        """Return how to go on without the models that have no predictions; empty if all have."""
        failed = [
            key
            for key in self.config.models
            if not (self.results / f"infer/{key}/predictions.parquet").exists()
        ]
        if not failed or len(failed) == len(self.config.models):
            return ""
        leave_out = ",".join([*self.config.leave_out, *failed])
        return (
            f"No predictions: {', '.join(failed)} (see {self.results}/logs/infer). For a database "
            f"of the other models, run the same command with --config 'leave_out=[{leave_out}]'"
        )

    def run_facts(self) -> str:
        """Return what the database says of the run, as JSON."""
        config = self.config.model_dump(
            mode="json", exclude={"models": True, "discover": True, "infer": {"workers"}}
        )
        return json.dumps({"config": config}, sort_keys=True)

    def code(self, stage: str) -> str:
        """Return the fingerprint of the code behind a stage's results."""
        found = fingerprint.of_code(*_CODE[stage], ignoring=_NOT_FOLLOWED)
        if stage in _DATA:
            found += fingerprint.of_files(fingerprint.packaged(*_DATA[stage]))
        return found

    def corruption_code(self, name: str) -> str:
        """Return the fingerprint of one corruption: its function, its constants, the stage."""
        from benchc.corrupt.registry import CORRUPTIONS

        entry = CORRUPTIONS[name]
        stage = fingerprint.of_code(
            f"{entry.render.__module__}:{entry.render.__name__}",
            "benchc.corrupt.stage:render_corruption",
            "benchc.corrupt.render:corrupt",
            ignoring=(*fingerprint.SETTINGS, "benchc.corrupt.registry"),
        )
        return f"{stage} {entry.constants}"

    @property
    def render_options(self) -> str:
        """The options with which corrupted pictures are made again."""
        return options(seed=self.config.seed, reference_side=self.config.corrupt.reference_side)

    @property
    def infer_options(self) -> str:
        """The options of `benchc infer predict` that can change a prediction."""
        return f"{self.render_options} --threads {self.config.infer.threads}"

    @property
    def corrupt_options(self) -> str:
        """The options of `benchc corrupt render` besides seed and severities."""
        corrupt = self.config.corrupt
        return options(reference_side=corrupt.reference_side, store=corrupt.store)

    @property
    def clip_options(self) -> str:
        """The options of `benchc embed samples` besides the model."""
        return options(pretrained=self.config.embed.pretrained)

    @property
    def select_options(self) -> str:
        """The options of `benchc select build`."""
        chosen = options(seed=self.config.seed, **self.config.select.model_dump())
        return f"{chosen} {self.severity_options}"

    @property
    def severity_options(self) -> str:
        """One `--severity` a severity."""
        return " ".join(f"--severity {severity}" for severity in self.config.severities)

    def one_of(self, keys: Iterable[str]) -> str:
        """Return a pattern that matches exactly these keys; with none, no key at all."""
        return "|".join(re.escape(key) for key in keys) or "(?!)"

    def clip(self, records: Iterable[str]) -> str:
        """Return the CLIP model as the embed command takes it.

        Args:
            records: Those of what was fetched for it; none for a local folder or an architecture.
        """
        for record in records:
            return str(record).removesuffix(".json")
        model = self.config.embed.model
        return self.located(model) if (self.project / model).is_dir() else model

    @cached_property
    def clip_fingerprint(self) -> str:
        """What makes the CLIP model its own; what is fetched has a record, which is an input."""
        if self.config.embed.is_fetched:
            return ""
        return str(self.content(self.config.embed.model, "embed/hashes.json"))

    def content(self, path: Path | str | None, cache: str | None = None) -> str | None:
        """Return a hash of what a file or folder of the user's own holds; None for no path.

        Args:
            path: Relative to the project.
            cache: File in the results that keeps the hashes of what does not change, if any.
        """
        # These are no inputs of rules: Snakemake knows those by path, and a run may be moved.
        known = self.results / cache if cache else None
        return None if path is None else fingerprint.of_place(self.project / path, known)
