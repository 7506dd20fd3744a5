"""SEED-Bench-2-Plus as its authors publish it: one JSON file, pictures in a folder beside it."""

import json
from functools import partial
from pathlib import Path
from typing import Any

from benchc.config.sources import SeedBench2PlusSource
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
)
from benchc.pool.text import decode_utf8

_KNOWN = ("question_id", "question", "data_id", "data_type", "question_image_type", "answer")
_LONGEST_NUMBER = 18


def read(spec: SeedBench2PlusSource) -> SourceRows:
    """Return the rows of the file's list `questions`; the category is the kind of picture.

    Raises:
        BadInput: No such file, not JSON, no list `questions` of objects, or an id that is missing
            or occurs twice.
    """
    if not spec.path.is_file():
        raise BadInput(f"{spec.path}: no such file")
    try:
        # A number of thousands of digits is no reason to refuse the whole file.
        content = json.loads(decode_utf8(spec.path), parse_int=_number)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{spec.path}: not JSON ({error})") from None
    records = content.get("questions") if isinstance(content, dict) else None
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise BadInput(f'{spec.path}: it has no list "questions" of objects')
    source = SourceRows(file=str(spec.path))
    seen: set[str] = set()
    for number, record in enumerate(records, 1):
        ref = record.get("question_id")
        where = f"question {number}"
        if not isinstance(ref, str) or not ref or ref in seen:
            raise BadInput(f"{spec.path}, {where}: its question_id is missing or not its own")
        seen.add(ref)
        with source.rejecting(ref, where):
            source.rows.append(_row(ref, record, spec, where))
    return source


def _row(ref: str, record: dict[str, Any], spec: SeedBench2PlusSource, where: str) -> Row:
    texts = {
        name.lower(): text
        for name, text in record.items()
        if isinstance(text, str) or name.lower().startswith("choice_")
    }
    try:
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise Unusable(Reason.MALFORMED, "it holds half of a character") from None
    if not texts.get("question", "").strip():
        raise Unusable(Reason.MALFORMED, "it has no question")
    if record.get("data_type", "Single Image") != "Single Image":
        raise Unusable(Reason.MULTI_IMAGE, f"its data_type is {record['data_type']!r}")
    named: dict[str, str | None] = {}
    for letter in "abcdefghijklmnopqrstuvwxyz":
        text = texts.get(f"choice_{letter}")
        if text is not None and not isinstance(text, str):
            raise Unusable(Reason.MALFORMED, f"choice_{letter} is not a text")
        named[letter.upper()] = text or None
    options, indices = lettered(named)
    picture = _picture(texts, spec)
    return Row(
        source_ref=ref,
        category=texts.get("question_image_type", ""),
        question=texts["question"],
        options=options,
        answer=answer_index(texts.get("answer", ""), indices),
        picture=partial(decode_picture, picture),
        where=where,
        picture_file=picture.relative_to(spec.path.parent).as_posix(),
        extra={name: held for name, held in record.items() if not _is_known(name)},
    )


def _is_known(name: str) -> bool:
    return name.lower() in _KNOWN or name.lower().startswith("choice_")


def _number(text: str) -> int | str:
    return text if len(text) > _LONGEST_NUMBER else int(text)


def _picture(texts: dict[str, str], spec: SeedBench2PlusSource) -> Path:
    name = texts.get("data_id", "")
    if not name:
        raise Unusable(Reason.NO_IMAGE, "it names no picture")
    return named_picture(spec.path.parent, name)
