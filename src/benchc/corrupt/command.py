"""The `corrupt` commands: render a table, draw a gallery, list, test this machine.

Never computes: files and progress only, around `stage`, `gallery`, `registry` and `selftest`.
"""

import sys
from pathlib import Path
from typing import Annotated, Literal

import cv2
import typer
from tqdm import tqdm

from benchc import tables
from benchc.corrupt.gallery import contact_sheet
from benchc.corrupt.registry import CORRUPTIONS, SEVERITIES
from benchc.corrupt.render import check_name, check_severity
from benchc.corrupt.stage import render_corruption
from benchc.errors import BadInput
from benchc.pixels import encode
from benchc.pool.pictures import decode_picture

app = typer.Typer(
    help="Corrupt pictures: nineteen corruptions, five severities.", no_args_is_help=True
)


@app.command()
def render(
    name: Annotated[str, typer.Argument(help="Corruption, as in `benchc corrupt list`.")],
    images: Annotated[Path, typer.Option(help="Table of pictures.")],
    out: Annotated[Path, typer.Option(help="Table to write.")],
    seed: Annotated[int, typer.Option(help="Seed of the run.")],
    severity: Annotated[list[int] | None, typer.Option(help="Repeat; all five if absent.")] = None,
    reference_side: Annotated[
        int | None, typer.Option(help="Scale sizes in pixels by shorter side / this.", min=1)
    ] = None,
    store: Annotated[
        Literal["png", "webp"] | None, typer.Option(help="Keep the pixels too, lossless.")
    ] = None,
    workers: Annotated[int, typer.Option(help="Threads.", min=1)] = 1,
) -> None:
    """Render, hash and measure every picture of a table under one corruption."""
    levels = sorted(set(severity or SEVERITIES))
    try:
        check_name(name)
        for level in levels:
            check_severity(level)
    except ValueError as error:
        raise BadInput(str(error)) from None
    cv2.setNumThreads(1)
    pictures = tables.IMAGES.read(images)
    quiet = not sys.stderr.isatty()
    with tqdm(total=pictures.height, desc=name, unit="picture", disable=quiet) as bar:
        frame = render_corruption(
            pictures,
            name,
            levels,
            seed=seed,
            reference_side=reference_side,
            store=store,
            workers=workers,
            progress=bar.update,
        )
    tables.CORRUPTED.write(frame, out)


@app.command()
def gallery(
    picture: Annotated[Path, typer.Argument(help="Picture file.")],
    out: Annotated[Path, typer.Option(dir_okay=False, help="PNG to write.")],
    side: Annotated[
        int, typer.Option(help="Longer side of a cell, pixels.", min=8, max=2000)
    ] = 160,
    seed: Annotated[int, typer.Option(help="Seed.")] = 1,
) -> None:
    """Draw one contact sheet of a picture under all corruptions and severities."""
    try:
        pixels = decode_picture(picture)
    except BadInput as error:
        raise BadInput(f"{picture}: {error}") from None
    with tables.renamed_into_place(out) as temporary:
        temporary.write_bytes(encode(contact_sheet(pixels, side, seed), "png"))


@app.command("list")
def list_() -> None:
    """Print every corruption with its group and constants."""
    wide = max(map(len, CORRUPTIONS))
    for corruption in CORRUPTIONS.values():
        constants = "  ".join(str(c).replace(" ", "") for c in corruption.constants)
        print(f"{corruption.name:{wide}}  {corruption.group:11}  {corruption.does}")
        print(f"{'':{wide}}  {'':11}  {constants}")


@app.command()
def selftest() -> None:
    """Compare 19 x 5 renderings with packaged hashes; exit status 1 where they differ."""
    from benchc.corrupt.selftest import selftest as run

    differing = run()
    if differing:
        raise BadInput(
            f"{len(differing)} corruptions differ on this machine: {', '.join(differing)}; "
            "install the pinned versions"
        )
    print(f"{len(CORRUPTIONS)} corruptions x {len(SEVERITIES)} severities: the same bytes")
