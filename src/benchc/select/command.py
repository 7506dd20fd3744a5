"""`benchc select`: the selection, and the cosines by which its limits are chosen.

Never computes: it reads paths and hands tables on.
"""

from pathlib import Path

import typer

from benchc import tables
from benchc.errors import BadInput

app = typer.Typer(no_args_is_help=True, help="Choose the samples of the benchmark.")


@app.command()
def build(
    samples: Path = typer.Option(..., help="The pool's samples."),
    embeddings: Path = typer.Option(..., help="The pool's embeddings."),
    predictions: list[Path] = typer.Option(..., help="A selector's predictions; repeat."),
    out: Path = typer.Option(..., help="Where the selection goes."),
    impurity_above: float = typer.Option(0.10, help="Leave out samples not above this."),
    image_cosine_limit: float = typer.Option(0.95, help="Pictures are near from this cosine on."),
    text_cosine_limit: float = typer.Option(0.95, help="Texts are near from this cosine on."),
    cap: int | None = typer.Option(None, min=1, help="Keep at most this many."),
    severity: list[int] = typer.Option(
        [1, 2, 3, 4, 5], min=1, max=5, help="A configured severity; repeat."
    ),
    seed: int = typer.Option(0, help="Key of the control's draw."),
) -> None:
    """Keep samples whose answers move under corruption and that differ from one another."""
    from benchc.select.selection import select

    found = select(
        tables.SAMPLES.read(samples),
        [tables.PREDICTIONS.read(path, _TOP1) for path in predictions],
        tables.EMBEDDINGS.read(embeddings),
        impurity_above=impurity_above,
        image_cosine_limit=image_cosine_limit,
        text_cosine_limit=text_cosine_limit,
        cap=cap,
        severities=severity,
        seed=seed,
    )
    if not found["kept"].any():
        largest = found.select("impurity").max().item()
        if largest is None:
            raise BadInput(
                f"{out}: no sample has a complete trajectory: a clean answer and one at every "
                "severity; look at the `status` of the selectors' predictions"
            )
        raise BadInput(
            f"{out}: no sample has an impurity above {impurity_above} "
            f"(largest: {largest:.4f}); lower the threshold or enlarge the pool"
        )
    tables.SELECTION.write(found, out)
    print(f"{out}: kept {found['kept'].sum()} of {found.height} samples")


@app.command()
def calibrate(
    samples: Path = typer.Option(..., help="The pool's samples."),
    embeddings: Path = typer.Option(..., help="The pool's embeddings."),
) -> None:
    """Print quantiles of the cosines between samples, to choose the limits by.

    `both` is the smaller of a pair's two cosines: with equal limits, a pair is near where it
    reaches the limit.
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
