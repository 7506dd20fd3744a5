"""The same bytes as ever, whatever the processor's features, threads, locale or hash seed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchc.corrupt import CORRUPTIONS
from benchc.corrupt.selftest import selftest

HERE = Path(__file__).parent
GOLDENS = json.loads((HERE / "goldens.json").read_text())

ENVIRONMENTS = {
    "plain": {},
    "without IPP": {"OPENCV_IPP": "disabled"},
    "OpenCV without AVX-512": {"OPENCV_CPU_DISABLE": "AVX512-SKX"},
    "OpenCV without AVX": {"OPENCV_CPU_DISABLE": "AVX512-SKX,AVX2,FMA3,AVX,FP16"},
    "NumPy without AVX": {"NPY_DISABLE_CPU_FEATURES": "AVX512_ICL X86_V4 X86_V3"},
    "other hash seed, locale, zone": {
        "PYTHONHASHSEED": "12345",
        "LANG": "tr_TR.UTF-8",
        "TZ": "Asia/Kathmandu",
    },
}


def test_selftest_passes():
    assert selftest() == []


@pytest.mark.parametrize(("label", "threads"), [("plain", 2), *((e, 1) for e in ENVIRONMENTS)])
def test_goldens_in_another_process(label, threads):
    done = subprocess.run(
        [sys.executable, HERE / "print_hashes.py", str(threads)],
        env=os.environ | ENVIRONMENTS[label],
        capture_output=True,
        check=True,
    )
    found = json.loads(done.stdout)
    differing = [
        f"{picture} {name}"
        for picture, golden in GOLDENS.items()
        for name in CORRUPTIONS
        if found[picture][name] != golden[name]
    ]
    assert differing == []
