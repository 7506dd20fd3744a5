"""VLMEvalKit TSV: one row a question, options in columns A, B, ..., pictures in base64.

Never evaluates a cell, never re-types one, and keeps one of each set of circular copies.
"""

import ast
from collections.abc import Mapping
from functools import partial
from string import ascii_uppercase

from benchc.errors import BadInput
from benchc.pool.rows import (
    Reason,
    Rejection,
    Row,
    SourceRows,
    Unusable,
    answer_index,
    lettered,
    with_hint,
    with_one_picture,
)
from benchc.pool.sources.embedded import from_base64
from benchc.pool.specs import VlmevalkitSource
from benchc.pool.text import csv_rows

CIRCLE = 1_000_000
"""A copy with shifted options has its base row's index plus a multiple of this."""
_LONGEST_INDEX = 64


def read(spec: VlmevalkitSource) -> SourceRows:
    """Return the rows of the table at `spec.path`, in its order.

    Raises:
        BadInput: No such file, not a table, no column `index`, `question` or `image`, or an index
            that occurs twice.
    """
    if not spec.path.is_file():
        raise BadInput(f"{spec.path}: no such file")
    lines = csv_rows(spec.path, delimiter="\t")
    header = next(lines, (0, []))[1]
    for name in ("index", "question", "image"):
        if name not in header:
            raise BadInput(f"{spec.path}: it has no column {name!r}; is it a VLMEvalKit table?")
    table: dict[str, dict[str, str]] = {}
    wheres: dict[str, str] = {}
    for line, cells in lines:
        record = dict(zip(header, cells, strict=True))
        if record["index"] in table:
            raise BadInput(
                f"{spec.path}, line {line}: index {record['index']} was given before, "
                f"in {wheres[record['index']]}"
            )
        table[record["index"]] = record
        wheres[record["index"]] = f"line {line}"
    source = SourceRows(file=str(spec.path))
    questions = {index: record["question"] for index, record in table.items()}
    for index, record in table.items():
        try:
            refuse_copy(index, record["question"], questions)
            source.rows.append(_row(index, record, table, wheres[index]))
        except Unusable as verdict:
            rejection = Rejection(index, verdict.reason, verdict.detail, wheres[index])
            source.rejected.append(rejection)
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
    if not index.isdecimal() or int(index) < CIRCLE:
        return
    base = str(int(index) % CIRCLE)
    if questions.get(base) == question:
        raise Unusable(Reason.CIRCULAR_COPY, f"row {base} with its options shifted")


def _row(index: str, record: dict[str, str], table: dict[str, dict[str, str]], where: str) -> Row:
    if not record["question"].strip():
        raise Unusable(Reason.MALFORMED, "it has no question")
    named = {name: record[name] or None for name in ascii_uppercase if name in record}
    if not any(named.values()):
        raise Unusable(Reason.OPEN_ENDED, "it has no options")
    options, indices = lettered(named)
    question = with_one_picture(record["question"], options)
    return Row(
        source_ref=index,
        category=record.get("category", ""),
        question=with_hint(record.get("hint", ""), question),
        options=options,
        answer=answer_index(record.get("answer", ""), indices),
        picture=partial(from_base64, _image(record["image"], table)),
        where=where,
    )


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
    owned = _single(owner["image"])
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
