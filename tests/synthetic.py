"""A made-up run of the whole line: the tables that the stages would have written.

Never runs a model or draws a picture worth looking at; everything is a function of the seed.
"""

import io
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from PIL import Image

from benchc import keyed, tables
from benchc.diagnose.database import Sources
from benchc.diagnose.shifts import write_diagnosis

#: The protocol's corruptions by group.
GROUPS: dict[str, tuple[str, ...]] = {
    "noise": ("gaussian_noise", "shot_noise", "impulse_noise", "speckle_noise"),
    "blur": ("defocus_blur", "glass_blur", "motion_blur", "zoom_blur", "gaussian_blur"),
    "weather": ("snow", "frost", "fog", "spatter"),
    "digital": ("elastic_transform", "pixelate", "jpeg_compression"),
    "photometric": ("brightness", "contrast", "saturate"),
}
CORRUPTIONS = tuple(name for names in GROUPS.values() for name in names)
TRACKS = ("text", "count", "colour", "shape", "place", "size")


@dataclass(frozen=True)
class SyntheticRun:
    """The tables of one made-up run; `predictions` holds one table per model key."""

    samples: pl.DataFrame
    images: pl.DataFrame
    rejected: pl.DataFrame
    selection: pl.DataFrame
    corrupted: pl.DataFrame
    predictions: dict[str, pl.DataFrame]
    models: list[dict]


def synthetic_run(
    n_samples: int = 24,
    models: Sequence[str] = ("alpha", "beta", "gamma"),
    corruptions: Sequence[str] = ("gaussian_noise", "motion_blur", "fog"),
    severities: Sequence[int] = (1, 2, 3, 4, 5),
    seed: int = 0,
    *,
    selectors: Collection[str] | None = None,
    failing: Mapping[str, float] | None = None,
    kept_share: float = 0.5,
    blank: bool = True,
) -> SyntheticRun:
    """Make up samples, a selection and every model's predictions.

    Args:
        n_samples: size of the pool; two questions share each picture, K goes from 2 to 6.
        models: model keys; earlier ones are better on clean pictures.
        corruptions: corruption names.
        severities: severities, each in 1..5.
        seed: key of every draw.
        selectors: models run on the whole pool (default: all but the last). The others are run
            on kept and control samples only.
        failing: share of rows, by model, whose logits were not finite.
        kept_share: share of the pool that is kept; the control is as large.
        blank: add the uniform grey control, corruption `blank` at severity 0.
    """
    rng = keyed.generator("synthetic", seed)
    samples = _samples(n_samples, rng)
    selection = _selection(samples["sample_id"].to_list(), kept_share, rng)
    conditions = [("clean", 0), *((c, s) for c in corruptions for s in severities)]
    conditions += [("blank", 0)] if blank else []
    chosen = list(models[:-1] or models) if selectors is None else list(selectors)
    run_on = selection.filter(pl.col("kept") | pl.col("control"))["sample_id"]
    predictions = {}
    for rank, model in enumerate(models):
        asked = (
            samples
            if model in chosen
            else samples.filter(pl.col("sample_id").is_in(run_on.to_list()))
        )
        share = (failing or {}).get(model, 0.0)
        predictions[model] = _predictions(model, rank, asked, conditions, share, seed)
    return SyntheticRun(
        samples=samples,
        images=_images(samples["image_id"].unique().sort().to_list()),
        rejected=tables.REJECTED.conform(
            tables.REJECTED.from_rows(
                [
                    {
                        "benchmark": TRACKS[0],
                        "source_ref": "broken",
                        "reason": "picture_unreadable",
                        "detail": "truncated",
                    }
                ]
            )
        ),
        selection=selection,
        corrupted=_corrupted(samples["image_id"].unique().sort().to_list(), conditions, rng),
        predictions=predictions,
        models=[
            {
                "key": model,
                "selector": model in chosen,
                "settings": {"backend": "synthetic", "temperature": 1.0},
                "fingerprint": keyed.digest("synthetic", model).hex()[:16],
            }
            for model in models
        ],
    )


def _samples(n_samples: int, rng: np.random.Generator) -> pl.DataFrame:
    tracks = [TRACKS[i % len(TRACKS)] for i in range(n_samples)]
    lengths = 2 + rng.permutation(n_samples) % 5
    return tables.SAMPLES.conform(
        pl.DataFrame(
            {
                "sample_id": [f"{track}/{i:05d}" for i, track in enumerate(tracks)],
                "benchmark": tracks,
                "category": [("easy", "hard")[i // len(TRACKS) % 2] for i in range(n_samples)],
                "question": [f"What is number {i}?" for i in range(n_samples)],
                "options": [[f"option {j}" for j in range(k)] for k in lengths],
                "answer": (rng.random(n_samples) * lengths).astype(np.int64),
                "image_id": [keyed.digest("picture", i // 2).hex() for i in range(n_samples)],
                "source_ref": [f"{i:05d}" for i in range(n_samples)],
                "source_row": [f"questions.jsonl, line {i + 1}" for i in range(n_samples)],
                "picture_file": [f"{i // 2}.png" for i in range(n_samples)],
                "extra": [
                    json.dumps({"camera": ("left", "right")[i % 2], "level": i % 3})
                    for i in range(n_samples)
                ],
            }
        )
    )


def _selection(sample_ids: list[str], kept_share: float, rng: np.random.Generator) -> pl.DataFrame:
    size = len(sample_ids)
    impurity = rng.uniform(0, 0.7, size)
    order = np.argsort(-impurity, kind="stable")
    walked = round(size * min(1.0, 1.2 * kept_share))
    rank = np.empty(size, dtype=np.int64)
    rank[order] = np.arange(1, size + 1)
    n_kept = max(1, round(size * kept_share))
    kept = rank <= n_kept
    first = sample_ids[order[0]]
    reason = np.where(kept, "accepted", f"near_duplicate_of:{first}")
    reason = np.where(rank <= max(walked, n_kept), reason, "impurity_not_above")
    control = np.zeros(size, dtype=bool)
    control[rng.permutation(size)[:n_kept]] = True
    return tables.SELECTION.conform(
        pl.DataFrame(
            {
                "sample_id": sample_ids,
                "impurity": impurity,
                "normalised_impurity": np.minimum(1, impurity / 0.7222),
                "trajectories": np.full(size, 12),
                "rank": pl.Series(rank).set(pl.Series(reason == "impurity_not_above"), None),
                "kept": kept,
                "control": control,
                "reason": reason.tolist(),
            }
        )
    )


def _predictions(
    model: str,
    rank: int,
    samples: pl.DataFrame,
    conditions: Sequence[tuple[str, int]],
    failing: float,
    seed: int,
) -> pl.DataFrame:
    """Logits that lose the right option with severity, by a strength of each corruption."""
    rng = keyed.generator("synthetic", seed, model)
    names = [name for name, _ in conditions]
    severity = np.array([s for _, s in conditions])
    strength = {name: rng.uniform(0.1, 0.9) for name in sorted(set(names))}
    signal = 1 - np.array([strength[name] for name in names]) * severity / 5
    signal[[i for i, name in enumerate(names) if name == "blank"]] = 0.0
    parts = []
    lengths = samples["options"].list.len().to_numpy()
    for k in np.unique(lengths):
        some = samples.filter(pl.Series(lengths == k))
        n, c = some.height, len(conditions)
        knows = rng.normal(2.0 - 0.2 * rank, 1.5, (n, 1))
        habit = rng.normal(0, 0.5, (n, 1, k))
        logits = habit + rng.normal(0, 0.6, (n, c, k)) * (1 + severity[None, :, None] / 5)
        right = np.eye(k)[some["answer"].to_numpy()]
        logits = logits + (knows * signal)[:, :, None] * right[:, None, :]
        p = np.exp(logits - logits.max(axis=2, keepdims=True))
        p /= p.sum(axis=2, keepdims=True)
        failed = rng.random(n * c) < failing
        flat = {
            "logits": pl.Series(logits.reshape(n * c, k)).cast(pl.List(pl.Float64)),
            "p": pl.Series(p.reshape(n * c, k)).cast(pl.List(pl.Float64)),
            "top1": pl.Series(p.argmax(axis=2).reshape(-1)),
            "is_tie": pl.Series(((p == p.max(axis=2, keepdims=True)).sum(axis=2) > 1).reshape(-1)),
            "option_mass": pl.Series(rng.uniform(0.7, 1.0, n * c)),
        }
        parts.append(
            pl.DataFrame(
                {
                    "sample_id": some["sample_id"].gather(np.repeat(np.arange(n), c)),
                    "corruption": names * n,
                    "severity": np.tile(severity, n),
                    **flat,
                    "failed": failed,
                }
            ).with_columns(
                pl.when(~pl.col("failed")).then(pl.col(column)).alias(column) for column in flat
            )
        )
    frame = pl.concat(parts).with_columns(
        model=pl.lit(model),
        scoring=pl.lit("letter"),
        temperature=pl.lit(1.0),
        status=pl.when("failed").then(pl.lit("nonfinite_logits")).otherwise(pl.lit("ok")),
    )
    return tables.PREDICTIONS.conform(frame.drop("failed"))


def _images(image_ids: list[str]) -> pl.DataFrame:
    rows = []
    for i, image_id in enumerate(image_ids):
        ramp = np.add.outer(np.arange(16), np.arange(24))[:, :, None] * [3, 4, 5] + 7 * i
        buffer = io.BytesIO()
        Image.fromarray((ramp % 256).astype(np.uint8)).save(buffer, "PNG")
        rows.append({"image_id": image_id, "width": 24, "height": 16, "bytes": buffer.getvalue()})
    return tables.IMAGES.conform(tables.IMAGES.from_rows(rows))


def _corrupted(
    image_ids: list[str], conditions: Sequence[tuple[str, int]], rng: np.random.Generator
) -> pl.DataFrame:
    wanted = [(name, severity) for name, severity in conditions if severity > 0]
    size = len(image_ids) * len(wanted)
    severity = np.tile([s for _, s in wanted], len(image_ids))
    names = [name for name, _ in wanted] * len(image_ids)
    owners = [image_id for image_id in image_ids for _ in wanted]
    keys = zip(owners, names, severity, strict=True)
    return tables.CORRUPTED.conform(
        pl.DataFrame(
            {
                "image_id": owners,
                "corruption": names,
                "severity": severity,
                "width": np.full(size, 24),
                "height": np.full(size, 16),
                "pixels_sha256": [keyed.digest(o, c, int(s)).hex() for o, c, s in keys],
                "mean_absolute_difference": severity * 6 + rng.uniform(0, 3, size),
                "ssim": 1 - severity * 0.15 - rng.uniform(0, 0.05, size),
                "bytes": pl.Series([None] * size, dtype=pl.Binary),
            }
        )
    )


def write_run(run: SyntheticRun, folder: Path) -> Sources:
    """Write the tables of a run, shifts included, as the stages would; return their paths."""
    for table in (tables.SAMPLES, tables.IMAGES, tables.REJECTED, tables.SELECTION):
        table.write(getattr(run, table.name), folder / f"{table.name}.parquet")
    tables.CORRUPTED.write(run.corrupted, folder / "corrupted.parquet")
    for model, predictions in run.predictions.items():
        tables.PREDICTIONS.write(predictions, folder / model / "predictions.parquet")
        write_diagnosis(
            folder / model / "predictions.parquet",
            folder / "samples.parquet",
            folder / "selection.parquet",
            folder / model / "scores.parquet",
            folder / model / "diagnosis.parquet",
        )
    return Sources(
        samples=folder / "samples.parquet",
        images=folder / "images.parquet",
        rejected=folder / "rejected.parquet",
        selection=folder / "selection.parquet",
        corrupted=[folder / "corrupted.parquet"],
        predictions=[folder / model / "predictions.parquet" for model in run.predictions],
        scores=[folder / model / "scores.parquet" for model in run.predictions],
        shifts=[folder / model / "diagnosis.parquet" for model in run.predictions],
        models=run.models,
        groups=GROUPS,
        run={"benchc": "0.1.0", "config": {"seed": 0}},
        draws=100,
    )
