"""Benchmarks as the hubs carry them: Parquet tables with encoded pictures."""

import ast
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import numpy as np
import polars as pl

from benchc.config.sources import FieldMap, ParquetSource
from benchc.errors import BadInput
from benchc.pictures.decode import decode_picture
from benchc.pool.pictures import named_picture
from benchc.pool.rows import (
    Reason,
    Row,
    SourceRows,
    Unusable,
    answer_index,
    check_count,
    lettered,
    whole_number,
    with_hint,
)
from benchc.pool.sources.embedded import from_cell, is_picture, members, named_by
from benchc.pool.sources.fields import FIELD_MAPS
from benchc.pool.sources.in_question import split_question
from benchc.pool.sources.vlmevalkit import refuse_copy
from benchc.pool.text import listed

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
    used = _used(fields)
    taken = {*used, *fields.images}
    own = [n for n, dtype in frame.schema.items() if n not in taken and _is_carried(dtype)]
    records = frame.select(*used, *own).rows(named=True)
    folder = spec.path if spec.path.is_dir() else spec.path.parent
    refs = _refs(fields, records, spec.path)
    questions = {r: str(rec[fields.question]) for r, rec in zip(refs, records, strict=True)}
    source = SourceRows(file=str(spec.path))
    for number, (ref, record) in enumerate(zip(refs, records, strict=True)):
        where = f"row {number}"
        with source.rejecting(ref, where):
            if fields.circular:
                refuse_copy(ref, questions[ref], questions)
            question, options, answer = _item(ref, record, fields)
            picture, file = _one_picture(frame, fields.images, number, folder)
            source.rows.append(
                Row(
                    source_ref=ref,
                    category=_text(record, fields.category, fields),
                    question=with_hint(_text(record, fields.hint, fields), question),
                    options=options,
                    answer=answer,
                    picture=picture,
                    where=where,
                    picture_file=file,
                    extra={name: record[name] for name in own if record[name] is not None},
                )
            )
    return source


def _one_picture(
    frame: pl.DataFrame, columns: Sequence[str], number: int, folder: Path
) -> tuple[Callable[[], np.ndarray], str]:
    """Return what decodes a row's one picture, and the file that it is in, if any.

    The cell is read again when it is decoded: a table may hold more pictures than the memory.
    """
    filled = [
        (column, place, member)
        for column in columns
        for place, member in enumerate(members(frame[column][number]))
        if is_picture(member)
    ]
    if not filled:
        raise Unusable(Reason.NO_IMAGE, f"it has no picture in {listed(columns)}")
    if len(filled) > 1:
        raise Unusable(Reason.MULTI_IMAGE, f"it has {len(filled)} pictures")
    ((column, place, member),) = filled
    name = named_by(member, folder)
    if name:
        path = named_picture(folder, name)
        return partial(decode_picture, path), path.relative_to(folder).as_posix()
    return partial(_decode, frame[column], number, place), ""


def _decode(cells: pl.Series, number: int, place: int) -> np.ndarray:
    return from_cell(members(cells[number])[place])


def _used(fields: FieldMap) -> list[str]:
    """Return the columns that a row is read from, but for its pictures."""
    options = () if fields.options_as in ("question", "fixed") else fields.options
    named = (fields.question, fields.answer, fields.hint, fields.category)
    return list(
        dict.fromkeys(
            n for n in (*named, *fields.id, *options, *fields.open_ended) if n is not None
        )
    )


def _is_carried(dtype: pl.DataType) -> bool:
    """Say whether a column of this type travels with a row as one of the user's own."""
    return dtype.is_numeric() or dtype in (pl.String(), pl.Boolean(), pl.List(pl.String()))


def _item(ref: str, record: dict[str, Any], fields: FieldMap) -> tuple[str, tuple[str, ...], int]:
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
    return question, options, _answer(record, fields, indices)


def _options(record: dict[str, Any], fields: FieldMap) -> dict[str, Any]:
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


def _answer(record: dict[str, Any], fields: FieldMap, indices: dict[str, int]) -> int:
    answer = _answer_text(record[fields.answer])
    answer = fields.answers.get(answer, answer)
    if not answer or answer in fields.no_answer:
        raise Unusable(Reason.NO_ANSWER, "its answer is not given")
    if fields.answer_as == "index":
        number = whole_number(answer)
        inside = number is not None and number < len(ascii_uppercase)
        letter = ascii_uppercase[number] if number is not None and inside else answer
        if letter not in indices:
            raise Unusable(
                Reason.ANSWER_OUTSIDE_OPTIONS,
                f"answer {answer[:60]} is outside its options 0 to {len(indices) - 1}",
            )
        return indices[letter]
    found = _LETTER.fullmatch(answer)
    return answer_index((found["inside"] or found["bare"]) if found else answer, indices)


def _answer_text(given: object) -> str:
    """Return an answer as text; a number that passed through a column of floats without its .0."""
    if given is None or given != given:
        return ""
    whole = isinstance(given, float) and given.is_integer()
    return str(int(given) if isinstance(given, float) and whole else given).strip()


def _text(record: dict[str, Any], column: str | None, fields: FieldMap) -> str:
    text = record[column] if column else None
    return "" if text is None or text in fields.absent else str(text)


def _refs(fields: FieldMap, records: list[dict[str, Any]], path: Path) -> list[str]:
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
            raise BadInput(f"{path}: it has no column {name!r}; it has {listed(frame.columns)}")
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
        return pl.concat(map(_plain, frames), how="vertical_relaxed")
    except FileNotFoundError:
        raise BadInput(f"{path}: no such file") from None
    except Exception as error:  # polars has no common parent for damaged files
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadInput(f"{path}: not a readable Parquet table ({reason})") from None


def _plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table with dictionaries as the texts that they stand for, arrays as lists."""
    return frame.with_columns(
        pl.col(name).cast(plain)
        for name, dtype in frame.schema.items()
        if (plain := _plain_type(dtype)) != dtype
    )


def _plain_type(dtype: Any) -> Any:
    if isinstance(dtype, pl.Categorical | pl.Enum):
        return pl.String()
    if isinstance(dtype, pl.List | pl.Array):
        return pl.List(_plain_type(dtype.inner))
    if isinstance(dtype, pl.Struct):
        return pl.Struct([pl.Field(f.name, _plain_type(f.dtype)) for f in dtype.fields])
    return dtype
