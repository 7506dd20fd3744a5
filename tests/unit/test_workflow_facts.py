"""What the rules are told: paths as the working directory sees them, fingerprints of the code."""

import re
import shutil
from pathlib import Path

import pytest

from benchc.running import fingerprint
from benchc.running.workflow import _CODE, _DATA, Workflow

PROJECT = Path(__file__).parents[2]


@pytest.fixture
def workflow() -> Workflow:
    return Workflow({}, str(PROJECT))


@pytest.mark.parametrize(
    "stage", ["pool", "embed", "infer", "select", "diagnose_model", "database", "report"]
)
def test_every_stage_has_a_fingerprint(workflow, stage):
    assert workflow.code(stage) == workflow.code(stage)
    assert len(workflow.code(stage)) >= 16


def test_a_stage_depends_on_the_commands_of_its_rules_and_on_no_other():
    entries = [entry for stage in _CODE.values() for entry in stage]
    assert not [entry for entry in entries if entry.endswith(".command")]


def test_every_file_of_data_counts_for_a_stage_and_the_style_for_both_pages():
    held = {path for path in fingerprint.packaged("**/*") if path.name != "py.typed"}
    counted = {stage: fingerprint.packaged(*patterns) for stage, patterns in _DATA.items()}
    assert held == {path for paths in counted.values() for path in paths}
    styled = {stage for stage, paths in counted.items() if "page.css" in {p.name for p in paths}}
    assert styled == {"report", "discover_report"}


def mine(folder: Path) -> str:
    """Return the fingerprint of a source of the user's own in a folder."""
    source = {"kind": "folder", "path": str(folder)}
    return Workflow({"sources": {"mine": source}}, str(PROJECT)).source_fingerprint("mine")


def test_a_source_is_known_by_what_its_files_hold(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/{x}.png").write_text("x")
    before = mine(tmp_path)
    (tmp_path / ".DS_Store").touch()
    (tmp_path / "a/{x}.png").touch()
    assert mine(tmp_path) == before
    moved = tmp_path / "deep/er"
    shutil.copytree(tmp_path / "a", moved / "a")
    assert mine(moved) == before
    (moved / "a/{x}.png").write_text("y")
    assert mine(moved) != before


def test_where_a_run_lies_triggers_nothing(tmp_path, monkeypatch):
    def triggers() -> list[str | None]:
        pictures = tmp_path / "pictures"
        pictures.mkdir(exist_ok=True)
        served = {"url": "http://here", "model": "m", "max_requests": 1}
        discover = {"images": str(pictures), "verifier": served, "embedder": "reference/clip"}
        sources = {"mine": {"kind": "folder", "path": str(pictures)}}
        run = Workflow({"discover": discover, "sources": sources}, str(PROJECT))
        return [
            run.source_fingerprint("mine"),
            run.clip_fingerprint,
            run.discovery.identity("llava", "fog-3", "rl"),
            run.discovery.embedder_fingerprint,
            run.model_fingerprint("llava"),
            run.models_facts(),
            run.run_facts(),
        ]

    found = []
    for place in (tmp_path, tmp_path / "much/deeper"):
        place.mkdir(parents=True, exist_ok=True)
        monkeypatch.chdir(place)
        found.append(triggers())
    assert found[0] == found[1]
    assert str(PROJECT) not in str(found)


def test_what_only_makes_a_run_faster_triggers_nothing():
    def facts(**infer: int) -> tuple[str, str]:
        run = Workflow({"infer": infer}, str(PROJECT))
        return run.run_facts(), run.infer_options

    assert facts(workers=0) == facts(workers=7) == facts()
    assert facts(threads=2) != facts()


def test_which_games_there_are_changes_none_of_them():
    def game(**discover: object) -> str:
        return Workflow({"discover": discover}, str(PROJECT)).discovery.identity(
            "llava", "clean", "rl"
        )

    alone = game(full=["llava"])
    assert game(full=["llava"], brief=["idefics3"], corruption="fog", severity=5) == alone
    assert game(full=["llava"], held_out=40) != alone
    assert game(full=["llava"], embedder="reference/clip") != alone


def test_a_game_hangs_on_its_own_corruption(workflow, monkeypatch):
    def games() -> list[str]:
        return [workflow.discovery.identity("llava", c, "rl") for c in ("clean", "fog-3")]

    clean, foggy = games()
    monkeypatch.setattr(workflow, "corruption_code", lambda name: "edited")
    assert games()[0] == clean
    assert games()[1] != foggy


def test_photographs_count_by_what_they_hold(tmp_path):
    served = {"url": "http://here", "model": "m", "max_requests": 1}

    def game() -> str:
        values = {"discover": {"images": str(tmp_path), "verifier": served}}
        return Workflow(values, str(PROJECT)).discovery.identity("llava", "clean", "rl")

    photograph = tmp_path / "a.jpg"
    photograph.write_bytes(b"one")
    one = game()
    photograph.write_bytes(b"two")
    assert game() != one
    photograph.write_bytes(b"one")
    assert game() == one


def test_checkpoints_lie_within_the_results_of_their_run(workflow):
    asked = "inner/results/discover/llava/fog-3/rl/asked.parquet"
    assert workflow.discovery.work(asked) == "inner/results/discover/work/llava/fog-3/rl"


@pytest.mark.parametrize(("headline", "asked_all"), [("selection", ["llava"]), ("pool", None)])
def test_every_model_is_asked_what_the_run_is_about_first(headline, asked_all):
    run = Workflow({"selectors": ["llava"], "headline": headline}, str(PROJECT))
    everyone = list(run.config.models)
    assert run.on_pool == (asked_all or everyone)
    assert sorted(run.on_pool + run.followers) == sorted(everyone)
    assert ("--may-be-empty" in run.select_options) == (headline == "pool")


def test_no_followers_match_no_key(workflow):
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


def test_inside_another_workflow_its_prefix_counts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = Workflow({}, str(PROJECT), results="inner/results")
    for key in list(run.config.models)[1:]:
        predictions = tmp_path / f"inner/results/infer/{key}/predictions.parquet"
        predictions.parent.mkdir(parents=True)
        predictions.touch()
    assert "(see inner/results/logs/infer)" in run.way_on()
    assert f"leave_out=[{next(iter(run.config.models))}]" in run.way_on()
