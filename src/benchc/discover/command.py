"""`benchc discover`: play one way of asking, sort the failures, measure, export."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import typer

from benchc.config import inline
from benchc.config.checked import checked
from benchc.config.discovery import WAYS, Discover
from benchc.discover.tables import ASKED, MEASURES, QUESTION_SKILLS, SKILLS, STEPS, TRAINING
from benchc.errors import BadInput
from benchc.tables import marked, write_text

app = typer.Typer(no_args_is_help=True)


@app.callback()
def discover() -> None:
    """Find what a model under test cannot see: a questioner learns to ask what it gets wrong.

    `play` trains and measures one way of asking against one model; `taxonomy` sorts all failures
    into skills; `measure` compares the ways; `build` and `report` make the database and the page;
    `export` writes the failures as a fine-tuning set.
    `snakemake --cores all discover` runs them all.
    """


@app.command()
def play(
    way: str = typer.Argument(help=f"How to ask: {', '.join(WAYS)}."),
    key: str = typer.Option(help="Key of the model under test."),
    model_settings: str = typer.Option(
        help="The model's settings: JSON as in the config, or a file that holds it."
    ),
    settings: str = typer.Option(
        help="The section `discover` of the config: JSON, or a file that holds it."
    ),
    work: Path = typer.Option(help="Folder of checkpoints; a training goes on from the newest."),
    out: Path = typer.Option(help="Table of the questions asked about held-out pictures."),
    training: Path = typer.Option(help="Table of the learning curves."),
    steps: Path = typer.Option(help="Table of what was asked and failed at each step."),
    seed: int = typer.Option(1, help="Seed of the run."),
    corruption: str | None = typer.Option(None, help="Ask about pictures under this corruption."),
    severity: int = typer.Option(3, min=1, max=5, help="Severity of the corruption."),
    reference_side: int | None = typer.Option(
        None, min=1, help="Scale sizes in pixels by shorter side / this."
    ),
    fetched: Path | None = typer.Option(
        None, help="Folder that the model's checkpoint was fetched to; its record lies beside it."
    ),
    threads: int = typer.Option(1, min=1, help="CPU threads."),
) -> None:
    """Let a questioner learn in one way, then ask about held-out pictures and note the verdicts.

    Example: benchc discover play zero_shot --key llava --model-settings '{path: reference/llava}'
    --settings '{full: [llava]}' --work work/llava --out asked.parquet
    --training training.parquet --steps steps.parquet
    """
    if way not in WAYS:
        raise BadInput(f"unknown way {way!r}; one of {', '.join(WAYS)}")
    import torch

    from benchc.config.models import Model
    from benchc.corrupt import CLEAN
    from benchc.discover.game import held_out_outcomes, prepare, refuse_mute
    from benchc.discover.results import asked_table, curve_table, step_table
    from benchc.discover.train import read_log
    from benchc.discover.ways import learn
    from benchc.discover.work import claim, finish
    from benchc.fetch.checkpoint import recorded_and_loadable

    torch.set_num_threads(threads)
    chosen = _section(settings)
    tested: Model = checked(
        Model, inline.read(model_settings, "--model-settings"), "--model-settings"
    )
    decides = tested.model_dump(mode="json", exclude={*tested.speed})
    claim(work, {"way": way, "settings": chosen.result_settings(), "model": decides, "seed": seed,
                 "corruption": corruption, "severity": severity,
                 "reference_side": reference_side, "identity": marked() or ""})  # fmt: skip
    _, loaded = recorded_and_loadable(tested, fetched)
    shown = (corruption or CLEAN, severity if corruption else 0)
    game = prepare(chosen, loaded, work, seed, *shown, reference_side, way)
    if corruption is None:
        refuse_mute(game, key)
    examples = learn(way, game)
    outcomes = held_out_outcomes(game, examples)
    place = (key, way, *shown)
    log = read_log(work)
    TRAINING.write(curve_table(log, *place), training)
    STEPS.write(step_table(log, *place), steps)
    asked = asked_table(outcomes, *place, reference_side)
    ASKED.write(asked, out)
    finish(work)
    print(f"{out}: {asked.height} questions, {asked['failed'].sum()} of them failures of {key}")


@app.command()
def taxonomy(
    asked: list[Path] = typer.Option([], help="A table that `play` wrote; repeat."),
    skills: Path = typer.Option(help="Where the skills go."),
    question_skills: Path = typer.Option(help="Where the skill of each valid question goes."),
    settings: str = typer.Option(
        "{}", help="The section `discover`, of which `embedder` counts: JSON, or a file of it."
    ),
) -> None:
    """Sort the failures of all models and all ways into skills and meta-skills.

    Example: benchc discover taxonomy
    --asked results/discover/idefics3/clean/rl/asked.parquet --skills skills.parquet
    --question-skills question_skills.parquet
    """
    from benchc.discover.embedding import Embedder
    from benchc.discover.results import skill_tables

    found, placed = skill_tables(_read(asked), Embedder(_section(settings).embedder))
    SKILLS.write(found, skills)
    QUESTION_SKILLS.write(placed, question_skills)
    print(f"{skills}: {found.height} skills of {placed.height} different failed questions")


@app.command()
def measure(
    asked: list[Path] = typer.Option([], help="A table that `play` wrote; repeat."),
    question_skills: Path = typer.Option(help="The skill of each valid question."),
    out: Path = typer.Option(help="Where the measures go."),
    settings: str = typer.Option(
        "{}", help="The section `discover`, of which `embedder` counts: JSON, or a file of it."
    ),
) -> None:
    """Measure every way: validity, failure discovery rate, diversity, skills, with intervals.

    Example: benchc discover measure --asked results/discover/idefics3/clean/rl/asked.parquet
    --question-skills question_skills.parquet --out measures.parquet
    """
    from benchc.discover.embedding import Embedder
    from benchc.discover.results import measure_table

    embedder = Embedder(_section(settings).embedder)
    found = measure_table(_read(asked), QUESTION_SKILLS.read(question_skills), embedder)
    MEASURES.write(found, out)
    print(f"{out}: {found.height} measures")


@app.command()
def export(
    asked: list[Path] = typer.Option([], help="A table that `play` wrote; repeat."),
    out: Path = typer.Option(file_okay=False, help="Folder to write: train.jsonl and images/."),
    images: Path | None = typer.Option(None, help="Folder of the pictures; drawn scenes if none."),
    seed: int = typer.Option(1, help="Seed of the run."),
) -> None:
    """Write the failures as a fine-tuning set: pictures, questions and right answers.

    One line of `train.jsonl` is a conversation with a picture, as TRL and LLaMA-Factory read it.

    Example: benchc discover export --asked results/discover/idefics3/clean/rl/asked.parquet
    --out failures
    """
    from benchc.discover.export import export_failures
    from benchc.discover.pictures import loader

    count = export_failures(_read(asked), loader(images, seed), out)
    print(f"{out}: {count} failures")


@app.command()
def build(
    asked: list[Path] = typer.Option([], help="A table of asked questions; repeat."),
    training: list[Path] = typer.Option(help="A table of learning curves; repeat."),
    steps: list[Path] = typer.Option(help="A table of what was asked at each step; repeat."),
    skills: Path = typer.Option(help="The skills."),
    question_skills: Path = typer.Option(help="The skill of each valid question."),
    measures: Path = typer.Option(help="The measures."),
    run: str | None = typer.Option(None, help="JSON object of facts about the run."),
    out: Path = typer.Option(help="Where the database goes."),
    place: Path | None = typer.Option(
        None, help="Where it will be published, to be named so; without it OUT."
    ),
) -> None:
    """Build the database of a discovery, to be asked in SQL.

    Example: benchc discover build --asked results/discover/idefics3/clean/rl/asked.parquet
    --training results/discover/idefics3/clean/rl/training.parquet
    --steps results/discover/idefics3/clean/rl/steps.parquet --skills skills.parquet
    --question-skills question_skills.parquet --measures measures.parquet --out discovery.duckdb
    """
    from benchc.discover.database import build as build_database
    from benchc.running.versions import made_by
    from benchc.tables.database import say_what_goes

    frames = {
        "asked": _read(asked),
        "question_skills": QUESTION_SKILLS.read(question_skills),
        "found_skills": SKILLS.read(skills),
        "measures": MEASURES.read(measures),
        "training": pl.concat([TRAINING.read(path) for path in training]),
        "steps": pl.concat([STEPS.read(path) for path in steps]),
    }
    facts = inline.facts(run, "--run") if run else {}
    say_what_goes(place or out)
    build_database(frames, out, {**facts, **made_by()})
    shown = place or out
    print(f'{shown}: try: benchc sql --database {shown} "FROM skill_failure_rates"')


@app.command()
def report(
    database: Path = typer.Option(help="The database of a discovery."),
    out: Path = typer.Option(help="HTML file to write."),
    place: Path | None = typer.Option(
        None, help="Where it will be published, to be named so; without it OUT."
    ),
    settings: str = typer.Option(
        "{}", help="The section `discover`, of which `images` counts: JSON, or a file of it."
    ),
    seed: int = typer.Option(1, help="Seed of the run."),
) -> None:
    """Write the page: the table, the learning curves, the tree of skills, the failures.

    Example: benchc discover report --database results/discover/default/discovery.duckdb
    --out discovery.html
    """
    from benchc.discover.page import build_page
    from benchc.discover.pictures import loader

    images = _section(settings).images
    page = build_page(database, loader(Path(images) if images else None, seed))
    write_text(out, page)
    print(place or out)


def _section(settings: str) -> Discover:
    section: Discover = checked(Discover, inline.read(settings, "--settings"), "--settings")
    return section


def _read(paths: list[Path]) -> pl.DataFrame:
    """Return tables of asked questions as one.

    Raises:
        BadInput: there is none.
    """
    if not paths:
        raise BadInput(
            "no game was played: give --asked, or name models under test in `discover.full` or "
            "`discover.brief` of the config"
        )
    return pl.concat([ASKED.read(path) for path in paths])
