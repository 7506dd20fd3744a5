"""The `benchc infer` commands; never hold logic.

Heavy libraries are loaded when they run, not when they are listed.
"""

import json
from pathlib import Path

import polars as pl
import typer

from benchc import inline
from benchc.checked import checked
from benchc.errors import BadInput
from benchc.fetch.stage import place, read_record
from benchc.infer.settings import Model, TransformersModel
from benchc.tables import PREDICTIONS, renamed_into_place

app = typer.Typer(no_args_is_help=True, help="Ask a model, and keep its option probabilities.")

_KEY = typer.Argument(help="The model's key: its name in every table.")


@app.callback()
def _infer() -> None:
    """Ask a model every question under every corruption, and keep its option probabilities."""


@app.command()
def predict(
    key: str = _KEY,
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
    chunks: Path | None = typer.Option(
        None, help="Folder of finished chunks; `chunks` beside OUT by default."
    ),
    shard: int = typer.Option(0, min=0, help="Which share of the chunks to compute, from 0."),
    shards: int = typer.Option(1, min=1, help="How many shares there are."),
    seed: int = typer.Option(1, help="The seed the pictures were corrupted with."),
    reference_side: int | None = typer.Option(None, help="As given to `benchc corrupt render`."),
    threads: int = typer.Option(1, min=1, help="CPU threads of the model."),
    workers: int = typer.Option(
        1, min=0, help="Processes that corrupt pictures ahead of the model; 0 for none."
    ),
) -> None:
    """Predict with one model, clean, blank and corrupted.

    Finished chunks are kept, so that a killed command goes on where it was; `run.json` beside OUT
    says what the predictions were made with.
    """
    from benchc.corrupt.selftest import selftest
    from benchc.infer import asked, backends, run
    from benchc.infer.rendering import renderers

    if shard >= shards:
        raise BadInput(
            f"--shard {shard}: shards count from 0, so of {shards} the last is {shards - 1}"
        )
    model, loaded = located(_settings(settings), fetched)
    kept = chunks or out.parent / "chunks"
    questions = asked.read(samples, images, corrupted, selection, seed, reference_side)
    part = run.Part(kept, shard, shards)
    model_key = backends.model_key(model, threads, kept.parent / "hashes.json")
    with renderers(workers) as submit:
        backend = backends.load(loaded, threads, shard)
        answers = run.predict(key, model, backend, questions, model_key, part, submit)
    differing = selftest()
    if differing:
        typer.echo(
            f"{key}: warning: this machine renders {', '.join(differing)} otherwise than the "
            "package's own hashes say; its results are not comparable to the byte",
            err=True,
        )
    record = {
        "model": key,
        # Where a checkpoint lies is not what was asked: the record is the same in any folder.
        "settings": model.result_settings(),
        "libraries": backends.libraries(model),
        "ran_on": answers.ran_on,
        "corruptions_that_differ": differing,
        **backend.facts(),
    }
    _write(answers.predictions, record, out)
    _say_outcome(record, answers.predictions)


@app.command()
def merge(
    key: str = _KEY,
    part: list[Path] = typer.Option(help="predictions.parquet of a shard; repeat."),
    out: Path = typer.Option(help="File to write, predictions.parquet."),
) -> None:
    """Put the predictions of a model's shards together, and their run.json likewise."""
    from benchc.infer import record, run

    records = [inline.read(str(path.parent / "run.json"), "--part") for path in part]
    answers = run.merged(
        [
            run.Answers(PREDICTIONS.read(path), found["ran_on"])
            for path, found in zip(part, records, strict=True)
        ]
    )
    whole = record.merged(records, key, answers.ran_on)
    for name, values in whole.get("shards_differ_in", {}).items():
        typer.echo(f"{key}: warning: shards differ in {name}: {values}", err=True)
    _write(answers.predictions, whole, out)
    _say_outcome(whole, answers.predictions)


def check_model(
    key: str, configfile: Path | None, project: Path, results: Path, samples: int
) -> None:
    """Print what `benchc check` shows.

    Raises:
        BadInput: the config has no such model, it does not load, or a batch changes its answers.
    """
    from benchc.infer import backends
    from benchc.infer.check import check, drawn_samples, pool_samples
    from benchc.workflow import Workflow

    values = {} if configfile is None else inline.read(str(configfile), "--configfile")
    workflow = Workflow(values or {}, str(project))
    if key not in workflow.config.models:
        raise BadInput(
            f"no model {key!r} in the config; there are {', '.join(workflow.config.models)}"
        )
    wanted = workflow.config.models[key].request()
    fetched = results / "fetch" / wanted.name if wanted else None
    _, settings = located(_settings(workflow.model_settings(key)), fetched)
    pool, pictures = (results / "pool" / f"{name}.parquet" for name in ("samples", "images"))
    asked = pool_samples(pool, pictures, samples) if pool.exists() else drawn_samples(samples)
    backend = backends.load(settings, workflow.config.infer.threads)
    for line in check(key, settings, backend, asked):
        typer.echo(line)


def _settings(text: str) -> Model:
    model: Model = checked(Model, inline.read(text, "--settings"), "--settings")
    return model


def located(model: Model, fetched: Path | None) -> tuple[Model, Model]:
    """Return the model as results name it, at its commit, and as a loader takes it, in a folder."""
    if fetched is None or not isinstance(model, TransformersModel):
        return model, model
    model = model.at_commit(read_record(fetched).get("commit"))
    return model, model.lying_in(place(fetched, Path(model.path or ".")))


def _write(predictions: pl.DataFrame, record: dict[str, object], out: Path) -> None:
    with renamed_into_place(out.parent / "run.json") as temporary:
        temporary.write_text(json.dumps(record, indent=2, sort_keys=True) + "\n")
    PREDICTIONS.write(predictions, out)


def _say_outcome(record: dict[str, object], frame: pl.DataFrame) -> None:
    key = record["model"]
    failed = frame.filter(pl.col("status") != "ok")
    reasons = failed["status"].value_counts().sort("status").iter_rows()
    left_out = ", ".join(f"{count} {status}" for status, count in reasons)
    typer.echo(f"{key}: {frame.height} predictions, {left_out or 'all ok'}", err=True)
    for error in record.get("processor_errors") or ():  # type: ignore[attr-defined]
        typer.echo(f"{key}: its processor said: {error}", err=True)
    mass = frame.filter(pl.col("corruption") == "clean")["option_mass"].mean()
    if isinstance(mass, float) and mass < 0.5:
        typer.echo(
            f"{key}: warning: on clean pictures the options hold only {mass:.0%} of the "
            "probability; this model would not answer with a letter here (see `benchc check`)",
            err=True,
        )
    if len(record["ran_on"]) > 1:  # type: ignore[arg-type]
        typer.echo(
            f"{key}: warning: its predictions were not all made alike, so their last digits are "
            f"not comparable: {json.dumps(record['ran_on'])}; delete its chunks to make them anew",
            err=True,
        )
