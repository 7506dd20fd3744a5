"""The same workflow from other places, inside another one, and with values on the command line."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest
import yaml
from small_run import PROJECT, Workflow, tables_of

from benchc.config.discovery import WAYS
from benchc.running.workflow import Workflow as Run

pytestmark = pytest.mark.workflow

INSIDE_ANOTHER = """
module diagnosis:
    snakefile: "{project}/Snakefile"
    config: config["diagnosis"]
    prefix: "inner"

use rule * from diagnosis as diagnosis_*

rule mine:
    default_target: True
    input: "inner/results/report/index.html"
"""

ONE_MODEL = """
sources:
  drawn: {kind: drawn, samples: 24}
corruptions: [contrast]
severities: [5]
models:
  only: {path: reference/llava, instruction: ""}
select: {impurity_above: 0}
discover: {full: [only]}
"""


def snakemake(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        ["snakemake", "--cores", "2", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(PROJECT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def another(tmp_path) -> Path:
    """The folder of a workflow that has this one inside it, under a prefix."""
    folder = tmp_path / "été et neige"
    folder.mkdir()
    (folder / "Snakefile").write_text(INSIDE_ANOTHER.format(project=PROJECT))
    inner = ONE_MODEL.replace("\n", "\n  ")
    (folder / "config.yaml").write_text(f"diagnosis:{inner}")
    return folder


def test_inside_another_workflow_with_a_prefix(another):
    done = snakemake(another, "--configfile", "config.yaml")
    assert done.returncode == 0, done.stderr
    assert (another / "inner/results/bench-c.duckdb").is_file()
    assert not (another / "results").exists()


def test_discovery_inside_another_workflow_and_in_another_directory(another, tmp_path):
    elsewhere = tmp_path / "much/deeper"
    done = snakemake(
        another,
        "inner/results/discover/full/index.html",
        "--configfile", "config.yaml", "--directory", str(elsewhere),
        "--dry-run", "--printshellcmds",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    plays = re.findall(r"discover play (\w+) .*--work (\S+) --out (\S+)/asked", done.stdout)
    assert len(plays) == len(WAYS)
    for way, work, out in plays:
        assert work == f"inner/results/discover/work/only/clean/{way}"
        assert out == f"inner/results/discover/only/clean/{way}"
    assert not re.findall(r"(?<!inner/)results/", done.stdout)


def test_paths_are_found_from_the_directory_of_a_run(tmp_path, monkeypatch):
    (tmp_path / "much/deeper").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "much/deeper")
    files = Run({}, str(PROJECT)).settings_files
    for name in ("embed", "discover", *(f"models/{key}" for key in ("llava", "qwen2vl"))):
        _, text = files[name]
        (path,) = re.findall(r'"(?:path|model)": "([^"]*reference/[^"]+)"', text)
        assert Path(path).is_dir()


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("seed=2", None),
        ("severities=[1,5]", None),
        ("sed=2", "did you mean 'seed'"),
        ("seed=true", "seed"),
        ("models=5", "models"),
    ],
)
def test_values_on_the_command_line_are_typed_and_checked(finished, value, says):
    done = snakemake(PROJECT, *finished.command("all")[4:], "--dry-run", "--config", value)
    if says is None:
        assert done.returncode == 0, done.stdout + done.stderr
    else:
        assert done.returncode != 0
        assert says in done.stdout + done.stderr


def test_environments_by_conda_hold_all_that_a_job_imports(finished, tmp_path):
    # A real conda would take minutes and gigabytes.
    path = f"{PROJECT}/tests/workflow/pretend_conda:{os.environ['PATH']}"
    workflow = Workflow(tmp_path, finished.config, environment={"PATH": path})
    workflow.run("results/corrupt/contrast.parquet", "--sdm", "conda")
    (ran,) = (tmp_path / ".snakemake" / "conda").glob("*/ran.txt")
    assert "-m benchc --log results/logs/corrupt/contrast.log corrupt render" in ran.read_text()
    again = workflow.run("results/corrupt/contrast.parquet", "--dry-run", "--sdm", "conda")
    assert "Nothing to be done" in again


def test_shards_change_no_table(finished, tmp_path):
    config = tmp_path / "shards.yaml"
    config.write_text(
        finished.config.read_text().replace("reference/llava,", "reference/llava, shards: 3,")
    )
    workflow = Workflow(tmp_path, config)
    workflow.run("all")
    assert len(list((tmp_path / "results/infer/llava/shards").iterdir())) == 3
    merged = tables_of(tmp_path)
    assert {k: v for k, v in merged.items() if "/shards/" not in k} == tables_of(finished.folder)


def test_two_runs_at_once_for_different_models(finished, tmp_path):
    again = Workflow(tmp_path, finished.config)
    again.run("results/pool/samples.parquet", "results/corrupt/contrast.parquet")
    runs = [
        subprocess.Popen(
            again.command(f"results/infer/{key}/predictions.parquet"),
            cwd=PROJECT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for key in ("llava", "idefics3")
    ]
    said = [run.communicate()[0] for run in runs]
    # What both need is made by one; the other says so and stops, and the same command goes on.
    for key, run, text in zip(("llava", "idefics3"), runs, said, strict=True):
        if run.returncode:
            assert "lock" in text.lower()
            again.run(f"results/infer/{key}/predictions.parquet")
    for key in ("llava", "idefics3"):
        assert (tmp_path / f"results/infer/{key}/predictions.parquet").is_file()


def test_a_home_folder_that_cannot_be_written_is_not_needed(tmp_path):
    config = tmp_path / "mine.yaml"
    config.write_text(ONE_MODEL)
    place = Workflow(tmp_path / "run", config, environment={"HOME": "/dev/null/home"})
    assert place.planned()["report"] == 1


@pytest.mark.parametrize("name", ["x{a}", "}x"])
def test_a_clone_whose_path_has_braces_is_refused_in_one_line(tmp_path, name):
    clone = tmp_path / name
    clone.mkdir()
    for part in ("Snakefile", "config.yaml", "rules", "envs", "reference"):
        (clone / part).symlink_to(PROJECT / part)
    config = tmp_path / "mine.yaml"
    config.write_text(ONE_MODEL)
    said = Workflow(tmp_path / "run", config, project=clone).run("-n", ok=False)
    assert "takes braces in a path for wildcards; rename the folder" in said
    assert "Traceback" not in said


def trial(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    return snakemake(
        folder,
        "--snakefile", str(PROJECT / "Snakefile"), "--configfile", "config.yaml",
        "--config", "limit=6", *arguments,
    )  # fmt: skip


def test_a_trial_of_few_samples_works_in_a_folder_of_its_own(tmp_path):
    (tmp_path / "config.yaml").write_text(ONE_MODEL)
    done = trial(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "results are in limit-6/results" in done.stderr
    assert not (tmp_path / "results").exists()
    results = tmp_path / "limit-6/results"
    assert pl.read_parquet(results / "pool/samples.parquet").height == 6
    assert (results / "report/index.html").is_file()
    assert "Nothing to be done" in trial(tmp_path, "--dry-run").stdout + done.stderr


def test_a_trial_overwrites_no_run_of_more_samples(finished):
    done = snakemake(PROJECT, *finished.command("all")[4:], "--config", "limit=6")
    assert done.returncode != 0
    assert "holds a run of 24 samples, which the trial would overwrite" in done.stderr


def test_a_model_that_moves_the_benchmark_is_said_to(finished, tmp_path):
    shutil.copytree(finished.folder, tmp_path / "run", symlinks=True)
    config = yaml.safe_load(finished.config.read_text())
    config["models"]["newcomer"] = {"path": "reference/paligemma", "instruction": ""}
    del config["selectors"]
    mine = Workflow(tmp_path / "run", tmp_path / "mine.yaml")
    mine.config.write_text(yaml.safe_dump(config))
    said = mine.run("results/select/selection.parquet")
    assert said.count("the benchmark moved") == 1
    assert "`selectors: [idefics3, llava]`" in said
    config["selectors"] = ["idefics3", "llava"]
    mine.config.write_text(yaml.safe_dump(config))
    assert "the benchmark moved" not in mine.run("results/select/selection.parquet")
