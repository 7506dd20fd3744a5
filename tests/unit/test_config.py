"""A config is refused, in one line that names the key and the way out, before any work."""

import importlib.util
from pathlib import Path

import pytest
from snakemake.settings.types import ConfigSettings

from benchc.config.models import TransformersModel
from benchc.config.run import CORRUPTION_NAMES, read_config
from benchc.corrupt import CORRUPTIONS
from benchc.errors import BadInput

PROJECT = Path(__file__).parents[2]
LLAVA = {"path": "reference/llava"}
SERVED = {"backend": "openai", "url": "http://localhost:8000/v1", "model": "org/name"}


def test_the_default_config_is_right():
    config = read_config({}, PROJECT)
    assert list(config.selectors) == list(config.models)
    assert config.corruptions == CORRUPTION_NAMES


def test_lists_from_the_command_line_are_numbers():
    assert read_config({"severities": ["1", "5"]}, PROJECT).severities == (1, 5)


def test_the_names_are_those_of_the_registry():
    assert set(CORRUPTION_NAMES) == set(CORRUPTIONS)


def test_models_of_ones_own_all_select_unless_said():
    assert read_config({"models": {"mine": LLAVA}}, PROJECT).selectors == ("mine",)
    listed = read_config({"models": {"a": LLAVA, "b": LLAVA}, "selectors": ["b"]}, PROJECT)
    assert listed.selectors == ("b",)


FOLDER = {"kind": "folder", "path": "docs"}
DRAWN = {"kind": "drawn", "samples": 9}


@pytest.mark.parametrize(
    ("values", "headline"),
    [
        ({}, "selection"),
        ({"sources": {"mine": FOLDER}}, "pool"),
        ({"sources": {"mine": FOLDER, "more": FOLDER}}, "pool"),
        ({"sources": {"mine": FOLDER, "drawn": DRAWN}}, "selection"),
        ({"sources": {"mine": FOLDER}, "headline": "selection"}, "selection"),
        ({"headline": "pool"}, "pool"),
    ],
)
def test_a_run_on_pictures_of_ones_own_is_about_all_of_them(values, headline):
    assert read_config(values, PROJECT).headline == headline


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"modles": {}}, "config: modles: unknown key; did you mean 'models'?"),
        ({"severities": [0]}, "config: severities.0: 0 should be greater than or equal to 1"),
        ({"severities": [6]}, "config: severities.0: 6 should be less than or equal to 5"),
        ({"severities": [True]}, "config: severities.0: True should be a valid integer"),
        ({"severities": [2, 1]}, "config: severities: list them from low to high"),
        ({"corruptions": ["fogg"]}, "unknown value 'fogg'; did you mean 'fog'?"),
        ({"corruptions": ["fog", "fog"]}, "config: corruptions: a value occurs twice"),
        ({"models": {"org/m": LLAVA}}, "config: models.org/m: a key is letters, digits"),
        ({"models": {" m": LLAVA}}, "a key is letters, digits"),
        ({"models": {1e5: LLAVA}}, "is not text; write it in a config file, in quotes"),
        ({"models": {"m": LLAVA, "M": LLAVA}}, "keys 'm' and 'M' are one file on some disks"),
        ({"models": {"m": {"path": "nowhere"}}}, "models.m.path: nowhere holds no checkpoint"),
        ({"models": {"m": {"hub_id": "a/b"}}}, "`hub_id` needs `revision`"),
        ({"models": {"m": {"hub_id": "a/b", "revision": "12e4567"}}}, "'12e4567' is not a commit"),
        ({"models": {"m": {"hub_id": "b", "revision": "main"}}}, "'b' is no repository"),
        ({"models": {"m": {"url": "http://a/b.zip"}}}, "`url` needs the checksum"),
        ({"models": {"m": {"url": "ftp://a/b", "md5": "0" * 32}}}, "begins with http://"),
        ({"models": {"m": {"url": "http://u:p@a/b", "md5": "0" * 32}}}, "shown in logs"),
        ({"models": {"m": {"url": "http://a/b", "md5": "0" * 31}}}, "has 32 hexadecimal digits"),
        ({"models": {"m": {}}}, "give `path` (a folder), `hub_id` with"),
        ({"models": {"m": {**LLAVA, "revision": "main"}}}, "`revision` goes with `hub_id`"),
        ({"models": {"CON": LLAVA}}, "models.CON: no file can have this name on Windows"),
        ({"models": {"nul.v2": LLAVA}}, "no file can have this name on Windows"),
        ({"models": {"m.": LLAVA}}, "no file can have this name on Windows"),
        ({"seed": True}, "config: seed: true is neither a number nor a text"),
        ({"select": {"impurity_above": False}}, "false is neither a number nor a text"),
        ({"sources": {"d": {"kind": "drawn", "samples": True}}}, "sources.d: samples: true is"),
        ({"sources": {"d": {"kind": "folder"}}}, "sources.d: give `path`, `hub_id` with"),
        ({"embed": {"model": "a", "hub_id": "a/b", "revision": "main"}}, "embed: give either"),
        ({"models": {"m": {"hub_id": "a/b", "revision": 12}}}, "12 is not text"),
        ({"models": {"m": {**LLAVA, "batchsize": 3}}}, "did you mean 'batch_size'?"),
        ({"models": {"m": {"backend": "vllm"}}}, "models.m: backend is `transformers` or `openai`"),
        ({"models": {"m": {**SERVED, "scoring": "text"}}}, "models.m.scoring: a server tells the"),
        ({"models": {"m": {**SERVED, "key_variable": "sk-123"}}}, "name of the environment variab"),
        ({"models": {"m": {**SERVED, "url": "host:80"}}}, "models.m.url: write a whole address"),
        ({"models": {"m": {**SERVED, "timeouts": 3}}}, "unknown key; did you mean 'timeout'?"),
        ({"models": {"m": {**SERVED, "batch_size": 3}}}, "models.m.batch_size: unknown key"),
        ({"models": {"openai": {**LLAVA, "batchsize": 3}}}, "did you mean 'batch_size'?"),
        ({"selectors": ["lava"]}, "selectors: 'lava' is not in models; did you mean 'llava'?"),
        ({"select": {"impurity_over": 0.1}}, "did you mean 'impurity_above'?"),
        ({"select": {"impurity": "row"}}, "did you mean 'raw'?"),
        ({"sources": {"d": {"kind": "folder", "path": "nowhere"}}}, "nowhere does not exist"),
        ({"sources": {"d": {"kind": "drwan", "samples": 3}}}, "'drwan'"),
        ({"sources": {}}, "config: sources:"),
        ({"sources": {"d": {"kind": "drawn", "sample": 3}}}, "sources.d.sample: unknown key; did"),
        ({"sources": {"d": {"samples": 3}}}, "sources.d: needs `kind`"),
        ({"selectors": "llava"}, "selectors: write a list in [ ]"),
        ({"models": {"m": "reference/llava"}}, "models.m: needs keys of its own"),
        ({"models": {"m": {**LLAVA, "temperature": float("inf")}}}, "models.m.temperature"),
        ({"embed": {"model": "reference/clop"}}, "embed.model: reference/clop is no folder"),
        ({"embed": {"model": "ViT-B-32"}}, "name its weights in embed.pretrained"),
    ],
)
def test_bad_values_are_refused_by_name(values, says):
    with pytest.raises(BadInput) as refusal:
        read_config(values, PROJECT)
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_key_given_twice_is_refused(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("models:\n  a: {path: x}\n  a: {path: y}\n")
    with pytest.raises(BadInput) as refusal:
        read_config({}, PROJECT, [file])
    assert str(refusal.value) == f"{file}, line 3: key 'a' was given before, in line 2"


def test_merged_keys_and_equal_keys_of_different_mappings_are_none_given_twice(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("a: &a {path: x}\nb: {<<: *a, path: y}\nc: [{path: x}, {path: y}]\n")
    read_config({}, PROJECT, [file])


def test_the_reference_is_up_to_date():
    spec = importlib.util.spec_from_file_location("page", PROJECT / "docs/config_reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (PROJECT / "docs/config.md").read_text(encoding="utf-8") == module.page()


def test_a_key_given_in_place_of_its_variable_is_not_repeated():
    with pytest.raises(BadInput) as refusal:
        read_config({"models": {"m": {**SERVED, "key_variable": "sk-secret"}}}, PROJECT)
    assert "sk-secret" not in str(refusal.value)


def test_a_checkpoint_that_is_not_there_is_named(tmp_path):
    with pytest.raises(BadInput, match="nowhere: no such folder"):
        TransformersModel(path="nowhere").checkpoint_files(tmp_path)


def test_of_several_files_maps_are_merged_and_lists_replaced(tmp_path):
    """As docs/config.md says; the merging is Snakemake's."""
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    first.write_text(
        "models: {a: {path: reference/clip, instruction: ''}}\nselectors: [a]\nseverities: [1, 2]"
    )
    second.write_text(
        "models: {a: {path: reference/llava}, b: {path: reference/qwen2vl}}\nseverities: [3]\n"
    )
    merged = ConfigSettings(configfiles=[first, second], config={"seed": 2}).overwrite_config
    config = read_config(merged, PROJECT, [first, second])
    assert list(config.models) == ["a", "b"]
    assert (config.models["a"].path, config.models["a"].instruction) == ("reference/llava", "")
    assert (config.selectors, config.severities, config.seed) == (("a",), (3,), 2)


@pytest.mark.parametrize(("limit", "shares"), [(3, [1, 1, 1]), (5, [2, 2, 1]), (400, [134, 60, 9])])
def test_a_trial_takes_few_samples_of_every_source(limit, shares):
    folder = {"kind": "folder", "path": "docs"}
    sources = {
        "drawn": {"kind": "drawn", "samples": 300},
        "mine": {**folder, "limit": 60},
        "yours": {**folder, "samples": 9},
    }
    config = read_config({"sources": sources, "limit": limit}, PROJECT).limited()
    found = [config.sources["drawn"].samples, config.sources["mine"].limit]
    assert found == shares[:2]
    assert min(config.sources["yours"].limit or 9, 9) == shares[2]
    assert (config.select.impurity_above, config.select.stratify) == (0, None)


@pytest.mark.parametrize("limit", [0, -1, 1.5, "few", True, [2], 1])
def test_a_trial_of_no_samples_is_refused_in_one_line(limit):
    sources = {name: {"kind": "drawn", "samples": 3} for name in ("a", "b")}
    with pytest.raises(BadInput, match="limit") as refusal:
        read_config({"sources": sources, "limit": limit}, PROJECT)
    assert "\n" not in str(refusal.value)
