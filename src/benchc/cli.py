"""The `benchc` command: one sub-command a stage, loaded when it is called.

Never holds logic of a stage: it turns refused input into one line and keeps the log.
"""

import contextlib
import importlib
import os
import sys
import traceback
from pathlib import Path
from typing import Any, TextIO

import typer
from typer.core import TyperGroup

from benchc.errors import BadInput

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


@app.callback()
def benchc(
    log: Path | None = typer.Option(
        None, dir_okay=False, help="Also write messages and tracebacks to this file."
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
    `snakemake --cores all` runs them all; each also works alone, on its own tables.
    """
    if log is not None:
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            _wait_for_earlier_job(log)
            sys.stderr = _Tee(sys.stderr, log.open("w", encoding="utf-8"))
        except OSError as error:
            raise BadInput(f"{log}: cannot be written ({error.strerror})") from None
    if gpus:
        from benchc.gpus import take_one

        take_one()


def _wait_for_earlier_job(log: Path) -> None:
    """A killed run may leave a job behind, whose results would replace those of the next run."""
    from benchc import locks

    # Not the log itself: Snakemake removes that before a job begins.
    lock = log.with_name(f".{log.name}.lock")
    if not locks.take(lock):
        _say(f"benchc: {log}: a job that an earlier run left behind is still at work; waiting")
        locks.take(lock, wait=True)


class _Tee:
    """Standard error that also goes to a log; progress bars are told apart by `isatty`."""

    def __init__(self, screen: TextIO, log: TextIO):
        self.screen = screen
        self.log = log

    def write(self, text: str) -> int:
        # A full disk must not silence the line that says so.
        with contextlib.suppress(OSError):
            self.log.write(text.replace("\r", "\n"))
            self.log.flush()
        return self.screen.write(text)

    def flush(self) -> None:
        self.screen.flush()

    def isatty(self) -> bool:
        return self.screen.isatty()

    def fileno(self) -> int:
        return self.screen.fileno()

    @property
    def encoding(self) -> str:
        return self.screen.encoding or "utf-8"


@app.command()
def sql(
    statement: str = typer.Argument(help="One SQL statement, for instance: FROM leaderboard"),
    database: Path = typer.Option(Path("results/bench-c.duckdb"), help="The database to read."),
    format: str = typer.Option("table", help="table, csv, json or parquet."),
    out: Path | None = typer.Option(
        None, dir_okay=False, help="File to write; needed for parquet."
    ),
) -> None:
    """Ask the database in SQL, read-only; what `make discover` built answers as discovery.TABLE.

    Example: benchc sql "SELECT model, ras FROM leaderboard WHERE scope = 'selection'"
    """
    from benchc.diagnose.query import print_query

    print_query(database, statement, format, out)


@app.command(name="hash")
def hash_(
    folder: Path = typer.Argument(Path("results"), help="The folder of a run."),
) -> None:
    """Print a hash of what each table holds, however it is stored: equal runs, equal lines.

    Example: diff <(benchc hash results) <(benchc hash ../elsewhere/results)
    """
    from benchc.contents import content_hashes

    for name, content in content_hashes(folder):
        typer.echo(f"{content}  {name}")


@app.command()
def check(
    key: str = typer.Argument(help="A model's key in the config."),
    configfile: Path | None = typer.Option(None, help="As for snakemake; config.yaml without it."),
    project: Path = typer.Option(Path(), help="The folder of the Snakefile."),
    results: Path = typer.Option(
        Path("results"), help="Where a run's pool may lie; scenes are drawn where there is none."
    ),
    samples: int = typer.Option(16, min=2, help="How many samples to try."),
) -> None:
    """Load a model and show how it is asked, before a long run.

    Shows the prompt, the option tokens, the likeliest next tokens and the share of the probability
    that the options hold, on three samples, and whether a batch changes any answer.
    """
    from benchc.infer.command import check_model

    check_model(key, configfile, project, results, samples)


def main() -> None:
    """Run `benchc`; refused input is one line on standard error and exit status 1."""
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
        if isinstance(sys.stderr, _Tee):
            sys.stderr.log.write(traceback.format_exc())
            _say(f"benchc: {type(error).__name__}: {error} (traceback: {sys.stderr.log.name})")
        else:
            traceback.print_exc()
        sys.exit(1)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
