import contextlib
import json
import re
from pathlib import Path
from pkgutil import resolve_name

import pytest
import yaml

from benchc.config.discovery import BRIEF_WAYS, WAYS
from benchc.config.run import read_config
from benchc.discover import served
from benchc.discover.wording import render
from benchc.errors import BadInput
from benchc.running.workflow import Workflow

PROJECT = Path(__file__).parents[2]
JUDGE = {"url": "http://h/v1", "model": "m", "max_requests": 1}
PATTERN = "{model}/{condition}/{way}"


def plays(everything=False, **discover):
    values = {"full": ["llava"], "brief": ["qwen2vl"], **discover}
    return Workflow({"discover": values}, str(PROJECT)).discovery.plays(PATTERN, everything)


def test_all_ways_for_the_full_and_two_for_the_brief():
    assert plays() == [f"llava/clean/{way}" for way in WAYS] + [
        f"qwen2vl/clean/{way}" for way in BRIEF_WAYS
    ]
    assert len(plays(everything=True)) == 2 * len(WAYS)


def test_the_page_on_discovery_lists_the_ways():
    page = (PROJECT / "docs/discovery.md").read_text(encoding="utf-8")
    rows = [f"| `{name}` | {way.does} |" for name, way in WAYS.items()]
    assert "\n".join(["| way | what it does |", "|---|---|", *rows, ""]) in page


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_every_way_can_be_called(way):
    assert callable(resolve_name(way.learn))


def test_a_model_left_out_is_not_played_against():
    run = Workflow(
        {"discover": {"full": ["llava"], "brief": ["qwen2vl"]}, "leave_out": ["llava"]},
        str(PROJECT),
    )
    assert run.discovery.plays(PATTERN) == [f"qwen2vl/clean/{way}" for way in BRIEF_WAYS]


def test_a_corruption_adds_two_games():
    added = set(plays(corruption="fog", severity=2)) - set(plays())
    assert added == {f"llava/fog-2/{way}" for way in BRIEF_WAYS}


def test_a_condition_is_taken_apart():
    run = Workflow({}, str(PROJECT))
    assert run.discovery.condition_options("clean") == ""
    assert run.discovery.condition_options("fog-2") == "--corruption fog --severity 2"
    run = Workflow({"corrupt": {"reference_side": 224}}, str(PROJECT))
    assert run.discovery.condition_options("clean") == ""
    assert run.discovery.condition_options("fog-2").endswith(" --reference-side 224")


def test_another_run_need_not_know_of_discovery():
    config = read_config({"models": {"mine": {"path": "reference/llava"}}}, PROJECT)
    assert config.discover.full == ()


@pytest.mark.parametrize(
    ("discover", "says"),
    [
        ({"full": ["lava"]}, "did you mean 'llava'"),
        ({"full": ["llava"], "brief": ["llava"]}, "name it once"),
        ({"budget": 0}, "discover.budget"),
        ({"budget": 100}, "make no step of RL"),
        ({"corruption": "fogg"}, "did you mean 'fog'"),
        ({"reinforce": {"per_forward": 7}}, "does not divide"),
        ({"reinforce": {"group": 1}}, "discover.reinforce.group"),
        ({"training": 3}, "training: 3 pictures are too few for one step of RL"),
        ({"budget": 100}, "reinforce.pictures x reinforce.group x questioner.questions = 256"),
        ({"budget": 3, "ways": ["sft"]}, "0 sequences of 4 (questioner.questions)"),
        ({"budget": 12, "ways": ["conme"]}, "fewer than `rounds` = 4"),
        ({"budget": 300, "ways": ["sft_rl"]}, "no step of RL after the warm start"),
        ({"budget": 12, "ways": ["sft_rl"]}, "warm_start = 0.25 of them is none"),
        ({"ways": ["zero-shot"]}, "did you mean 'zero_shot'"),
        ({"ways": ["rl", "rl"]}, "ways: a value occurs twice"),
        ({"ways": []}, "discover.ways"),
        ({"ways": ["sft"], "brief": ["llava"]}, "none is in `ways`"),
        ({"answer_prompt": "answer"}, "did you mean 'answerer'"),
        ({"questioner": {"prompt": "gone.j2"}}, "discover.questioner.prompt: "),
        ({"images": "docs", "verifier": {**JUDGE, "url": "http://h/v1?key=abc"}}, "leave keys out"),
        ({"images": "docs", "verifier": {**JUDGE, "judge_prompt": "nope"}}, "verifier_judge"),
        ({"images": "coco"}, "go together"),
        ({"bugdet": 5}, "bugdet"),
    ],
)
def test_a_bad_section_is_refused_in_one_line(discover, says):
    with pytest.raises(BadInput) as refusal:
        read_config({"discover": {"full": ["qwen2vl"], **discover}}, PROJECT)
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_just_large_enough_for_a_way_is_accepted_and_one_less_refused(way):
    small = {"questions": 1}, {"pictures": 2, "group": 2}
    settings = dict(zip(("questioner", "reinforce"), small, strict=True), ways=[way], rounds=3)
    accepted = []
    for budget in range(1, 9):
        values = {**settings, "budget": budget, "warm_start": 0.5}
        with contextlib.suppress(BadInput):
            read_config({"discover": values}, PROJECT)
            accepted.append(budget)
    kind = WAYS[way]
    step = 2 * 2 * 1  # pictures, group and questions
    least = 7 if kind.warm else step if kind.reinforced else 3 if kind.in_rounds else 1
    assert accepted == list(range(least, 9))


def test_ways_choose_what_is_played():
    both = {"full": ["llava"], "brief": ["qwen2vl"]}
    assert plays(ways=["sft", "rl"]) == ["llava/clean/sft", "llava/clean/rl", "qwen2vl/clean/rl"]
    assert plays(ways=["zero_shot"], corruption="fog", severity=2) == [
        "llava/clean/zero_shot", "qwen2vl/clean/zero_shot", "llava/fog-2/zero_shot"
    ]  # fmt: skip
    every = plays(everything=True, ways=["sft", "rl"], **both)
    assert every[2:] == ["qwen2vl/clean/sft", "qwen2vl/clean/rl"]


def test_the_choice_of_ways_changes_no_game():
    def identity(**discover):
        run = Workflow({"discover": {"full": ["llava"], **discover}}, str(PROJECT))
        return run.discovery.identity("llava", "clean", "rl")

    assert identity() == identity(ways=["rl"])
    assert identity() != identity(held_out=399)


@pytest.mark.parametrize(
    ("setting", "text", "says"),
    [
        ("answer_prompt", "Say: {{ question }}", None),
        ("answer_prompt", "Say something", "must hold {{ question }}"),
        ("answer_prompt", "{{ question }} {{ picture }}", "nobody gives {{ picture }}"),
        ("answer_prompt", "{{ question", "line 1: not a Jinja template"),
        ("answer_prompt", " \n", "the prompt is empty"),
        ("answer_prompt", b"\xff\xfe", "not UTF-8 text"),
        ("questioner.prompt", "Ask {{ count }} things", None),
        ("questioner.prompt", "Ask four things", None),
        ("questioner.prompt", "Ask {{ question }}", "nobody gives {{ question }}"),
        ("verifier.judge_prompt", "Judge {{ question }}", None),
        ("verifier.judge_prompt", "Judge {{ truth }}", "nobody gives {{ truth }}"),
        ("verifier.compare_prompt", "Same? {{ question }} {{ truth }} {{ answer }}", None),
        ("verifier.compare_prompt", "{{ question }} {{ answer }}", "must hold {{ truth }}"),
    ],
)
def test_a_prompt_may_be_a_file_and_is_read_before_anything_is_loaded(
    tmp_path, setting, text, says
):
    file = tmp_path / "mine.j2"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    part, _, name = setting.rpartition(".")
    section = {"images": str(tmp_path), "verifier": dict(JUDGE), "full": ["llava"]}
    (section.setdefault(part, {}) if part else section)[name] = str(file)
    if says is not None:
        with pytest.raises(BadInput) as refusal:
            read_config({"discover": section}, PROJECT)
        assert f"config: discover.{setting}: " in str(refusal.value)
        assert says in str(refusal.value)
        return
    run = Workflow({"discover": section}, str(PROJECT))
    before = run.discovery.identity("llava", "clean", "rl")
    settings = json.loads(run.discovery.settings)
    assert Path((settings[part] if part else settings)[name]).resolve() == file
    words = {"question": "q?", "truth": "t", "answer": "a", "count": 4, "examples": []}
    assert render(str(file), **words).split()[0] == text.split()[0]
    file.write_text(f"{text}!")
    again = Workflow({"discover": section}, str(PROJECT))
    assert again.discovery.identity("llava", "clean", "rl") != before


def test_the_smallest_config_is_what_it_says(tmp_path):
    file = PROJECT / "config/discover_own.yaml"
    values = yaml.safe_load(file.read_text(encoding="utf-8"))
    values["models"]["mine"]["path"] = values["discover"]["questioner"]["path"] = "reference/llava"
    values["discover"]["images"] = str(tmp_path)
    run = Workflow(values, str(PROJECT))
    assert run.discovery.plays(PATTERN) == ["mine/clean/zero_shot"]
    section = run.config.discover
    most = 2 * section.held_out * section.questioner.questions
    assert most <= section.verifier.max_requests


def test_the_forms_that_the_page_shows_are_read():
    page = (PROJECT / "docs/discovery.md").read_text(encoding="utf-8")
    verdicts, same = re.findall(r"```json\n(.*)\n```", page)
    judgement = served._judgement(f"I think so. {verdicts}")
    assert (judgement.valid, judgement.truth) == (True, "two")
    assert judgement.primitives == {"counting"}
    assert served._parsed(served._Sameness, same).same is False


def test_a_discovery_without_a_model_is_refused_when_it_is_planned():
    run = Workflow({"models": {"llava": {"path": "reference/llava"}}}, str(PROJECT))
    with pytest.raises(BadInput, match=r"discover: name models .*brief: \[llava\]"):
        run.discovery.plays(PATTERN)
