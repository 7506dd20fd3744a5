"""The `benchc infer` commands; never hold logic.

Heavy libraries are loaded when they run, not when they are listed.
"""

import json
from pathlib import Path

import polars as pl
import typer
from pydantic import TypeAdapter, ValidationError

from benchc import inline
from benchc.errors import BadInput
from benchc.fetch.stage import place, read_record
from benchc.infer.settings import Model
from benchc.tables import (
    CORRUPTED,
    IMAGES,
    PREDICTIONS,
    SAMPLES,
    SELECTION,
    renamed_into_place,
)

app = typer.Typer(no_args_is_help=True, help="Ask a model, and keep its option probabilities.")


@app.callback()
def _infer() -> None:
    """Ask a model every question under every corruption, and keep its option probabilities."""


@app.command()
def predict(
    key: str = typer.Argument(help="The model's key: its name in every table."),
    settings: str = typer.Option(help="JSON as in the config, or a file that holds it."),
    samples: Path = typer.Option(help="samples.parquet of the pool."),
    images: Path = typer.Option(help="images.parquet of the pool."),
    corrupted: list[Path] = typer.Option(help="Tables of the corrupt stage, one a corruption."),
    selection: Path | None = typer.Option(
        None, help="selection.parquet: ask kept and control samples only."
    ),
    fetched: Path | None = typer.Option(
        None, help="Folder that `benchc fetch files` filled with the model."
    ),
    out: Path = typer.Option(help="File to write, predictions.parquet."),
    seed: int = typer.Option(1, help="The seed the pictures were corrupted with."),
    reference_side: int | None = typer.Option(None, help="As given to `benchc corrupt render`."),
    threads: int = typer.Option(1, min=1, help="CPU threads of the model."),
) -> None:
    """Predict with one model, clean, blank and corrupted.

    Finished chunks are kept in the folder `chunks` beside OUT, so that a killed command goes on
    where it was; `run.json` beside OUT says what the predictions were made with.
    """
    from benchc.corrupt.selftest import selftest
    from benchc.infer import backends, run

    model = loaded = _settings(settings)
    if fetched is not None:
        model = model.at_commit(read_record(fetched).get("commit"))
        loaded = model.lying_in(place(fetched, Path(model.path or ".")))
    asked = SAMPLES.read(samples)
    if selection is not None:
        wanted = SELECTION.read(selection).filter(pl.col("kept") | pl.col("control"))
        asked = asked.join(wanted, on="sample_id", how="semi")
    pictures = run.asked_images(asked, IMAGES.read(images))
    recipes = pl.concat(
        CORRUPTED.read(path, columns=["image_id", "corruption", "severity", "pixels_sha256"])
        for path in corrupted
    )
    hashes = run.expected_hashes(recipes)
    backend = backends.load(loaded, threads)
    frame = run.predict(
        key,
        model,
        backend,
        asked,
        pictures,
        run.Rendering(seed, reference_side, hashes, run.stored_tables(corrupted)),
        run.conditions(recipes),
        backends.model_key(model, threads),
        out.parent / "chunks",
    )
    differing = selftest()
    if differing:
        typer.echo(
            f"{key}: warning: this machine renders {', '.join(differing)} otherwise than the "
            "package's own hashes say; its results are not comparable to the byte",
            err=True,
        )
    facts = {
        "libraries": backends.libraries(model),
        "ran_on": backend.ran_on(),
        "corruptions_that_differ": differing,
        **backend.facts(),
    }
    _write_record(key, model, facts, out.parent / "run.json")
    PREDICTIONS.write(frame, out)
    _say_outcome(key, frame)


def _settings(text: str) -> Model:
    try:
        return TypeAdapter(Model).validate_python(inline.read(text, "--settings"))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "settings"
        raise BadInput(f"--settings: {place}: {first['msg']}") from None


def _write_record(key: str, model: Model, facts: dict[str, object], path: Path) -> None:
    record = {
        "model": key,
        "settings": model.model_dump(),
        **facts,
    }
    with renamed_into_place(path) as temporary:
        temporary.write_text(json.dumps(record, indent=2, sort_keys=True) + "\n")


def _say_outcome(key: str, frame: pl.DataFrame) -> None:
    failed = frame.filter(pl.col("status") != "ok")
    reasons = failed["status"].value_counts().sort("status").iter_rows()
    left_out = ", ".join(f"{count} {status}" for status, count in reasons)
    typer.echo(f"{key}: {frame.height} predictions, {left_out or 'all ok'}", err=True)
    mass = frame.filter(pl.col("corruption") == "clean")["option_mass"].mean()
    if isinstance(mass, float) and mass < 0.5:
        typer.echo(
            f"{key}: warning: on clean pictures the options hold only {mass:.0%} of the "
            "probability; this model would not answer with a letter here",
            err=True,
        )
