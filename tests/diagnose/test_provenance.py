"""The database says of a model only what its predictions were made with."""

import json

import pytest
from synthetic import synthetic_run, write_run

from benchc.diagnose.database import build
from benchc.diagnose.provenance import models
from benchc.diagnose.query import query
from benchc.errors import BadInput

SETTINGS = {
    "backend": "transformers",
    "dtype": "float32",
    "instruction": "",
    "revision": None,
    "scoring": "letter",
    "temperature": 1.0,
}
RUN = {"config": {"seed": 1, "corrupt": {"reference_side": None}, "infer": {"threads": 1}}}
RECORD = {"model": "a", "settings": SETTINGS, "seed": 1, "reference_side": None, "threads": 1}
COMMIT = "0123456789" * 4


def entry(settings, record, weights="w"):
    fingerprint = json.dumps({**settings, "weights": weights})
    return {
        "key": "a",
        "selector": True,
        "settings": settings,
        "fingerprint": fingerprint,
        "record": record,
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("instruction", "Answer now."),
        ("dtype", "bfloat16"),
        ("scoring", "text"),
        ("temperature", 2.0),
        ("revision", COMMIT),
        ("new_in_this_version", 3),
    ],
)
def test_a_setting_no_prediction_was_made_with_is_refused_by_model_and_key(name, value):
    with pytest.raises(BadInput, match=f"model a: .*made with {name} ") as caught:
        models([entry({**SETTINGS, name: value}, RECORD)], RUN)
    assert json.dumps(value) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_setting_that_is_gone_from_the_config_is_refused_too():
    fewer = {name: value for name, value in SETTINGS.items() if name != "dtype"}
    with pytest.raises(BadInput, match='made with dtype "float32", and not \\(not given\\)'):
        models([entry(fewer, RECORD)], RUN)


@pytest.mark.parametrize(("name", "value"), [("seed", 2), ("reference_side", 224), ("threads", 4)])
def test_what_belongs_to_the_run_is_compared_too(name, value):
    with pytest.raises(BadInput, match=f"made with {name} "):
        models([entry(SETTINGS, {**RECORD, name: value})], RUN)


def test_other_weights_are_refused():
    assert models([entry(SETTINGS, {**RECORD, "weights": "w"})], RUN).height == 1
    with pytest.raises(BadInput, match="made with weights"):
        models([entry(SETTINGS, {**RECORD, "weights": "v"})], RUN)


@pytest.mark.parametrize("branch", [None, "main"])
def test_a_branch_may_be_recorded_as_its_commit(branch):
    record = {**RECORD, "settings": {**SETTINGS, "revision": COMMIT}}
    assert models([entry({**SETTINGS, "revision": branch}, record)], RUN).height == 1
    with pytest.raises(BadInput, match="made with revision"):
        models([entry({**SETTINGS, "revision": "f" * 40}, record)], RUN)


def test_what_was_recorded_stands_in_the_database_and_a_difference_leaves_none(tmp_path):
    run = synthetic_run(8, ("a", "b"), ("fog",), (1, 5))
    for model in run.models:
        model["record"] = {
            "model": model["key"],
            "settings": dict(model["settings"]),
            "looks": {"pairs": 4, "moved": 0, "verdict": "does not look"},
        }
    del run.models[1]["record"]["looks"]
    build(write_run(run, tmp_path), tmp_path / "b.duckdb")
    assert query(tmp_path / "b.duckdb", "SELECT model, looks FROM model_status").rows() == [
        ("a", "does not look"), ("b", None),
    ]  # fmt: skip
    settings = query(tmp_path / "b.duckdb", "SELECT settings FROM models ORDER BY model")
    assert json.loads(settings["settings"][0])["run"]["settings"] == run.models[0]["settings"]
    before = (tmp_path / "b.duckdb").read_bytes()
    run.models[0]["settings"]["temperature"] = 2.0
    with pytest.raises(BadInput, match=r"model a: .* temperature"):
        build(write_run(run, tmp_path), tmp_path / "b.duckdb")
    assert (tmp_path / "b.duckdb").read_bytes() == before
