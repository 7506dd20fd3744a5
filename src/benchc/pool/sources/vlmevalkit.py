"""VLMEvalKit TSV: one row per question, options in columns A, B, ..., pictures in base64.

Of each set of circular copies one row is kept.
"""

import ast
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from string import ascii_uppercase

import numpy as np

from benchc.config.sources import VlmevalkitSource
from benchc.errors import BadInput
from benchc.pictures.decode import decode_picture
from benchc.pool.pictures import named_picture
from benchc.pool.rows import (
    Reason,
    Row,
    SourceRows,
    Unusable,
    answer_index,
    lettered,
    whole_number,
    with_hint,
)
from benchc.pool.sources.embedded import from_base64
from benchc.pool.text import csv_records

CIRCLE = 1_000_000
"""A copy with shifted options has its base row's index plus a multiple of this."""
_LONGEST_INDEX = 64
_KNOWN = frozenset(
    ("index", "question", "hint", "answer", "category", "image", "image_path", *ascii_uppercase)
)


def read(spec: VlmevalkitSource) -> SourceRows:
    """Return the rows of the table at `spec.path`, in its order.

    Raises:
        BadInput: No such file, not a table, a column is missing, or an index
            that occurs twice.
    """
    table: dict[str, dict[str, str]] = {}
    wheres: dict[str, str] = {}
    columns = ("index", "question", ("image", "image_path"))
    for where, record in csv_records(spec.path, columns, delimiter="\t"):
        if record["index"] in table:
            raise BadInput(
                f"{spec.path}, {where}: index {record['index']} was given before, "
                f"in {wheres[record['index']]}"
            )
        table[record["index"]] = record
        wheres[record["index"]] = where
    source = SourceRows(file=str(spec.path))
    questions = {index: record["question"] for index, record in table.items()}
    for index, record in table.items():
        with source.rejecting(index, wheres[index]):
            refuse_copy(index, record["question"], questions)
            source.rows.append(_row(index, record, table, wheres[index], spec.path.parent))
    return source


def refuse_copy(index: str, question: str, questions: Mapping[str, str]) -> None:
    """Refuse a row that repeats another of its file with shifted options.

    Args:
        index: The row's index as text.
        question: Its question.
        questions: The question of every row of the file, by index.

    Raises:
        Unusable: circular_copy.
    """
    number = whole_number(index)
    if number is None or number < CIRCLE:
        return
    base = str(number % CIRCLE)
    if questions.get(base) == question:
        raise Unusable(Reason.CIRCULAR_COPY, f"row {base} with its options shifted")


def _row(
    index: str, record: dict[str, str], table: dict[str, dict[str, str]], where: str, folder: Path
) -> Row:
    if not record["question"].strip():
        raise Unusable(Reason.MALFORMED, "it has no question")
    named = {name: record[name] or None for name in ascii_uppercase if name in record}
    if not any(named.values()):
        raise Unusable(Reason.OPEN_ENDED, "it has no options")
    options, indices = lettered(named)
    picture, file = _picture(record, table, folder)
    return Row(
        source_ref=index,
        category=record.get("category", ""),
        question=with_hint(record.get("hint", ""), record["question"]),
        options=options,
        answer=answer_index(record.get("answer", ""), indices),
        picture=picture,
        where=where,
        picture_file=file,
        extra={name: cell for name, cell in record.items() if name not in _KNOWN and cell},
    )


def _picture(
    record: dict[str, str], table: dict[str, dict[str, str]], folder: Path
) -> tuple[Callable[[], np.ndarray], str]:
    """Return what decodes the row's one picture, and the file that it is in, if any.

    A cell of `image` holds the picture itself; where there is none, `image_path` names its file.
    """
    if record.get("image") or not record.get("image_path"):
        return partial(from_base64, _image(record.get("image", ""), table)), ""
    name = _single(record["image_path"])
    if not name:
        raise Unusable(Reason.NO_IMAGE, "it has no picture")
    path = named_picture(folder, name)
    return partial(decode_picture, path), path.relative_to(folder).as_posix()


def _image(cell: str, table: dict[str, dict[str, str]]) -> str:
    """Return the base64 text of the row's one picture; a short cell is the index of its owner."""
    cell = _single(cell)
    if len(cell) > _LONGEST_INDEX:
        return cell
    if not cell:
        raise Unusable(Reason.NO_IMAGE, "it has no picture")
    owner = table.get(cell)
    if owner is None:
        raise Unusable(Reason.NO_IMAGE, f"its picture is that of row {cell}, which does not exist")
    owned = _single(owner.get("image", ""))
    if len(owned) <= _LONGEST_INDEX:
        raise Unusable(Reason.NO_IMAGE, f"its picture is that of row {cell}, which has none itself")
    return owned


def _single(cell: str) -> str:
    """Return the cell, or the only member of the list that it spells."""
    if not cell.startswith("["):
        return cell
    try:
        members = ast.literal_eval(cell)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise Unusable(Reason.UNDECODABLE_IMAGE, "its list of pictures cannot be read") from None
    if not isinstance(members, list) or not all(isinstance(text, str) for text in members):
        raise Unusable(Reason.UNDECODABLE_IMAGE, "its list of pictures is not one of texts")
    if len(members) > 1:
        raise Unusable(Reason.MULTI_IMAGE, f"it has {len(members)} pictures")
    return members[0] if members else ""
