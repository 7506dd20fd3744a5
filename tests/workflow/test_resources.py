"""What jobs share: one GPU is one model's at a time, and runs on a CPU wait for no GPU.

The workflow is the real one; `benchc` is a stand-in that only makes files.
"""

import os
import re

import pytest
from small_run import PROJECT, TINY, Workflow

pytestmark = pytest.mark.workflow

PRETEND = PROJECT / "tests" / "workflow" / "pretend"


def pretended(folder, config: str) -> Workflow:
    (folder / "config.yaml").write_text(config)
    environment = {"PATH": f"{PRETEND}:{os.environ['PATH']}", "MEETING": str(folder)}
    return Workflow(folder, folder / "config.yaml", environment=environment)


def most_at_once(folder, config: str, *arguments: str) -> int:
    """Run with a stand-in for `benchc`; return how many models were asked at once."""
    workflow = pretended(folder, config)
    targets = [f"results/infer/{model}/predictions.parquet" for model in ("llava", "idefics3")]
    workflow.run(*targets, *arguments)
    return max(map(int, (folder / "seen").read_text().split()))


def on(device: str) -> str:
    return re.sub(r"(reference/\w+),", rf"\1, device: {device},", TINY)


@pytest.mark.parametrize(
    ("device", "arguments", "expected"),
    [
        ("cuda", (), 1),
        ("cuda", ("--resources", "gpu=2"), 2),
        ("cpu", (), 2),
    ],
)
def test_jobs_share_gpus_and_cores(tmp_path, device, arguments, expected):
    assert most_at_once(tmp_path, on(device), *arguments) == expected


def test_what_rules_ask_of_benchc_is_what_they_wait_for(tmp_path):
    workflow = pretended(tmp_path, on("cpu"))
    workflow.run("all")
    assert "Nothing to be done" in workflow.run("all")
