"""Every table of a rule carries what decided it, and each thing that decides it counts."""

import re
from pathlib import Path

import pytest

from benchc.running.identity import _DECIDES, TABLES, identity, others
from benchc.running.workflow import Workflow
from benchc.tables import SAMPLES, mark

PROJECT = Path(__file__).parents[2]
RULES = {file.name: file.read_text() for file in (PROJECT / "rules").glob("*.smk")}
JOB = {
    "source": "drawn", "corruption": "fog", "model": "llava", "condition": "fog-3",
    "way": "zero_shot", "extent": "default", "shard": "0", "shards": "2",
}  # fmt: skip


def run(**values: object) -> Workflow:
    return Workflow({**values}, str(PROJECT))


def test_every_table_of_a_rule_is_listed_with_what_decides_it():
    outputs = {
        path
        for text in RULES.values()
        for block in re.findall(r"\n    output:\n(.*?)\n    \w+:", text, re.DOTALL)
        for path in re.findall(r'"(results/[^"]*\.(?:parquet|duckdb))"', block)
    }
    assert {table for tables in TABLES.values() for table in tables} == outputs
    assert TABLES.keys() == _DECIDES.keys()


def test_every_rule_that_writes_a_table_is_told_and_asked_what_decides_it():
    text = "\n".join(RULES.values())
    asked = set(re.findall(r'REMAKING\("(\w+)"', text))
    told = set(re.findall(r'RUN\.identity\("(\w+)"', text))
    assert asked == TABLES.keys()
    # Shards are told what the rule that they are made from is told.
    assert told == TABLES.keys() - {"infer_shard"}
    assert text.count("--identity {params.identity}") >= len(told)


def test_no_parameter_leans_on_what_triggers_nothing():
    """Where a run lies and what makes it faster is in files of settings, and in resources."""
    asking = re.findall(r"lambda wildcards, (\w+): (.*)", "\n".join(RULES.values()))
    assert not [call for name, call in asking if name == "threads"]
    for name, call in asking:
        if name in ("input", "output"):
            assert f"{name}" in call or call.rstrip().endswith(("[", "(")), call


CHANGES = [
    ({"seed": 2}, {"corrupt", "infer", "infer_shard", "infer_merge", "select", "database",
                   "play", "discovery_database"}),
    ({"select": {"impurity_above": 0.5}}, {"select", "database"}),
    ({"corruptions": ["fog"]}, {"infer", "infer_shard", "infer_merge", "database"}),
    ({"severities": [1]}, {"corrupt", "select", "database"}),
    ({"corrupt": {"reference_side": 224}}, {"corrupt", "infer", "infer_shard", "infer_merge",
                                            "database", "play", "discovery_database"}),
    ({"sources": {"drawn": {"kind": "drawn", "samples": 7}}}, {"pool_source", "database"}),
    ({"headline": "pool"}, {"select", "database"}),
    ({"infer": {"threads": 2}}, {"embed", "infer", "infer_shard", "infer_merge", "database"}),
    ({"infer": {"workers": 0}}, set()),
]  # fmt: skip


@pytest.mark.parametrize(("values", "expected"), CHANGES, ids=[str(v) for v, _ in CHANGES])
def test_what_is_changed_changes_the_tables_that_it_decides(values, expected):
    before, after = run(), run(**values)
    changed = {rule for rule in TABLES if identity(before, rule, JOB) != identity(after, rule, JOB)}
    assert changed == expected


def test_a_table_made_from_something_else_is_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("benchc.tables.contract._marks", {})
    table = Path("results/pool/sources/drawn/samples.parquet")
    assert list(others(run(), "pool_source", JOB)) == []
    SAMPLES.write(SAMPLES.empty(), table)
    assert list(others(run(), "pool_source", JOB)) == [table.as_posix()]
    mark(identity(run(), "pool_source", JOB))
    SAMPLES.write(SAMPLES.empty(), table)
    assert list(others(run(), "pool_source", JOB)) == []
    other = run(sources={"drawn": {"kind": "drawn", "samples": 7}})
    assert list(others(other, "pool_source", JOB)) == [table.as_posix()]
    content = bytearray(table.read_bytes())
    content[4] ^= 1
    table.write_bytes(content)
    assert list(others(other, "pool_source", JOB)) == [table.as_posix()]
