"""The `benchc infer` commands; never hold logic.

Heavy libraries are loaded when they run, not when they are listed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import typer

from benchc.config import inline
from benchc.config.checked import checked
from benchc.config.models import BACKENDS, Model
from benchc.errors import BadInput
from benchc.fetch.checkpoint import recorded_and_loadable
from benchc.tables import ATTEMPT, PREDICTIONS, TO_ASK_AGAIN, metadata, write_json

if TYPE_CHECKING:
    from benchc.infer.looks import Trial
    from benchc.models.scores import Backend

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
    corrupted: list[Path] = typer.Option(
        help="Tables of the corrupt stage, one per corruption; repeat."
    ),
    selection: Path | None = typer.Option(
        None, help="selection.parquet: ask kept and control samples only."
    ),
    fetched: Path | None = typer.Option(
        None, help="Folder that `benchc fetch files` filled with the model."
    ),
    out: Path = typer.Option(help="File to write, predictions.parquet."),
    chunks: Path | None = typer.Option(
        None, help="Folder of the model's answers; `chunks` beside OUT by default."
    ),
    attempt: int = typer.Option(
        1, min=1, help="How often this is run because questions failed; kept in OUT."
    ),
    shard: int = typer.Option(0, min=0, help="Which share of the questions to ask, from 0."),
    shards: int = typer.Option(1, min=1, help="How many shares there are."),
    seed: int = typer.Option(1, help="The seed the pictures were corrupted with."),
    reference_side: int | None = typer.Option(None, help="As given to `benchc corrupt render`."),
    threads: int = typer.Option(1, min=1, help="CPU threads of the model."),
    workers: int = typer.Option(
        1, min=0, help="Processes that corrupt pictures ahead of the model; 0 for none."
    ),
) -> None:
    """Predict with one model, clean, blank and corrupted.

    Answers are kept, so that a killed command goes on where it was; `run.json` beside OUT says what
    the predictions were made with.

    Example: benchc infer predict llava --settings '{path: reference/llava, instruction: ""}'
    --samples results/pool/samples.parquet --images results/pool/images.parquet
    --corrupted results/corrupt/fog.parquet --seed 1 --out results/infer/llava/predictions.parquet
    """
    from benchc.corrupt.selftest import selftest
    from benchc.infer import looks, questionnaire, run
    from benchc.infer.letters import refuse_other_words
    from benchc.infer.rendering import renderers
    from benchc.models import backends
    from benchc.running import fingerprint

    if shard >= shards:
        raise BadInput(
            f"--shard {shard}: shards count from 0, so of {shards} the last is {shards - 1}"
        )
    model, loaded = recorded_and_loadable(_settings(settings), fetched)
    kept = chunks or out.parent / "chunks"
    questions = questionnaire.read(samples, images, corrupted, selection, seed, reference_side)
    part = run.Part(kept, shard, shards)
    model_key = backends.model_key(model, threads, kept.parent / "hashes.json")

    def load() -> tuple[Backend, Trial]:
        backend = _loaded(key, loaded, threads, shard)
        seen = looks.trial(backend)
        seen.refuse_blindness(key)
        if warning := refuse_other_words(key, loaded, seen.option_mass):
            typer.echo(f"warning: {warning}", err=True)
        return backend, seen

    with renderers(workers) as submit:
        answers = run.predict(key, model, load, questions, model_key, part, submit)
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
        "weights": fingerprint.of_files(
            model.checkpoint_files(Path()), kept.parent / "hashes.json"
        ),
        "seed": seed,
        "reference_side": reference_side,
        "threads": threads,
        "libraries": backends.libraries(model),
        "ran_on": answers.ran_on,
        "corruptions_that_differ": differing,
        "looks": answers.looks.record(),
        "reasons": answers.reasons,
        **answers.facts,
    }
    _write(answers.predictions, record, out, _attempted(attempt, answers.to_ask_again))
    _say_outcome(record, answers.predictions, answers.to_ask_again)


@app.command()
def merge(
    key: str = _KEY,
    part: list[Path] = typer.Option(help="predictions.parquet of a shard; repeat."),
    out: Path = typer.Option(help="File to write, predictions.parquet."),
) -> None:
    """Put the predictions of a model's shards together, and their run.json likewise.

    Example: benchc infer merge llava --part results/infer/llava/shards/0-of-2/predictions.parquet
    --part results/infer/llava/shards/1-of-2/predictions.parquet
    --out results/infer/llava/predictions.parquet
    """
    from benchc.infer import looks, record, run

    records = [inline.read(str(path.parent / "run.json"), "--part") for path in part]
    predictions, ran_on = run.merged(
        [PREDICTIONS.read(path) for path in part],
        [kind for found in records for kind in found["ran_on"]],
    )
    whole = record.merged(records, key, ran_on)
    whole["looks"] = looks.merged([r["looks"] for r in records], predictions).record()
    if predictions.height and not (predictions["status"] == "ok").any():
        raise BadInput(f"{key}: no answer is usable; `benchc infer status {key}` shows why")
    for name, values in whole.get("shards_differ_in", {}).items():
        typer.echo(f"{key}: warning: shards differ in {name}: {values}", err=True)
    _write(predictions, whole, out)
    again = sum(int(metadata(path).get(TO_ASK_AGAIN, 0)) for path in part)
    _say_outcome(whole, predictions, again)


@app.command()
def status(
    key: str = _KEY,
    results: Path = typer.Option(Path("results"), help="The results of a run, finished or not."),
    sql: str | None = typer.Option(None, help="A statement on `answers` instead of the overview."),
) -> None:
    """Show what has come of a model's questions so far, also where a run ended early.

    Example: benchc infer status mine --sql "SELECT reason, count(*) FROM answers GROUP BY ALL"
    """
    from benchc.infer import status as overview

    typer.echo(overview.shown(key, _answers_of(key, results), sql))


@app.command()
def retry(
    key: str = _KEY,
    results: Path = typer.Option(Path("results"), help="The results of a run."),
) -> None:
    """Let questions be asked again that failed so often that they were given up.

    The next `snakemake` asks them; good answers are kept.

    Example: benchc infer retry llava
    """
    from benchc.infer.journal import forget_failures
    from benchc.models.scores import PASSING

    folder = _answers_of(key, results)
    count = forget_failures(key, folder)
    for path in (
        folder.parent / "predictions.parquet",
        *sorted((folder.parent / "shards").glob("*/predictions.parquet")),
    ):
        if path.exists():
            frame = PREDICTIONS.read(path)
            failed = frame["status"].is_in(list(PASSING)).sum()
            known = metadata(path)
            PREDICTIONS.write(frame, path, {**known, TO_ASK_AGAIN: str(failed)})
    typer.echo(f"{key}: {count} questions will be asked again by the next run")


def _answers_of(key: str, results: Path) -> Path:
    folder = results / "infer" / key / "chunks"
    if not folder.is_dir():
        raise BadInput(f"{folder}: no such folder; give a model's key and `--results` of a run")
    return folder


def check_model(
    key: str, configfile: Path | None, project: Path, results: Path, samples: int
) -> None:
    """Print what `benchc check` shows.

    Raises:
        BadInput: the config has no such model, it does not load, or a batch changes its answers.
    """
    from benchc.infer.check import check, drawn_samples, pool_samples
    from benchc.infer.price import foreseen
    from benchc.running.workflow import Workflow

    values = {} if configfile is None else inline.read(str(configfile), "--configfile")
    workflow = Workflow(values or {}, str(project))
    if key not in workflow.config.models:
        raise BadInput(
            f"no model {key!r} in the config; there are {', '.join(workflow.config.models)}"
        )
    wanted = workflow.config.models[key].request()
    fetched = results / "fetch" / wanted.name if wanted else None
    _, settings = recorded_and_loadable(_settings(workflow.model_settings(key)), fetched)
    pool, pictures = (results / "pool" / f"{name}.parquet" for name in ("samples", "images"))
    asked = pool_samples(pool, pictures, samples) if pool.exists() else drawn_samples(samples)
    if BACKENDS[settings.backend].one_by_one:
        selection = results / "select" / "selection.parquet"
        conditions = 2 + len(workflow.config.corruptions) * len(workflow.config.severities)
        chosen = selection if key in workflow.followers else None
        typer.echo(foreseen(key, settings.instruction, conditions, pool, chosen))
    backend = _loaded(key, settings, workflow.config.infer.threads)
    for line in check(key, settings, backend, asked):
        typer.echo(line)


def _settings(text: str) -> Model:
    model: Model = checked(Model, inline.read(text, "--settings"), "--settings")
    return model


def _loaded(key: str, settings: Model, threads: int, shard: int = 0) -> Backend:
    """Return the model, ready to be asked; what refuses it names its key."""
    from benchc.models import backends

    try:
        return backends.load(settings, threads, shard)
    except BadInput as error:
        raise BadInput(f"{key}: {error}") from error


def _attempted(attempt: int, to_ask_again: int) -> dict[str, str]:
    return {ATTEMPT: str(attempt), TO_ASK_AGAIN: str(to_ask_again)}


def _write(
    predictions: pl.DataFrame,
    record: dict[str, object],
    out: Path,
    attempted: dict[str, str] | None = None,
) -> None:
    write_json(out.parent / "run.json", record)
    PREDICTIONS.write(predictions, out, attempted)


def _say_outcome(record: dict[str, object], frame: pl.DataFrame, to_ask_again: int) -> None:
    from benchc.models.scores import PASSING

    key = record["model"]
    failed = frame.filter(pl.col("status") != "ok")
    reasons = failed["status"].value_counts().sort("status").iter_rows()
    left_out = ", ".join(f"{count} {status}" for status, count in reasons)
    typer.echo(f"{key}: {frame.height} predictions, {left_out or 'all ok'}", err=True)
    failed_for_now = frame["status"].is_in(list(PASSING)).sum()
    if failed_for_now:
        way_on = (
            f"the same command asks {to_ask_again} of them again"
            if to_ask_again
            else f"they failed three times; `benchc infer retry {key}` lets them be asked again"
        )
        typer.echo(
            f"{key}: {failed_for_now} failed (`benchc infer status {key}` says why); {way_on}",
            err=True,
        )
    for error in record.get("processor_errors") or ():  # type: ignore[attr-defined]
        typer.echo(f"{key}: its processor said: {error}", err=True)
    mass = frame.filter(pl.col("corruption") == "clean")["option_mass"].mean()
    if isinstance(mass, float) and mass < 0.5:
        typer.echo(
            f"{key}: warning: on clean pictures the options hold only {mass:.0%} of the "
            "probability; this model would not answer with a letter here (see `benchc check`)",
            err=True,
        )
    seen = record["looks"]
    assert isinstance(seen, dict)
    if seen["verdict"] in ("does not look", "hardly looks"):
        typer.echo(
            f"{key}: warning: it {seen['verdict']} at pictures: of {seen['pairs']} answers to a "
            f"clean and to a blank picture {seen['moved']} differ by more than asking twice does",
            err=True,
        )
    if len(record["ran_on"]) > 1:  # type: ignore[arg-type]
        typer.echo(
            f"{key}: warning: its predictions were not all made alike, so their last digits are "
            f"not comparable: {json.dumps(record['ran_on'])}; delete `chunks` beside its run.json "
            "to make them anew",
            err=True,
        )
