"""Time the whole attribution: 13 models, 849 samples, clean and 95 corrupted conditions.

    python benchmarks/diagnose.py [--models 13] [--samples 849] [--times 8]

Prints time and peak memory of building the database from the tables of the stages before it
(scores, shifts, attributions, nulls, 1,000 draws of the bootstrap, verdicts), how the attribution
compares with the same one in pandas, and what a row costs at once and at several times the rows.
Each build runs in a process of its own, so that its memory is its own: the peak resident size of
the process, DuckDB's buffers and the libraries included. A row's cost is in CPU seconds, which
other work on the machine does not change much.
"""

import argparse
import resource
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import polars as pl

from benchc import keyed, tables
from benchc.corrupt import GROUPS
from benchc.diagnose import database
from benchc.diagnose.database import Sources
from benchc.diagnose.intervals import add_intervals
from benchc.diagnose.query import query
from benchc.diagnose.shifts import write_diagnosis
from benchc.sql import connected, statement

SEVERITIES = (1, 2, 3, 4, 5)
CORRUPTED = [(name, s) for names in GROUPS.values() for name in names for s in SEVERITIES]
CONDITIONS = [("clean", 0), *CORRUPTED]
GROUP_OF = {name: group for group, names in GROUPS.items() for name in names}
BENCHMARKS = 6
OPTIONS = 4
#: The crossings of `sql/cells.sql` that pandas repeats, by what they hold fixed.
CROSSINGS = (
    [],
    ["severity"],
    ["corruption_group"],
    ["corruption_group", "severity"],
    ["corruption_group", "corruption"],
    ["corruption_group", "corruption", "severity"],
    ["benchmark"],
    ["benchmark", "severity"],
    ["benchmark", "corruption_group"],
    ["benchmark", "category"],
)


def write_run(folder: Path, n_samples: int, n_models: int) -> Sources:
    """Write the tables of a made-up run: every sample but one kept, no failed row."""
    samples = _samples(n_samples)
    tables.SAMPLES.write(samples, folder / "samples.parquet")
    tables.REJECTED.write(tables.REJECTED.empty(), folder / "rejected.parquet")
    selection = _selection(samples)
    tables.SELECTION.write(selection, folder / "selection.parquet")
    asked = samples.filter(selection["kept"])
    models = [f"model{i:02d}" for i in range(n_models)]
    for model in models:
        predictions = _predictions(model, asked)
        tables.PREDICTIONS.write(predictions, folder / model / "predictions.parquet")
        write_diagnosis(
            folder / model / "predictions.parquet",
            folder / "samples.parquet",
            folder / "selection.parquet",
            folder / model / "scores.parquet",
            folder / model / "diagnosis.parquet",
        )
    facts = {"selector": False, "settings": {}, "fingerprint": ""}
    return Sources(
        samples=folder / "samples.parquet",
        rejected=folder / "rejected.parquet",
        selection=folder / "selection.parquet",
        predictions=[folder / model / "predictions.parquet" for model in models],
        scores=[folder / model / "scores.parquet" for model in models],
        shifts=[folder / model / "diagnosis.parquet" for model in models],
        models=[{"key": model, **facts} for model in models],
        groups=GROUPS,
    )


def _samples(n_samples: int) -> pl.DataFrame:
    """One sample more than is kept, so that the benchmark is not the pool; two share a picture."""
    return tables.SAMPLES.from_rows(
        {
            "sample_id": f"b{i % BENCHMARKS}/{i:06d}",
            "benchmark": f"b{i % BENCHMARKS}",
            "category": "easy" if i // BENCHMARKS % 2 else "hard",
            "question": "?",
            "options": [str(k) for k in range(OPTIONS)],
            "answer": i % OPTIONS,
            "image_id": f"{i // 12 * 6 + i % 6:064d}",
            "source_ref": str(i),
        }
        for i in range(n_samples + 1)
    ).sort("sample_id")


def _selection(samples: pl.DataFrame) -> pl.DataFrame:
    return samples.select(
        "sample_id",
        impurity=pl.lit(0.5),
        trajectories=pl.lit(1, pl.Int64),
        rank=pl.lit(None, pl.Int64),
        kept=pl.Series(np.arange(samples.height) > 0),
        control=pl.lit(False),
        reason=pl.lit("accepted"),
    )


def _predictions(model: str, samples: pl.DataFrame) -> pl.DataFrame:
    """Answers that flatten and drift with severity; 4 options, float64."""
    random = keyed.generator("benchmark", model)
    n, m = samples.height, len(CONDITIONS)
    logits = np.repeat(random.normal(size=(n, 1, OPTIONS)), m, axis=1)
    logits[np.arange(n), :, samples["answer"].to_numpy()] += random.normal(2, 1.5, (n, 1))
    severity = np.array([s for _, s in CONDITIONS])[:, None]
    logits = logits * (1 - 0.12 * severity) + 0.3 * severity * random.normal(size=(n, m, OPTIONS))
    p = np.exp(logits - logits.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    lists = pl.Array(pl.Float64, OPTIONS)
    return pl.DataFrame(
        {
            "model": pl.repeat(model, n * m, eager=True),
            "sample_id": samples["sample_id"].gather(np.repeat(np.arange(n), m)),
            "corruption": [name for name, _ in CONDITIONS] * n,
            "severity": np.tile(severity[:, 0], n),
            "scoring": pl.repeat("letter", n * m, eager=True),
            "temperature": pl.repeat(1.0, n * m, eager=True),
            "logits": pl.Series(logits.reshape(-1, OPTIONS), dtype=lists).cast(tables.REALS),
            "p": pl.Series(p.reshape(-1, OPTIONS), dtype=lists).cast(tables.REALS),
            "top1": p.argmax(-1).reshape(-1),
            "is_tie": pl.repeat(False, n * m, eager=True),
            "option_mass": random.uniform(0.9, 1, n * m),
            "status": pl.repeat("ok", n * m, eager=True),
        }
    )


@dataclass(frozen=True)
class Cost:
    """What a build took: clock and CPU seconds, those of the bootstrap, peak memory in MB."""

    clock: float
    cpu: float
    bootstrap: float
    megabytes: float


def timed_build(sources: Sources, path: Path) -> Cost:
    """Build a database in a new process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_timed_build, sources, path).result()


def _timed_build(sources: Sources, path: Path) -> Cost:
    bootstrap = 0.0

    def timed_intervals(*arguments) -> None:
        nonlocal bootstrap
        start = time.process_time()
        add_intervals(*arguments)
        bootstrap = time.process_time() - start

    database.add_intervals = timed_intervals
    clock, cpu = time.perf_counter(), time.process_time()
    database.build(sources, path)
    clock, cpu = time.perf_counter() - clock, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Cost(clock, cpu, bootstrap, peak)


def sql_attribution(path: Path) -> float:
    """Return the seconds that trajectories, cells and the three attributions take in SQL."""
    connection = connected()
    connection.execute(f"ATTACH '{path}' AS run (READ_ONLY)")
    for table in ("shifts", "samples", "corruptions", "scopes"):
        connection.execute(f"CREATE TABLE {table} AS FROM run.{table}")
    connection.execute(statement("diagnose/macros"))
    start = time.perf_counter()
    connection.execute(f"CREATE TABLE trajectories AS {statement('diagnose/trajectories')}")
    connection.execute(f"CREATE VIEW pairs AS {statement('diagnose/pairs')}")
    connection.execute(f"CREATE TABLE cells AS {statement('diagnose/cells')}")
    connection.execute(f"CREATE TEMP VIEW attribution AS {statement('diagnose/attribution')}")
    for name in ("source", "state", "trajectory"):
        connection.execute(f"CREATE TABLE {name} AS {statement(f'diagnose/{name}_attribution')}")
    return time.perf_counter() - start


def pandas_attribution(path: Path) -> tuple[float, float]:
    """Return the seconds of the same attribution in pandas, and its mean RAS as a check."""
    import pandas as pd  # here, so that a build's memory holds none of it

    rows = pd.DataFrame(query(path, "FROM shifts").to_dict(as_series=False))
    samples = query(path, "SELECT sample_id, benchmark, category FROM samples")
    samples = pd.DataFrame(samples.to_dict(as_series=False))
    start = time.perf_counter()
    rows = rows.merge(samples, on="sample_id")
    rows["corruption_group"] = rows["corruption"].map(GROUP_OF)
    rows["clean_state"] = rows["state"].str[0]
    walk = ["model", "sample_id", "corruption"]
    differs = rows["correct"] != rows["clean_correct"]
    onset = rows["severity"].where(differs).groupby([rows[c] for c in walk]).transform("min")
    kept = rows["severity"].where(~differs).groupby([rows[c] for c in walk]).transform("max")
    right = rows["clean_correct"] == 1
    rows["class"] = np.select(
        [
            onset.isna() & right,
            onset.isna(),
            (kept.fillna(0) < onset) & right,
            kept.fillna(0) < onset,
            right,
        ],
        ["stable_correct", "stable_wrong", "persistent_loss", "persistent_gain", "transient_loss"],
        "transient_gain",
    )
    whole = 0.0
    for held in CROSSINGS:
        sizes = rows.groupby(["model", *held])["ras"].agg(["count", "sum"])
        for part in ("clean_state", "state", "class"):
            parts = rows.groupby(["model", *held, part])["ras"].agg(["count", "sum"])
            parts = parts.join(sizes.add_suffix("_whole"), on=["model", *held])
            parts["share"] = parts["count"] / parts["count_whole"]
            parts["mean_ras"] = parts["sum"] / parts["count"]
            parts["contribution"] = parts["sum"] / parts["count_whole"]
            if not held and part == "state":
                whole = float(parts["contribution"].groupby("model").sum().mean())
    return time.perf_counter() - start, whole


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--models", type=int, default=13)
    parser.add_argument("--samples", type=int, default=849)
    parser.add_argument("--times", type=int, default=8, help="how many times the rows at the end")
    wanted = parser.parse_args()
    costs = {}
    for times in dict.fromkeys((1, wanted.times)):
        with tempfile.TemporaryDirectory() as folder:
            sources = write_run(Path(folder), wanted.samples * times, wanted.models)
            path = Path(folder) / "bench-c.duckdb"
            cost = timed_build(sources, path)
            rows = wanted.models * wanted.samples * times * len(CONDITIONS)
            costs[times] = cost.cpu / rows
            print(
                f"{times}x: {rows:,} predictions in {cost.clock:.1f} s, {cost.cpu:.1f} s of CPU, "
                f"{cost.bootstrap:.1f} s of it the bootstrap; peak {cost.megabytes:,.0f} MB, "
                f"database {path.stat().st_size / 1e6:.0f} MB",
                flush=True,
            )
            if times == 1:
                mine, (theirs, check) = sql_attribution(path), pandas_attribution(path)
                whole = query(path, "SELECT avg(ras) AS r FROM leaderboard")["r"].item()
                assert abs(check - whole) < 1e-9, "pandas and SQL disagree"
                print(
                    f"attribution alone: {mine:.1f} s in SQL on one thread, {theirs:.1f} s in "
                    f"pandas: {theirs / mine:.1f} times as long, the same numbers",
                    flush=True,
                )
    for times, cost in costs.items():
        print(
            f"{times}x: {cost * 1e6:.1f} us of CPU a row, {cost / costs[1]:.2f} of the cost at 1x"
        )


if __name__ == "__main__":
    main()
