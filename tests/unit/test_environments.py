"""What conda installs is what pip installs."""

from pathlib import Path

import yaml

ENVS = Path(__file__).parents[2] / "envs"


def test_the_environment_of_conda_holds_the_locked_packages():
    *_, packages = yaml.safe_load((ENVS / "benchc.yaml").read_text())["dependencies"]
    locked = (ENVS / "requirements.lock").read_text().splitlines()
    assert packages["pip"] == [line for line in locked if not line.startswith("#")]
