"""Write the lock files from what is installed: what a run needs (for conda too), what tests add.

Run in an environment made by `pip install -e .[dev]`: python envs/lock.py
"""

from argparse import ArgumentParser
from importlib.metadata import Distribution, distribution
from pathlib import Path

import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HERE = Path(__file__).parent
#: A peer asks for the OpenCV build with a window system, which would overwrite the headless one.
LEFT_OUT = {"benchc", "opencv-python"}


def closure(extras: set[str]) -> dict[str, str]:
    """Return name -> version of everything that benchc with these extras needs."""
    found: dict[str, Distribution] = {}
    waiting = [("benchc", frozenset(extras))]
    seen = set()
    while waiting:
        name, wanted = waiting.pop()
        if (name, wanted) in seen or name == "opencv-python":
            continue
        seen.add((name, wanted))
        found[name] = distribution(name)
        for line in found[name].requires or []:
            requirement = Requirement(line)
            environments = [{**default_environment(), "extra": extra} for extra in wanted | {""}]
            marker = requirement.marker
            if marker is None or any(marker.evaluate(e) for e in environments):
                extra_names = frozenset(requirement.extras)
                waiting.append((canonicalize_name(requirement.name), extra_names))
    return {name: d.version for name, d in found.items() if name not in LEFT_OUT}


def write(path: Path, packages: dict[str, str], note: str) -> None:
    """Write one pinned package a line."""
    lines = [f"{name}=={version}" for name, version in sorted(packages.items())]
    path.write_text("\n".join([f"# {note}; made by envs/lock.py", *lines]) + "\n")


def write_conda(path: Path, packages: dict[str, str]) -> None:
    """Write an environment of conda; Snakemake copies this file, so that it must stand alone."""
    pins = [f"{name}=={version}" for name, version in sorted(packages.items())]
    environment = {
        "channels": ["conda-forge"],
        "dependencies": ["python=3.11", "pip", {"pip": pins}],
    }
    note = "# For snakemake --sdm conda: what benchc imports; made by envs/lock.py\n"
    path.write_text(note + yaml.safe_dump(environment, sort_keys=False))


if __name__ == "__main__":
    ArgumentParser(description=__doc__).parse_args()
    run = closure(set())
    write_conda(HERE / "benchc.yaml", run)
    both = closure({"dev"})
    write(HERE / "requirements.lock", run, "What a run needs")
    added = {name: version for name, version in both.items() if name not in run}
    write(HERE / "requirements-dev.lock", added, "What the tests add")
