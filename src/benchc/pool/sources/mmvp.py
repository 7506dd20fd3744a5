"""MMVP as its authors publish it: Questions.csv and the folder `MMVP Images`.

The four rows known to be wrong are left out by the spec's default.
"""

import re
from functools import partial

from benchc.config.sources import MmvpSource
from benchc.errors import BadInput
from benchc.pictures.decode import decode_picture
from benchc.pool.rows import Reason, Row, SourceRows, Unusable, answer_index, lettered
from benchc.pool.text import csv_records

_COLUMNS = ("Index", "Question", "Options", "Correct Answer")
_MARK = re.compile(r"\(([a-z])\)\s*")
_ANSWER = re.compile(r"\(([a-z])\)")


def read(spec: MmvpSource) -> SourceRows:
    """Return the rows of `Questions.csv`; the picture of row N is `MMVP Images/N.jpg`.

    Raises:
        BadInput: No such file, a column is missing, or an index occurs twice.
    """
    file = spec.path / "Questions.csv"
    source = SourceRows(file=str(file))
    seen: set[str] = set()
    for where, record in csv_records(file, _COLUMNS):
        ref = record["Index"].strip()
        if not ref.isdecimal() or ref in seen:
            raise BadInput(f"{file}, {where}: index {ref!r} is no number or not its own")
        seen.add(ref)
        with source.rejecting(ref, where):
            source.rows.append(_row(ref, record, spec, where))
    return source


def _row(ref: str, record: dict[str, str], spec: MmvpSource, where: str) -> Row:
    options, indices = lettered(_options(record["Options"]))
    answer = record["Correct Answer"].strip()
    letter = _ANSWER.fullmatch(answer)
    picture = spec.path / "MMVP Images" / f"{ref}.jpg"
    if not picture.is_file():
        raise Unusable(Reason.NO_IMAGE, f"there is no picture {picture}")
    return Row(
        source_ref=ref,
        category="",
        question=record["Question"].strip(),
        options=options,
        answer=answer_index(letter[1].upper() if letter else answer, indices),
        picture=partial(decode_picture, picture),
        where=where,
        picture_file=f"{picture.parent.name}/{picture.name}",
        extra={name: cell for name, cell in record.items() if name not in _COLUMNS and cell},
    )


def _options(text: str) -> dict[str, str | None]:
    """Return the options of "(a) Open (b) Closed" by upper-case letter.

    Raises:
        Unusable: The marks are not (a), (b), ... in order.
    """
    marks = list(_MARK.finditer(text))
    letters = [mark[1].upper() for mark in marks]
    if text[: marks[0].start()].strip() if marks else text.strip():
        raise Unusable(Reason.MALFORMED, f"its options {text!r} do not begin with (a)")
    if letters != [chr(ord("A") + i) for i in range(len(letters))]:
        raise Unusable(Reason.MALFORMED, f"its options {text!r} are not (a), (b), ... in order")
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    return {
        letter: text[mark.end() : end].strip() or None
        for letter, mark, end in zip(letters, marks, ends, strict=True)
    }
