"""A fingerprint changes with the code a result depends on, and with nothing else."""

from pathlib import Path

import pytest

from benchc import fingerprint

SOURCES = {
    "__init__.py": "",
    "a.py": '''
"""Module."""
from benchc.b import helper
from benchc import c
LIMIT = 3
def entry(x):
    """Doc."""
    return helper(x) + LIMIT
def lazy(x):
    from benchc.b import other
    return other(x)
def whole(x):
    return c.one(x)
''',
    "b.py": "STEP = 2\ndef helper(x):\n    return x * STEP\ndef other(x):\n    return x\n",
    "c.py": "def one(x):\n    return x\ndef two(x):\n    return x\n",
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    for name, text in SOURCES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(fingerprint, "_root", lambda: tmp_path)

    def edited(name: str, old: str, new: str) -> None:
        path = tmp_path / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        fingerprint._path.cache_clear()
        fingerprint._definitions.cache_clear()

    fingerprint._path.cache_clear()
    fingerprint._definitions.cache_clear()
    yield edited
    fingerprint._path.cache_clear()
    fingerprint._definitions.cache_clear()


@pytest.mark.parametrize(
    ("entry", "file", "old", "new", "changes"),
    [
        ("benchc.a:entry", "a.py", "LIMIT = 3", "LIMIT = 4", True),
        ("benchc.a:entry", "b.py", "STEP = 2", "STEP = 5", True),
        ("benchc.a:entry", "b.py", "return x\n", "return x + 1\n", False),
        ("benchc.a:entry", "a.py", '"""Doc."""', '"""Other words."""', False),
        ("benchc.a:entry", "a.py", "LIMIT = 3", "LIMIT = 3  # why", False),
        ("benchc.a:entry", "c.py", "return x", "return -x", False),
        ("benchc.a:lazy", "b.py", "return x\n", "return x + 1\n", True),
        ("benchc.a:lazy", "b.py", "STEP = 2", "STEP = 5", False),
        ("benchc.a:whole", "c.py", "def two(x):\n    return x", "def two(x):\n    return 1", True),
        ("benchc.a", "a.py", "return c.one(x)", "return c.two(x)", True),
    ],
)
def test_only_what_is_reached_counts(package, entry, file, old, new, changes):
    before = fingerprint.of_code(entry)
    package(file, old, new)
    assert (fingerprint.of_code(entry) != before) is changes


def test_an_ignored_entry_is_not_followed(package):
    before = fingerprint.of_code("benchc.a:entry", ignoring=["benchc.b:helper"])
    package("b.py", "STEP = 2", "STEP = 5")
    assert fingerprint.of_code("benchc.a:entry", ignoring=["benchc.b:helper"]) == before


def test_sql_comments_do_not_count(tmp_path: Path):
    query = tmp_path / "q.sql"
    query.write_text("SELECT 1 -- one\n")
    before = fingerprint.of_files([query])
    query.write_text("-- why\nSELECT   1\n")
    assert fingerprint.of_files([query]) == before
    query.write_text("SELECT 2")
    assert fingerprint.of_files([query]) != before


def test_the_whole_package_can_be_read():
    stages = ["pool", "corrupt", "embed", "infer", "select", "diagnose", "report"]
    assert all(len(fingerprint.of_code(f"benchc.{s}.command")) == 16 for s in stages)
