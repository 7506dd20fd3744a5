import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from benchc.config.sources import FolderSource
from benchc.errors import BadInput
from benchc.pool.build import build_source
from benchc.pool.rows import Reason
from benchc.pool.sources import read_source as read

PHOTOS = Path(__file__).parents[2].parent / "shared" / "cases" / "photos"
GOOD = {"image": "a.png", "question": "Which?", "options": ["x", "y", "z"], "answer": "B"}


@pytest.fixture
def folder(tmp_path):
    for number, name in enumerate(("a.png", "b.png")):
        Image.new("RGB", (4, 3), (number, 0, 0)).save(tmp_path / name)
    return tmp_path


def write(folder, rows, name="questions.jsonl"):
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def spec(folder, **settings):
    return FolderSource(kind="folder", path=folder, **settings)


def one(folder, **changes):
    row = {name: value for name, value in (GOOD | changes).items() if value is not ...}
    write(folder, [row])
    return read(spec(folder))


def test_a_row(folder):
    source = one(folder, id="p0", category="colour", hint="Look left.")
    (row,) = source.rows
    assert (row.source_ref, row.category) == ("p0", "colour")
    assert row.question == "Look left.\nWhich?"
    assert (row.options, row.answer) == (("x", "y", "z"), 1)
    np.testing.assert_array_equal(row.picture(), np.zeros((3, 4, 3), np.uint8))


@pytest.mark.parametrize("text", ["None", "NA", "nan", "null", "007", "1e5", "TRUE", "True", " x"])
@pytest.mark.parametrize("name", ["questions.jsonl", "questions.csv", "questions.tsv"])
def test_text_is_never_retyped(folder, text, name):
    if name.endswith("jsonl"):
        write(folder, [GOOD | {"options": [text, "other"], "answer": "A", "category": text}])
    else:
        header, cells = "image,question,A,B,answer,category", f"a.png,Which?,{text},other,A,{text}"
        separator = "\t" if name.endswith("tsv") else ","
        write(folder, [line.replace(",", separator) for line in (header, cells)], name)
    (row,) = read(spec(folder, questions=name)).rows
    assert row.options == (text, "other")
    assert row.category == text


@pytest.mark.parametrize(
    ("options", "answer", "index"),
    [
        ({"A": "x", "B": "y"}, "B", 1),
        ({"B": "y", "A": "x"}, "B", 1),
        ({"A": "x", "B": None, "C": "z"}, "C", 1),
        ({"A": "x", "C": "z", "D": "w"}, "D", 2),
        (["x", "y"], "A", 0),
        (["x", "y"], 0, 0),
        (["x", "y"], 1, 1),
        (["Yes", "No"], "Yes", 0),
        (["No", "Yes"], "Yes", 1),
        (["0", "1"], "1", 1),
        (["a", "b"], "b", 1),
        ([f"o{i}" for i in range(26)], "Z", 25),
    ],
)
def test_answers(folder, options, answer, index):
    (row,) = one(folder, options=options, answer=answer).rows
    assert row.answer == index


@pytest.mark.parametrize(
    ("changes", "reason", "detail"),
    [
        ({"options": ["x"]}, Reason.TOO_FEW_OPTIONS, "only one option"),
        ({"options": []}, Reason.TOO_FEW_OPTIONS, "no option"),
        ({"options": ...}, Reason.TOO_FEW_OPTIONS, "no options"),
        ({"options": {"A": "x", "B": None}}, Reason.TOO_FEW_OPTIONS, "only one option"),
        ({"options": [str(i) for i in range(27)]}, Reason.TOO_MANY_OPTIONS, "27 options"),
        ({"options": "x, y"}, Reason.MALFORMED, "neither a list"),
        ({"options": [1, 2]}, Reason.MALFORMED, "quotes"),
        ({"options": [True, "y"]}, Reason.MALFORMED, "quotes"),
        ({"options": ["x", ""]}, Reason.MALFORMED, "empty"),
        ({"options": ["x", None]}, Reason.MALFORMED, "null"),
        ({"options": ["x", "x"]}, Reason.MALFORMED, "the same"),
        ({"options": {"a": "x", "b": "y"}}, Reason.MALFORMED, "letter A to Z"),
        ({"options": {"": "x", "B": "y"}}, Reason.MALFORMED, "letter A to Z"),
        ({"answer": "D"}, Reason.ANSWER_OUTSIDE_OPTIONS, "'D' is not among its options A, B, C"),
        ({"answer": "BB"}, Reason.ANSWER_OUTSIDE_OPTIONS, "'BB'"),
        ({"answer": "b"}, Reason.ANSWER_OUTSIDE_OPTIONS, "'b'"),
        ({"answer": 3}, Reason.ANSWER_OUTSIDE_OPTIONS, "0 to 2"),
        ({"answer": -1}, Reason.ANSWER_OUTSIDE_OPTIONS, "0 to 2"),
        ({"answer": 1.5}, Reason.ANSWER_OUTSIDE_OPTIONS, "0 to 2"),
        ({"answer": True}, Reason.ANSWER_OUTSIDE_OPTIONS, "neither"),
        ({"answer": "1"}, Reason.ANSWER_OUTSIDE_OPTIONS, "'1'"),
        ({"answer": 1, "options": {"A": "x", "B": "y"}}, Reason.ANSWER_OUTSIDE_OPTIONS, "letter"),
        ({"answer": None}, Reason.NO_ANSWER, "no answer"),
        ({"answer": ...}, Reason.NO_ANSWER, "no answer"),
        ({"answer": "2", "options": ["1", "2", "3"]}, Reason.MALFORMED, "more than one"),
        ({"answer": "A", "options": ["B", "A"]}, Reason.MALFORMED, "more than one"),
        ({"image": ["a.png", "b.png"]}, Reason.MULTI_IMAGE, "2 pictures"),
        ({"image": ...}, Reason.NO_IMAGE, "no image"),
        ({"image": "c.png"}, Reason.NO_IMAGE, "'c.png'"),
        ({"image": "../a.png"}, Reason.NO_IMAGE, "inside the folder"),
        ({"image": "/a.png"}, Reason.NO_IMAGE, "inside the folder"),
        ({"image": "iVBORw0KGgo" * 99}, Reason.NO_IMAGE, "no picture 'iVBORw0KGgo"),
        ({"image": "/9j/4AAQSkZJ" * 99}, Reason.NO_IMAGE, "inside the folder"),
        ({"image": 3}, Reason.NO_IMAGE, "name of a file"),
        ({"question": ""}, Reason.MALFORMED, "no question"),
        ({"question": 3}, Reason.MALFORMED, "not a text"),
        ({"category": 7}, Reason.MALFORMED, "not a text"),
    ],
)
def test_bad_rows(folder, changes, reason, detail):
    source = one(folder, **changes)
    assert source.rows == []
    (rejection,) = source.rejected
    assert rejection.reason == reason
    assert detail in rejection.detail
    assert len(rejection.detail) < 400
    with pytest.raises(BadInput, match=r"questions\.jsonl, line 1 \(id 1\): .*on_bad_row") as error:
        build_source("mine", spec(folder))
    assert "\n" not in str(error.value)


def test_a_bad_row_is_refused_by_line_and_id_or_rejected_on_request(folder):
    rows = [GOOD | {"id": f"p{i}"} for i in range(4)]
    rows[1]["answer"] = "E"
    rows[2] |= {"image": "b.png"}
    rows[3] |= {"image": "gone.png"}
    write(folder, rows)
    with pytest.raises(BadInput, match=r"line 2 \(id p1\): answer 'E'.*\(1 more rows are bad\)"):
        build_source("mine", spec(folder))
    pool = build_source("mine", spec(folder, on_bad_row="reject"))
    assert pool.samples["sample_id"].to_list() == ["mine/p0", "mine/p2"]
    assert pool.rejected.select("source_ref", "reason").rows() == [
        ("p1", "answer_outside_options"),
        ("p3", "no_image"),
    ]
    excluded = build_source("mine", spec(folder, exclude_ids=["p1", "p3"]))
    assert set(excluded.rejected["reason"]) == {"excluded_id"}


def test_an_undecodable_picture_is_refused_or_rejected(folder):
    (folder / "cut.png").write_bytes((folder / "a.png").read_bytes()[:-15])
    write(folder, [GOOD, GOOD | {"image": "cut.png"}])
    with pytest.raises(BadInput, match=r"line 2 \(id 2\): picture 'cut.png': .*cut short"):
        build_source("mine", spec(folder))
    pool = build_source("mine", spec(folder, on_bad_row="reject"))
    assert pool.rejected["reason"].to_list() == ["undecodable_image"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["{"], "line 1: not a line of JSON"),
        (["[]"], "line 1: not one JSON object"),
        (["", '{"id": 1, "id": 2}'], "line 2: .*twice"),
        (['{"options": {"A": "x", "A": "y"}}'], "line 1: .*twice"),
        ([GOOD | {"id": "p"}, GOOD | {"id": "p"}], "line 2: id 'p' was given before, in line 1"),
        ([GOOD | {"id": "p"}, GOOD], "line 2: it has no id"),
        ([GOOD | {"id": "a\nb"}], "line 1: it has no id"),
        ([GOOD | {"question": "half a smile \ud83d"}], "line 1: not a line of JSON"),
        ([""], "it has no questions"),
    ],
)
def test_a_file_that_is_no_table_of_questions(folder, lines, message):
    write(folder, lines)
    with pytest.raises(BadInput, match=message):
        read(spec(folder))


@pytest.mark.parametrize(
    ("name", "right"),
    [("Hint", "hint"), ("hnit", "hint"), ("catgory", "category"), ("ID", "id"), ("hints", "hint")],
)
def test_a_misspelt_field_is_not_passed_over(folder, name, right):
    (rejected,) = one(folder, **{name: "?"}).rejected
    assert rejected.reason == Reason.MALFORMED
    assert f"it has a field {name!r} and none {right!r}" in rejected.detail


@pytest.mark.parametrize("name", ["license", "width", "idx", "image_id", "question_type", "hit_at"])
def test_fields_of_its_own_are_a_files_own_matter(folder, name):
    assert not one(folder, **{name: 3}).rejected


def test_a_name_beside_the_one_it_is_like_is_its_own(folder):
    assert not one(folder, hint="Look.", hints=["a", "b"]).rejected


@pytest.mark.parametrize(("header", "right"), [("A,B,c", "C"), ("A,B,catgory", "category")])
def test_a_misspelt_column_is_not_passed_over(folder, header, right):
    (folder / "q.csv").write_text(f"image,question,answer,{header}\na.png,Which?,A,x,y,z\n")
    with pytest.raises(BadInput, match=f"and none '{right}'; rename it"):
        read(spec(folder, questions="q.csv"))


def test_a_missing_folder_or_file(tmp_path):
    with pytest.raises(BadInput, match="no such folder"):
        read(spec(tmp_path / "none"))
    with pytest.raises(BadInput, match="no such file"):
        read(spec(tmp_path))
    (tmp_path / "questions.txt").write_text("")
    with pytest.raises(BadInput, match="questions are read from"):
        read(spec(tmp_path, questions="questions.txt"))


def test_not_utf_8(folder):
    (folder / "questions.jsonl").write_bytes(b'\n{"question": "caf\xe9"}\n')
    with pytest.raises(BadInput, match="line 2: not UTF-8"):
        read(spec(folder))


def test_a_table_with_quotes_newlines_and_a_byte_order_mark(folder):
    (folder / "questions.csv").write_bytes(
        b"\xef\xbb\xbfid,image,question,A,B,C,answer,note\r\n"
        b'007,a.png,"Which ""one"",\nplease?",x,,"y, z",C,-\r\n'
    )
    (row,) = read(spec(folder, questions="questions.csv")).rows
    assert row.source_ref == "007"
    assert row.question == 'Which "one",\nplease?'
    assert (row.options, row.answer) == (("x", "y, z"), 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("image,question,A,answer\n", "no column 'B'"),
        ("image;question;A;B;answer\n", "no column 'image' but 'image;question;A;B;answer'"),
        ("image,question,A,A,B,answer\n", "'A' occurs twice"),
        ("image,question,A,B,answer\na.png,q,x,y\n", "line 2: 4 cells under a header of 5"),
        (
            'image,question,A,B,answer\na.png,"q,x,y,A\n',
            "line 2: its cell 2 begins with a quotation mark",
        ),
    ],
)
def test_a_broken_table(folder, text, message):
    (folder / "questions.csv").write_text(text)
    with pytest.raises(BadInput, match=message):
        read(spec(folder, questions="questions.csv"))


@pytest.mark.skipif(not PHOTOS.exists(), reason="no folder of photographs here")
def test_the_photographs():
    pool = build_source("photos", spec(PHOTOS))
    assert pool.samples.height == 39
    assert pool.images.height == 13
    assert pool.rejected.height == 0
    first = pool.samples.row(0, named=True)
    assert first["sample_id"] == "photos/p000"
    assert first["options"][first["answer"]] == "A cat"
