"""Benchmarks as the hubs carry them: Parquet tables with encoded pictures.

Never loads code with a table, and never takes a number for a text.
"""

import ast
import re
from functools import partial
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import numpy as np
import polars as pl

from benchc.errors import BadInput
from benchc.pool.rows import (
    Reason,
    Rejection,
    Row,
    SourceRows,
    Unusable,
    answer_index,
    check_count,
    lettered,
    with_hint,
    with_one_picture,
)
from benchc.pool.sources.embedded import from_cell
from benchc.pool.sources.fields import FIELD_MAPS
from benchc.pool.sources.in_question import split_question
from benchc.pool.sources.vlmevalkit import refuse_copy
from benchc.pool.specs import FieldMap, ParquetSource

_SHARD = re.compile(r"-(\d{5})-of-(\d{5})\.parquet\Z")
_LETTER = re.compile(r"\((?P<inside>[A-Z])\)|(?P<bare>[A-Z])\.?")


def read(spec: ParquetSource) -> SourceRows:
    """Return the rows of the table at `spec.path`, in its order.

    Raises:
        BadInput: No such file, not Parquet, a shard or a column is missing, a column of options
            holds numbers, or an id occurs twice.
    """
    fields = spec.fields if isinstance(spec.fields, FieldMap) else FIELD_MAPS[spec.fields]
    frame = _table(spec.path)
    fields = _resolved(fields, frame, spec.path)
    pictures = {name: _filled(frame[name]) for name in fields.images}
    records = frame.drop(fields.images).rows(named=True)
    refs = _refs(fields, records, spec.path)
    questions = {r: str(rec[fields.question]) for r, rec in zip(refs, records, strict=True)}
    source = SourceRows(file=str(spec.path))
    for number, (ref, record) in enumerate(zip(refs, records, strict=True)):
        filled = [name for name, there in pictures.items() if there[number]]
        where = f"row {number}"
        try:
            if fields.circular:
                refuse_copy(ref, questions[ref], questions)
            question, options, answer = _item(ref, record, fields)
            column = _one_picture(filled)
        except Unusable as verdict:
            source.rejected.append(Rejection(ref, verdict.reason, verdict.detail, where))
            continue
        source.rows.append(
            Row(
                source_ref=ref,
                category=_text(record, fields.category, fields),
                question=with_hint(_text(record, fields.hint, fields), question),
                options=options,
                answer=answer,
                picture=partial(_decode, frame[column], number),
                where=where,
            )
        )
    return source


def _decode(cells: pl.Series, number: int) -> np.ndarray:
    return from_cell(cells[number])


def _item(ref: str, record: dict, fields: FieldMap) -> tuple[str, tuple[str, ...], int]:
    question = record[fields.question]
    if not isinstance(question, str) or not question.strip():
        raise Unusable(Reason.MALFORMED, "it has no question")
    for column, value in fields.open_ended.items():
        if record[column] == value:
            raise Unusable(Reason.OPEN_ENDED, f"its {column} is {value}")
    found: dict[str, str]
    if fields.options_as == "question":
        question, found = split_question(question)
        if not question:
            raise Unusable(Reason.MALFORMED, "it has options and no question")
    else:
        found = _options(record, fields)
    named = {letter: _present(text, ref, fields) for letter, text in found.items()}
    if not any(named.values()):
        raise Unusable(Reason.OPEN_ENDED, "it has no options")
    options, indices = lettered(named)
    return with_one_picture(question, options), options, _answer(record, fields, indices)


def _options(record: dict, fields: FieldMap) -> dict[str, Any]:
    """Return option texts by letter as the row holds them, absent ones included."""
    if fields.options_as == "columns":
        texts = [record[name] for name in fields.options]
    elif fields.options_as == "fixed":
        texts = list(fields.options)
    elif fields.options_as == "list":
        texts = list(record[fields.options[0]] or [])
    else:
        try:
            texts = ast.literal_eval(record[fields.options[0]] or "[]")
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            raise Unusable(Reason.MALFORMED, "its list of options cannot be read") from None
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise Unusable(Reason.MALFORMED, "its options are not a list of texts")
    if len(texts) > len(ascii_uppercase):
        check_count(texts)
    return dict(zip(ascii_uppercase, texts, strict=False))


def _present(text: str | None, ref: str, fields: FieldMap) -> str | None:
    if text in fields.absent:
        return fields.absent_means.get(ref)
    return text or None


def _answer(record: dict, fields: FieldMap, indices: dict[str, int]) -> int:
    given = record[fields.answer]
    answer = "" if given is None else str(given).strip()
    answer = fields.answers.get(answer, answer)
    if not answer or answer in fields.no_answer:
        raise Unusable(Reason.NO_ANSWER, "its answer is not given")
    if fields.answer_as == "index":
        inside = answer.isdecimal() and int(answer) < len(ascii_uppercase)
        letter = ascii_uppercase[int(answer)] if inside else answer
        if letter not in indices:
            raise Unusable(
                Reason.ANSWER_OUTSIDE_OPTIONS,
                f"answer {answer} is outside its options 0 to {len(indices) - 1}",
            )
        return indices[letter]
    found = _LETTER.fullmatch(answer)
    return answer_index((found["inside"] or found["bare"]) if found else answer, indices)


def _one_picture(filled: list[str]) -> str:
    if not filled:
        raise Unusable(Reason.NO_IMAGE, "it has no picture")
    if len(filled) > 1:
        raise Unusable(Reason.MULTI_IMAGE, f"it has {len(filled)} pictures")
    return filled[0]


def _text(record: dict, column: str | None, fields: FieldMap) -> str:
    text = record[column] if column else None
    return "" if text is None or text in fields.absent else str(text)


def _refs(fields: FieldMap, records: list[dict], path: Path) -> list[str]:
    if not fields.id:
        return [str(number) for number in range(len(records))]
    refs = ["_".join(str(record[name]) for name in fields.id) for record in records]
    seen: set[str] = set()
    for number, ref in enumerate(refs):
        if ref in seen:
            raise BadInput(f"{path}, row {number}: id {ref!r} was given before")
        seen.add(ref)
    return refs


def _resolved(fields: FieldMap, frame: pl.DataFrame, path: Path) -> FieldMap:
    """Return the map with columns spelt as in the table, whose case differs between mirrors."""
    spelt = {name.lower(): name for name in frame.columns}
    spelt |= {name: name for name in frame.columns}

    def column(name: str) -> str:
        found = spelt.get(name) or spelt.get(name.lower())
        if found is None:
            raise BadInput(f"{path}: it has no column {name!r}; it has {', '.join(frame.columns)}")
        return found

    inside = fields.options_as in ("question", "fixed")
    options = fields.options if inside else tuple(map(column, fields.options))
    wanted = {"columns": pl.String(), "list": pl.List(pl.String()), "literal": pl.String()}
    if fields.options_as in ("list", "literal") and len(options) != 1:
        raise BadInput(f"{path}: `options_as: {fields.options_as}` takes one column in `options`")
    for name in () if inside else options:
        right = wanted[fields.options_as]
        if frame[name].dtype not in (right, pl.Null()):
            raise BadInput(
                f"{path}: column {name} holds {frame[name].dtype}, not {right}; "
                "set `options_as`, or take another copy if this one has re-typed its options"
            )
    resolved = fields.model_copy(
        update={
            "id": tuple(map(column, fields.id)),
            "question": column(fields.question),
            "answer": column(fields.answer),
            "hint": column(fields.hint) if fields.hint else None,
            "category": column(fields.category) if fields.category else None,
            "images": tuple(map(column, fields.images)),
            "options": options,
            "open_ended": {column(name): value for name, value in fields.open_ended.items()},
        }
    )
    texts = {resolved.question, resolved.answer, resolved.hint, resolved.category}
    for name in resolved.images:
        if name in texts.union(resolved.id, resolved.open_ended):
            raise BadInput(f"{path}: column {name!r} cannot be the picture and something else too")
    return resolved


def _filled(cells: pl.Series) -> pl.Series:
    """Return which cells hold a picture, or text that claims to be one."""
    if isinstance(cells.dtype, pl.Struct):
        names = [field.name for field in cells.dtype.fields]
        if "bytes" not in names:
            return pl.repeat(False, len(cells), eager=True)
        cells = cells.struct.field("bytes")
    if cells.dtype == pl.String():
        return cells.fill_null("") != ""
    if cells.dtype == pl.Binary():
        return cells.bin.size().fill_null(0) > 0
    return cells.is_not_null()


def _files(path: Path) -> list[Path]:
    """Return the file itself, or a folder's shards in order, all of them there."""
    if not path.is_dir():
        return [path]
    files = sorted(path.glob("*.parquet"))
    if not files:
        raise BadInput(f"{path}: it holds no .parquet file")
    numbers = [_SHARD.search(file.name) for file in files]
    of = {int(number[2]) for number in numbers if number}
    if of and (not all(numbers) or of != {len(files)}):
        raise BadInput(f"{path}: not all shards of one split, and nothing else, are in it")
    return files


def _table(path: Path) -> pl.DataFrame:
    files = _files(path)
    try:
        frames = [pl.read_parquet(file, hive_partitioning=False, glob=False) for file in files]
        return pl.concat(frames, how="vertical_relaxed")
    except FileNotFoundError:
        raise BadInput(f"{path}: no such file") from None
    except Exception as error:  # polars has no common parent for damaged files
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadInput(f"{path}: not a readable Parquet table ({reason})") from None
