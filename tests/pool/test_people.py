"""Tables and pictures as people have them: read where the meaning is certain, else refused."""

import base64
import json
import os
import time
import unicodedata
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from made import png, reasons

from benchc.config.sources import (
    FieldMap,
    FolderSource,
    MmvpSource,
    ParquetSource,
    SeedBench2PlusSource,
    VlmevalkitSource,
)
from benchc.errors import BadInput
from benchc.pool.build import build_source
from benchc.pool.command import read_spec
from benchc.pool.sources import read_source

ODD = Path(__file__).parents[3] / "shared" / "cases" / "odd"
needs_odd = pytest.mark.skipif(not ODD.is_dir(), reason=f"no odd inputs in {ODD}")
CODED = base64.b64encode(png()).decode()


def in_folder(path, question, options, **more):
    (path / "a.png").write_bytes(png())
    row = {"image": "a.png", "question": question, "options": options, "answer": "A"}
    (path / "questions.jsonl").write_text(json.dumps(row | more) + "\n")
    return FolderSource(kind="folder", path=path, on_bad_row="reject")


def in_csv(path, question, options, **more):
    (path / "a.png").write_bytes(png())
    cells = {"image": "a.png", "question": question, "answer": "A"}
    cells |= dict(zip("ABC", options, strict=False)) | more
    pl.DataFrame([cells]).write_csv(path / "q.csv")
    return FolderSource(kind="folder", path=path, questions="q.csv", on_bad_row="reject")


def in_tsv(path, question, options, **more):
    cells = {"index": "1", "question": question, "answer": "A", "image": CODED}
    cells |= dict(zip("ABC", options, strict=False)) | more
    pl.DataFrame([cells]).write_csv(path / "t.tsv", separator="\t")
    return VlmevalkitSource(kind="vlmevalkit", path=path / "t.tsv")


def in_parquet(path, question, options, **more):
    row = {"question": question, "options": options, "answer": "A", "image": {"bytes": png()}}
    pl.DataFrame([row | more]).write_parquet(path / "t.parquet")
    fields = FieldMap(options=("options",), options_as="list")
    return ParquetSource(kind="parquet", path=path / "t.parquet", fields=fields)


def in_seed(path, question, options, **more):
    (path / "a.png").write_bytes(png())
    row = {"question_id": "1", "question": question, "answer": "A", "data_id": "a.png"}
    row |= {f"choice_{letter}": text for letter, text in zip("abc", options, strict=False)} | more
    (path / "s.json").write_text(json.dumps({"questions": [row]}))
    return SeedBench2PlusSource(kind="seedbench2plus", path=path / "s.json")


def in_mmvp(path, question, options, **more):
    (path / "MMVP Images").mkdir(exist_ok=True)
    (path / "MMVP Images/1.jpg").write_bytes(png())
    texts = " ".join(f"({letter}) {text}" for letter, text in zip("abc", options, strict=False))
    row = {"Index": "1", "Question": question, "Options": texts, "Correct Answer": "(a)"}
    pl.DataFrame([row | more]).write_csv(path / "Questions.csv")
    return MmvpSource(kind="mmvp", path=path)


EVERY = [in_folder, in_csv, in_tsv, in_parquet, in_seed, in_mmvp]
every = pytest.mark.parametrize("write", EVERY, ids=lambda write: write.__name__)


@every
@pytest.mark.parametrize(
    "options",
    [("cat", "dog", "cat"), ("dog", "cat", "cat"), ("a cat", "dog", "a  cat"),
     ("café", "dog", unicodedata.normalize("NFD", "café"))],
)  # fmt: skip
def test_an_option_that_stands_twice_is_malformed_in_every_source(tmp_path, write, options):
    source = read_source(write(tmp_path, "What?", options))
    assert not source.rows
    assert list(reasons(source).values()) == ["malformed"]
    assert "two of its options are the same" in source.rejected[0].detail


@every
def test_options_that_differ_are_kept(tmp_path, write):
    (row,) = read_source(write(tmp_path, "What?", ("cat", "Cat", "x²"))).rows
    assert row.options == ("cat", "Cat", "x²")


@every
@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("<image>\nWhat is it?", "What is it?"),
        ("What is it?\n<image>", "What is it?"),
        ("<image 1> What is it?", "What is it?"),
        ("What is in <image 1>?", "What is in the image?"),
        ("<|vision_start|><|image_pad|><|vision_end|>What is it?", "What is it?"),
        ("<|image_1|>\nWhat is it?", "What is it?"),
        ("<IMAGE> What is it?", "What is it?"),
        ("What is it? <image_1>", "What is it?"),
        ("Is <b>this</b> 3 < 4 > 2?", "Is <b>this</b> 3 < 4 > 2?"),
        ("What does the tag <img> do?", "What does the tag <img> do?"),
    ],
)
def test_the_marker_of_the_picture_is_taken_off_in_every_source(tmp_path, write, question, asked):
    (row,) = read_source(write(tmp_path, question, ("cat", "dog"))).rows
    assert row.question == asked


@every
@pytest.mark.parametrize("question", ["<image>\n<image>\nSame?", "<image 1> and <image 2>?"])
def test_markers_of_several_pictures_are_refused_in_every_source(tmp_path, write, question):
    assert [*reasons(read_source(write(tmp_path, question, ("cat", "dog")))).values()] == [
        "multi_image"
    ]


def test_a_marker_behind_a_hint_is_taken_off(tmp_path):
    (row,) = read_source(in_folder(tmp_path, "<image>\nWhat?", ["x", "y"], hint="Look.")).rows
    assert row.question == "Look.\nWhat?"


def test_a_question_that_is_a_marker_alone_is_no_question(tmp_path):
    source = read_source(in_folder(tmp_path, "<image>", ["x", "y"]))
    assert source.rejected[0].detail == "it has no question"


@every
def test_own_columns_and_where_a_row_came_from_are_kept(tmp_path, write):
    spec = write(tmp_path, "What?", ("cat", "dog"), difficulty="hard", camera="left")
    (sample,) = build_source("s", spec).samples.to_dicts()
    assert json.loads(sample["extra"]) == {"camera": "left", "difficulty": "hard"}
    assert sample["source_row"].startswith(
        {in_folder: "questions.jsonl, line 1", in_csv: "q.csv, line 2", in_tsv: "t.tsv, line 2",
         in_parquet: "t.parquet, row 0", in_seed: "s.json, question 1",
         in_mmvp: "Questions.csv, line 2"}[write]
    )  # fmt: skip
    held = {in_tsv: None, in_parquet: None, in_mmvp: "MMVP Images/1.jpg"}
    assert sample["picture_file"] == held.get(write, "a.png")


def test_own_numbers_stay_numbers(tmp_path):
    own = {"level": 3, "score": 0.25, "tags": ["a", 1], "easy": True, "none": None}
    spec = in_folder(tmp_path, "What?", ["x", "y"], **own)
    (sample,) = build_source("s", spec).samples.to_dicts()
    assert json.loads(sample["extra"]) == own


@pytest.mark.parametrize(
    ("cell", "outcome"),
    [([png()], "ok"), ([png(), png(2)], "multi_image"), ([], "no_image"), ([png(), None], "ok"),
     (None, "no_image"), ([CODED], "ok")],
)  # fmt: skip
@pytest.mark.parametrize("as_struct", [False, True])
def test_a_list_of_one_picture_is_that_picture(tmp_path, cell, outcome, as_struct):
    if as_struct and cell != [CODED]:
        cell = cell and [held and {"bytes": held, "path": None} for held in cell]
        kind = pa.list_(pa.struct([("bytes", pa.binary()), ("path", pa.string())]))
    else:
        kind = pa.list_(pa.string() if cell == [CODED] else pa.binary())
    columns = {"image": pa.array([cell], kind), "question": ["What?"], "A": ["x"], "B": ["y"],
               "answer": ["A"]}  # fmt: skip
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    fields = FieldMap(options=("A", "B"))
    source = read_source(ParquetSource(kind="parquet", path=tmp_path / "t.parquet", fields=fields))
    if outcome == "ok":
        assert source.rows[0].picture().shape == (9, 11, 3)
    assert list(reasons(source).values()) == ([] if outcome == "ok" else [outcome])


@pytest.mark.parametrize(
    ("names", "outcome"), [(["a.png"], "ok"), (["a.png", "b.png"], "multi_image"), ([], "no_image")]
)
def test_a_list_of_one_file_is_that_file(tmp_path, names, outcome):
    source = read_source(in_folder(tmp_path, "What?", ["x", "y"], image=names))
    assert ([*reasons(source).values()] or ["ok"]) == [outcome]


@pytest.mark.parametrize(
    ("answers", "found"),
    [([1.0, 0.0, None], [1, 0]), ([1, 0, None], [1, 0]), ([float("nan"), 1.0], [1]),
     (["1.0", "0", ""], [1, 0]), ([0.5, 1.0], [1]), ([9.0, 1.0], [1])],
)  # fmt: skip
def test_whole_numbers_of_a_column_of_floats_are_indices(tmp_path, answers, found):
    rows = [{"question": f"Q{i}?", "options": ["x", "y"], "answer": answer, "image": png(i)}
            for i, answer in enumerate(answers)]  # fmt: skip
    pl.DataFrame(rows, strict=False).write_parquet(tmp_path / "t.parquet")
    fields = FieldMap(options=("options",), options_as="list", answer_as="index")
    source = read_source(ParquetSource(kind="parquet", path=tmp_path / "t.parquet", fields=fields))
    assert [row.answer for row in source.rows] == found


def test_an_answer_of_a_list_may_be_written_with_a_point(tmp_path):
    (row,) = read_source(in_folder(tmp_path, "What?", ["x", "y"], answer=1.0)).rows
    assert row.answer == 1


@pytest.mark.parametrize("wrap", [lambda a: a, lambda a: pa.array([[x] for x in a.to_pylist()])])
def test_dictionaries_are_read_as_the_texts_they_are(tmp_path, wrap):
    def column(*texts):
        return pa.array(texts).dictionary_encode()

    table = pa.table(
        {"image": [png(1), png(2)], "question": column("Q1?", "Q2?"), "A": column("x", "x"),
         "B": column("y", "z"), "answer": column("A", "B"), "kind": wrap(column("k", "k"))}
    )  # fmt: skip
    pq.write_table(table, tmp_path / "t.parquet")
    spec = ParquetSource(
        kind="parquet", path=tmp_path / "t.parquet", fields=FieldMap(options=("A", "B"))
    )
    assert [row.options for row in read_source(spec).rows] == [("x", "y"), ("x", "z")]


def test_lists_and_arrays_of_dictionaries_are_lists_of_texts(tmp_path):
    frame = pl.DataFrame(
        {"image": [png()], "question": ["Q?"], "options": [["x", "y"]], "answer": ["A"]},
        schema_overrides={"options": pl.Array(pl.String(), 2)},
    )
    for dtype in (pl.List(pl.Categorical()), pl.Array(pl.String(), 2)):
        frame.with_columns(pl.col("options").cast(dtype)).write_parquet(tmp_path / "t.parquet")
        fields = FieldMap(options=("options",), options_as="list")
        spec = ParquetSource(kind="parquet", path=tmp_path / "t.parquet", fields=fields)
        assert read_source(spec).rows[0].options == ("x", "y")


HEAD = "index\tquestion\tA\tB\tanswer\timage\n"


@pytest.mark.parametrize(
    ("rows", "line", "cell"),
    [
        ('1\tWhat?\t"Stop" sign\tGo\tA\t{0}\n', 2, 3),
        ('1\tWhat?\tx\ty\tA\t{0}\n2\tHow?\t"5\tGo\tA\t{0}\n', 3, 3),
        ('1\t"two\nlines"\tx\ty\tA\t{0}\n2\tHow?\tx\t"y\tA\t{0}\n', 4, 4),
        ('1\t"two\nlines"\t"x\ty\tA\t{0}\n', 3, 3),
    ],
)
def test_the_cell_that_begins_with_a_quote_is_named(tmp_path, rows, line, cell):
    (tmp_path / "t.tsv").write_text(HEAD + rows.format(CODED))
    with pytest.raises(BadInput, match=rf"t\.tsv, line {line}: its cell {cell} begins with"):
        read_source(VlmevalkitSource(kind="vlmevalkit", path=tmp_path / "t.tsv"))


def test_two_quotes_do_not_swallow_the_rows_between_them(tmp_path):
    rows = '1\tHow long?\t"5 m\tGo\tA\t{0}\n2\tHow?\tx\ty\tA\t{0}\n3\tHow?\t6"\tGo\tA\t{0}\n'
    (tmp_path / "t.tsv").write_text(HEAD + rows.format(CODED))
    with pytest.raises(BadInput, match="line 2: a cell begins with a quotation mark"):
        read_source(VlmevalkitSource(kind="vlmevalkit", path=tmp_path / "t.tsv"))


def test_a_cell_may_hold_lines_and_tabs(tmp_path):
    rows = '1\t"Look:\na\tb\nc\td"\tx\ty\tA\t{0}\n'
    (tmp_path / "t.tsv").write_text(HEAD + rows.format(CODED))
    (row,) = read_source(VlmevalkitSource(kind="vlmevalkit", path=tmp_path / "t.tsv")).rows
    assert row.question == "Look:\na\tb\nc\td"


def with_paths(path, name, kind):
    """Write a table whose picture is named, not held, in three forms."""
    if kind == "tsv":
        text = f"index\tquestion\tA\tB\tanswer\timage_path\n1\tWhat?\tx\ty\tA\t{name}\n"
        (path / "t.tsv").write_text(text, encoding="utf-8")
        return VlmevalkitSource(kind="vlmevalkit", path=path / "t.tsv")
    if kind == "jsonl":
        row = {"image_path": name, "question": "What?", "options": ["x", "y"], "answer": "A"}
        (path / "questions.jsonl").write_text(json.dumps(row))
        return FolderSource(kind="folder", path=path, on_bad_row="reject")
    cell = name if kind == "text" else {"bytes": None, "path": name}
    row = {"question": "What?", "options": ["x", "y"], "answer": "A", "image": cell}
    schema = {"image": pl.Struct({"bytes": pl.Binary(), "path": pl.String()})}
    frame = pl.DataFrame([row], schema_overrides=schema if kind == "struct" else None)
    frame.write_parquet(path / "t.parquet")
    fields = FieldMap(options=("options",), options_as="list")
    return ParquetSource(kind="parquet", path=path / "t.parquet", fields=fields)


paths = pytest.mark.parametrize("kind", ["tsv", "jsonl", "text", "struct"])


@paths
@pytest.mark.parametrize(
    ("written", "on_disk"),
    [
        ("sub/a.png", "sub/a.png"),
        ("sub\\a.png", "sub/a.png"),
        (unicodedata.normalize("NFC", "é/ñ.png"), unicodedata.normalize("NFD", "é/ñ.png")),
        (unicodedata.normalize("NFD", "é/ñ.png"), unicodedata.normalize("NFC", "é/ñ.png")),
    ],
)
def test_a_column_of_names_names_files_beside_the_table(tmp_path, kind, written, on_disk):
    file = tmp_path / on_disk
    file.parent.mkdir()
    file.write_bytes(png())
    (row,) = read_source(with_paths(tmp_path, written, kind)).rows
    assert row.picture().shape == (9, 11, 3)
    assert row.picture_file == on_disk


@paths
@pytest.mark.parametrize(
    "name", ["../o.png", "..\\o.png", "/o.png", "none.png", "link.png", "l/o.png"]
)
def test_no_name_and_no_link_leads_out_of_the_folder(tmp_path, kind, name):
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "o.png").write_bytes(png())
    os.symlink(tmp_path / "o.png", folder / "link.png")
    os.symlink(tmp_path, folder / "l")
    source = read_source(with_paths(folder, name, kind))
    assert not source.rows
    assert list(reasons(source).values()) == ["no_image"]


def test_a_link_within_the_folder_and_a_folder_that_is_a_link_are_fine(tmp_path):
    real, folder = tmp_path / "real", tmp_path / "folder"
    real.mkdir()
    (real / "b.png").write_bytes(png())
    os.symlink(real, folder)
    os.symlink("b.png", real / "link.png")
    assert read_source(with_paths(folder, "link.png", "jsonl")).rows


HUGE = "9" * 6000


@pytest.mark.parametrize("answer", [HUGE, f"{HUGE}.0", f"1.{'0' * 6000}1", f"-{HUGE}", "1e9999"])
@pytest.mark.parametrize("write", [in_folder, in_csv, in_tsv, in_seed, in_parquet])
def test_a_number_of_thousands_of_digits_is_one_bad_row(tmp_path, write, answer):
    spec = write(tmp_path, "What?", ("x", "y"), answer=answer)
    if write is in_folder:
        file = tmp_path / "questions.jsonl"
        file.write_text(file.read_text().replace(f'"{answer}"', answer))
    if write is in_seed:
        spec.path.write_text(spec.path.read_text().replace(f'"{answer}"', answer))
    if write is in_parquet:
        spec = spec.model_copy(update={"fields": spec.fields.model_copy(
            update={"answer_as": "index"})})  # fmt: skip
    source = read_source(spec)
    assert not source.rows
    assert [*reasons(source).values()] in (["answer_outside_options"], ["no_answer"])
    assert len(source.rejected[0].detail) < 300


def test_an_index_of_thousands_of_digits_is_an_index(tmp_path):
    assert read_source(in_tsv(tmp_path, "What?", ("x", "y"), index=HUGE)).rows


@pytest.mark.parametrize(
    ("write", "count"),
    [(in_csv, 100_000), (in_tsv, 100_000), (in_folder, 100_000), (in_mmvp, 100_000),
     (in_parquet, 10_000)],  # polars itself takes minutes to write more
)  # fmt: skip
def test_very_many_columns_take_seconds(tmp_path, write, count):
    spec = write(tmp_path, "What?", ("x", "y"), **{f"column{i}": "1" for i in range(count)})
    started = time.process_time()
    assert read_source(spec).rows
    assert time.process_time() - started < 10


def test_a_missing_column_among_very_many_is_one_short_line(tmp_path):
    (tmp_path / "t.tsv").write_text("\t".join(f"c{i}" for i in range(100_000)) + "\n")
    with pytest.raises(BadInput) as refused:
        read_source(VlmevalkitSource(kind="vlmevalkit", path=tmp_path / "t.tsv"))
    assert len(str(refused.value)) < 500


@needs_odd
@pytest.mark.parametrize(
    ("case", "samples", "left_out"),
    [
        ("14-list-of-pictures/spec", 2, ["multi_image"]),
        ("15-float-answers/spec", 2, ["no_answer"]),
        ("17-dictionary-columns/spec", 2, []),
    ],
)
def test_handed_tables(case, samples, left_out, monkeypatch):
    folder, _, name = case.partition("/")
    monkeypatch.chdir(ODD / folder)
    pool = build_source("x", read_spec(f"{name}.yaml"))
    assert pool.samples.height == samples
    assert pool.rejected["reason"].to_list() == left_out


@needs_odd
@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("13-gold-option-twice/tsv", "two of its options are the same"),
        ("13-gold-option-twice/parquet", "two of its options are the same"),
        ("16-cell-begins-with-quote/a", "line 2: its cell 3 begins with"),
        ("16-cell-begins-with-quote/b", "line 2: its cell 3 begins with"),
    ],
)
def test_handed_tables_that_are_refused(case, said, monkeypatch):
    folder, _, name = case.partition("/")
    monkeypatch.chdir(ODD / folder)
    with pytest.raises(BadInput, match=said):
        build_source("x", read_spec(f"{name}.yaml"))


@needs_odd
def test_the_handed_folder_with_a_marker():
    path = ODD / "18-picture-marker-in-question/folder"
    (row,) = read_source(FolderSource(kind="folder", path=path)).rows
    assert row.question == "What is it?"
