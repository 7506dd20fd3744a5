"""The workflow in a folder of its own, for people who install benchc and clone nothing."""

import shutil
from importlib.metadata import distributions
from pathlib import Path

import benchc
from benchc.errors import BadInput

#: What of a clone a run needs; pyproject.toml puts the same into the wheel.
PARTS = (
    "Snakefile",
    "config.yaml",
    "config/*",
    "envs/benchc.yaml",
    "envs/*.lock",
    "profiles/*/*",
    "reference/*",
    "reference/*/*",
    "rules/*.smk",
    "rules/captions/*",
)
SHARED = "share/benchc/"


def write_workflow(folder: Path) -> None:
    """Write the Snakefile with its rules, configs, profiles, lock files and small models.

    Args:
        folder: Where to; made where it is missing.

    Raises:
        BadInput: there is something in the folder, or it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise BadInput(f"{folder}: is not empty; name a new folder")
        for path, place in _shipped().items():
            copy = folder / place
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written ({error.strerror})") from None


def _shipped() -> dict[Path, str]:
    """Return where each file of the workflow lies -> its place in a clone."""
    package = Path(benchc.__file__).parent
    clone = package.parents[1]
    if (clone / "pyproject.toml").is_file():
        found = filter(Path.is_file, (path for part in PARTS for path in clone.glob(part)))
        return {path: str(path.relative_to(clone)) for path in found}
    # There may be others further down the path.
    here = str(package)
    owners = (d for d in distributions(name="benchc") if str(d.locate_file("benchc")) == here)
    files = [file for owner in owners for file in owner.files or [] if SHARED in str(file)]
    if not files:
        raise BadInput("this installation of benchc has no workflow; install it anew, or clone it")
    return {Path(str(file.locate())).resolve(): str(file).partition(SHARED)[2] for file in files}
