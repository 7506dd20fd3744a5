"""Memory that runs out is one line, whichever library noticed."""

import subprocess
import sys

import pytest

from benchc.cli import main
from benchc.errors.memory import where_memory_ran_out

SAID = {
    "the loader": ImportError("libtorch_cpu.so: failed to map segment from shared object"),
    "NumPy": ImportError(
        "\n\nIMPORTANT: PLEASE READ THIS FOR ADVICE\n\n"
        "Original error was: x.so: failed to map segment from shared object\n"
    ),
    "Python": MemoryError(),
    "NumPy's arrays": MemoryError("Unable to allocate 7.45 GiB for an array"),
    "torch": RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"),
    "CUDA": RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"),
    "OpenCV": Exception("OpenCV(5.0.0) (-4:Insufficient memory) Failed to allocate 9 bytes"),
    "C++": RuntimeError("std::bad_alloc"),
    "threads": RuntimeError("can't start new thread"),
    "a file": OSError(12, "Cannot allocate memory"),
}


@pytest.mark.parametrize("error", SAID.values(), ids=SAID)
def test_every_librarys_words_are_known(error):
    line = where_memory_ran_out(error)
    assert line
    assert "\n" not in line


def test_so_is_an_error_that_another_one_hides():
    hidden = ImportError("cannot import name 'x'")
    hidden.__context__ = SAID["the loader"]
    assert where_memory_ran_out(hidden) == str(SAID["the loader"])


@pytest.mark.parametrize("error", [ValueError("memory"), ImportError("no module named x")])
def test_other_errors_are_not_taken_for_it(error):
    assert where_memory_ran_out(error) is None


def test_the_command_says_one_line(monkeypatch, capsys):
    def fail() -> None:
        raise SAID["torch"]

    monkeypatch.setattr("benchc.cli.app", fail)
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr().err
    assert ended.value.code == 1
    assert said.startswith("benchc: not enough memory ([enforce fail] DefaultCPUAllocator")
    assert said.count("\n") == 1


LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]) << 20, resource.RLIM_INFINITY))
sys.argv[:] = ["benchc", *sys.argv[2:]]
from benchc.cli import main
main()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds to the limit")
def test_a_limit_too_low_for_opencv_is_one_line():
    megabytes = 250
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(megabytes), "corrupt", "selftest"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    *_, last = done.stderr.splitlines()
    assert last.startswith("benchc: not enough memory (")
    assert f"(`ulimit -v`), now {megabytes * 2**20 / 1e9:.1f} GB" in last
    assert "Traceback" not in done.stderr
