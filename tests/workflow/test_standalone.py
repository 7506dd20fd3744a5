"""Who installs benchc without cloning it gets the workflow from the package."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from small_run import PROJECT

from benchc.errors import BadInput
from benchc.running.standalone import write_workflow

pytestmark = pytest.mark.workflow

FOLDERS = ("config", "envs", "profiles", "reference", "rules")


def run(*command: str | Path, **options) -> str:
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> dict[str, str]:
    """The environment of a machine on which the wheel of this project is installed."""
    folder = tmp_path_factory.mktemp("installed")
    clone = folder / "clone"
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for part in ("src", *FOLDERS):
        shutil.copytree(PROJECT / part, clone / part, ignore=ignored)
    for part in ("LICENSE", "README.md", "Snakefile", "config.yaml", "pyproject.toml"):
        shutil.copy(PROJECT / part, clone)
    pytest.importorskip("pip", reason="uv installs no pip")
    pip = (sys.executable, "-m", "pip", "--quiet")
    alone = ("--no-deps", "--no-index")
    wheels = folder / "wheels"
    run(*pip, "wheel", *alone, "--no-build-isolation", "-w", wheels, clone)
    venv = folder / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", venv)
    bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run(*pip, "--python", venv, "install", *alone, next(wheels.glob("benchc-*.whl")), env=bare)
    # All else that benchc imports is that of the tests, whose own benchc is not seen in this way.
    libraries = sysconfig.get_path("purelib")
    return os.environ | {"PYTHONPATH": libraries, "PYTHON": str(venv / "bin/python")}


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_an_installed_package_writes_the_workflow_of_a_clone_and_plans_it(installed, tmp_path):
    python = installed["PYTHON"]
    said = run(python, "-m", "benchc", "workflow", "--to", "mine", cwd=tmp_path, env=installed)
    assert said == "mine: the workflow; next: cd mine; snakemake --cores all\n"
    write_workflow(tmp_path / "from a clone")
    assert contents(tmp_path / "mine") == contents(tmp_path / "from a clone")
    planned = run(python, "-m", "snakemake", "-n", cwd=tmp_path / "mine", env=installed)
    assert "infer_pool            4" in planned
    code = "import benchc; print(benchc.__file__)"
    assert str(PROJECT) not in run(python, "-c", code, env=installed)


def test_nothing_of_the_workflow_is_left_out(tmp_path):
    write_workflow(tmp_path / "mine")
    there = {f"{part}/{name}" for part in FOLDERS for name in contents(PROJECT / part)}
    made_by_hand = {"envs/lock.py", "envs/requirements-servers.txt", "envs/venv.sh"}
    assert there - made_by_hand | {"Snakefile", "config.yaml"} == set(contents(tmp_path / "mine"))


def test_a_folder_with_something_in_it_is_left_alone(tmp_path):
    (tmp_path / "config.yaml").write_text("mine")
    with pytest.raises(BadInput, match="is not empty; name a new folder"):
        write_workflow(tmp_path)
    assert contents(tmp_path) == {"config.yaml": b"mine"}
