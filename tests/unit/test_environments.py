"""What pip, conda and machines without a GPU install is what uv.lock holds."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.tags import Tag
from packaging.utils import canonicalize_name, parse_wheel_filename

PROJECT = Path(__file__).parents[2]
ENVS = PROJECT / "envs"
ASKED = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
LOCKED = {
    package["name"]: package
    for package in tomllib.loads((PROJECT / "uv.lock").read_text())["package"]
}
LOCKS = ("requirements.lock", "requirements-cpu.lock", "requirements-dev.lock")
#: sys_platform, platform_machine, how the platforms of its wheels begin.
MACHINES = (
    ("linux", "x86_64", "manylinux"),
    ("linux", "aarch64", "manylinux"),
    ("darwin", "arm64", "macosx"),
)
PYTHONS = ("3.11", "3.12", "3.13")


def lines(name: str) -> list[str]:
    return [line for line in (ENVS / name).read_text().splitlines() if line[0] not in "#-"]


def installed(name: str, platform: str, machine: str = "x86_64") -> dict[str, str]:
    """Return name -> version of what a lock file installs on a machine."""
    case = {"sys_platform": platform, "platform_machine": machine}
    pins = [Requirement(line) for line in lines(name)]
    return {
        canonicalize_name(pin.name): str(pin.specifier).removeprefix("==")
        for pin in pins
        if pin.marker is None or pin.marker.evaluate(case)
    }


@pytest.mark.parametrize("lock", LOCKS)
@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_pip_installs_what_uv_installs(lock, platform):
    for name, version in installed(lock, platform).items():
        assert version.removesuffix("+cpu") == LOCKED[name]["version"], name


@pytest.mark.parametrize("lock", LOCKS[:2])
def test_a_lock_holds_what_the_project_asks_for(lock):
    pinned = installed(lock, "linux")
    for requirement in map(Requirement, ASKED["dependencies"]):
        assert pinned[canonicalize_name(requirement.name)] in requirement.specifier


def test_pythons_are_those_of_the_lock():
    lock = tomllib.loads((PROJECT / "uv.lock").read_text())
    assert lock["requires-python"].replace(" ", "") == ASKED["requires-python"]


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_without_a_gpu_the_same_is_installed_but_cuda(platform):
    with_cuda = installed("requirements.lock", platform)
    without = installed("requirements-cpu.lock", platform)
    cuda = {name for name in with_cuda if name.startswith(("nvidia", "cuda", "triton"))}
    assert bool(cuda) is (platform == "linux")
    assert set(without) == set(with_cuda) - cuda
    local = "+cpu" if platform == "linux" else ""
    changed = {name: without[name] for name in without if without[name] != with_cuda[name]}
    expected = {name: with_cuda[name] + local for name in ("torch", "torchvision")}
    assert changed == (expected if local else {})


def test_pytorch_comes_first_so_that_nothing_is_downloaded_where_it_cannot_be_had():
    first = [Requirement(line).name for line in lines("requirements-cpu.lock")[:4]]
    assert set(first) == {"torch", "torchvision"}


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: "-".join(machine[:2]))
def test_every_package_has_a_wheel_for_every_machine(machine, python):
    platform, architecture, begins = machine
    digits = python.replace(".", "")

    def fits(tag: Tag) -> bool:
        ours = tag.platform.startswith(begins) and tag.platform.endswith(
            (architecture, "universal2")
        )
        stable = tag.abi == "abi3" and tag.interpreter.startswith("cp3")
        return (tag.platform == "any" or ours) and (
            stable or tag.interpreter in {f"cp{digits}", f"py{digits}", "py3"}
        )

    for name in installed("requirements.lock", platform, architecture):
        files = [wheel["url"].rsplit("/", 1)[1] for wheel in LOCKED[name].get("wheels", [])]
        tags = [tag for file in files for tag in parse_wheel_filename(file.replace("%2B", "+"))[3]]
        # One is Python alone, and pip makes its wheel in a second.
        assert any(map(fits, tags)) or name == "connection-pool", name


def test_locks_name_public_registries_alone():
    addresses = {package["source"].get("registry") for package in LOCKED.values()}
    assert addresses == {"https://pypi.org/simple", None}
    options = [line for line in (ENVS / LOCKS[1]).read_text().splitlines() if line[0] == "-"]
    assert options == ["--extra-index-url https://download.pytorch.org/whl/cpu"]


def test_the_environment_of_conda_holds_the_locked_packages():
    *_, packages = yaml.safe_load((ENVS / "benchc.yaml").read_text())["dependencies"]
    assert packages["pip"] == lines("requirements.lock")


def test_asking_for_help_writes_no_lock_file(tmp_path):
    script = shutil.copy(ENVS / "lock.py", tmp_path)
    said = subprocess.run([sys.executable, script, "--help"], capture_output=True, text=True)
    assert said.stdout.startswith("usage: lock.py")
    assert list(tmp_path.iterdir()) == [Path(script)]
