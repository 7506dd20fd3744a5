"""The workflow through a real Slurm gives what it gives on one machine."""

from collections.abc import Iterator
from importlib.util import find_spec

import pytest
from slurm_node import CannotStartError, running
from small_run import Workflow

from benchc.contents import content_hashes

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


def test_a_run_through_sbatch_has_the_hashes_of_a_local_run(finished, slurm, tmp_path):
    workflow = Workflow(tmp_path, finished.config, environment=slurm)
    said = workflow.run(
        "all", "--workflow-profile", "slurm",
        # This node has no GPU and no accounting, and its disk and clock are this machine's.
        "--set-resources", "infer_pool:gpu=0",
        "--slurm-status-command", "squeue",
        "--slurm-init-seconds-before-status-checks", "1",
    )  # fmt: skip
    theirs = dict(content_hashes(finished.folder / "results"))
    assert dict(content_hashes(tmp_path / "results")) == theirs
    assert "has been submitted with SLURM jobid" in said
