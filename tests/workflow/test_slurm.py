"""The workflow through a real Slurm gives what it gives on one machine."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from slurm_accounting import accounting
from slurm_node import CannotStartError, running
from small_run import PROJECT, Workflow, tables_of

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def slurm() -> Iterator[dict[str, str]]:
    """The environment of a Slurm of one node, or no test."""
    if find_spec("snakemake_executor_plugin_slurm") is None:
        pytest.skip("no executor plugin: pip install '.[slurm]'")
    try:
        with running() as environment:
            yield environment
    except CannotStartError as error:
        pytest.skip(f"Slurm cannot start: {error}")


def run_through_sbatch(config: Path, slurm: dict[str, str], folder: Path) -> None:
    """Run through Slurm; print what each job took, and check that what rules ask for is enough."""
    with accounting(slurm) as jobs:
        Workflow(folder, config, environment=slurm).run(
            "all", "--workflow-profile", "slurm",
            # This node has no GPU and no database, and its disk and clock are this machine's.
            "--set-resources", "infer_pool:gpu=0",
            "--slurm-status-command", "squeue",
            "--slurm-init-seconds-before-status-checks", "1",
        )  # fmt: skip
    print(*jobs, sep="\n")
    assert jobs
    for job in jobs:
        assert job.state == "COMPLETED"
        assert job.peak is None or job.peak < job.asked, job


def test_a_run_through_sbatch_has_the_hashes_of_a_local_run(finished, slurm, tmp_path):
    run_through_sbatch(finished.config, slurm, tmp_path)
    assert tables_of(tmp_path) == tables_of(finished.folder)


@pytest.mark.scale
def test_the_default_run_through_sbatch_has_the_hashes_of_the_local_one(slurm, tmp_path):
    run_through_sbatch(PROJECT / "config.yaml", slurm, tmp_path)
    assert tables_of(tmp_path) == tables_of(PROJECT)
