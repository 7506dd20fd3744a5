"""Time the whole attribution of 13 models over 849 samples under 96 conditions, and its memory.

python benchmarks/diagnose.py [--models 13] [--samples 849] [--large 8]
"""

from pathlib import Path

import numpy as np
import polars as pl

from benchc import keyed, tables
from benchc.corrupt import GROUPS
from benchc.diagnose.database import Sources
from benchc.diagnose.shifts import shifts

SEVERITIES = (1, 2, 3, 4, 5)
CONDITIONS = [("clean", 0)] + [
    (c, s) for names in GROUPS.values() for c in names for s in SEVERITIES
]
BENCHMARKS = 6
OPTIONS = 4


def write_run(folder: Path, n_samples: int, n_models: int) -> Sources:
    """Write the tables of a made-up run: every sample kept, four options, no failed row."""
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
        tables.SHIFTS.write(shifts(predictions, samples), folder / model / "diagnosis.parquet")
    facts = {"selector": False, "settings": {}, "fingerprint": ""}
    return Sources(
        samples=folder / "samples.parquet",
        rejected=folder / "rejected.parquet",
        selection=folder / "selection.parquet",
        predictions=[folder / model / "predictions.parquet" for model in models],
        shifts=[folder / model / "diagnosis.parquet" for model in models],
        models=[{"key": model, **facts} for model in models],
        groups=GROUPS,
    )


def _samples(n_samples: int) -> pl.DataFrame:
    """One sample more than is kept, so that the benchmark is not the pool."""
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
    kept = np.arange(samples.height) > 0
    return samples.select(
        "sample_id",
        impurity=pl.lit(0.5),
        trajectories=pl.lit(1, pl.Int64),
        rank=pl.lit(None, pl.Int64),
        kept=pl.Series(kept),
        control=pl.lit(False),
        reason=pl.lit("accepted"),
    )


def _predictions(model: str, samples: pl.DataFrame) -> pl.DataFrame:
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
            "corruption": [c for c, _ in CONDITIONS] * n,
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
