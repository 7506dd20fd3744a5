"""A folder of pictures with questions.jsonl, .csv or .tsv: how people bring their own questions."""

import difflib
import json
import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import numpy as np

from benchc.config.sources import FolderSource
from benchc.errors import BadInput
from benchc.pictures.decode import decode_picture
from benchc.pool.pictures import named_picture
from benchc.pool.rows import (
    Reason,
    Row,
    SourceRows,
    Unusable,
    brief,
    check_count,
    lettered,
    outside,
    whole_number,
    with_hint,
)
from benchc.pool.text import csv_rows, decode_utf8, listed

_DECIMAL = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")
_FIELDS = ("id", "image", "question", "hint", "options", "answer", "category")
_COLUMNS = ("id", "image", "question", "hint", "answer", "category", *ascii_uppercase)


_PATH = "image_path"
"""What `image` may be called too."""


class _Number(str):
    """A number as it was written, so that 1e5 and 007 are told apart from their values."""


def read(spec: FolderSource) -> SourceRows:
    """Return the rows of `spec.path / spec.questions`.

    Raises:
        BadInput: The folder or the file of questions is missing or not of its format, or ids are
            given for some rows only or twice.
    """
    if not spec.path.is_dir():
        raise BadInput(f"{spec.path}: no such folder of pictures")
    file = spec.path / spec.questions
    if not file.is_file():
        raise BadInput(
            f"{file}: no such file; write one question a line there, "
            "or set `questions` to the name of yours"
        )
    readers = {".jsonl": _json_lines, ".csv": _table, ".tsv": _table}
    reader = readers.get(file.suffix.lower())
    if reader is None:
        raise BadInput(f"{file}: questions are read from .jsonl, .csv or .tsv files")
    records = list(reader(file))
    refs = _refs(file, records)
    source = SourceRows(file=str(file))
    for ref, (where, record) in zip(refs, records, strict=True):
        with source.rejecting(ref, where):
            source.rows.append(_row(ref, record, spec.path, where))
    return source


def _row(ref: str, record: dict[str, Any], folder: Path, where: str) -> Row:
    meant = _misspelt(record, _FIELDS)
    if meant:
        raise Unusable(Reason.MALFORMED, f"it has a field {meant}")
    question = _text(record, "question")
    if not question.strip():
        raise Unusable(Reason.MALFORMED, "it has no question")
    options, answer = _options_and_answer(record)
    picture = _picture(record, folder)
    return Row(
        source_ref=ref,
        category=_text(record, "category"),
        question=with_hint(_text(record, "hint"), question),
        options=options,
        answer=answer,
        picture=partial(_decode, folder, picture),
        where=where,
        picture_file=picture,
        extra=_extra(record),
    )


def _decode(folder: Path, name: str) -> np.ndarray:
    try:
        return decode_picture(folder / name)
    except BadInput as error:
        raise BadInput(f"picture {name!r}: {error}") from None


def _extra(record: dict[str, Any]) -> dict[str, object]:
    """Return the fields that are the user's own, numbers as numbers."""
    return {name: _plain(value) for name, value in record.items() if name not in (*_FIELDS, _PATH)}


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {name: _plain(held) for name, held in value.items()}
    if isinstance(value, list):
        return [_plain(held) for held in value]
    if isinstance(value, _Number):
        whole = whole_number(value)
        short = whole is None and _DECIMAL.fullmatch(value)
        return float(value) if short else str(value) if whole is None else whole
    return value


def _options_and_answer(record: dict[str, Any]) -> tuple[tuple[str, ...], int]:
    given = record.get("options")
    if given is None:
        raise Unusable(Reason.TOO_FEW_OPTIONS, "it has no options")
    if isinstance(given, dict):
        for letter in given:
            if letter not in ascii_uppercase or len(letter) != 1:
                raise Unusable(
                    Reason.MALFORMED, f"option {letter!r} is not named by a letter A to Z"
                )
        named = {letter: _option(letter, text) for letter, text in given.items()}
    elif isinstance(given, list):
        check_count(given)
        named = {ascii_uppercase[i]: _option(str(i), text) for i, text in enumerate(given)}
        if None in named.values():
            raise Unusable(Reason.MALFORMED, "an option is null; leave it out of the list")
    else:
        raise Unusable(Reason.MALFORMED, "its options are neither a list nor A: ..., B: ...")
    options, indices = lettered(named)
    return options, _answer(record.get("answer"), options, indices, isinstance(given, list))


def _option(name: str, text: object) -> str | None:
    if text is None:
        return None
    if not isinstance(text, str) or isinstance(text, _Number):
        raise Unusable(
            Reason.MALFORMED, f'option {name} is not a text; write it in quotes, such as "7"'
        )
    if not text.strip():
        raise Unusable(Reason.MALFORMED, f"option {name} is empty; leave it out")
    return text


def _answer(
    answer: object, options: tuple[str, ...], indices: dict[str, int], counted: bool
) -> int:
    """Return the index meant by a letter, an option's whole text, or (lists only) a number."""
    if answer is None or answer == "":
        raise Unusable(Reason.NO_ANSWER, "it has no answer")
    if isinstance(answer, _Number):
        if not counted:
            raise Unusable(
                Reason.ANSWER_OUTSIDE_OPTIONS, "its answer is a number; give the option's letter"
            )
        number = whole_number(answer)
        if number is None or number >= len(options):
            raise Unusable(
                Reason.ANSWER_OUTSIDE_OPTIONS,
                f"answer {answer[:60]} is outside its options 0 to {len(options) - 1}",
            )
        return number
    if not isinstance(answer, str):
        raise Unusable(Reason.ANSWER_OUTSIDE_OPTIONS, "its answer is neither a letter nor a text")
    meant = {indices[answer]} if answer in indices else set()
    meant |= {i for i, text in enumerate(options) if text == answer}
    if not meant:
        raise outside(answer, indices)
    number = whole_number(answer)
    if number is not None and number < len(options):
        meant.add(number)
    if len(meant) > 1:
        raise Unusable(
            Reason.MALFORMED,
            f"answer {brief(answer)} can mean more than one option; give the letter of the one"
            + (", or its number without quotes" if counted else " and no option that is a letter"),
        )
    return meant.pop()


def _picture(record: dict[str, Any], folder: Path) -> str:
    name = record.get("image", record.get(_PATH))
    if isinstance(name, list):
        if len(name) > 1:
            raise Unusable(Reason.MULTI_IMAGE, f"it has {len(name)} pictures")
        name = name[0] if name else None
    if name is None or name == "":
        raise Unusable(Reason.NO_IMAGE, "it names no image")
    if not isinstance(name, str) or isinstance(name, _Number):
        raise Unusable(Reason.NO_IMAGE, "its image is not the name of a file")
    return named_picture(folder, name).relative_to(folder).as_posix()


def _text(record: dict[str, Any], name: str) -> str:
    text = record.get(name)
    if text is None:
        return ""
    if not isinstance(text, str) or isinstance(text, _Number):
        raise Unusable(Reason.MALFORMED, f"its {name} is not a text; write it in quotes")
    return text


def _refs(file: Path, records: list[tuple[str, dict[str, Any]]]) -> list[str]:
    """Return each row's id; row numbers from 1 where no row has one."""
    ids = [record.get("id") for _, record in records]
    if not records:
        raise BadInput(f"{file}: it has no questions")
    if all(ref is None or ref == "" for ref in ids):
        return [str(number) for number in range(1, len(ids) + 1)]
    first: dict[str, str] = {}
    for ref, (where, _) in zip(ids, records, strict=True):
        if not isinstance(ref, str) or not ref.strip() or not ref.isprintable():
            raise BadInput(
                f"{file}, {where}: it has no id that is a text or a number; "
                "give one to every row, or to none"
            )
        if ref in first:
            raise BadInput(f"{file}, {where}: id {ref!r} was given before, in {first[ref]}")
        first[ref] = where
    return [str(ref) for ref in ids]


def _misspelt(names: Iterable[str], known: tuple[str, ...]) -> str:
    """Say which name is a known one in other letters, or empty: such a field would go unread.

    Other fields are a file's own and left alone, and so is every name beside the one it is like.
    """
    given = set(names)
    others = [(name, name.lower()) for name in sorted(given.difference(known))]
    for right in known:
        if right in given:
            continue
        matcher = difflib.SequenceMatcher(b=right)
        for name, lowered in others:
            like = lowered == right.lower()
            if not like and len(right) > 3 and abs(len(name) - len(right)) <= 1:
                matcher.set_seq1(lowered)
                like = matcher.ratio() >= 0.7
            if like:
                return f"{name!r} and none {right!r}; rename it, or leave it out"
    return ""


def _json_lines(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    decoder = json.JSONDecoder(
        object_pairs_hook=_object, parse_int=_Number, parse_float=_Number, parse_constant=_Number
    )
    for number, line in enumerate(decode_utf8(file).split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = decoder.decode(line.strip())
            # "\ud83d", half of a character, is JSON and yet no text that a table could hold.
            json.dumps(record, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            raise BadInput(f"{file}, line {number}: not a line of JSON ({error})") from None
        if not isinstance(record, dict):
            raise BadInput(
                f'{file}, line {number}: not one JSON object; write {{"image": ..., ...}} '
                "on each line"
            )
        yield f"line {number}", record


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("a name occurs twice in one object")
    return record


def _table(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    rows = csv_rows(file, delimiter="\t" if file.suffix.lower() == ".tsv" else ",")
    try:
        header = next(rows)[1]
    except StopIteration:
        raise BadInput(f"{file}: it is empty") from None
    meant = _misspelt(header, _COLUMNS)
    if meant:
        raise BadInput(f"{file}: it has a column {meant}")
    needed = ("image", "question", "answer", "A", "B")
    missing = [name for name in needed if name not in header]
    if missing[:1] == ["image"] and _PATH in header:
        missing.pop(0)
    if missing:
        raise BadInput(
            f"{file}: it has no column {missing[0]!r} but {listed([*map(repr, header)])}; "
            "columns are image, question, A, B, ..., answer and, if you like, id, hint, category"
        )
    for line, cells in rows:
        record: dict[str, Any] = {
            name: cell for name, cell in zip(header, cells, strict=True) if name in _COLUMNS or cell
        }
        options = {name: record.pop(name) for name in ascii_uppercase if name in record}
        record["options"] = {letter: text or None for letter, text in options.items()}
        yield f"line {line}", record
