"""The patches of CONTRIBUTING.md fit the code as it is; tests/workflow applies and tries them."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
PATCHES = re.findall(
    r"^--- .*?(?=^--- |^```$)",
    (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8"),
    flags=re.DOTALL | re.MULTILINE,
)


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.split("\n")[1][6:])
def test_a_patch_applies(tmp_path, patch):
    name = patch.split("\n")[1].removeprefix("+++ b/")
    target = tmp_path / name
    target.parent.mkdir(parents=True, exist_ok=True)
    if (PROJECT / name).is_file():
        shutil.copy(PROJECT / name, target)
    before = target.read_text(encoding="utf-8") if target.is_file() else ""
    subprocess.run(["git", "apply", "-"], input=patch, cwd=tmp_path, text=True, check=True)
    assert target.read_text(encoding="utf-8") != before
