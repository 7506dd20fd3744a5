"""What the command refuses, in one line, before or in the middle of a game."""

import json
import time
from pathlib import Path

import pytest
import real_scale
import torch
from protocol_server import Script, serving

from benchc import cli
from benchc.config.run import read_config
from benchc.errors import BadInput
from benchc.running.workflow import Workflow

PROJECT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("scale")
    real_scale.players(folder)
    return folder


@pytest.fixture
def refusal(monkeypatch, capsys, tmp_path):
    """Play a game that has to fail; return the one line that it says."""

    def play(model, settings, way="rl"):
        options = {
            "key": "tested", "model-settings": json.dumps(model), "settings": json.dumps(settings),
            "work": tmp_path / "work", "out": tmp_path / "a.parquet",
            "training": tmp_path / "t.parquet", "steps": tmp_path / "s.parquet",
        }  # fmt: skip
        given = [f"--{name}={value}" for name, value in options.items()]
        monkeypatch.setattr("sys.argv", ["benchc", "discover", "play", way, *given])
        with pytest.raises(SystemExit) as end:
            cli.main()
        assert end.value.code == 1
        assert not list(tmp_path.glob("*.parquet"))
        said = [line for line in capsys.readouterr().err.splitlines() if "benchc:" in line]
        (line,) = said
        return line

    return play


def test_a_model_that_cannot_answer_in_words(folder, refusal):
    asking = {"path": str(PROJECT / "reference/questioner")}
    settings = {"validation": 4, "held_out": 2, "training": 8, "questioner": asking}
    line = refusal({"path": str(folder / "answerer")}, settings, "zero_shot")
    assert "model tested answers 0 of" in line
    assert "cannot answer in words" in line
    assert "take it out of `discover.full`" in line


def test_a_served_model_without_words(folder, refusal):
    script = real_scale.server()
    kind = script.tokens
    script.tokens = lambda b: [("", -0.1)] if b["model"] == real_scale.ANSWERER else kind(b)
    with serving(script) as url:
        tested = {"backend": "openai", "url": url, "model": real_scale.ANSWERER}
        line = refusal(tested, real_scale.section(folder, url, budget=256))
    assert "in a row hold no word; raise `discover.answer_tokens`" in line


@pytest.mark.parametrize(
    ("server", "says"),
    [
        (Script(lambda body: time.sleep(1) or [("", 0)]), "in a row got no reply"),
        (Script(lambda body: [("I think that it is", -0.1)]), "replies in a row hold no verdict"),
    ],
    ids=["silent", "wordy"],
)  # fmt: skip
def test_a_verifier_that_never_judges(folder, refusal, server, says):
    with serving(server) as url:
        quick = {"timeout": 0.2, "retries": 0, "concurrency": 4}
        line = refusal(
            {"path": str(folder / "answerer")}, real_scale.section(folder, url, verifier=quick)
        )
    assert says in line
    assert url in line


def test_pictures_that_cannot_be_read(folder, refusal, tmp_path):
    images = real_scale.photographs(tmp_path / "coco")
    whole = (images / "000000000140.jpg").read_bytes()
    (images / "000000000140.jpg").write_bytes(whole[: len(whole) // 2])
    (images / "000000000141.png").write_text("no picture")
    settings = real_scale.section(folder, "http://127.0.0.1:9/v1", training=90)
    settings["images"] = str(images)
    line = refusal({"path": str(folder / "answerer")}, settings)
    assert "000000000140.jpg: the picture is" in line
    assert "take it out of the folder; 1 more cannot be read" in line


def test_a_folder_without_pictures(folder, refusal, tmp_path):
    settings = real_scale.section(folder, "http://127.0.0.1:9/v1")
    (tmp_path / "empty").mkdir()
    settings["images"] = str(tmp_path / "empty")
    assert "holds no pictures" in refusal({"path": str(folder / "answerer")}, settings)
    settings = real_scale.section(folder, "http://127.0.0.1:9/v1", held_out=14)
    line = refusal({"path": str(folder / "answerer")}, settings)
    assert "holds 14 pictures, and none is left for validation" in line


def test_a_budget_of_nought_and_a_misspelt_setting(refusal):
    assert "--settings: budget: 0 should be greater than" in refusal({}, {"budget": 0})
    assert "--settings: bugdet" in refusal({}, {"bugdet": 1})
    assert "--model-settings: " in refusal({"backend": "x"}, {})


def test_a_config_that_names_what_is_not_there(folder):
    def config(**changes):
        section = real_scale.section(folder, "http://127.0.0.1:9/v1", full=["m"], **changes)
        return {"models": {"m": {"path": str(folder / "answerer")}}, "discover": section}

    read_config(config(), PROJECT)
    with pytest.raises(BadInput, match=r"discover\.images: nowhere is no folder"):
        read_config(config(images="nowhere"), PROJECT)
    with pytest.raises(BadInput, match=r"discover\.questioner\.path: gone holds no checkpoint"):
        read_config(config(questioner={"path": "gone"}), PROJECT)


def test_a_run_without_a_model_under_test_says_so(monkeypatch, capsys, tmp_path):
    options = [f"--{name}={tmp_path / name}" for name in ("skills", "question-skills")]
    monkeypatch.setattr("sys.argv", ["benchc", "discover", "taxonomy", *options])
    with pytest.raises(SystemExit):
        cli.main()
    assert "name models under test in `discover.full`" in capsys.readouterr().err


def test_only_what_decides_a_game_is_in_its_identity(folder):
    def identity(**changes):
        section = real_scale.section(folder, "http://127.0.0.1:9/v1", full=["m"], **changes)
        values = {"models": {"m": {"path": str(folder / "answerer")}}, "discover": section}
        return Workflow(values, str(PROJECT)).discovery.identity("m", "clean", "rl")

    base = identity()
    assert base == identity(verifier={"max_requests": 9, "timeout": 1, "concurrency": 1})
    assert base == identity(severity=5)
    assert base != identity(verifier={"model": "another"})
    assert base != identity(budget=128)
