"""Which GPU a command takes of several; `nvidia-smi` is a stand-in."""

import os
import subprocess
import sys

import pytest

from benchc.running.gpus import Gpu, claim, visible

GPUS = [Gpu(0, "GPU-a1", 5_000), Gpu(1, "GPU-b2", 80_000), Gpu(2, "GPU-c3", 80_000)]


def test_each_takes_another_the_emptiest_first_and_the_last_shares(tmp_path):
    taken = [claim(GPUS, tmp_path / "locks").index for _ in range(4)]
    assert taken == [1, 2, 0, 1]


def test_where_no_lock_can_be_kept_the_emptiest_is_taken(tmp_path):
    (tmp_path / "locks").write_text("no folder")
    assert claim(GPUS, tmp_path / "locks").index == 1


@pytest.mark.parametrize(
    ("names", "seen"),
    [
        (None, [0, 1, 2]),
        ("2,0", [0, 2]),
        ("GPU-b2, GPU-c", [1, 2]),
        ("", []),
        ("-1", []),
        ("MIG-b2", []),
    ],
)
def test_who_deals_out_gpus_bounds_the_choice(names, seen):
    assert [gpu.index for gpu in visible(GPUS, names)] == seen


SHOW = """
import os
from benchc.running.gpus import take_one

take_one()
print(os.environ.get("CUDA_VISIBLE_DEVICES"))
"""


@pytest.mark.parametrize(
    ("listed", "before", "after"),
    [
        ("0, GPU-a1, 5000\n1, GPU-b2, 80000", None, "GPU-b2"),
        ("0, GPU-a1, 5000\n1, GPU-b2, 80000", "0", "0"),
        ("0, GPU-a1, 5000", None, "None"),
        ("0, GPU-a1, [N/A]\n1, GPU-b2, [N/A]", None, "None"),
        ("", None, "None"),
        (None, None, "None"),
    ],
)
def test_a_process_sees_the_gpu_it_took(tmp_path, listed, before, after):
    if listed is not None:
        tool = tmp_path / "nvidia-smi"
        tool.write_text(f"#!/bin/sh\nprintf '{listed}\\n'\n")
        tool.chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path}:/usr/bin:/bin", "TMPDIR": str(tmp_path)}
    environment.pop("CUDA_VISIBLE_DEVICES", None)
    if before is not None:
        environment["CUDA_VISIBLE_DEVICES"] = before
    done = subprocess.run(
        [sys.executable, "-c", SHOW], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == after
