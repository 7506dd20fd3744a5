"""Tables of a hub: what their columns may hold, and what is refused."""

import base64
import json
import re
from pathlib import Path

import polars as pl
import pytest
import yaml
from made import png, reasons

from benchc.config.sources import (
    FieldMap,
    ParquetSource,
)
from benchc.errors import BadInput
from benchc.pool.command import read_spec
from benchc.pool.rows import Reason, Unusable
from benchc.pool.sources.fields import FIELD_MAPS
from benchc.pool.sources.in_question import split_question
from benchc.pool.sources.parquet import read as read_parquet

CODED = base64.b64encode(png()).decode()
PICTURES_PAGE = Path(__file__).parents[2] / "docs" / "pictures.md"
FIELDS = FieldMap(id=("id",), options=("options",), options_as="list")
ROW = {"id": 1, "question": "Q?", "options": ["x", "y"], "answer": "B", "image": {"bytes": png()}}


def table(tmp_path, rows, fields=FIELDS, name="t.parquet"):
    pl.DataFrame(rows, infer_schema_length=None).write_parquet(tmp_path / name)
    return ParquetSource(kind="parquet", path=tmp_path / name, fields=fields)


@pytest.mark.parametrize("answer", ["B", "(B)", "B.", " B "])
def test_spellings_of_a_letter(tmp_path, answer):
    (row,) = read_parquet(table(tmp_path, [ROW | {"answer": answer}])).rows
    assert row.answer == 1


@pytest.mark.parametrize("answer", ["BB", "b", "C", "(B", "yes", "1"])
def test_what_is_no_letter_of_the_row(tmp_path, answer):
    source = read_parquet(table(tmp_path, [ROW | {"answer": answer}]))
    assert reasons(source) == {"1": "answer_outside_options"}


@pytest.mark.parametrize(
    ("answer", "index"), [(0, 0), ("1", 1), (2, None), ("-1", None), ("", None)]
)
def test_index_answers(tmp_path, answer, index):
    fields = FIELDS.model_copy(update={"answer_as": "index"})
    source = read_parquet(table(tmp_path, [ROW | {"answer": answer}], fields))
    assert [row.answer for row in source.rows] == ([] if index is None else [index])


@pytest.mark.parametrize("cell", [{"bytes": png(), "path": "x"}, png(), CODED])
def test_forms_of_a_picture(tmp_path, cell):
    (row,) = read_parquet(table(tmp_path, [ROW | {"image": cell}])).rows
    assert row.picture().shape == (9, 11, 3)


@pytest.mark.parametrize("cell", [{"bytes": None, "path": "x"}, {"bytes": b"", "path": "x"}, ""])
def test_no_picture(tmp_path, cell):
    assert reasons(read_parquet(table(tmp_path, [ROW | {"image": cell}]))) == {"1": "no_image"}


def test_absent_options_are_absent_and_the_answer_stays_with_its_option(tmp_path):
    fields = FieldMap(id=("id",), options=("A", "B", "C"), absent=("nan", "N/A"))
    rows = [
        {"id": 1, "A": "x", "B": "nan", "C": "z", "answer": "C"},
        {"id": 2, "A": "None", "B": "NA", "C": None, "answer": "B"},
        {"id": 3, "A": "x", "B": "", "C": "N/A", "answer": "A"},
        {"id": 4, "A": "x", "B": "nan", "C": "z", "answer": "B"},
    ]
    source = read_parquet(
        table(tmp_path, [{"question": "Q?", "image": png()} | row for row in rows], fields)
    )
    assert [(row.options, row.options[row.answer]) for row in source.rows] == [
        (("x", "z"), "z"),
        (("None", "NA"), "NA"),
    ]
    assert reasons(source) == {"3": "too_few_options", "4": "answer_outside_options"}


def test_a_re_typed_column_of_options_is_refused(tmp_path):
    fields = FieldMap(options=("A", "B"))
    row = {"question": "Q?", "A": 7, "B": 36, "answer": "A", "image": png()}
    with pytest.raises(BadInput, match=r"column A holds Int64.*re-typed"):
        read_parquet(table(tmp_path, [row], fields))


def test_a_column_of_options_is_of_the_kind_that_the_map_says(tmp_path):
    fields = FieldMap(options=("A",), options_as="list")
    row = {"question": "Q?", "A": "x", "answer": "A", "image": png()}
    with pytest.raises(BadInput, match=r"column A holds String, not List\(String\)"):
        read_parquet(table(tmp_path, [row], fields))
    for options in ((), ("A", "A")):
        fields = fields.model_copy(update={"options": options})
        with pytest.raises(BadInput, match="`options_as: list` takes one column"):
            read_parquet(table(tmp_path, [row], fields))


@pytest.mark.parametrize(
    "other", [{"id": ("image",)}, {"question": "IMAGE"}, {"open_ended": {"image": "x"}}]
)
def test_a_picture_is_nothing_else(tmp_path, other):
    fields = FieldMap(options=("A", "B"), **other)
    row = {"question": "Q?", "A": "x", "B": "y", "answer": "A", "image": png()}
    with pytest.raises(BadInput, match="'image' cannot be the picture and something else"):
        read_parquet(table(tmp_path, [row], fields))


def test_columns_are_found_whatever_their_case(tmp_path):
    fields = FieldMap(options=("choice_A", "choice_B"), category="l2-category")
    row = {"question": "Q?", "choice_a": "x", "choice_b": "y", "answer": "A", "L2-category": "c"}
    (found,) = read_parquet(table(tmp_path, [row | {"image": png()}], fields)).rows
    assert (found.options, found.category) == (("x", "y"), "c")
    spec = table(tmp_path, [row | {"image": png()}], fields.model_copy(update={"hint": "hints"}))
    with pytest.raises(BadInput, match="no column 'hints'"):
        read_parquet(spec)


def test_shards(tmp_path):
    for number in range(2):
        name = f"test-{number:05d}-of-00002.parquet"
        table(tmp_path, [ROW | {"id": number}], name=name)
    spec = ParquetSource(kind="parquet", path=tmp_path, fields=FIELDS)
    assert [row.source_ref for row in read_parquet(spec).rows] == ["0", "1"]
    (tmp_path / "test-00001-of-00002.parquet").unlink()
    with pytest.raises(BadInput, match="not all shards"):
        read_parquet(spec)


def test_parquet_as_a_whole(tmp_path):
    with pytest.raises(BadInput, match="id '1' was given before"):
        read_parquet(table(tmp_path, [ROW, ROW]))
    spec = table(tmp_path, [ROW])
    spec.path.write_bytes(spec.path.read_bytes()[:-20])
    with pytest.raises(BadInput, match="not a readable Parquet"):
        read_parquet(spec)
    spec.path.unlink()
    with pytest.raises(BadInput, match="no such file"):
        read_parquet(spec)


def test_a_list_of_options_as_text_is_never_run(tmp_path):
    fields = FieldMap(options=("options",), options_as="literal")
    rows = [
        ROW | {"options": "['x', \"it's\"]"},
        ROW | {"options": "__import__('os').listdir('.')"},
        ROW | {"options": "[1, 2]"},
        ROW | {"options": "[]"},
    ]
    source = read_parquet(table(tmp_path, rows, fields))
    assert [row.options for row in source.rows] == [("x", "it's")]
    assert reasons(source) == {"1": "malformed", "2": "malformed", "3": "open_ended"}


@pytest.mark.parametrize(
    ("text", "question", "options"),
    [
        ("Q?\nOptions: A: a, b, B: c", "Q?", {"A": "a, b", "B": "c"}),
        ("Q?\nChoices:\n(A) x\n(B) y", "Q?", {"A": "x", "B": "y"}),
        ("Q?\n\nA. x\nB y\nC. z\nPlease answer directly with only the letter.", "Q?",
         {"A": "x", "B": "y", "C": "z"}),
        ("Which option?", "Which option?", {}),
    ],
)  # fmt: skip
def test_options_inside_the_question(text, question, options):
    assert split_question(text) == (question, options)


@pytest.mark.parametrize(
    "text", ["Q?\nA. x\nC. z", "Q?\nChoices: x or y", "Q?\n(A) x\n(B) y\nand more"]
)
def test_options_that_cannot_be_told_from_the_question(text):
    with pytest.raises(Unusable) as verdict:
        split_question(text)
    assert verdict.value.reason == Reason.MALFORMED


def test_a_question_that_begins_like_an_option_is_not_taken_for_one(tmp_path):
    fields = FieldMap(id=("id",), options_as="question")
    rows = [ROW | {"question": text} for text in ("A. Lincoln is where?", "A. x\nB. y")]
    rows[1]["id"] = 2
    source = read_parquet(table(tmp_path, rows, fields))
    assert reasons(source) == {"1": "malformed", "2": "malformed"}


def test_field_maps_name_every_benchmark():
    from typing import get_args

    from benchc.config.sources import Benchmark

    assert set(FIELD_MAPS) == set(get_args(Benchmark))
    for fields in FIELD_MAPS.values():
        assert fields.options_as == "question" or fields.options


def test_the_example_of_a_map_of_columns(tmp_path):
    (example,) = re.findall(
        r"```yaml\n(.*?)```", PICTURES_PAGE.read_text(encoding="utf-8"), flags=re.DOTALL
    )
    spec = yaml.safe_load(example)["sources"]["mine"] | {
        "path": str(tmp_path / "questions.parquet")
    }
    choices = {f"choice_{number}": text for number, text in enumerate("xyz", start=1)}
    row = {"item": "a", "prompt": "Q?", "topic": "t", "picture": png(), "solution": 2, **choices}
    pl.DataFrame([row]).write_parquet(spec["path"])
    (found,) = read_parquet(read_spec(json.dumps(spec))).rows
    assert (found.source_ref, found.category, found.question) == ("a", "t", "Q?")
    assert (tuple(found.options), found.answer) == (("x", "y", "z"), 2)
