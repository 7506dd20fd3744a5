"""One sample as the models saw it: its picture under a condition, and what they answered."""

import re
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from pydantic import BaseModel, PositiveInt, ValidationError

from benchc.config import inline
from benchc.config.checked import nearest
from benchc.config.plugins import known
from benchc.corrupt.condition import BLANK, CLEAN
from benchc.diagnose.answers import table_text
from benchc.errors import BadInput, outward
from benchc.models.prompt import option_labels
from benchc.pictures.pixels import Format, Pixels, encode, pixel_hash
from benchc.report.facts import Facts, Row, facts_of
from benchc.report.pictures import Pictures, Renderer
from benchc.running.workflow import Workflow
from benchc.tables import renamed_into_place

_FORMATS: dict[str, Format] = {".png": "png", ".webp": "webp"}


@dataclass(frozen=True)
class Shown:
    """What is asked for: the clean picture without a corruption, every model without one."""

    sample_id: str
    corruption: str | None = None
    severity: int | None = None
    model: str | None = None


class _Corrupt(BaseModel):
    reference_side: PositiveInt | None = None
    plugins: dict[str, object] = {}


class _Settings(BaseModel):
    """What the database says of how its pictures were corrupted."""

    seed: int
    corrupt: _Corrupt = _Corrupt()


def with_plugins(configfile: Path, project: Path) -> None:
    """Make the corruptions of a user's own known that a config names.

    Raises:
        BadInput: as `Workflow` does.
    """
    Workflow(inline.read(str(configfile), "--configfile") or {}, str(project))


def as_shown(wanted: Shown, results: Path, out: Path | None = None) -> str:
    """Write a sample's picture and return what there is to say of it, with a line end.

    Args:
        wanted: sample, condition and model.
        results: the results of a run: database and pool.
        out: file to write, .png or .webp; None writes a PNG named after the sample, here.

    Raises:
        BadInput: no such database, sample, model or condition; a picture that the pool lacks; a
            file of another kind, or one that cannot be written.
    """
    database = results / "bench-c.duckdb"
    if not database.is_file():
        raise BadInput(f"{database}: no such database; run `snakemake --cores all` to build it")
    with facts_of({"run": database}) as facts:
        settings = _settings(facts, database)
        sample = _sample(facts, wanted.sample_id, database)
        corruption, severity = _condition(wanted, settings)
        answers = _answers(facts, wanted, corruption, severity)
        renderer = Renderer(
            facts,
            Pictures(results / "pool/images.parquet", only=sample["image_id"]),
            settings.seed,
            settings.corrupt.reference_side,
        )
        picture = renderer.picture(sample["image_id"], corruption, severity)
        out = out or Path(_file_name(wanted.sample_id, corruption, severity))
        _write(picture, out)
        height, width = picture.shape[:2]
        name = _condition_name(corruption, severity)
        said = _said_of_hash(renderer, sample["image_id"], corruption, picture)
    return (
        _description(sample)
        + f"picture: {name}, {width} x {height} pixels; {said}\nwritten: {out}\n"
        + table_text(_table(answers, sample))
    )


def _settings(facts: Facts, database: Path) -> _Settings:
    text = {row["name"]: row["value"] for row in facts("run")}.get("config", "{}")
    try:
        return _Settings.model_validate_json(text)
    except ValidationError:
        raise BadInput(
            f"{database}: its table `run` does not say how pictures were corrupted (`config` with "
            "`seed`); run `snakemake --cores all` to build it again"
        ) from None


def _sample(facts: Facts, sample_id: str, database: Path) -> Row:
    if found := facts("sample", sample_id=sample_id):
        return found[0]
    near = nearest(sample_id, (row["sample_id"] for row in facts("sample_ids")))
    raise BadInput(f"{database}: no sample {sample_id!r}{near}; all: benchc sql 'FROM samples'")


def _condition(wanted: Shown, settings: _Settings) -> tuple[str, int]:
    name, severity = wanted.corruption or CLEAN, wanted.severity
    if name in (CLEAN, BLANK):
        if severity is not None:
            raise BadInput(f"--severity {severity}: a {name} picture has none; add --corruption")
        return name, 0
    if name not in known():
        if name in settings.corrupt.plugins:
            raise BadInput(
                f"--corruption {name}: a corruption of the run's own, and no code is run because a "
                "database names it; add --configfile with the config of the run"
            )
        choices = (*known(), *settings.corrupt.plugins, BLANK)
        raise BadInput(f"--corruption {name}: no such corruption{nearest(name, choices)}")
    if severity is None:
        raise BadInput(f"--corruption {name}: add --severity, 1 to 5")
    return name, severity


def _answers(facts: Facts, wanted: Shown, corruption: str, severity: int) -> list[Row]:
    models = [row["model"] for row in facts("models")]
    if wanted.model is not None and wanted.model not in models:
        raise BadInput(
            f"--model {wanted.model}: not in the database{nearest(wanted.model, models)}"
        )
    rows = facts(
        "sample_answers", sample_id=wanted.sample_id, corruption=corruption, severity=severity
    )
    return [row for row in rows if wanted.model in (None, row["model"])]


def _file_name(sample_id: str, corruption: str, severity: int) -> str:
    """Return a name that is one anywhere, whoever named the sample."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "_", sample_id).lstrip(".-")[:150]
    return f"{safe or 'sample'}-{_condition_name(corruption, severity).replace(' ', '-')}.png"


def _condition_name(corruption: str, severity: int) -> str:
    return f"{corruption} {severity}" if severity else corruption


def _write(picture: Pixels, out: Path) -> None:
    if out.suffix.lower() not in _FORMATS:
        raise BadInput(f"--out {out}: a picture is written as .png or .webp")
    with renamed_into_place(out) as temporary:
        temporary.write_bytes(encode(picture, _FORMATS[out.suffix.lower()]))


def _said_of_hash(renderer: Renderer, image_id: str, corruption: str, picture: Pixels) -> str:
    """Say whether these are the pixels that the models saw; those of the pool name the picture."""
    if corruption == BLANK:
        return "uniform grey, of which no hash is kept"
    tally = renderer.tally
    if corruption != CLEAN and not tally.compared:
        return "the run has no such picture, and no model saw it"
    if tally.agreed or (corruption == CLEAN and pixel_hash(picture) == image_id):
        return "its pixel hash is that of what the models saw"
    return "NOT WHAT THE MODELS SAW: its pixel hash differs from that in the database"


def _description(sample: Row) -> str:
    labels = option_labels(len(sample["options"]))
    options = [
        f"{label}. {option}{' (right)' if place == sample['answer'] else ''}"
        for place, (label, option) in enumerate(zip(labels, sample["options"], strict=True))
    ]
    scopes = [scope for scope in ("selection", "control") if sample[scope]]
    picture = f"; picture {sample['picture_file']}" if sample["picture_file"] else ""
    lines = [
        f"sample: {sample['sample_id']} ({', '.join([*scopes, 'pool'])})",
        f"question: {sample['question']}",
        *options,
        f"from: {sample['source_row'] or sample['source_ref']}{picture}",
    ]
    if sample["extra"]:
        lines.append(f"extra: {sample['extra']}")
    # A question may hold line ends; none may look like a line of ours.
    return "".join(f"{outward.one_line(line)}\n" for line in lines)


def _table(answers: list[Row], sample: Row) -> pl.DataFrame:
    """Return one row per model and picture, with one column per option; the right one is marked."""
    labels = option_labels(len(sample["options"]))
    marked = [f"{label} *" if i == sample["answer"] else label for i, label in enumerate(labels)]
    rows = [
        {
            "model": row["model"],
            "picture": _condition_name(row["corruption"], row["severity"]),
            **dict(
                zip(marked, (_number(x) for x in row["p"] or [None] * len(marked)), strict=True)
            ),
            "chosen": _chosen(row, labels),
            "ras": _number(row["ras"]),
            "status": row["status"],
        }
        for row in answers
    ]
    return pl.DataFrame(rows, schema_overrides=dict.fromkeys(rows[0], pl.String) if rows else None)


def _chosen(row: Row, labels: list[str]) -> str:
    if row["top1"] is None:
        return ""
    verdict = "right" if row["correct"] else "wrong"
    return f"{labels[row['top1']]}{', tied' if row['is_tie'] else ''} ({verdict})"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
