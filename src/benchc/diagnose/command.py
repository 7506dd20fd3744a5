"""`benchc diagnose`: one model's shifts, and the database of a run.

Never computes: it reads paths and hands tables on.
"""

from pathlib import Path
from typing import Any

import typer

from benchc import inline, tables
from benchc.errors import BadInput

app = typer.Typer(no_args_is_help=True, help="Score shifts and build the database.")


@app.command()
def model(
    predictions: Path = typer.Option(..., help="The model's predictions."),
    samples: Path = typer.Option(..., help="The pool's samples."),
    selection: Path = typer.Option(..., help="The selection; its samples must all be there."),
    out: Path = typer.Option(..., help="Where the model's shifts go."),
    key: str | None = typer.Option(None, help="Refuse rows of any other model."),
) -> None:
    """Write what every corruption did to one model: its shifts."""
    from benchc.diagnose.shifts import shifts

    found = shifts(
        tables.PREDICTIONS.read(predictions),
        tables.SAMPLES.read(samples),
        tables.SELECTION.read(selection),
        model=key,
        name=str(predictions),
    )
    tables.SHIFTS.write(found, out)
    missing = found["ras"].null_count()
    print(f"{out}: {found.height} pairs, {missing} without a RAS")


@app.command()
def build(
    samples: Path = typer.Option(..., help="The pool's samples."),
    rejected: Path = typer.Option(..., help="What was left out of the pool."),
    selection: Path = typer.Option(..., help="The selection."),
    predictions: list[Path] = typer.Option(..., help="A model's predictions; repeat."),
    shifts: list[Path] = typer.Option(..., help="A model's shifts; repeat."),
    models: str = typer.Option(
        ..., help="JSON list of {key, selector, settings, fingerprint}, one a model."
    ),
    run: str = typer.Option(..., help="JSON object of facts about the run."),
    out: Path = typer.Option(..., help="Where the database goes."),
    corrupted: list[Path] = typer.Option([], help="Recipes of corrupted pictures; repeat."),
    images: Path | None = typer.Option(None, help="The pool's pictures; only sizes are kept."),
    record: list[Path] = typer.Option([], help="run.json of a model's inference; repeat."),
    seed: int = typer.Option(0, help="Key of the bootstrap's draws."),
) -> None:
    """Build the database of a run: its tables, attributions, intervals, verdicts and macros.

    At the end it prints, for each published finding, whether this run's own data agree.
    """
    from benchc.corrupt import GROUPS
    from benchc.diagnose.database import Sources
    from benchc.diagnose.database import build as build_database

    sources = Sources(
        samples=samples,
        rejected=rejected,
        selection=selection,
        predictions=predictions,
        shifts=shifts,
        models=_models(models, record),
        groups=GROUPS,
        corrupted=corrupted,
        images=images,
        run=_mapping(inline.read(run, "--run"), "--run"),
        seed=seed,
    )
    build_database(sources, out)
    _print_verdicts(out)
    left_out = sources.run.get("config", {}).get("leave_out")
    without = f", without {', '.join(left_out)}" if left_out else ""
    print(f'{out}: {len(sources.models)} models{without}; try: benchc sql "FROM leaderboard"')


def _print_verdicts(database: Path) -> None:
    from benchc.diagnose.query import print_query
    from benchc.diagnose.statements import statement

    print("The published findings in this run, with 95 % intervals:")
    print_query(database, statement("verdict_table"))


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
        record = _mapping(inline.read(str(path), "--record"), str(path))
        runs[record.get("model")] = record
    return [
        {**entry, "settings": {**entry["settings"], "run": runs.get(entry["key"])}}
        for entry in entries
    ]


def _mapping(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadInput(f"{place}: not an object of names and values")
    return value
