"""`make run` sets up its environment on whatever machine, and mends one that is not whole."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
TOOLS = ("bash", "basename", "cat", "cksum", "cp", "dirname", "grep", "mkdir", "rm", "touch")

#: Stands in for pip, which takes seconds: it installs nothing but notes what it was asked.
PIP = """
import pathlib, sys
if "--version" not in sys.argv:
    lines = [pathlib.Path(name).read_text() for name in sys.argv if name.endswith(".lock")]
    print(*lines)
    sys.exit("no-such-package" in "".join(lines))
"""
PYTHON = f"""
case $* in *'-m venv'*)
    echo "$(basename "$0")" >> made
    "{sys.executable}" -m venv --without-pip .venv
    packages=$(echo .venv/lib/python3*/site-packages)
    mkdir "$packages/pip"
    cp stub.py "$packages/pip/__main__.py"
    exit;;
esac
exec "{sys.executable}" "$@"
"""


class Machine:
    """A clone of the project with nothing to install, and a PATH of its own."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.tools = folder / "tools"
        self.tools.mkdir()
        for tool in TOOLS:
            (self.tools / tool).symlink_to(shutil.which(tool))
        (folder / "envs").mkdir()
        shutil.copy(PROJECT / "envs/venv.sh", folder / "envs")
        for lock in ("requirements.lock", "requirements-cpu.lock"):
            (folder / "envs" / lock).touch()
        (folder / "pyproject.toml").touch()
        (folder / "stub.py").write_text(PIP)

    def has(self, name: str, body: str = PYTHON) -> None:
        """Put an interpreter on PATH, by default one that notes when it makes an environment."""
        (self.tools / name).write_text(f"#!/bin/sh\n{body}\n")
        (self.tools / name).chmod(0o755)

    def made(self) -> list[str]:
        """Return the names of the interpreters that made an environment."""
        path = self.folder / "made"
        return path.read_text().split() if path.exists() else []

    def set_up(self, ok: bool = True, **variables: str) -> str:
        """Run the script and return what it said."""
        done = subprocess.run(
            ["bash", "envs/venv.sh", ".venv"],
            cwd=self.folder,
            env={"PATH": str(self.tools)} | variables,
            capture_output=True,
            text=True,
        )
        assert (done.returncode == 0) is ok, done.stdout + done.stderr
        return done.stdout + done.stderr

    def is_whole(self) -> bool:
        """Return whether the environment can install packages."""
        pip = [self.folder / ".venv/bin/python", "-m", "pip", "--version"]
        return subprocess.run(pip, capture_output=True).returncode == 0


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


NO_PYTHON = {
    "there is none": {},
    "it is too old or too new": {"python3": "case $* in *sys.exit*) exit 1;; esac"},
    "Debian's, without ensurepip": {
        "python3.11": f'case $* in *ensurepip*) exit 1;; esac; exec "{sys.executable}" "$@"'
    },
    "a shim that leads nowhere": {"python3.12": "echo command not found >&2; exit 127"},
}


@pytest.mark.parametrize("interpreters", NO_PYTHON.values(), ids=NO_PYTHON)
def test_without_a_fitting_python_one_line_says_so_and_nothing_is_made(machine, interpreters):
    for name, body in interpreters.items():
        machine.has(name, body)
    said = machine.set_up(ok=False)
    assert said.startswith("benchc needs Python 3.11, 3.12 or 3.13")
    assert said.count("\n") == 1
    assert not (machine.folder / ".venv").exists()


def test_the_newest_python_makes_the_environment_once(machine):
    machine.has("python3.13", "exit 127")
    machine.has("python3.12")
    machine.has("python3.11")
    machine.has("python3")
    assert "setting up" in machine.set_up()
    assert machine.is_whole()
    assert machine.set_up() == ""
    assert machine.made() == ["python3.12"]


def interrupted(venv: Path) -> None:
    (venv / "unfinished").touch()


def moved(venv: Path) -> None:
    activate = venv / "bin/activate"
    activate.write_text(activate.read_text().replace(str(venv), "/elsewhere/.venv"))


def bereft_of_its_python(venv: Path) -> None:
    for python in (venv / "bin").glob("python*"):
        python.unlink()
        python.symlink_to("/nowhere/python3")


def a_folder_of_something_else(venv: Path) -> None:
    shutil.rmtree(venv)
    venv.mkdir()


NOT_WHOLE = (interrupted, moved, bereft_of_its_python, a_folder_of_something_else)


@pytest.mark.parametrize("damage", NOT_WHOLE, ids=lambda damage: damage.__name__)
def test_an_environment_that_is_not_whole_is_made_anew(machine, damage):
    machine.has("python3")
    machine.set_up()
    damage(machine.folder / ".venv")
    assert "making it anew" in machine.set_up()
    assert machine.is_whole()
    assert machine.made() == ["python3"] * 2


def test_an_environment_without_pip_gets_one_and_its_packages_again(machine):
    machine.has("python3")
    machine.set_up()
    (packages,) = machine.folder.glob(".venv/lib/python3*/site-packages")
    shutil.rmtree(packages)
    # The real pip has nowhere to take the build system of the project from.
    assert "setting up" in machine.set_up(ok=False, PIP_NO_INDEX="1")
    assert machine.is_whole()
    assert machine.made() == ["python3"]


def test_of_a_link_to_another_environment_the_link_alone_goes(machine, tmp_path_factory):
    machine.has("python3")
    other = tmp_path_factory.mktemp("other")
    (other / "theirs").touch()
    (machine.folder / ".venv").symlink_to(other)
    machine.set_up()
    assert list(other.iterdir()) == [other / "theirs"]
    assert machine.is_whole()


def test_a_failed_installation_keeps_the_environment_that_was_there(machine):
    machine.has("python3")
    machine.set_up()
    (machine.folder / "envs/requirements.lock").write_text("no-such-package==1\n")
    machine.set_up(ok=False)
    (machine.folder / "envs/requirements.lock").write_text("")
    machine.set_up()
    assert machine.made() == ["python3"]


def test_pytorch_without_cuda_is_remembered(machine):
    machine.has("python3")
    machine.set_up(TORCH="cpu")
    (machine.folder / "envs/requirements.lock").write_text("no-such-package==1\n")
    assert machine.set_up() == ""
    assert "no-such-package" in machine.set_up(ok=False, TORCH="cuda")


def test_out_of_reach_of_pytorchs_index_the_last_line_says_what_to_do(machine):
    machine.has("python3")
    (machine.folder / "envs/requirements-cpu.lock").write_text("no-such-package==1\n")
    said = machine.set_up(ok=False, TORCH="cpu")
    assert "TORCH=cuda" in said.splitlines()[-1]
