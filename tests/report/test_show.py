"""`benchc show`: one sample as the models saw it, whatever is asked for and whoever wrote it."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import cv2
import duckdb
import numpy as np
import polars as pl
import pytest
from synthetic import synthetic_run, write_run

from benchc import tables
from benchc.cli import main
from benchc.corrupt.condition import condition
from benchc.diagnose.database import build
from benchc.pictures.decode import decode_stored
from benchc.pictures.pixels import pixel_hash

SEED, SIDE = 5, 8
PLUGIN = "import numpy as np\ndef invert(picture, severity, rng):\n    return 255 - picture\n"


def with_true_hashes(run):
    """Name the pictures by their pixels, and hash each condition as the run would have."""
    stored = {row["image_id"]: row["bytes"] for row in run.images.iter_rows(named=True)}
    names = {old: pixel_hash(decode_stored(data)) for old, data in stored.items()}
    pixels = {names[old]: decode_stored(data) for old, data in stored.items()}
    renamed = pl.col("image_id").replace_strict(names)
    corrupted = run.corrupted.with_columns(renamed)
    hashes = [
        pixel_hash(
            condition(
                pixels[row["image_id"]],
                row["corruption"],
                row["severity"],
                seed=SEED,
                image_id=row["image_id"],
                reference_side=SIDE,
            )
        )
        for row in corrupted.iter_rows(named=True)
    ]
    return replace(
        run,
        samples=run.samples.with_columns(renamed),
        images=run.images.with_columns(renamed),
        corrupted=corrupted.with_columns(pixels_sha256=pl.Series(hashes)),
    )


def write_results(run, folder, config):
    sources = write_run(run, folder / "tables")
    build(replace(sources, run={"config": config}, draws=10), folder / "bench-c.duckdb")
    tables.IMAGES.write(run.images, folder / "pool/images.parquet")
    return folder


@pytest.fixture
def changed(results, tmp_path):
    """Copy the results, and change the database by statements."""

    def change(*statements):
        copy = tmp_path / "results"
        shutil.copytree(results, copy, ignore=shutil.ignore_patterns("tables"))
        with duckdb.connect(str(copy / "bench-c.duckdb")) as connection:
            for sql, *values in statements:
                connection.execute(sql, values)
        return copy

    return change


def with_config(config):
    return "UPDATE run SET value = ? WHERE name = 'config'", json.dumps(config)


@pytest.fixture(scope="module")
def run():
    return with_true_hashes(synthetic_run(12, failing={"beta": 0.5}))


@pytest.fixture(scope="module")
def results(run, tmp_path_factory):
    config = {
        "seed": SEED,
        "corrupt": {"reference_side": SIDE, "plugins": {"invert": {"file": "my.py"}}},
    }
    return write_results(run, tmp_path_factory.mktemp("run") / "results", config)


@pytest.fixture
def show(results, tmp_path, monkeypatch, capsys):
    """Run `benchc show` in an empty folder; returns its exit status and what it said."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCHC_PLUGINS", "{}")

    def run_it(*words, folder=results):
        with monkeypatch.context() as patch:
            patch.setattr("sys.argv", ["benchc", "show", *words, "--results", str(folder)])
            with pytest.raises(SystemExit) as ended:
                main()
        said = capsys.readouterr()
        return ended.value.code or 0, said.out, said.err

    return run_it


def read(path):
    return cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB)


def refused(answer):
    """Return the one line of a refusal."""
    code, out, err = answer
    assert (code, out) == (1, "")
    (line,) = err.splitlines()
    return line


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--corruption", "blank"),
        *(("--corruption", "fog", "--severity", str(s)) for s in (1, 5)),
        ("--corruption", "gaussian_noise", "--severity", "3"),
        # Its length depends on `reference_side`.
        ("--corruption", "motion_blur", "--severity", "3"),
    ],
    ids=" ".join,
)
def test_the_picture_is_what_the_models_saw(run, show, tmp_path, words):
    sample = run.samples.row(1, named=True)
    data = run.images.row(by_predicate=pl.col("image_id") == sample["image_id"], named=True)[
        "bytes"
    ]
    code, out, _ = show(sample["sample_id"], *words)
    assert code == 0
    (file,) = tmp_path.iterdir()
    assert f"written: {file.name}" in out
    name, severity = (*words[1::2], *("clean", "0")[len(words[1::2]) :])
    expected = condition(
        decode_stored(data),
        name,
        int(severity),
        seed=SEED,
        image_id=sample["image_id"],
        reference_side=SIDE,
    )
    assert np.array_equal(read(file), expected)
    assert ("its pixel hash is that of what the models saw" in out) == (name != "blank")
    assert "NOT" not in out


def test_question_options_source_and_answers_are_said(run, show):
    sample = run.samples.row(3, named=True)
    code, out, _ = show(sample["sample_id"], "--corruption", "fog", "--severity", "4")
    assert code == 0
    assert f"question: {sample['question']}\n" in out
    assert f"from: {sample['source_row']}; picture {sample['picture_file']}\n" in out
    assert f"extra: {sample['extra']}\n" in out
    right = "ABCDEF"[sample["answer"]]
    assert re.findall(r"^(\w)\. .* \(right\)$", out, re.MULTILINE) == [right]
    rows = [[cell.strip() for cell in line[1:-1].split("┆")] for line in out.splitlines()
            if "┆" in line]  # fmt: skip
    assert f"{right} *" in rows[0]
    for model, predictions in run.predictions.items():
        asked = predictions.filter(pl.col("sample_id") == sample["sample_id"])
        for name, severity, picture in (("clean", 0, "clean"), ("fog", 4, "fog 4")):
            (shown,) = [row for row in rows if row[:2] == [model, picture]]
            found = asked.filter(corruption=name, severity=severity).rows(named=True)
            if not found:
                assert shown[-1] == "not asked"
                continue
            assert shown[-1] == found[0]["status"]
            p = found[0]["p"] or [None] * len(sample["options"])
            assert shown[2 : 2 + len(p)] == ["" if x is None else f"{x:.3f}" for x in p]
            verdict = "right" if found[0]["top1"] == sample["answer"] else "wrong"
            expected = "" if found[0]["p"] is None else f"{'ABCDEF'[found[0]['top1']]} ({verdict})"
            assert shown[2 + len(p)] == expected


def test_one_model_may_be_named(run, show):
    _, out, _ = show(run.samples["sample_id"][0], "--model", "alpha")
    assert "alpha" in out
    assert "beta" not in out


@pytest.mark.parametrize("suffix", ["png", "webp", "PNG"])
def test_the_file_may_be_named(run, show, tmp_path, suffix):
    code, _, _ = show(run.samples["sample_id"][0], "--out", f"new/mine.{suffix}")
    assert code == 0
    assert read(tmp_path / f"new/mine.{suffix}").shape == (16, 24, 3)


def test_another_picture_than_the_models_saw_is_said(run, show, changed):
    results = changed(with_config({"seed": SEED + 1}))
    noisy = ("--corruption", "gaussian_noise", "--severity", "3")
    _, out, _ = show(run.samples["sample_id"][0], *noisy, folder=results)
    assert "NOT WHAT THE MODELS SAW" in out


def test_a_condition_that_the_run_lacks_is_said(run, show):
    _, out, _ = show(run.samples["sample_id"][0], "--corruption", "snow", "--severity", "1")
    assert "no model saw it" in out
    assert "not asked" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("tex/00000",), "did you mean 'text/00000'?"),
        (("",), "no sample ''"),
        (("x' OR 1=1 --",), "no sample"),
        (("text/00000", "--corruption", "fogg", "--severity", "1"), "did you mean 'fog'?"),
        (("text/00000", "--corruption", "fog"), "add --severity, 1 to 5"),
        (("text/00000", "--severity", "2"), "add --corruption"),
        (("text/00000", "--corruption", "blank", "--severity", "2"), "has none"),
        (("text/00000", "--corruption", "invert", "--severity", "2"), "add --configfile"),
        (("text/00000", "--model", "alfa"), "did you mean 'alpha'?"),
        (("text/00000", "--out", "a.jpg"), "written as .png or .webp"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_shown_is_one_line_and_writes_nothing(show, tmp_path, words, said):
    assert said in refused(show(*words))
    assert not list(tmp_path.iterdir())


def test_no_database_is_one_line(show, tmp_path):
    assert "no such database" in refused(show("text/00000", folder=tmp_path / "none"))


def test_no_pictures_is_one_line(show, changed):
    results = changed()
    (results / "pool/images.parquet").unlink()
    assert "images.parquet" in refused(show("text/00000", folder=results))


@pytest.mark.parametrize("config", [{}, [], "x", {"seed": "many"}, {"seed": 1, "corrupt": 3}])
def test_a_run_that_does_not_say_how_it_corrupted_is_one_line(show, changed, config):
    results = changed(with_config(config))
    assert "does not say how" in refused(show("text/00000", folder=results))


def test_a_corruption_of_ones_own_is_shown_with_its_config(run, show, tmp_path):
    Path("my.py").write_text(PLUGIN)
    plugin = {"file": str(tmp_path / "my.py"), "function": "invert", "group": "noise"}
    Path("mine.yaml").write_text(json.dumps({"corrupt": {"plugins": {"invert": plugin}}}))
    code, _, _ = show(
        *("text/00000", "--corruption", "invert", "--severity", "2", "--out", "out.png"),
        *("--configfile", "mine.yaml", "--project", str(Path(__file__).parents[2])),
    )
    assert code == 0
    image = run.samples.row(by_predicate=pl.col("sample_id") == "text/00000", named=True)[
        "image_id"
    ]
    data = run.images.row(by_predicate=pl.col("image_id") == image, named=True)["bytes"]
    assert np.array_equal(read("out.png"), 255 - decode_stored(data))


def test_no_terminal_obeys_what_a_source_wrote(show, changed):
    hostile = "ok\nwritten: /etc/passwd\x1b[2J\x07"
    columns = ("question", "picture_file", "source_row", "extra")
    results = changed(
        *((f"UPDATE samples SET {column} = ?", hostile) for column in columns),
        ("UPDATE samples SET options = list_transform(options, lambda x: ?)", hostile),
    )
    _, out, _ = show("text/00000", folder=results)
    assert "ok written: /etc/passwd" in out
    assert "\x1b" not in out
    assert "\x07" not in out
    assert len(re.findall(r"^written: ", out, re.MULTILINE)) == 1


@pytest.mark.parametrize("name", ["../../up/1", "/root/1", "b/a b\x1b[2J", "b/.", "b/" + "x" * 400])
def test_a_samples_name_leads_to_no_other_folder(show, changed, tmp_path, name):
    rename = "UPDATE samples SET sample_id = ? WHERE sample_id = 'text/00000'"
    code, _, _ = show(name, folder=changed((rename, name)))
    assert code == 0
    (written,) = [path for path in tmp_path.iterdir() if path.is_file()]
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*-clean\.png", written.name)
