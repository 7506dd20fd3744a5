"""What conda installs is what pip installs."""

import shutil
import subprocess
import sys
from pathlib import Path

import yaml

ENVS = Path(__file__).parents[2] / "envs"


def test_the_environment_of_conda_holds_the_locked_packages():
    *_, packages = yaml.safe_load((ENVS / "benchc.yaml").read_text())["dependencies"]
    locked = (ENVS / "requirements.lock").read_text().splitlines()
    assert packages["pip"] == [line for line in locked if not line.startswith("#")]


def test_asking_for_help_writes_no_lock_file(tmp_path):
    script = shutil.copy(ENVS / "lock.py", tmp_path)
    said = subprocess.run([sys.executable, script, "--help"], capture_output=True, text=True)
    assert said.stdout.startswith("usage: lock.py")
    assert list(tmp_path.iterdir()) == [Path(script)]
