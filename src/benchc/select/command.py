"""`benchc select`: the selection, and the cosines by which its limits are chosen."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import typer

from benchc import tables
from benchc.errors import BadInput

if TYPE_CHECKING:
    from benchc.select.selection import Rule

app = typer.Typer(no_args_is_help=True, help="Choose the samples of the benchmark.")


@app.command()
def build(
    samples: Path = typer.Option(..., help="samples.parquet of the pool."),
    embeddings: Path = typer.Option(..., help="The pool's embeddings."),
    predictions: list[Path] = typer.Option(..., help="A selector's predictions; repeat."),
    out: Path = typer.Option(..., help="Where the selection goes."),
    quotas: Path = typer.Option(..., help="Where each benchmark's quota goes."),
    halves: Path = typer.Option(..., help="Where the halves of the cross-fit go."),
    cross_fit: Path = typer.Option(..., help="Where the samples of the cross-fit go."),
    impurity: str = typer.Option("normalised", help="normalised or raw."),
    impurity_above: float = typer.Option(0.22, help="Leave out samples not above this."),
    image_cosine_limit: float = typer.Option(0.95, help="Pictures are near from this cosine on."),
    text_cosine_limit: float = typer.Option(0.95, help="Texts are near from this cosine on."),
    stratify: str | None = typer.Option(
        None, help="benchmark: each benchmark gets its share of the pool."
    ),
    cap: int | None = typer.Option(None, min=1, help="Keep at most this many."),
    severity: list[int] = typer.Option(
        [1, 2, 3, 4, 5], min=1, max=5, help="A severity; repeat. All five if left out."
    ),
    seed: int = typer.Option(0, help="Seed of the run; it draws the control."),
    before: Path | None = typer.Option(
        None, help="Database of the run before: say where the benchmark is another one."
    ),
    may_be_empty: bool = typer.Option(False, help="Go on where no sample is kept, and say so."),
) -> None:
    """Keep samples whose answers move under corruption and that differ from one another.

    Example: benchc select build --samples results/pool/samples.parquet
    --embeddings results/embed/embeddings.parquet
    --predictions results/infer/llava/predictions.parquet --seed 1
    --quotas results/select/quotas.parquet --halves results/select/halves.parquet
    --cross-fit results/select/cross_fit.parquet --out results/select/selection.parquet
    """
    from benchc.config.plugins import groups
    from benchc.select.cross_fit import cross_fit as fitted
    from benchc.select.moved import moved
    from benchc.select.selection import Pool, Rule, select

    rule = Rule(
        _one_of("--impurity", impurity, ("normalised", "raw")),
        impurity_above,
        image_cosine_limit,
        text_cosine_limit,
        _one_of("--stratify", stratify, (None, "benchmark")),
        cap,
    )
    pool = Pool.of(tables.SAMPLES.read(samples), tables.EMBEDDINGS.read(embeddings))
    answers = [tables.PREDICTIONS.read(path, _TOP1) for path in predictions]
    found = select(pool, answers, rule, severity, seed)
    if not found.samples["kept"].any():
        reason = f"{out}: {_why_empty(found.samples, rule)}"
        if not may_be_empty:
            raise BadInput(reason)
        print(f"{reason}; this run is about the whole pool and goes on")
    for table, frame, path in zip(
        (tables.CROSS_FIT_HALVES, tables.CROSS_FIT_SAMPLES),
        fitted(pool, answers, groups(), rule, severity, seed),
        (halves, cross_fit),
        strict=True,
    ):
        table.write(frame, path)
    tables.QUOTAS.write(found.quotas, quotas)
    tables.SELECTION.write(found.samples, out)
    print(f"{out}: kept {found.samples['kept'].sum()} of {found.samples.height} samples")
    kept_now = found.samples.filter("kept")["sample_id"]
    if before and (line := moved(kept_now, before)):
        print(f"{out}: {line}", file=sys.stderr)
    for name, quota, kept in (
        found.quotas.filter(pl.col("kept") < pl.col("quota"))
        .select("benchmark", "quota", "kept")
        .iter_rows()
    ):
        print(
            f"{out}: {name} fills {kept} of its {quota} places: the rest never moves or is "
            "near to one kept"
        )


def _why_empty(found: pl.DataFrame, rule: "Rule") -> str:
    largest = found.select(rule.column).max().item()
    if largest is None:
        return (
            "no sample has a complete trajectory: a clean answer and one at every severity; look "
            "at the `status` of the selectors' predictions"
        )
    if largest > rule.impurity_above:
        return (
            "too few samples move for a quota per benchmark: the benchmarks that have a place have "
            "no sample for it; enlarge the pool, or set `select.stratify` to null"
        )
    return (
        f"no sample has an impurity above {rule.impurity_above} (largest: {largest:.4f}); lower "
        "the threshold or enlarge the pool"
    )


def _one_of(option: str, value: Any, known: tuple[Any, ...]) -> Any:
    if value not in known:
        raise BadInput(f"{option} {value}: give {' or '.join(filter(None, known))}")
    return value


@app.command()
def calibrate(
    samples: Path = typer.Option(..., help="samples.parquet of the pool."),
    embeddings: Path = typer.Option(..., help="The pool's embeddings."),
) -> None:
    """Print quantiles of the cosines between samples, to choose the limits by.

    `both` is the smaller of a pair's two cosines: with equal limits, a pair is near where it
    reaches the limit.

    Example: benchc select calibrate --samples results/pool/samples.parquet
    --embeddings results/embed/embeddings.parquet
    """
    from benchc.select.diversity import cosine_quantiles
    from benchc.select.selection import unit_vectors

    pool = tables.SAMPLES.read(samples, ["sample_id"])
    if pool.height < 2:
        raise BadInput(f"{samples}: a pool of one sample has no pairs")
    image, text = unit_vectors(pool, tables.EMBEDDINGS.read(embeddings))
    shares = (0.5, 0.9, 0.99, 0.999, 0.9999, 1.0)
    print("quantile", *(f"{share:>8}" for share in shares))
    for name, values in cosine_quantiles(image, text, shares).items():
        print(f"{name:<8}", *(f"{value:8.4f}" for value in values))


_TOP1 = ("model", "sample_id", "corruption", "severity", "top1")
