"""Write the lock files of pip and conda from uv.lock.

After a change of pyproject.toml, in the folder of the project (`pip install uv packaging pyyaml`):
`uv lock`, or `uv lock --upgrade-package NAME`; then `python envs/lock.py`.
"""

import subprocess
from argparse import ArgumentParser
from itertools import product
from pathlib import Path

import yaml
from packaging.requirements import Requirement

HERE = Path(__file__).parent
PYTHONS = ("3.11", "3.12", "3.13")
#: sys_platform, platform_machine.
MACHINES = (("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64"))
CUDA = ("cuda-", "nvidia-", "triton")
CASES = [(*machine, python) for machine, python in product(MACHINES, PYTHONS)]
CPU_INDEX = "https://download.pytorch.org/whl/cpu"


def exported(*options: str) -> dict[str, str]:
    """Return name -> pinned requirement of what uv.lock holds for a run, or with extras."""
    command = ["uv", "export", "--quiet", "--frozen", "--no-hashes", "--no-emit-project"]
    command += ["--no-header", "--no-annotate", *options]
    said = subprocess.run(command, cwd=HERE.parent, check=True, capture_output=True, text=True)
    pins = [pinned(Requirement(line)) for line in said.stdout.splitlines()]
    return {pin.partition("==")[0]: pin for pin in pins if pin}


def pinned(requirement: Requirement) -> str:
    """Return `name==version`, with a marker where not every supported machine needs it."""
    pin = f"{requirement.name}{requirement.specifier}"
    places = {platform for platform, *_ in filter(lambda case: needs(requirement, *case), CASES)}
    if places == {"linux", "darwin"}:
        return pin
    return f"{pin} ; sys_platform == '{places.pop()}'" if places else ""


def needs(requirement: Requirement, platform: str, machine: str, python: str) -> bool:
    """Return whether a machine with this Python needs a package."""
    case = {
        "sys_platform": platform,
        "platform_machine": machine,
        "platform_system": {"linux": "Linux", "darwin": "Darwin"}[platform],
        "python_version": python,
        "python_full_version": f"{python}.0",
    }
    return requirement.marker is None or requirement.marker.evaluate(case)


def without_cuda(pins: dict[str, str]) -> list[str]:
    """Return the pins of a machine without a GPU; PyTorch's first, which another index has."""
    kept = {name: pin for name, pin in pins.items() if not name.startswith(CUDA)}
    first = [f"--extra-index-url {CPU_INDEX}"]
    for name in ("torch", "torchvision"):
        pin = kept.pop(name)
        first += [f"{pin}+cpu ; sys_platform == 'linux'", f"{pin} ; sys_platform == 'darwin'"]
    return [*first, *in_order(kept)]


def in_order(pins: dict[str, str]) -> list[str]:
    """Return the pins by the names of their packages."""
    return [pins[name] for name in sorted(pins)]


def write(name: str, lines: list[str], note: str) -> None:
    """Write one requirement a line."""
    (HERE / name).write_text("\n".join([f"# {note}; made by envs/lock.py", *lines]) + "\n")


def write_conda(pins: list[str]) -> None:
    """Write an environment of conda; Snakemake copies this file, so that it must stand alone."""
    environment = {
        "channels": ["conda-forge"],
        "dependencies": ["python=3.11", "pip", {"pip": pins}],
    }
    note = "# For snakemake --sdm conda: what benchc imports; made by envs/lock.py\n"
    (HERE / "benchc.yaml").write_text(note + yaml.safe_dump(environment, sort_keys=False, width=99))


if __name__ == "__main__":
    ArgumentParser(description=__doc__).parse_args()
    run = exported()
    both = exported("--extra", "dev")
    write("requirements.lock", in_order(run), "What a run needs")
    write("requirements-cpu.lock", without_cuda(run), "What a run needs where there is no GPU")
    added = {name: pin for name, pin in both.items() if name not in run}
    write("requirements-dev.lock", in_order(added), "What the tests add")
    write_conda(in_order(run))
