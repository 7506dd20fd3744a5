"""The recipes of CONTRIBUTING.md work: patches apply, commands succeed."""

import os
import re
import shutil
import subprocess

import pytest
from small_run import PROJECT

RECIPES = re.split(
    r"^## ", (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8"), flags=re.MULTILINE
)[1:]


def blocks(recipe: str, kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", recipe, flags=re.DOTALL)


@pytest.mark.workflow
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.splitlines()[0])
def test_a_recipe_works(tmp_path, recipe):
    shutil.copytree(PROJECT / "src", tmp_path / "src")
    for patch in blocks(recipe, "diff"):
        subprocess.run(["patch", "-p1"], input=patch, cwd=tmp_path, text=True, check=True)
    commands = "".join(blocks(recipe, "console")).replace("$ ", "", 1).replace("\n$ ", "\n")
    assert commands
    subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path / "src")},
        check=True,
    )
