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

import polars as pl

from benchc.config.discovery import WAYS
from benchc.config.models import BACKENDS, Model
from benchc.config.origin import Origin, Request
from benchc.config.plugins import known, register
from benchc.config.run import Config, Embed, read_config
from benchc.config.sources import DrawnSource, Source
from benchc.errors import BadInput
from benchc.running import closure, fingerprint, gpus
from benchc.running.discovery import DiscoveryPlan
from benchc.running.identity import identity
from benchc.running.options import options
from benchc.running.settings import settings_files
from benchc.tables import ATTEMPT, TO_ASK_AGAIN, metadata

#: What makes a database besides its stage: how it is built, and the comments on its tables.
_DATABASES = ("benchc.tables.database", "benchc.tables.schemas", "benchc.tables.columns")

#: The code behind each stage's results; what only shows or moves them is left out.
_CODE = {
    "pool": ("benchc.pool.command:source", "benchc.pool.command:merge"),
    "embed": ("benchc.embed.clip:embed_samples", "benchc.embed.command:samples"),
    "infer": ("benchc.infer.command:predict",),
    "infer_merge": ("benchc.infer.command:merge",),
    "select": ("benchc.select.command:build",),
    "diagnose_model": ("benchc.diagnose.shifts:write_diagnosis",),
    "database": ("benchc.diagnose.command:build", *_DATABASES, "benchc.config.corruptions"),
    "report": ("benchc.report.command:build",),
    "discover_play": ("benchc.discover.command:play", "benchc.discover.ways:learn"),
    "discover_taxonomy": ("benchc.discover.command:taxonomy",),
    "discover_measure": ("benchc.discover.command:measure",),
    "discover_database": ("benchc.discover.command:build", *_DATABASES),
    "discover_report": ("benchc.discover.command:report",),
}

#: A corruption and a way to ask have fingerprints of their own.
_KNOWN_OTHERWISE = ("benchc.corrupt", "benchc.discover.ways")

#: The files of the package, besides code, that a stage's results depend on.
_DATA = {
    "select": ("select/sql/*.sql",),
    "diagnose_model": (
        "diagnose/sql/macros.sql",
        "diagnose/sql/scores.sql",
        "diagnose/sql/shifts.sql",
        "diagnose/sql/checks/*.sql",
    ),
    "database": ("diagnose/sql/**/*.sql",),
    "report": ("report/sql/*.sql", "report/templates/*"),
    "discover_play": ("discover/prompts/*.j2",),
    "discover_taxonomy": ("discover/*.csv",),
    "discover_database": ("discover/sql/*.sql",),
    "discover_report": (
        "discover/sql/page/*.sql",
        "discover/templates/*",
        "report/templates/frame.html.j2",
        "report/templates/macros.html.j2",
        "report/templates/page.css",
        "report/templates/charts.js",
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
            BadInput: see `read_config`; or the path of the project holds braces.
        """
        self.project = Path(project)
        if {"{", "}"} & set(project):
            raise BadInput(
                f"{project}: Snakemake takes braces in a path for wildcards; rename the folder"
            )
        self.results = Path(results)
        whole = read_config(values, self.project, map(Path, files))
        self.config: Config = whole.without_left_out().limited()
        register(self.config.corrupt.plugins, self.project)
        self.discovery: DiscoveryPlan = DiscoveryPlan(self)

    def settings_file(self, *names: str) -> str:
        """Return the file of settings that a command reads; see `running.settings`."""
        path, _ = self.settings_files["/".join(names)]
        return path.as_posix()

    @cached_property
    def settings_files(self) -> dict[str, tuple[Path, str]]:
        """The files of settings and what they hold, by name."""
        return settings_files(self)

    def identity(self, rule: str, job: Mapping[str, str]) -> str:
        """Return what decides the tables of a job; see `running.identity`."""
        return identity(self, rule, dict(job.items()))

    @property
    def own_folder(self) -> str | None:
        """Where a trial of few samples works, beside the results of the whole; None for these."""
        return f"limit-{self.config.limit}" if self.config.limit else None

    def refuse_to_overwrite(self) -> None:
        """Refuse a trial in a folder that was given with results of more samples.

        Raises:
            BadInput: the working directory holds such results.
        """
        limit, pool = self.config.limit, self.results / "pool/samples.parquet"
        if limit is None or not pool.is_file():
            return
        held = pl.scan_parquet(pool).select(pl.len()).collect().item()
        if held > limit:
            raise BadInput(
                f"limit: {limit}: {self.results} holds a run of {held} samples, which the trial "
                "would overwrite; give another --directory, or none"
            )

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
        """Return the selection that a model is asked by; none for the whole pool."""
        return ["results/select/selection.parquet"] if key in self.followers else []

    @property
    def on_pool(self) -> list[str]:
        """The models asked about the whole pool: the selectors; all where it is the headline."""
        everyone = self.config.headline == "pool"
        return list(self.config.models if everyone else self.config.selectors)

    @property
    def followers(self) -> list[str]:
        """The models asked about the chosen samples only."""
        return [key for key in self.config.models if key not in self.on_pool]

    def from_working_directory(self, path: Path | str) -> str:
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
                values["path"] = self.from_working_directory(spec.path)
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

    def attempt(self, wildcards: Mapping[str, str]) -> int:
        """Return how often a model will have been asked: once more where questions failed.

        A rule with this as a parameter is planned again while rows are to be asked again, and not
        afterwards.

        Args:
            wildcards: See `shard_options`; and `model`.
        """
        folder = self.results / "infer" / str(wildcards.get("model"))
        if wildcards.get("shard") is not None:
            folder = folder / "shards" / f"{wildcards['shard']}-of-{wildcards['shards']}"
        path = folder / "predictions.parquet"
        known = metadata(path) if path.exists() else {}
        return int(known.get(ATTEMPT, 1)) + (int(known.get(TO_ASK_AGAIN, 0)) > 0)

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
        """Return what makes a source's samples its own: its settings, its reader, its files."""
        spec = self.config.sources[key]
        values = json.loads(self.source_spec(key))
        values["reader"] = closure.fingerprint(spec.reader)
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
                values[name] = self.from_working_directory(values[name])
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
        found = closure.fingerprint(*_CODE[stage], beside=_KNOWN_OTHERWISE)
        if stage in _DATA:
            found += fingerprint.of_files(fingerprint.packaged(*_DATA[stage]))
        return found

    def infer_code(self, key: str) -> str:
        """Return the fingerprint of the code behind a model's predictions, its backend's too."""
        backend = BACKENDS[self.config.models[key].backend]
        return self.code("infer") + closure.fingerprint(backend.module)

    def way_code(self, name: str) -> str:
        """Return the fingerprint of one way to ask."""
        return closure.fingerprint(WAYS[name].learn, beside=_KNOWN_OTHERWISE)

    def corruption_code(self, name: str) -> str:
        """Return the fingerprint of a corruption: its kernel's module, its constants, the stage."""
        entry = known()[name]
        if entry.own:
            file, _, function = entry.kernel.rpartition(":")
            code = closure.fingerprint("benchc.corrupt.plugins", "benchc.corrupt.stage")
            return f"{code} {fingerprint.of_files([Path(file)])} {function}"
        module, _, kernel = entry.kernel.partition(":")
        code = closure.fingerprint(module, "benchc.corrupt.stage")
        return f"{code} {kernel} {entry.constants} {entry.random}"

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
    def select_options(self) -> str:
        """The options of `benchc select build`."""
        chosen = options(seed=self.config.seed, **self.config.select.model_dump())
        empty = " --may-be-empty" if self.config.headline == "pool" else ""
        return f"{chosen} {self.severity_options}{empty}"

    @property
    def severity_options(self) -> str:
        """One `--severity` a severity."""
        return " ".join(f"--severity {severity}" for severity in self.config.severities)

    def place_of(self, built: str) -> str:
        """Return where a result is put that is built in `.built`, to be whole or not at all."""
        return str(built).replace("/.built/", "/", 1)

    def one_of(self, keys: Iterable[str]) -> str:
        """Return a pattern that matches exactly these keys; with none, no key at all."""
        return "|".join(re.escape(key) for key in keys) or "(?!)"

    @property
    def embed_settings(self) -> dict[str, Any]:
        """The section `embed`, a folder as the working directory sees it."""
        values = self.config.embed.model_dump(mode="json", exclude_unset=True)
        model = self.config.embed.model
        is_local = not self.config.embed.is_fetched
        if is_local and (self.project / model).is_dir():
            values["model"] = self.from_working_directory(model)
        return values

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
