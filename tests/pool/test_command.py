import json

import pytest
import yaml
from PIL import Image
from typer.testing import CliRunner

from benchc.errors import BadInput
from benchc.pool.build import TABLES
from benchc.pool.command import app

HERE = {"image": "a.png", "question": "Which?", "options": ["x", "y"], "answer": "B"}


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "photos"
    path.mkdir()
    Image.new("RGB", (4, 3), (1, 2, 3)).save(path / "a.png")
    rows = [HERE, HERE | {"question": "What?"}]
    (path / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return path


def run(*arguments):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def read(folder):
    return {name: table.read(folder / f"{name}.parquet") for name, table in TABLES.items()}


def test_source_and_merge(tmp_path, folder):
    spec = tmp_path / "mine.yaml"
    spec.write_text(yaml.safe_dump({"kind": "folder", "path": str(folder)}))
    drawn = json.dumps({"kind": "drawn", "samples": 6})
    said = run("source", "mine", "--spec", spec, "--out", tmp_path / "mine")
    assert said == "mine: 2 samples with 1 pictures; none left out\n"
    run("source", "drawn", "--spec", drawn, "--out", tmp_path / "drawn")
    run("source", "again", "--spec", spec, "--out", tmp_path / "again")
    folders = [tmp_path / name for name in ("drawn", "mine", "again")]
    said = run("merge", *folders, "--out", tmp_path / "all")
    assert said.startswith("merged: 8 samples with 4 pictures; left out: 2 duplicate")
    tables = read(tmp_path / "all")
    assert tables["samples"].height == 8
    assert tables["scenes"].height == 3
    before = {path.name: path.read_bytes() for path in (tmp_path / "all").iterdir()}
    run("merge", *folders, "--out", tmp_path / "all")
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "all").iterdir()}


def test_check_shows_bad_rows_and_writes_nothing(tmp_path, folder):
    with (folder / "questions.jsonl").open("a") as file:
        file.write("\n" + json.dumps(HERE | {"answer": "C"}))
    before = sorted(tmp_path.rglob("*"))
    said = run("check", folder)
    assert "2 samples with 1 pictures; left out: 1 answer_outside_options" in said
    assert "3: answer_outside_options: answer 'C' is not among its options A, B" in said
    assert sorted(tmp_path.rglob("*")) == before
    spec = json.dumps({"kind": "folder", "path": str(folder)})
    with pytest.raises(BadInput, match=r"line 3 \(id 3\)"):
        run("source", "mine", "--spec", spec, "--out", tmp_path / "out")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("{kind: folder, path: x, sampels: 3}", "sampels"),
        ("{kind: folders, path: x}", "folder"),
        ("{kind: drawn, samples: 0}", "samples"),
        ("{kind: [", "neither JSON nor YAML"),
        ("{}", "kind"),
    ],
)
def test_a_bad_spec_is_refused_in_one_line(tmp_path, spec, message):
    with pytest.raises(BadInput, match=message) as error:
        run("source", "mine", "--spec", spec, "--out", tmp_path / "out")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "way_out"),
    [
        ("rows.parquet", "{kind: parquet, path: ..., fields: ...}"),
        ("rows.tsv", "{kind: vlmevalkit, path: ...}"),
        ("rows.csv", "--questions"),
        ("questions.jsonl", "give its folder"),
    ],
)
def test_check_tells_a_table_from_a_spec(tmp_path, name, way_out):
    (tmp_path / name).write_bytes(b"\xff")
    with pytest.raises(BadInput, match="holds rows, not a spec") as refusal:
        run("check", tmp_path / name)
    assert way_out in str(refusal.value)
