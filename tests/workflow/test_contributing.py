"""The recipes of CONTRIBUTING.md work: patches apply, are clean, and commands say what is shown."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from small_run import PROJECT, TINY, Workflow

RECIPES = re.split(
    r"^## ", (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8"), flags=re.MULTILINE
)[1:]
KINDS = ("corruption", "source", "model family", "verdict", "measure", "query", "way to ask")
COPIED = ("src", "tests", "docs", "rules", "profiles", "config", "envs", "Snakefile", "README.md",
          "pyproject.toml", "config.yaml")  # fmt: skip

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def clone(tmp_path_factory, finished: Workflow) -> Path:
    """A folder for copies of the project, one after the other: mypy remembers it."""
    return tmp_path_factory.mktemp("clone")


@pytest.fixture
def fresh(clone: Path, finished: Workflow) -> Path:
    """A copy of the project with a finished small run."""
    for path in clone.iterdir():
        if path.name != ".mypy_cache":
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    for name in COPIED:
        path = PROJECT / name
        copy = shutil.copytree if path.is_dir() else shutil.copy
        copy(path, clone / name)
    (clone / "reference").symlink_to(PROJECT / "reference")
    (clone / "mine.yaml").write_text(TINY)
    shutil.copytree(finished.folder / "results", clone / "results")
    shutil.copytree(finished.folder / ".snakemake", clone / ".snakemake")
    return clone


def run(folder: Path, command: str) -> tuple[int, str]:
    """Return the exit status of a command in a clone, and all it said."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder / "src")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def blocks(recipe: str, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", recipe, flags=re.DOTALL | re.MULTILINE)


def commands(recipe: str) -> list[tuple[str, list[str]]]:
    """Return each command of a recipe with the lines shown below it."""
    found: list[tuple[str, list[str]]] = []
    for line in "".join(blocks(recipe, "console")).splitlines():
        if line.startswith("$ "):
            found.append((line.removeprefix("$ "), []))
        else:
            found[-1][1].append(line)
    return found


def test_what_a_stranger_adds_has_a_recipe_with_good_and_bad_input():
    assert len(RECIPES) == len(KINDS)
    for kind, recipe in zip(KINDS, RECIPES, strict=True):
        assert kind in recipe.splitlines()[0]
        shown = [line for _, lines in commands(recipe) for line in lines]
        assert any(line.startswith("benchc: ") for line in shown), kind
        assert not all(line.startswith("benchc: ") for line in shown), kind


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.splitlines()[0])
def test_a_recipe_works(fresh, recipe):
    patches = "".join(blocks(recipe, "diff"))
    subprocess.run(["git", "apply"], input=patches, cwd=fresh, text=True, check=True)
    changed = " ".join(re.findall(r"^\+\+\+ b/(\S+\.py)$", patches, re.MULTILINE))
    if changed:
        lint = f"ruff format --check {changed} && ruff check {changed} && mypy {changed}"
        status, said = run(fresh, lint)
        assert status == 0, said
    variables = ""
    for command, shown in commands(recipe):
        if re.match(r"\w+=", command):
            variables += f"{command}\n"
            continue
        status, said = run(fresh, variables + command)
        refused = any(line.startswith("benchc: ") for line in shown)
        assert (status != 0) is refused, f"{command}\n{said}"
        assert "Traceback" not in said
        for line in shown:
            assert line in said, f"{command}\n{said}"
