"""What the rules are told: paths as the working directory sees them, fingerprints of the code."""

from pathlib import Path

import pytest

from benchc import fingerprint
from benchc.workflow import Workflow

PROJECT = Path(__file__).parents[2]


@pytest.fixture
def workflow() -> Workflow:
    return Workflow({}, str(PROJECT))


@pytest.mark.parametrize("stage", ["pool", "embed", "infer", "select", "diagnose", "report"])
def test_every_stage_has_a_fingerprint(workflow, stage):
    assert workflow.code(stage) == workflow.code(stage)
    assert len(workflow.code(stage)) >= 16


def test_a_blur_is_part_of_its_own_fingerprint_alone():
    reached = _reached("benchc.corrupt.blur:gaussian_blur")
    assert ("benchc.corrupt.blur", "gaussian_blur") in reached
    assert not any(module == "benchc.corrupt.weather" for module, _ in reached)


def test_only_its_own_corruption_hangs_on_how_a_blur_is_drawn(workflow, monkeypatch):
    names = ("defocus_blur", "fog")
    before = {name: workflow.corruption_code(name) for name in names}
    inference = workflow.code("infer")
    text = fingerprint._text
    monkeypatch.setattr(
        fingerprint,
        "_text",
        lambda module, name: "edited" if module == "benchc.corrupt.blur" else text(module, name),
    )
    assert workflow.code("infer") == inference
    assert workflow.corruption_code("fog") == before["fog"]
    assert workflow.corruption_code("defocus_blur") != before["defocus_blur"]


def test_a_brace_in_a_file_name_is_no_wildcard(tmp_path):
    (tmp_path / "a{x}.png").touch()
    (tmp_path / ".DS_Store").touch()
    (tmp_path / "b.png").touch()
    source = {"kind": "folder", "path": str(tmp_path)}
    files = Workflow({"sources": {"mine": source}}, str(PROJECT)).source_files("mine")
    assert [file.split("/")[-1] for file in files] == ["b.png"]


def test_no_followers_match_no_key(workflow):
    import re

    assert not re.fullmatch(workflow.one_of([]), "llava")
    assert re.fullmatch(workflow.one_of(["a.b"]), "a.b")
    assert not re.fullmatch(workflow.one_of(["a.b"]), "axb")


def test_a_model_in_shards_is_asked_by_that_many_jobs():
    models = {
        "one": {"path": "reference/llava"},
        "many": {"path": "reference/llava", "shards": 3},
    }
    workflow = Workflow({"models": models, "selectors": ["one"]}, str(PROJECT))
    assert workflow.whole(workflow.config.models) == ["one"]
    assert workflow.sharded(workflow.config.models) == ["many"]
    assert workflow.each_shard("many", "{model}/{shard}-of-{shards}") == [
        "many/0-of-3", "many/1-of-3", "many/2-of-3",
    ]  # fmt: skip
    assert workflow.selection_of("one") == []
    assert len(workflow.selection_of("many")) == 1


def _reached(entry: str) -> set[tuple[str, str]]:
    seen: set[tuple[str, str]] = set()
    waiting = [fingerprint._entry(entry)]
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            waiting.extend(fingerprint._reached(*one))
    return seen
