"""The `corrupt` commands: render a table, draw a gallery, list, test this machine."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import cv2
import typer
from tqdm import tqdm

from benchc import tables
from benchc.config.corruptions import CORRUPTIONS, SEVERITIES
from benchc.config.plugins import known
from benchc.corrupt.gallery import contact_sheet
from benchc.corrupt.render import check_name, check_severity
from benchc.corrupt.stage import render_corruption
from benchc.errors import BadInput
from benchc.pictures.decode import decode_picture
from benchc.pictures.pixels import encode

app = typer.Typer(
    help=f"Corrupt pictures: {len(CORRUPTIONS)} corruptions, {len(SEVERITIES)} severities.",
    no_args_is_help=True,
)


@app.command()
def render(
    name: Annotated[str, typer.Argument(help="Corruption, as in `benchc corrupt list`.")],
    images: Annotated[Path, typer.Option(help="Table of pictures.")],
    out: Annotated[Path, typer.Option(help="Table to write.")],
    seed: Annotated[int, typer.Option(help="Seed of the run.")],
    severity: Annotated[
        list[int] | None, typer.Option(help="A severity; repeat. All five if left out.")
    ] = None,
    reference_side: Annotated[
        int | None, typer.Option(help="Scale sizes in pixels by shorter side / this.", min=1)
    ] = None,
    store: Annotated[
        Literal["png", "webp"] | None, typer.Option(help="Keep the pixels too, lossless.")
    ] = None,
    workers: Annotated[int, typer.Option(help="Threads that render.", min=1)] = 1,
) -> None:
    """Render, hash and measure every picture of a table under one corruption.

    Example: benchc corrupt render fog --images results/pool/images.parquet --seed 1
    --out results/corrupt/fog.parquet
    """
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
    """Draw one contact sheet of a picture under all corruptions and severities.

    Example: benchc corrupt gallery photo.jpg --out gallery.png
    """
    try:
        pixels = decode_picture(picture)
    except BadInput as error:
        raise BadInput(f"{picture}: {error}") from None
    with tables.renamed_into_place(out) as temporary:
        temporary.write_bytes(encode(contact_sheet(pixels, side, seed), "png"))


@app.command("list")
def list_() -> None:
    """Print every corruption with its group and constants.

    Example: benchc corrupt list
    """
    wide = max(map(len, known()))
    for corruption in known().values():
        constants = "  ".join(str(c).replace(" ", "") for c in corruption.constants)
        print(f"{corruption.name:{wide}}  {corruption.group:11}  {corruption.does}")
        print(f"{'':{wide}}  {'':11}  {constants}")


@app.command()
def selftest() -> None:
    """Compare what this machine renders with packaged hashes; exit status 1 where they differ.

    Example: benchc corrupt selftest
    """
    from benchc.corrupt.selftest import selftest as run

    differing = run()
    if differing:
        raise BadInput(
            f"{len(differing)} corruptions differ on this machine: {', '.join(differing)}; "
            "install the pinned versions"
        )
    print(f"{len(CORRUPTIONS)} corruptions x {len(SEVERITIES)} severities: the same bytes")
