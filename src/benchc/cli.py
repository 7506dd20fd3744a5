"""The `benchc` command: one sub-command a stage, loaded when it is called.

It turns refused input into one line and keeps the log.
"""

import contextlib
import importlib
import os
import shlex
import sys
import traceback
from pathlib import Path
from typing import Any, TextIO

import typer
from typer.core import TyperGroup

from benchc.errors import BadInput, memory, outward

STAGES = (
    "fetch",
    "pool",
    "corrupt",
    "embed",
    "infer",
    "select",
    "diagnose",
    "report",
    "discover",
    "reference",
)


class _Stages(TyperGroup):
    """The stages, each imported on first use so that `benchc pool` never loads torch."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*STAGES, *super().list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in STAGES:
            return super().get_command(ctx, cmd_name)
        if cmd_name != "fetch":
            # Libraries ask the hub about models they have; fetch alone may touch the network.
            os.environ["HF_HUB_OFFLINE"] = "1"
        module = importlib.import_module(f"benchc.{cmd_name}.command")
        module.app._add_completion = False
        command = typer.main.get_command(module.app)
        command.name = cmd_name
        return command


app = typer.Typer(
    cls=_Stages, no_args_is_help=True, pretty_exceptions_enable=False, add_completion=False
)


def _say_version(wanted: bool) -> None:
    if wanted:
        from benchc.running.versions import commit, own_version

        at = commit()
        typer.echo(f"benchc {own_version()}{f' (commit {at})' if at else ''}")
        raise typer.Exit


@app.callback()
def benchc(
    version: bool = typer.Option(
        False, "--version", is_eager=True, callback=_say_version, help="Show the version and exit."
    ),
    log: Path | None = typer.Option(
        None, dir_okay=False, help="Also write messages and tracebacks to this file."
    ),
    identity: str | None = typer.Option(
        None, help="What the tables that are written will say they were made from: 16 digits."
    ),
    gpus: int | None = typer.Option(
        None,
        min=0,
        max=1,
        help="1: of several GPUs use one that no other such command uses, that with the most free "
        "memory. Left out, the first one.",
    ),
) -> None:
    """Find where a vision-language model's answers stop being trustworthy, and why.

    The stages follow each other:
    fetch -> pool -> corrupt, embed -> infer -> select -> diagnose -> report.
    `snakemake --cores all` runs them all; each also works alone, on its own tables, which is what
    its commands are for. After a run, `benchc sql` asks its database and `benchc show` shows
    a sample; before a long one, `benchc check` tries a model and `benchc pool check` a source. The
    help of each command ends in an example.

    Example: benchc sql "FROM leaderboard"
    """
    if log is not None:
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            _wait_for_earlier_job(log)
            opened = log.open("w", encoding="utf-8", errors="backslashreplace")
            sys.stderr = outward.Stream(sys.stderr, opened, bars=True)
        except OSError as error:
            raise BadInput(f"{log}: cannot be written ({error.strerror})") from None
    if identity is not None:
        from benchc.tables import mark

        mark(identity)
    if gpus:
        from benchc.running.gpus import take_one

        take_one()


def _wait_for_earlier_job(log: Path) -> None:
    """A killed run may leave a job behind, whose results would replace those of the next run."""
    from benchc.running import locks

    # Not the log itself: Snakemake removes that before a job begins.
    lock = log.with_name(f".{log.name}.lock")
    if not locks.take(lock):
        _say(f"benchc: {log}: a job that an earlier run left behind is still at work; waiting")
        locks.take(lock, wait=True)


@app.command()
def sql(
    statement: str = typer.Argument(help="One SQL statement, for instance: FROM leaderboard"),
    database: Path = typer.Option(Path("results/bench-c.duckdb"), help="The database to read."),
    format: str = typer.Option("table", help="table, markdown, latex, csv, json or parquet."),
    out: Path | None = typer.Option(
        None, dir_okay=False, help="File to write; needed for parquet."
    ),
    attach: list[str] = typer.Option(
        [], help="PATH or NAME=PATH of a further database, which answers as NAME.TABLE; repeat."
    ),
    rows: int | None = typer.Option(
        None, min=0, help="Rows to show, 0 for all; a table on the screen shows 200 without it."
    ),
) -> None:
    """Ask the database in SQL, read-only; what `make discover` built answers as discovery.TABLE.

    Example: benchc sql "SELECT model, ras FROM leaderboard WHERE scope = 'selection'"
    """
    from benchc.diagnose.answers import print_query

    print_query(database, statement, format, out, attach, rows)


@app.command()
def show(
    sample: str = typer.Argument(help="The sample's `sample_id`."),
    corruption: str | None = typer.Option(
        None, help="Show the picture under this corruption, or `blank`; clean without it."
    ),
    severity: int | None = typer.Option(
        None, min=1, max=5, help="Severity of the corruption, which needs one."
    ),
    model: str | None = typer.Option(None, help="Key of the one model to show; all without it."),
    results: Path = typer.Option(Path("results"), help="The results of a run."),
    out: Path | None = typer.Option(
        None, dir_okay=False, help="PNG or WebP file to write; named after the sample without it."
    ),
    configfile: Path | None = typer.Option(
        None, help="The run's config; needed for a corruption of your own, whose code it names."
    ),
    project: Path = typer.Option(Path(), help="The folder of the Snakefile, for --configfile."),
) -> None:
    """Write a sample's picture as the models saw it, and print what they answered.

    The picture is corrupted again as the run did it, and its pixel hash compared with the run's.

    Example: benchc show count/held-out-1-000000-0 --corruption fog --severity 3
    """
    from benchc.report.show import Shown, as_shown, with_plugins

    if configfile is not None:
        with_plugins(configfile, project)
    typer.echo(as_shown(Shown(sample, corruption, severity, model), results, out), nl=False)


@app.command()
def workflow(
    to: Path = typer.Option(..., file_okay=False, help="A new folder."),
) -> None:
    """Write the workflow into a folder: for those who installed benchc and have no clone.

    Example: benchc workflow --to mine
    """
    from benchc.running.standalone import write_workflow

    write_workflow(to)
    typer.echo(f"{to}: the workflow; next: cd {shlex.quote(str(to))}; snakemake --cores all")


@app.command(name="hash")
def hash_(
    folder: Path = typer.Argument(Path("results"), help="The folder of a run."),
) -> None:
    """Print a hash of what each table holds, however it is stored: equal runs, equal lines.

    Example: diff <(benchc hash results) <(benchc hash ../elsewhere/results)
    """
    from benchc.tables.contents import content_hashes

    for name, content in content_hashes(folder):
        typer.echo(f"{content}  {name}")


@app.command()
def publish(
    built: Path = typer.Argument(help="A file or folder that is whole."),
    place: Path = typer.Argument(help="Where it shall be."),
) -> None:
    """Put what was built in the place of the old, in one step, as a link where the disk can.

    The log that another session left of an old database is removed with it.

    Example: benchc publish results/built/bench-c.duckdb results/bench-c.duckdb
    """
    from benchc.tables.files import put_in_place

    put_in_place(built, place)


@app.command()
def check(
    key: str = typer.Argument(help="The model's key in the config."),
    configfile: Path | None = typer.Option(None, help="As for snakemake; config.yaml without it."),
    project: Path = typer.Option(Path(), help="The folder of the Snakefile."),
    results: Path = typer.Option(
        Path("results"), help="Where a run's pool may lie; scenes are drawn where there is none."
    ),
    count: int = typer.Option(16, min=2, help="How many samples to try."),
) -> None:
    """Load a model and show how it is asked, before a long run.

    Shows the prompt, the option tokens, the likeliest next tokens and the share of the probability
    that the options hold, on three samples, and whether a batch changes any answer. Of a model
    behind a server it says first how many requests and tokens a run will take.

    Example: benchc check llava --count 8
    """
    from benchc.infer.command import check_model

    check_model(key, configfile, project, results, count)


def main() -> None:
    """Run `benchc`; refused input is one line on standard error and exit status 1.

    All that it prints passes `outward.Stream`: no secret, and nothing that a terminal obeys.
    """
    sys.stdout, sys.stderr = outward.Stream(sys.stdout), outward.Stream(sys.stderr, bars=True)
    try:
        app()
    except BadInput as error:
        _say(f"benchc: {error}")
        sys.exit(1)
    except BrokenPipeError:
        with contextlib.suppress(OSError):
            sys.stdout.close()
        sys.exit(141)
    except Exception as error:
        _say_unforeseen(error, getattr(sys.stderr, "log", None))
        sys.exit(1)


def _say_unforeseen(error: Exception, log: TextIO | None) -> None:
    """One line where memory ran out or a log takes the traceback, else the traceback."""
    short = memory.where_memory_ran_out(error)
    if log is not None:
        outward.Stream(log).write(traceback.format_exc())
    if short is not None:
        line = f"benchc: not enough memory ({outward.excerpt(short, 200)}); {memory.limit()}"
        _say(line)
    elif log is not None:
        said = outward.one_line(str(error))
        _say(f"benchc: {type(error).__name__}: {said} (traceback: {log.name})")
    else:
        traceback.print_exc()


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
