"""What the tables of each job are made from, in 16 digits that they carry in their own metadata.

Snakemake keeps its own record of that, but a copy of the results may come without it.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchc.tables import IDENTITY, metadata
from benchc.tables.database import MADE_FROM, fact

if TYPE_CHECKING:
    from benchc.running.workflow import Workflow

Job = Mapping[str, str]
"""The wildcards of a job."""

_SOURCE = "results/pool/sources/{source}"
_GAME = "results/discover/{model}/{condition}/{way}"
_SHARD = "results/infer/{model}/shards/{shard}-of-{shards}"
_POOL = ("samples", "images", "rejected", "scenes")

#: The tables and databases of each rule.
TABLES: Mapping[str, tuple[str, ...]] = {
    "pool_source": tuple(f"{_SOURCE}/{name}.parquet" for name in _POOL),
    "pool": tuple(f"results/pool/{name}.parquet" for name in _POOL),
    "corrupt": ("results/corrupt/{corruption}.parquet",),
    "embed": ("results/embed/embeddings.parquet",),
    "infer": ("results/infer/{model}/predictions.parquet",),
    "infer_shard": (f"{_SHARD}/predictions.parquet",),
    "infer_merge": ("results/infer/{model}/predictions.parquet",),
    "select": tuple(
        f"results/select/{name}.parquet"
        for name in ("selection", "quotas", "cross_fit_halves", "cross_fit_samples")
    ),
    "diagnose_model": (
        "results/models/{model}/diagnosis.parquet",
        "results/models/{model}/scores.parquet",
    ),
    "database": ("results/.built/bench-c.duckdb",),
    "play": tuple(f"{_GAME}/{name}.parquet" for name in ("asked", "training", "steps")),
    "sort_failures": (
        "results/discover/{extent}/skills.parquet",
        "results/discover/{extent}/question_skills.parquet",
    ),
    "measure_ways": ("results/discover/{extent}/measures.parquet",),
    "discovery_database": ("results/.built/discover/{extent}/discovery.duckdb",),
}


def _predictions(run: "Workflow", job: Job) -> list[object]:
    key = job["model"]
    return [
        run.model_fingerprint(key),
        run.infer_options,
        sorted(run.config.corruptions),
        run.selection_of(key),
        run.infer_code(key),
    ]


def _games(run: "Workflow", job: Job) -> list[str]:
    return run.discovery.plays("{model}/{condition}/{way}", job["extent"] == "full")


#: What decides the tables of each rule besides its inputs; these carry what decided them.
_DECIDES: Mapping[str, Callable[["Workflow", Job], object]] = {
    "pool_source": lambda run, job: [
        run.source_fingerprint(job["source"]),
        run.record_of(run.config.sources[job["source"]]),
        run.code("pool"),
    ],
    "pool": lambda run, job: [list(run.config.sources), run.code("pool")],
    "corrupt": lambda run, job: [
        run.config.seed,
        run.severity_options,
        run.corrupt_options,
        run.corruption_code(job["corruption"]),
    ],
    "embed": lambda run, job: [
        run.record_of(run.config.embed),
        run.clip_fingerprint,
        run.config.embed.pretrained,
        run.config.infer.threads,
        run.code("embed"),
    ],
    "infer": _predictions,
    "infer_shard": lambda run, job: [
        *_predictions(run, job), job["shard"], job["shards"],
    ],
    "infer_merge": lambda run, job: [
        *_predictions(run, job), run.config.models[job["model"]].shards, run.code("infer_merge"),
    ],
    "select": lambda run, job: [run.config.selectors, run.select_options, run.code("select")],
    "diagnose_model": lambda run, job: [run.code("diagnose_model")],
    "database": lambda run, job: [
        run.models_facts(), run.run_facts(), run.config.seed, run.code("database"),
    ],
    "play": lambda run, job: run.discovery.identity(job["model"], job["condition"], job["way"]),
    "sort_failures": lambda run, job: [
        _games(run, job), run.discovery.embedder_fingerprint, run.code("discover_taxonomy"),
    ],
    "measure_ways": lambda run, job: [
        _games(run, job), run.discovery.embedder_fingerprint, run.code("discover_measure"),
    ],
    "discovery_database": lambda run, job: [
        _games(run, job), run.discovery.run_facts, run.code("discover_database"),
    ],
}  # fmt: skip


def identity(run: "Workflow", rule: str, job: Job) -> str:
    """Return the 16 digits of what a job's tables are made from, its inputs aside.

    Those have an identity of their own, and whatever follows from one that is made again is made
    again.
    """
    decides = json.dumps([rule, _DECIDES[rule](run, job)], sort_keys=True)
    return hashlib.sha256(decides.encode()).hexdigest()[:16]


def others(run: "Workflow", rule: str, job: Job) -> Iterator[str]:
    """Yield the tables of a job that are there and were made from something else."""
    expected = None
    for pattern in TABLES[rule]:
        table = pattern.format_map(job)
        path = run.results / Path(table).relative_to("results")
        if path.exists():
            expected = expected or identity(run, rule, job)
            if _carried(path) != expected:
                yield path.as_posix()


def _carried(path: Path) -> str | None:
    if path.suffix == ".duckdb":
        return fact(path, MADE_FROM)
    return metadata(path).get(IDENTITY)


class Remaking:
    """Has Snakemake make again what is there, was made from something else, and is new to it."""

    def __init__(
        self,
        run: "Workflow",
        recorded: Callable[[str], Sequence[str] | None],
        force: Callable[[str], None],
    ):
        """Prepare for one run.

        Args:
            run: What the config says.
            recorded: The parameters that Snakemake has recorded for a path; None for no record.
            force: Has Snakemake make a file again.
        """
        self._run = run
        self._recorded = recorded
        self._force = force
        self._said = False

    def __call__(self, rule: str, job: Job) -> list[str]:
        """Return no input; called for a job as its inputs are, it is called where one is needed."""
        for path in others(self._run, rule, dict(job.items())):
            if not self._knows(path):
                self._force(path)
                self._say(path)
        return []

    def _knows(self, path: str) -> bool:
        """Return whether Snakemake's record is of this very file; then it judges by that."""
        recorded, carried = self._recorded(path), _carried(Path(path))
        if recorded is None:
            return False
        return carried is None or any(carried in str(value) for value in recorded)

    def _say(self, path: str) -> None:
        if not self._said:
            print(
                f"{path}: made with another config or version than these, or by hand; it is made "
                "again, and so is whatever else is like it",
                file=sys.stderr,
            )
        self._said = True
