"""The `benchc embed` command.

Heavy libraries are loaded when it runs, not when it is listed.
"""

from pathlib import Path

import typer

from benchc.config import inline
from benchc.config.checked import checked
from benchc.config.run import Embed
from benchc.tables import EMBEDDINGS, IMAGES, SAMPLES

app = typer.Typer(no_args_is_help=True, help="Place each sample among the others, with CLIP.")


@app.callback()
def _embed() -> None:
    """Place each sample among the others: unit vectors of its picture and of its text."""


@app.command()
def samples(
    samples: Path = typer.Option(help="samples.parquet of the pool."),
    images: Path = typer.Option(help="images.parquet of the pool."),
    out: Path = typer.Option(help="File to write, embeddings.parquet."),
    settings: str = typer.Option(
        help="The section `embed`: JSON as in the config, or a file that holds it."
    ),
    fetched: Path | None = typer.Option(
        None, help="Folder that `benchc fetch files` filled with the model."
    ),
    threads: int = typer.Option(1, min=1, help="CPU threads."),
) -> None:
    """Embed every sample of the pool.

    Example: benchc embed samples --samples results/pool/samples.parquet
    --images results/pool/images.parquet --settings '{model: reference/clip}'
    --out results/embed/embeddings.parquet
    """
    from benchc.embed.clip import Clip, embed_samples

    chosen: Embed = checked(Embed, inline.read(settings, "--settings"), "--settings")
    clip = Clip(str(fetched or chosen.model), chosen.pretrained, threads)
    frame = embed_samples(clip, SAMPLES.read(samples), IMAGES.read(images))
    EMBEDDINGS.write(frame, out)
