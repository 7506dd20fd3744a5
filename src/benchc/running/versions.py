"""What made a result: the version of this package and its commit, the libraries, the time."""

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

#: Those whose version can change a number.
LIBRARIES = (
    "duckdb",
    "numpy",
    "open_clip_torch",
    "opencv-python-headless",
    "pillow",
    "polars",
    "scipy",
    "torch",
    "torchvision",
    "transformers",
)
_PACKAGE = Path(__file__).parents[1]


def made_by() -> dict[str, str]:
    """Return who made a result and when, by names that begin with `made.`.

    The time is that of SOURCE_DATE_EPOCH where it is set. None of it is part of a result's content:
    `benchc hash` leaves it out.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    now = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    facts = {
        "made.at": now.isoformat(timespec="seconds"),
        "made.benchc": own_version(),
        "made.commit": commit(),
        "made.python": platform.python_version(),
        **{f"made.{name}": _version(name) for name in LIBRARIES},
    }
    return {name: value for name, value in facts.items() if value}


def own_version() -> str:
    """Return the version of this package."""
    return _version("benchc") or "unknown"


def commit() -> str | None:
    """Return the commit of this package, with `+` where files were changed since; None unknown.

    That of the clone it lies in, if this package is tracked there; else what pip was given.
    """
    if _git("ls-files", "--error-unmatch", "__init__.py") is not None:
        found = _git("rev-parse", "HEAD")
        changed = _git("status", "--porcelain", "--", ".")
        return found and found + ("+" if changed else "")
    try:
        origin = json.loads(distribution("benchc").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return None
    found = origin.get("vcs_info", {}).get("commit_id")
    return str(found) if found else None


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _git(*arguments: str) -> str | None:
    command = ["git", "-C", str(_PACKAGE), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
