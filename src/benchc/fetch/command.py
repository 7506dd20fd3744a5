"""The `benchc fetch` command.

Heavy libraries are loaded when it runs, not when it is listed.
"""

from pathlib import Path

import typer

from benchc.config import inline
from benchc.config.checked import checked
from benchc.config.origin import Request
from benchc.fetch.stage import fetch as fetch_to

app = typer.Typer(no_args_is_help=True, help="Fetch a benchmark or a model, once and checked.")


@app.callback()
def _fetch() -> None:
    """Fetch a benchmark or a model: the only stage that touches the network."""


@app.command()
def files(
    spec: str = typer.Option(help="What to fetch: `{...}`, or a file that holds it."),
    out: Path = typer.Option(help="Folder for the files; the record goes to OUT.json beside it."),
) -> None:
    """Fetch files from a hub by commit, or one file from an address by checksum.

    A killed command goes on where it was. HF_TOKEN opens gated repositories, HF_ENDPOINT names
    another hub, HTTPS_PROXY a proxy.

    Example: benchc fetch files --out results/fetch/cvbench --spec
    '{hub_id: nyu-visionx/CV-Bench, revision: main, files: ["test_*.parquet"]}'
    """
    wanted: Request = checked(Request, inline.read(spec, "--spec"), "--spec")
    record = fetch_to(wanted, out)
    came = record.get("commit") or record.get("sha256") or record.get("md5")
    typer.echo(f"{out}: {len(record['files'])} files, {came}", err=True)
