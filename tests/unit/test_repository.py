"""The repository speaks of the product alone: no place, tool or host of where it was written."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
KINDS = {"", ".cff", ".css", ".csv", ".j2", ".js", ".lock", ".md", ".py", ".rst", ".sh", ".smk",
         ".sql", ".toml", ".txt", ".yaml", ".yml"}  # fmt: skip
MADE = {"results", "build", "runs", "api", "__pycache__"}


def _is_ours(path: Path) -> bool:
    folders = path.relative_to(PROJECT).parts[:-1]
    made = any(name.startswith(".") or name in MADE or name.endswith("-info") for name in folders)
    return path.suffix in KINDS and path.is_file() and not made and path.name != ".git"


TEXTS = {
    path.relative_to(PROJECT).as_posix(): " ".join(path.read_text(encoding="utf-8").split())
    for path in sorted(PROJECT.rglob("*"))
    if _is_ours(path)
}
#: In pieces, so that this file holds none of them.
FOREIGN = [
    r"(?<![\w}.])/wo" "rk/", "known-" "faults", "diagnosis pro" "tocol", "discovery pro" "tocol",
    r"rooms\." "md", "work" "place", r"\.\./sha" "red", r"file:///(opt|wo" "rk|root)",
    r"\bissue " r"\d", "/opt/(wheels|py" "pi)", r"\bhel" "pers? session", "se" "ed-[0-9a-f]{8}",
]  # fmt: skip


def test_the_files_are_looked_at():
    named = {"README.md", "Makefile", "src/benchc/cli.py", "tests/unit/test_rooms.py"}
    assert named <= TEXTS.keys()
    assert len(TEXTS) > 300


@pytest.mark.parametrize("word", FOREIGN)
def test_nothing_names_where_it_was_written(word):
    pattern = re.compile(word, re.IGNORECASE)
    found = {name: match[0] for name, text in TEXTS.items() if (match := pattern.search(text))}
    assert not found


def test_lock_files_name_public_hosts_only():
    public = {"pypi.org", "files.pythonhosted.org", "download.pytorch.org"}
    locks = {name: text for name, text in TEXTS.items() if name.endswith(".lock")}
    assert locks
    for name, text in locks.items():
        assert set(re.findall(r"https?://([\w.-]+)", text)) <= public, name


@pytest.mark.parametrize(
    "script", sorted((PROJECT / "benchmarks").glob("*.py")), ids=lambda p: p.stem
)
def test_a_benchmark_finds_what_it_imports(script):
    """Each is run by hand only, so that a name that moved would be noticed late."""
    load = "import runpy, sys; sys.path.insert(0, sys.argv[2]); runpy.run_path(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", load, str(script), str(PROJECT / "tests")],
        cwd=PROJECT, capture_output=True, text=True,
    )  # fmt: skip
    missing = re.search(r"No module named '(\w+)", done.stderr)
    if missing and not missing[1].startswith("benchc"):
        pytest.skip(f"{missing[1]}, a peer, is not installed")
    assert done.returncode == 0, done.stderr
