"""`benchc report`: the page that shows what the database holds.

Never computes: it reads paths and writes one file.
"""

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
    out: Path = typer.Option(..., help="The page to write."),
    reference_side: int | None = typer.Option(None, help="As in `benchc corrupt render`.", min=1),
) -> None:
    """Write the report: one HTML file that needs no network."""
    from benchc.report.page import build_page
    from benchc.tables import renamed_into_place

    text = build_page(database, images, seed, reference_side).encode("utf-8")
    with renamed_into_place(out) as temporary:
        temporary.write_bytes(text)
    print(f"{out}: {len(text) / 1e6:.1f} MB; open it in a browser")
