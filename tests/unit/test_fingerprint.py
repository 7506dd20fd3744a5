"""A fingerprint of files changes with what they hold, and with nothing else."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from benchc.config.models import TransformersModel
from benchc.models import backends
from benchc.running import fingerprint


def test_sql_comments_do_not_count(tmp_path: Path):
    query = tmp_path / "q.sql"
    query.write_text("SELECT 1 -- one\n")
    before = fingerprint.of_files([query])
    query.write_text("-- why\nSELECT   1\n")
    assert fingerprint.of_files([query]) == before
    query.write_text("SELECT 2")
    assert fingerprint.of_files([query]) != before


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
