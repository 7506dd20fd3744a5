"""The same workflow from other places, inside another one, and with values on the command line."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from small_run import PROJECT, Workflow

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


def test_inside_another_workflow_with_a_prefix(tmp_path):
    folder = tmp_path / "été et neige"
    folder.mkdir()
    (folder / "Snakefile").write_text(INSIDE_ANOTHER.format(project=PROJECT))
    inner = ONE_MODEL.replace("\n", "\n  ")
    (folder / "config.yaml").write_text(f"diagnosis:{inner}")
    done = snakemake(folder, "--configfile", "config.yaml")
    assert done.returncode == 0, done.stderr
    assert (folder / "inner/results/bench-c.duckdb").is_file()
    assert not (folder / "results").exists()


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


@pytest.mark.skipif(shutil.which("conda") is None, reason="conda is not installed")
def test_environments_by_conda_are_planned(finished):
    said = Workflow(finished.folder, finished.config).run("all", "--dry-run", "--sdm", "conda")
    assert "Nothing to be done" in said


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
