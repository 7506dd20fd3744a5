"""What the readers of benchmark formats refuse, and the odd forms that they take."""

import base64
import csv
import io
import json

import numpy as np
import pytest
from made import png, reasons
from PIL import Image

from benchc.config.sources import (
    MmvpSource,
    SeedBench2PlusSource,
    VlmevalkitSource,
)
from benchc.errors import BadInput
from benchc.pool.build import build_source
from benchc.pool.rows import Reason
from benchc.pool.sources import read_source as read_tsv
from benchc.pool.sources.embedded import from_base64, from_cell
from benchc.pool.sources.mmvp import read as read_mmvp
from benchc.pool.sources.seedbench2plus import read as read_seed

CODED = base64.b64encode(png()).decode()


def tsv(tmp_path, rows, header=("index", "image", "question", "A", "B", "C", "answer")):
    file = tmp_path / "b.tsv"
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, delimiter="\t", quoting=csv.QUOTE_ALL)
        writer.writerow(header)
        writer.writerows(rows)
    return VlmevalkitSource(kind="vlmevalkit", path=file)


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
    with pytest.raises(BadInput, match="No such file"):
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


def seed(tmp_path, *records):
    (tmp_path / "1.png").write_bytes(png())
    whole = {"question": "Q?", "choice_a": "x", "CHOICE_B": "None", "answer": "B"}
    asked = [whole | {"question_id": str(i), "data_id": "1.png"} | r for i, r in enumerate(records)]
    (tmp_path / "q.json").write_text(json.dumps({"questions": asked}))
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
