from pathlib import Path

import pytest

from benchc.config import read_config
from benchc.discover.settings import BRIEF_WAYS, WAYS
from benchc.errors import BadInput
from benchc.workflow import Workflow

PROJECT = Path(__file__).parents[2]
PATTERN = "{model}/{condition}/{way}"


def plays(everything=False, **discover):
    values = {"full": ["llava"], "brief": ["qwen2vl"], **discover}
    return Workflow({"discover": values}, str(PROJECT)).discovery.plays(PATTERN, everything)


def test_all_ways_for_the_full_and_two_for_the_brief():
    assert plays() == [f"llava/clean/{way}" for way in WAYS] + [
        f"qwen2vl/clean/{way}" for way in BRIEF_WAYS
    ]
    assert len(plays(everything=True)) == 2 * len(WAYS)


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
        ({"training": 3}, "too few for one step"),
        ({"images": "coco"}, "go together"),
        ({"bugdet": 5}, "bugdet"),
    ],
)
def test_a_bad_section_is_refused_in_one_line(discover, says):
    with pytest.raises(BadInput) as refusal:
        read_config({"discover": discover}, PROJECT)
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_discovery_without_a_model_is_refused_when_it_is_planned():
    run = Workflow({"models": {"llava": {"path": "reference/llava"}}}, str(PROJECT))
    with pytest.raises(BadInput, match=r"discover: name models .*brief: \[llava\]"):
        run.discovery.plays(PATTERN)
