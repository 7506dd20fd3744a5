"""What the readers of benchmark formats refuse, and the odd forms that they take."""

import base64
import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml
from PIL import Image

from benchc.errors import BadInput
from benchc.pool.build import build_source
from benchc.pool.command import read_spec
from benchc.pool.rows import Reason, Unusable
from benchc.pool.sources.embedded import from_base64, from_cell
from benchc.pool.sources.fields import FIELD_MAPS
from benchc.pool.sources.in_question import split_question
from benchc.pool.sources.mmvp import read as read_mmvp
from benchc.pool.sources.parquet import read as read_parquet
from benchc.pool.sources.seedbench2plus import read as read_seed
from benchc.pool.sources.vlmevalkit import read as read_tsv
from benchc.pool.specs import (
    FieldMap,
    MmvpSource,
    ParquetSource,
    SeedBench2PlusSource,
    VlmevalkitSource,
)


def png(level=7) -> bytes:
    file = io.BytesIO()
    noise = np.random.default_rng(level).integers(0, 256, (9, 11, 3), dtype=np.uint8)
    Image.fromarray(noise).save(file, "PNG")
    return file.getvalue()


CODED = base64.b64encode(png()).decode()


def tsv(tmp_path, rows, header=("index", "image", "question", "A", "B", "C", "answer")):
    file = tmp_path / "b.tsv"
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, delimiter="\t", quoting=csv.QUOTE_ALL)
        writer.writerow(header)
        writer.writerows(rows)
    return VlmevalkitSource(kind="vlmevalkit", path=file)


def reasons(source):
    return {verdict.source_ref: verdict.reason for verdict in source.rejected}


@pytest.mark.parametrize(
    ("text", "good"),
    [
        (CODED, True),
        ("\n".join(CODED[i : i + 76] for i in range(0, len(CODED), 76)), True),
        ("data:image/png;base64," + CODED, True),
        (CODED[:-1], False),
        (CODED[:-8], False),
        (base64.urlsafe_b64encode(b"\xfb\xff\xfe" * 30).decode(), False),
        ("not base64 at all", False),
        ("café" * 30, False),
        ("", False),
    ],
)
def test_base64(text, good):
    if good:
        np.testing.assert_array_equal(from_base64(text), from_cell({"bytes": png(), "path": None}))
    else:
        with pytest.raises(BadInput):
            from_base64(text)


def test_url_safe_base64_of_a_picture_is_refused_not_decoded_to_other_bytes():
    for level in range(50):
        safe = base64.urlsafe_b64encode(png(level)).decode()
        if set("-_") & set(safe):
            with pytest.raises(BadInput, match="not base64"):
                from_base64(safe)


def test_tsv_copies_pictures_and_lists(tmp_path):
    spec = tsv(
        tmp_path,
        [
            ("1", CODED, "One?", "None", "007", "", "A"),
            ("1000001", "1", "One?", "007", "None", "", "B"),
            ("1000002", CODED, "A large index, no copy?", "x", "y", "", "B"),
            ("2", f"['{CODED}']", "List of one?", "x", "y", "", "A"),
            ("3", f"['{CODED}', '{CODED}']", "List of two?", "x", "y", "", "A"),
            ("4", "['a' + 'b']", "Code?", "x", "y", "", "A"),
            ("5", "", "No picture?", "x", "y", "", "A"),
            ("6", "5", "Picture of a row without?", "x", "y", "", "A"),
            ("7", CODED, "Open?", "", "", "", "42"),
            ("8", CODED, "One option?", "x", "", "", "A"),
            ("9", CODED, "No answer?", "x", "y", "", ""),
            ("10", "7", "Hole?", "x", "", "z", "C"),
        ],
    )
    source = read_tsv(spec)
    assert [row.source_ref for row in source.rows] == ["1", "1000002", "2", "10"]
    assert source.rows[0].options == ("None", "007")
    assert source.rows[3].options[source.rows[3].answer] == "z"
    assert reasons(source) == {
        "1000001": Reason.CIRCULAR_COPY,
        "3": Reason.MULTI_IMAGE,
        "4": Reason.UNDECODABLE_IMAGE,
        "5": Reason.NO_IMAGE,
        "6": Reason.NO_IMAGE,
        "7": Reason.OPEN_ENDED,
        "8": Reason.TOO_FEW_OPTIONS,
        "9": Reason.NO_ANSWER,
    }
    pool = build_source("b", spec)
    assert pool.samples.height + pool.rejected.height == 12
    with pytest.raises(BadInput, match=r"b\.tsv, line 6 \(id 3\).*\(6 more rows"):
        build_source("b", spec.model_copy(update={"on_bad_row": "refuse"}))


def test_tsv_cells_beyond_the_csv_limit(tmp_path):
    noise = np.random.default_rng(0).integers(0, 256, (300, 300, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(noise).save(file, "PNG")
    coded = base64.b64encode(file.getvalue()).decode()
    assert len(coded) > csv.field_size_limit()
    (row,) = read_tsv(tsv(tmp_path, [("1", coded, "Q?", "x", "y", "", "A")])).rows
    np.testing.assert_array_equal(row.picture(), noise)


def test_tsv_places_of_pictures_in_texts(tmp_path):
    rows = [
        ("1", CODED, "<image 1> What is it?", "x", "y", "", "A"),
        ("2", CODED, "What is in <image 1>?", "x", "y", "", "A"),
        ("3", CODED, "Which?", "<image 1>", "<image 2>", "", "A"),
    ]
    source = read_tsv(tsv(tmp_path, rows))
    assert [row.question for row in source.rows] == ["What is it?", "What is in the image?"]
    assert reasons(source) == {"3": Reason.MULTI_IMAGE}


def test_tsv_as_a_whole(tmp_path):
    with pytest.raises(BadInput, match="no such file"):
        read_tsv(VlmevalkitSource(kind="vlmevalkit", path=tmp_path / "none.tsv"))
    with pytest.raises(BadInput, match="no column 'image'"):
        read_tsv(tsv(tmp_path, [], header=("index", "question", "A", "B", "answer")))
    row = ("1", CODED, "Q?", "x", "y", "", "A")
    with pytest.raises(BadInput, match="line 3: index 1 was given before, in line 2"):
        read_tsv(tsv(tmp_path, [row, row]))
    spec = tsv(tmp_path, [row])
    spec.path.write_text(spec.path.read_text()[:-40])
    with pytest.raises(BadInput, match="cut short"):
        read_tsv(spec)


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

    from benchc.pool.specs import Benchmark

    assert set(FIELD_MAPS) == set(get_args(Benchmark))
    for fields in FIELD_MAPS.values():
        assert fields.options_as == "question" or fields.options


def seed(tmp_path, *records):
    (tmp_path / "1.png").write_bytes(png())
    whole = {"question": "Q?", "choice_a": "x", "CHOICE_B": "None", "answer": "B"}
    records = [
        whole | {"question_id": str(i), "data_id": "1.png"} | r for i, r in enumerate(records)
    ]
    (tmp_path / "q.json").write_text(json.dumps({"questions": records}))
    return SeedBench2PlusSource(kind="seedbench2plus", path=tmp_path / "q.json")


def test_seedbench2plus(tmp_path):
    source = read_seed(
        seed(
            tmp_path,
            {},
            {"data_id": "2.png"},
            {"data_id": "../1.png"},
            {"data_type": "Video"},
            {"choice_a": 7},
            {"answer": None},
            {"question": ""},
        )
    )
    (row,) = source.rows
    assert (row.options, row.answer) == (("x", "None"), 1)
    assert reasons(source) == {
        "1": "no_image",
        "2": "no_image",
        "3": "multi_image",
        "4": "malformed",
        "5": "no_answer",
        "6": "malformed",
    }
    with pytest.raises(BadInput, match="question 2: its question_id"):
        read_seed(seed(tmp_path, {}, {"question_id": "0"}))
    (tmp_path / "q.json").write_text("[]")
    with pytest.raises(BadInput, match="no list"):
        read_seed(SeedBench2PlusSource(kind="seedbench2plus", path=tmp_path / "q.json"))


def test_mmvp(tmp_path):
    (tmp_path / "MMVP Images").mkdir()
    for number in (1, 2, 3, 4, 99):
        (tmp_path / "MMVP Images" / f"{number}.jpg").write_bytes(png())
    (tmp_path / "Questions.csv").write_text(
        "Index,Question,Options,Correct Answer\n"
        '1,Q?,"(a) One, or (b) None (c) 007",(b)\n'
        "2,Q?,(a) x (b) y,(c)\n3,Q?,(a) x (c) y,(a)\n4,Q?,x or y,(a)\n"
        "5,Q?,(a) x (b) y,(a)\n99,Q?,(a) x (b) y,(a)\n"
    )
    spec = MmvpSource(kind="mmvp", path=tmp_path)
    source = read_mmvp(spec)
    assert source.rows[0].options == ("One, or", "None", "007")
    assert source.rows[0].answer == 1
    assert reasons(source) == {
        "2": "answer_outside_options",
        "3": "malformed",
        "4": "malformed",
        "5": "no_image",
    }
    rejected = build_source("mmvp", spec).rejected
    assert dict(rejected.select("source_ref", "reason").rows())["99"] == "excluded_id"


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


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"data_id": "/9j/4AAQSkZJ" * 40}, "no_image"),
        ({"data_id": "4AAQSkZJ" * 40}, "no_image"),
        ({"data_id": "a\0b"}, "no_image"),
        ({"choice_a": "half a smile \ud83d"}, "malformed"),
    ],
)
def test_what_no_disk_and_no_table_can_hold_is_rejected(tmp_path, change, reason):
    assert reasons(read_seed(seed(tmp_path, {}, change))) == {"1": reason}
