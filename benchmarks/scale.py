"""Plan a large run from what a finished one took: jobs, predictions, bytes, hours.

    python benchmarks/scale.py [--results results] [--answers 20] [--job 5] [--picture 390000]

Bytes a row are those of the tables in RESULTS. What is not measured there is an option: answers a
second of a model on its GPU, seconds of Slurm and Snakemake a job, bytes of a picture as PNG.
"""

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

import polars as pl

CONDITIONS = 19 * 5 + 2
#: CPU seconds to corrupt a picture of 640 x 480, mean of 19 x 5 (docs/corruptions.md).
RENDER = 0.0028
#: Share of the pool that the source keeps, 849 of 4,000; the control is as large, and overlaps.
KEPT = 849 / 4000


@dataclass
class Scale:
    """A run to plan: models that select see the whole pool, the others what was chosen."""

    name: str
    samples: int
    selectors: int
    followers: int = 0
    shards: int = 1

    @property
    def models(self) -> int:
        """All models."""
        return self.selectors + self.followers

    @property
    def predictions(self) -> int:
        """Rows of `predictions`."""
        chosen = self.samples * (1 - (1 - KEPT) ** 2)
        return round(CONDITIONS * (self.selectors * self.samples + self.followers * chosen))

    @property
    def slurm_jobs(self) -> int:
        """Jobs of Slurm with the groups of profiles/slurm: pool, embed, select, finish, ..."""
        return 4 + 19 + self.models * self.shards + math.ceil(self.models / 10)


SCALES = (
    Scale("the source's", 4_000, 13),
    Scale("10 x samples, 10 x models", 40_000, 13, followers=117, shards=4),
    Scale("100 x samples", 400_000, 13, shards=32),
)


def bytes_a_row(pattern: str, results: Path, rows: int | None = None) -> float:
    """Return the mean bytes a row of the files that match; rows are counted where not given."""
    files = list(results.glob(pattern))
    count = rows or sum(pl.scan_parquet(f).select(pl.len()).collect().item() for f in files)
    return sum(file.stat().st_size for file in files) / count


def main() -> None:
    """Print the plan as a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--answers", type=float, default=20, help="a second and GPU")
    parser.add_argument("--job", type=float, default=5, help="seconds of overhead a job of Slurm")
    parser.add_argument("--picture", type=int, default=390_000, help="bytes")
    options = parser.parse_args()
    predicted = bytes_a_row("infer/*/predictions.parquet", options.results)
    corrupted = bytes_a_row("corrupt/*.parquet", options.results)
    shifted = bytes_a_row("models/*/diagnosis.parquet", options.results)
    rows = sum(
        pl.scan_parquet(f).select(pl.len()).collect().item()
        for f in options.results.glob("infer/*/predictions.parquet")
    )
    kept = bytes_a_row("infer/*/chunks/*.jsonl", options.results, rows)
    stored = bytes_a_row("bench-c.duckdb", options.results, rows)
    print(
        f"bytes a row: predictions {predicted:.0f}, answers kept {kept:.0f}, corrupted "
        f"{corrupted:.0f}, shifts {shifted:.0f}, database {stored:.0f} a prediction\n"
    )
    lines: dict[str, list[str]] = {}
    for scale in SCALES:
        count = scale.predictions
        renders = 95 * count / CONDITIONS + 95 * scale.samples
        gpu_hours = count / options.answers / 3600
        tables = count * (predicted + kept + shifted) + 95 * scale.samples * corrupted
        overhead = scale.slurm_jobs * options.job / 3600
        parts = {
            "samples": f"{scale.samples:,}",
            "models: selectors + others": f"{scale.selectors} + {scale.followers}",
            "shards a model": str(scale.shards),
            "jobs of Slurm": f"{scale.slurm_jobs:,}",
            "predictions": f"{count / 1e6:.1f} million",
            f"GPU hours at {options.answers:g} answers a second": f"{gpu_hours:,.0f}",
            "CPU hours of rendering": f"{renders * RENDER / 3600:,.1f}",
            "pictures of the pool, GB": f"{scale.samples * options.picture / 1e9:,.1f}",
            "other tables and answers, GB": f"{tables / 1e9:,.1f}",
            "database, GB": f"{count * stored / 1e9:,.1f}",
            f"hours of scheduling at {options.job:g} s a job": f"{overhead:,.2f}",
            "... of the GPU hours": f"{overhead / gpu_hours:.2%}",
        }
        for name, value in parts.items():
            lines.setdefault(name, []).append(value)
    print(f"| | {' | '.join(scale.name for scale in SCALES)} |")
    print(f"|---|{'---:|' * len(SCALES)}")
    for name, values in lines.items():
        print(f"| {name} | {' | '.join(values)} |")


if __name__ == "__main__":
    main()
