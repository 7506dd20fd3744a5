"""The `benchc pool` commands: build one source, merge several, or only look at one."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from tqdm import tqdm

from benchc.config import inline
from benchc.config.checked import checked
from benchc.config.sources import DrawnSource, FolderSource, Source
from benchc.errors import BadInput
from benchc.fetch.stage import place
from benchc.pool.build import TABLES, Pool, build_source
from benchc.pool.build import merge as merge_pools
from benchc.pool.rows import Row

#: What a user means who gives a table where a spec is wanted.
_TABLES = {
    ".parquet": "write a file with {kind: parquet, path: ..., fields: ...} and check that",
    ".tsv": "write a file with {kind: vlmevalkit, path: ...} and check that, or give its folder "
    "and --questions",
} | dict.fromkeys((".csv", ".jsonl"), "give its folder, and its name as --questions")

app = typer.Typer(no_args_is_help=True, help="Gather samples: questions with pictures.")

Out = Annotated[
    Path,
    typer.Option(
        file_okay=False, help="Folder for the tables samples, images, rejected and scenes."
    ),
]


@app.command()
def source(
    key: Annotated[str, typer.Argument(help="Name of the source; sample ids begin with it.")],
    spec: Annotated[str, typer.Option(help="What to read: `{...}`, or a file that holds it.")],
    out: Out,
    fetched: Annotated[
        Path | None, typer.Option(help="Folder that `benchc fetch files` filled with it.")
    ] = None,
) -> None:
    """Build the pool of one source.

    The spec is what the config says under this key, for instance a file with

        {kind: folder, path: photos}

    which reads photos/questions.jsonl, one JSON object a line, such as

        {"image": "cat.png", "question": "What animal is this?",
         "options": ["A dog", "A cat"], "answer": "B"}

    Other kinds: drawn, vlmevalkit, parquet, seedbench2plus, mmvp.
    Relative paths count from the working directory.

    Example: benchc pool source mine --spec mine.yaml --out results/pool/mine
    """
    wanted = read_spec(spec)
    if fetched is not None and not isinstance(wanted, DrawnSource):
        wanted = wanted.model_copy(update={"path": place(fetched, wanted.path)})
    pool = build_source(key, wanted, _bar(key))
    _write(pool, out)
    typer.echo(_summary(key, pool))


@app.command()
def merge(
    folders: Annotated[list[Path], typer.Argument(help="Pools of sources; earlier ones win.")],
    out: Out,
) -> None:
    """Merge the pools of several sources into one.

    A sample that an earlier source has too (same picture and same question) goes to the rejected
    ones as a duplicate.

    Example: benchc pool merge results/pool/drawn results/pool/mine --out results/pool
    """
    pools = [
        Pool(*(table.read(folder / f"{name}.parquet") for name, table in TABLES.items()))
        for folder in folders
    ]
    merged = merge_pools(pools)
    _write(merged, out)
    typer.echo(_summary("merged", merged))


@app.command()
def check(
    path: Annotated[Path, typer.Argument(help="A folder with questions, or a spec file.")],
    questions: Annotated[str, typer.Option(help="File of questions in it.")] = "questions.jsonl",
) -> None:
    """Show what a source would give, bad rows included, and write nothing.

    Example: benchc pool check photos
    """
    if path.is_dir():
        spec: Source = FolderSource(
            kind="folder", path=path, questions=questions, on_bad_row="reject"
        )
    elif path.suffix in _TABLES:
        raise BadInput(f"{path}: this holds rows, not a spec; {_TABLES[path.suffix]}")
    else:
        spec = read_spec(str(path))
        if "on_bad_row" in type(spec).model_fields:
            spec = spec.model_copy(update={"on_bad_row": "reject"})
    pool = build_source("check", spec, _bar("check"))
    typer.echo(_summary(str(path), pool))
    for row in pool.rejected.iter_rows(named=True):
        if row["reason"] != "not_sampled":
            typer.echo(f"  {row['source_ref']}: {row['reason']}: {row['detail']}")


def read_spec(text: str) -> Source:
    """Return the spec in a mapping `{...}`, JSON or YAML, or in the file of this name.

    Raises:
        BadInput: No such file, not YAML, or a key is unknown, missing or of the wrong type.
    """
    where = "--spec" if text.lstrip()[:1] == "{" else text
    spec: Source = checked(Source, inline.read(text, "--spec"), where)
    return spec


def _bar(label: str) -> Any:
    def progress(rows: list[Row]) -> Iterable[Row]:
        return tqdm(rows, desc=label, unit="row", disable=not sys.stderr.isatty(), leave=False)

    return progress


def _write(pool: Pool, out: Path) -> None:
    for frame, (name, table) in zip(pool, TABLES.items(), strict=True):
        table.write(frame, out / f"{name}.parquet")


def _summary(name: str, pool: Pool) -> str:
    counts = pool.rejected["reason"].value_counts().sort("reason")
    left_out = ", ".join(f"{count} {reason}" for reason, count in counts.iter_rows())
    line = f"{name}: {pool.samples.height} samples with {pool.images.height} pictures"
    return f"{line}; left out: {left_out}" if left_out else f"{line}; none left out"
