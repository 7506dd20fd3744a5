"""A fingerprint changes with the code a result depends on, and with nothing else."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest

from benchc import fingerprint
from benchc.infer import backends
from benchc.infer.settings import TransformersModel

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
def member(x):
    return c.one(x)
def whole(x):
    return entry(c)
def lazy_member(x):
    from benchc import c as d
    return d.one(x)
def lazy_whole(x):
    from benchc import c as d
    return entry(d)
''',
    "b.py": "STEP = 2\ndef helper(x):\n    return x * STEP\ndef other(x):\n    return x\n",
    "c.py": "def one(x):\n    return x\ndef two(x):\n    return x\n",
}

ONE = ("c.py", "def one(x):\n    return x", "def one(x):\n    return 1")
TWO = ("c.py", "def two(x):\n    return x", "def two(x):\n    return 1")


def forget() -> None:
    for function in vars(fingerprint).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


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
        forget()

    forget()
    yield edited
    forget()


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
        ("benchc.a:member", *ONE, True),
        ("benchc.a:member", *TWO, False),
        ("benchc.a:lazy_member", *ONE, True),
        ("benchc.a:lazy_member", *TWO, False),
        ("benchc.a:whole", *TWO, True),
        ("benchc.a:lazy_whole", *TWO, True),
        ("benchc.a", *TWO, True),
        ("benchc.a", "a.py", "return c.one(x)", "return c.two(x)", True),
    ],
)
def test_only_what_is_reached_counts(package, entry, file, old, new, changes):
    before = fingerprint.of_code(entry)
    package(file, old, new)
    assert (fingerprint.of_code(entry) != before) is changes


def test_a_statement_may_set_one_name_twice(package):
    package("a.py", "LIMIT = 3", "LIMIT = 3\n_, _ = c.one(3)")
    assert fingerprint.of_code("benchc.a:_")
    assert fingerprint.of_code("benchc.a")


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


def test_hashes_of_much_are_remembered_until_a_file_changes(tmp_path, monkeypatch):
    monkeypatch.setattr(fingerprint, "_WORTH_REMEMBERING", 100)
    cache, large, small = (tmp_path / name for name in ("hashes.json", "large.bin", "small.bin"))
    large.write_bytes(b"1" * 200)
    small.write_bytes(b"2")
    fingerprint.of_files([small], cache)
    assert not cache.exists()
    before = fingerprint.of_files([large, small], cache)
    assert before == fingerprint.of_files([large, small])
    assert len(json.loads(cache.read_text())) == 2
    read = []
    digest = hashlib.file_digest
    monkeypatch.setattr(
        hashlib, "file_digest", lambda f, kind: read.append(Path(f.name).name) or digest(f, kind)
    )
    assert fingerprint.of_files([large, small], cache) == before
    assert read == []
    large.write_bytes(b"3" * 200)
    os.utime(large, ns=(1, 1))
    assert fingerprint.of_files([large, small], cache) != before
    assert read == ["large.bin"]


def test_names_count_from_a_folder_wherever_it_lies(tmp_path):
    marks = {}
    for place in ("here/a/x.png", "there/further/a/x.png", "here/b/x.png"):
        file = tmp_path / place
        file.parent.mkdir(parents=True)
        file.write_bytes(b"x")
        marks[place] = fingerprint.of_files([file], root=file.parents[1])
    assert marks["here/a/x.png"] == marks["there/further/a/x.png"] != marks["here/b/x.png"]


@pytest.mark.parametrize("damage", ["", "[1]", "{"])
def test_a_damaged_cache_of_hashes_is_no_cache(tmp_path, damage):
    file, cache = tmp_path / "a.bin", tmp_path / "hashes.json"
    file.write_bytes(b"x")
    cache.write_text(damage)
    assert fingerprint.of_files([file], cache) == fingerprint.of_files([file])


def test_a_folder_that_moves_keeps_its_fingerprint(tmp_path):
    marks = set()
    for place in ("here", "there"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "config.json").write_text("{}")
        settings = TransformersModel(path=str(tmp_path / place))
        marks.add(backends.model_key(settings, threads=1))
    assert len(marks) == 1
    (tmp_path / "there" / "config.json").write_text("{ }")
    marks.add(backends.model_key(settings, threads=1))
    assert len(marks) == 2


def test_what_only_makes_a_model_faster_is_no_part_of_its_key(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    plain = {"path": str(tmp_path)}
    faster = {"batch_size": 3, "device": "cpu", "shards": 4}
    keys = [backends.model_key(TransformersModel(**plain, **more), 1) for more in ({}, faster)]
    assert keys[0] == keys[1]
    assert backends.model_key(TransformersModel(**plain, dtype="bfloat16"), 1) != keys[0]


def test_how_settings_are_checked_is_no_part_of_a_models_key(tmp_path, monkeypatch):
    (tmp_path / "config.json").write_text("{}")
    copy = tmp_path / "benchc"
    shutil.copytree(Path(fingerprint.__file__).parent, copy)
    monkeypatch.setattr(fingerprint, "_root", lambda: copy)

    def key_after(place: str, old: str, new: str) -> str:
        text = (copy / place).read_text()
        assert old in text
        (copy / place).write_text(text.replace(old, new))
        forget()
        return backends.model_key(TransformersModel(path=str(tmp_path)), 1)

    forget()
    before = backends.model_key(TransformersModel(path=str(tmp_path)), 1)
    assert key_after("infer/settings.py", "What runs the model", "What asks it") == before
    assert key_after("section.py", "take another key", "choose another") == before
    assert key_after("infer/prompt.py", "return ", "return '' or ") != before
    forget()
