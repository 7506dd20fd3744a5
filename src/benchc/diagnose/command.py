"""`benchc diagnose`: one model's shifts, and the database of a run."""

from pathlib import Path
from typing import Any

import typer

from benchc.config import inline
from benchc.errors import BadInput

app = typer.Typer(no_args_is_help=True, help="Score shifts and build the database.")


@app.command()
def model(
    predictions: Path = typer.Option(..., help="The model's predictions."),
    samples: Path = typer.Option(..., help="samples.parquet of the pool."),
    selection: Path = typer.Option(..., help="The selection; its samples must all be there."),
    out: Path = typer.Option(..., help="Where the model's shifts go."),
    scores: Path | None = typer.Option(
        None, help="Where its scores go; without it scores.parquet beside OUT."
    ),
    key: str | None = typer.Option(None, help="Refuse rows of any other model."),
) -> None:
    """Write what one model's predictions are worth, and what every corruption did to them.

    Example: benchc diagnose model --predictions results/infer/llava/predictions.parquet
    --samples results/pool/samples.parquet --selection results/select/selection.parquet
    --out results/models/llava/diagnosis.parquet
    """
    from benchc.diagnose.shifts import write_diagnosis

    scored = scores or _scores_beside(out)
    found = write_diagnosis(predictions, samples, selection, scored, out, key).shifts
    missing = found["ras"].null_count()
    print(f"{out}: {found.height} pairs, {missing} without a RAS")


@app.command()
def build(
    samples: Path = typer.Option(..., help="samples.parquet of the pool."),
    rejected: Path = typer.Option(..., help="What was left out of the pool."),
    selection: Path = typer.Option(..., help="The selection."),
    predictions: list[Path] = typer.Option(..., help="A model's predictions; repeat."),
    shifts: list[Path] = typer.Option(..., help="A model's shifts; repeat."),
    scores: list[Path] = typer.Option(
        [], help="A model's scores; repeat. Without it scores.parquet beside each SHIFTS."
    ),
    models: str = typer.Option(
        ..., help="JSON list of {key, selector, settings, fingerprint}, one per model."
    ),
    run: str = typer.Option(..., help="JSON object of facts about the run."),
    out: Path = typer.Option(..., help="Where the database goes."),
    place: Path | None = typer.Option(
        None, help="Where it will be published, to be named so; without it OUT."
    ),
    corrupted: list[Path] = typer.Option(
        [], help="Tables of the corrupt stage, one per corruption; repeat."
    ),
    images: Path | None = typer.Option(None, help="The pool's pictures; only sizes are kept."),
    record: list[Path] = typer.Option([], help="run.json of a model's inference; repeat."),
    seed: int = typer.Option(0, help="Seed of the run; it draws the bootstrap."),
    column: list[str] = typer.Option(
        [], help="Own column of the sources to take the measures by; repeat."
    ),
) -> None:
    """Build the database of a run: its tables, attributions, intervals, verdicts and macros.

    At the end it prints, for each published finding, whether this run's own data agree.

    Example: benchc diagnose build --samples results/pool/samples.parquet
    --rejected results/pool/rejected.parquet --selection results/select/selection.parquet
    --predictions results/infer/llava/predictions.parquet
    --shifts results/models/llava/diagnosis.parquet --models models.json --run run.json
    --out results/bench-c.duckdb
    """
    from benchc.config.plugins import groups
    from benchc.diagnose.database import Sources
    from benchc.diagnose.database import build as build_database
    from benchc.running.versions import made_by
    from benchc.tables.database import say_what_goes

    sources = Sources(
        samples=samples,
        rejected=rejected,
        selection=selection,
        predictions=predictions,
        scores=scores or [_scores_beside(path) for path in shifts],
        shifts=shifts,
        models=_models(models, record),
        groups=groups(),
        corrupted=corrupted,
        images=images,
        run={**inline.facts(run, "--run"), **made_by()},
        seed=seed,
        columns=column,
    )
    say_what_goes(place or out)
    build_database(sources, out)
    _print_verdicts(out)
    left_out = sources.run.get("config", {}).get("leave_out")
    without = f", without {', '.join(left_out)}" if left_out else ""
    print(
        f'{place or out}: {len(sources.models)} models{without}; try: benchc sql "FROM leaderboard"'
    )


@app.command()
def export(
    out: Path = typer.Option(
        ..., dir_okay=False, help="File to write: .parquet, .csv (lists as JSON) or .jsonl."
    ),
    database: Path = typer.Option(Path("results/bench-c.duckdb"), help="The database to read."),
    scope: str = typer.Option("selection", help="selection, control or pool."),
    model: list[str] = typer.Option([], help="Key of a model; repeat. All without it."),
    kinds: str = typer.Option(
        "silent_degradation,overconfident_degradation,lucky_guess",
        help="Kinds of pairs, separated by commas.",
    ),
    tau: float = typer.Option(0.01, min=0.0, max=1.0, help="Shifts within it are no finding."),
) -> None:
    """Write the pairs in which a model failed quietly, with all that training on them needs.

    Each row has the question, its options and answer, the picture, the corruption with severity and
    seed, and the option probabilities on the clean and on the corrupted picture.

    Example: benchc diagnose export --model llava --kinds silent_degradation --out quiet.parquet
    """
    from benchc.diagnose.export import export as written

    wanted = [kind.strip() for kind in kinds.split(",") if kind.strip()]
    if not wanted:
        raise BadInput("--kinds: names no kind")
    found = written(database, out, scope, model, wanted, tau)
    counts = found.group_by("kind", maintain_order=True).len().iter_rows()
    print(f"{out}: {', '.join(f'{n} {kind}' for kind, n in counts)}")


def _scores_beside(shifts: Path) -> Path:
    return shifts.with_name("scores.parquet")


def _print_verdicts(database: Path) -> None:
    from benchc.diagnose.answers import print_query
    from benchc.sql import statement

    print("The published findings in this run, with 95 % intervals:")
    print_query(database, statement("diagnose/verdict_table"), rows=0)


def _models(text: str, records: list[Path]) -> list[dict[str, Any]]:
    entries = inline.read(text, "--models")
    if not isinstance(entries, list):
        raise BadInput("--models: not a list")
    wanted = {"key": str, "selector": bool, "settings": dict, "fingerprint": str}
    for place, entry in enumerate(entries):
        for name, kind in wanted.items():
            if not isinstance(entry, dict) or not isinstance(entry.get(name), kind):
                raise BadInput(f"--models: entry {place} needs `{name}` as {kind.__name__}")
    runs = {}
    for path in records:
        record = inline.facts(str(path), "--record")
        runs[record.get("model")] = record
    return [{**entry, "record": runs.get(entry["key"])} for entry in entries]
