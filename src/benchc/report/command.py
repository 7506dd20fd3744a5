"""`benchc report`: the page that shows what the database holds."""

from pathlib import Path

import typer

app = typer.Typer(no_args_is_help=True)


@app.callback()
def report() -> None:
    """Show what the database holds as one page."""


@app.command()
def build(
    database: Path = typer.Option(..., help="The database of the run."),
    images: Path = typer.Option(..., help="The pool's pictures."),
    seed: int = typer.Option(..., help="Seed of the run: corrupted pictures are made again."),
    out: Path = typer.Option(..., dir_okay=False, help="The page to write."),
    embeddings: Path | None = typer.Option(
        None, help="The pool's embeddings; without them their map is left out."
    ),
    reference_side: int | None = typer.Option(None, help="As in `benchc corrupt render`.", min=1),
    place: Path | None = typer.Option(
        None, help="Where it will be published, to be named so; without it OUT."
    ),
) -> None:
    """Write the report: one HTML file that needs no network, and a folder `cases` beside it.

    The page stands alone; the folder holds the cases for which it has no room, and may stay behind.

    Example: benchc report build --database results/bench-c.duckdb
    --images results/pool/images.parquet --embeddings results/embed/embeddings.parquet --seed 1
    --out results/report/index.html
    """
    from benchc.report.page import build_report

    report = build_report(database, images, seed, reference_side, embeddings)
    folder = out.parent / "cases"
    folder.mkdir(parents=True, exist_ok=True)
    for stale in folder.glob("*.js"):
        stale.unlink()
    for name, text in report.side_files.items():
        _write(text, folder / name)
    print(f"{place or out}: {_write(report.page, out):.1f} MB; open it in a browser")


@app.command()
def compare(
    first: Path = typer.Argument(help="The database of one run."),
    second: Path = typer.Argument(help="The database of another run over the same pool."),
    out: Path = typer.Option(..., dir_okay=False, help="The page to write."),
    names: tuple[str, str] = typer.Option(("first", "second"), help="What to call the two runs."),
) -> None:
    """Show two runs side by side: accuracy and RAS of each model under each corruption.

    Only pairs that both runs have count: the same model key, sample, picture, corruption and
    severity. What differs in the settings of the runs is listed.

    Example: benchc report compare results/bench-c.duckdb runs/size-aware/results/bench-c.duckdb
    --names plain size-aware --out comparison.html
    """
    from benchc.report.compare import build_comparison

    size = _write(build_comparison(first, second, names), out)
    print(f"{out}: {size:.1f} MB; open it in a browser")


def _write(text: str, path: Path) -> float:
    """Write a file whole or not at all; return its size, MB."""
    from benchc.tables import write_text

    write_text(path, text)
    return path.stat().st_size / 1e6
