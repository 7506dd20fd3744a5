"""What is planned, and shown, without running anything anew."""

import re

import pytest
from small_run import TINY, Workflow

from benchc.config.run import CORRUPTION_NAMES

pytestmark = pytest.mark.workflow

#: Each could be taken for another one, for a number, or for a part of a name.
KEYS = ("a", "a_motion", "a.b", "a-1", "1e5", "007", "clean")


def config(keys, more: str = "") -> str:
    models = "".join(f'  "{key}": {{path: reference/llava, instruction: ""}}\n' for key in keys)
    return f'models:\n{models}selectors: ["{keys[0]}"]\n{more}'


def test_every_job_is_told_the_key_and_the_corruption_that_it_is_for(tmp_path):
    path = tmp_path / "keys.yaml"
    path.write_text(config(KEYS, "corruptions: [motion_blur, gaussian_blur]\n"))
    said = Workflow(tmp_path, path).run(
        "all", "--dry-run", "--printshellcmds", "--workflow-profile", "none"
    )
    predicted = re.findall(r"infer predict (\S+) .* --out results/infer/(\S+)/pred", said)
    diagnosed = re.findall(r"model --key (\S+) .* --out results/models/(\S+)/diag", said)
    assert sorted(predicted) == sorted(diagnosed) == sorted((key, key) for key in KEYS)
    rendered = re.findall(r"corrupt render (\S+) .* --out results/corrupt/(\S+)\.parquet", said)
    assert sorted(rendered) == [(name, name) for name in ("gaussian_blur", "motion_blur")]


def test_every_public_target_can_be_planned(tmp_path):
    path = tmp_path / "tiny.yaml"
    path.write_text(TINY)
    targets = ("pool", "select", "database", "report", "fetch_all", "retrain_reference")
    planned = Workflow(tmp_path, path).planned(*targets)
    assert all(planned[target] == 1 for target in targets)


def test_one_job_a_model_and_one_a_corruption(tmp_path):
    path = tmp_path / "many.yaml"
    path.write_text(config([f"m{i}" for i in range(10)]))
    planned = Workflow(tmp_path, path).planned("all")
    assert planned["corrupt"] == len(CORRUPTION_NAMES)
    assert planned["infer_pool"] + planned["infer_chosen"] == planned["diagnose_model"] == 10
    assert sum(planned.values()) < 50


def test_snakemakes_own_report_holds_the_page(finished, tmp_path):
    shown = tmp_path / "snakemake.html"
    finished.run("all", "--report", str(shown))
    assert "Findings" in shown.read_text(encoding="utf-8")
