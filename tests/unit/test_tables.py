"""What is written is what the schema says, whole or not at all; what drifted is refused by name."""

import math
import os
import subprocess
import sys

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.errors import BadInput
from benchc.tables import PREDICTIONS, REJECTED, SHIFTS, renamed_into_place

ROW = {
    "model": "m", "sample_id": "b/1", "corruption": "fog", "severity": 1,
    "uncertainty_shift": 0.1, "misalignment_shift": 0.1, "ras": -0.1,
    "clean_correct": 1, "correct": 0, "state": "cw",
}  # fmt: skip


def test_a_round_trip_keeps_every_value(tmp_path):
    frame = SHIFTS.from_rows([ROW, {**ROW, "severity": 2, "ras": None}])
    SHIFTS.write(frame.reverse(), tmp_path / "shifts.parquet")
    assert SHIFTS.read(tmp_path / "shifts.parquet").equals(frame)
    assert [f.name for f in tmp_path.iterdir()] == ["shifts.parquet"]


@given(st.sampled_from([math.nan, math.inf, -math.inf]))
def test_no_number_that_is_none_is_stored(bad):
    frame = SHIFTS.conform(SHIFTS.from_rows([{**ROW, "ras": bad}]))
    assert frame["ras"].to_list() == [None]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([ROW, ROW], "occurs more than once"),
        ([{**ROW, "model": None}], "column model has 1 empty values"),
    ],
)
def test_bad_rows_are_refused_and_nothing_is_written(tmp_path, rows, says):
    with pytest.raises(BadInput, match=says):
        SHIFTS.write(SHIFTS.from_rows(rows), tmp_path / "shifts.parquet")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda f: f.drop("ras"), "column ras is missing"),
        (lambda f: f.with_columns(pl.col("ras").cast(pl.Float32)), "column ras is Float32"),
        (lambda f: f.with_columns(extra=1), "unknown columns"),
    ],
)
def test_a_drifted_file_is_refused_by_name(tmp_path, change, says):
    path = tmp_path / "shifts.parquet"
    change(SHIFTS.from_rows([ROW])).write_parquet(path)
    with pytest.raises(BadInput, match=says) as refusal:
        SHIFTS.read(path)
    assert str(path) in str(refusal.value)


@pytest.mark.parametrize("size", [0, 40])
def test_a_torn_file_is_refused_by_name(tmp_path, size):
    path = tmp_path / "shifts.parquet"
    SHIFTS.write(SHIFTS.from_rows([ROW]), path)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(BadInput, match=r"shifts\.parquet: not a readable Parquet file"):
        SHIFTS.read(path)


def test_keys_that_look_like_numbers_stay_text(tmp_path):
    keys = ["007", "0x10", "1.1", "1.10", "1e5", "20240101", "inf"]
    path = tmp_path / "model=20240101" / "shifts.parquet"
    SHIFTS.write(SHIFTS.from_rows([{**ROW, "model": key} for key in keys]), path)
    assert SHIFTS.read(path)["model"].to_list() == keys


def test_a_late_option_is_not_dropped():
    """Rows are never inferred from their first hundred."""
    base = {
        "model": "m", "corruption": "clean", "severity": 0, "scoring": "letter", "temperature": 1.0,
        "top1": 0, "is_tie": False, "option_mass": 1.0, "status": "ok",
    }  # fmt: skip
    rows = [
        {**base, "sample_id": f"b/{i:03}", "logits": [0.0] * k, "p": [1 / k] * k}
        for i, k in enumerate([4] * 101 + [5])
    ]
    frame = PREDICTIONS.conform(PREDICTIONS.from_rows(rows))
    assert frame["p"].list.sum().to_list() == pytest.approx([1] * 102)


def test_a_refusal_within_a_write_is_passed_on_as_it_is(tmp_path):
    said = "samples.parquet: not a readable Parquet file (Permission denied)"
    with pytest.raises(BadInput) as refusal, renamed_into_place(tmp_path / "out"):
        raise BadInput(said)
    assert str(refusal.value) == said
    with (
        pytest.raises(BadInput, match="out: cannot be written"),
        renamed_into_place(tmp_path / "out"),
    ):
        raise PermissionError(13, "Permission denied")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_who_may_read_a_file_is_for_its_owner_to_say(tmp_path, umask, mode):
    path = tmp_path / "pool" / "rejected.parquet"
    before = os.umask(umask)
    try:
        REJECTED.write(REJECTED.empty(), path)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == mode
    assert [path] == list(path.parent.iterdir())


WRITES = """
import sys
from pathlib import Path
from benchc.tables import renamed_into_place
with renamed_into_place(Path("a.duckdb")) as temporary:
    temporary.write_text("half of it")
    temporary.with_name(temporary.name + ".wal").touch()
    temporary.with_name(temporary.name + ".tmp").mkdir()
    print("writing", flush=True)
    sys.stdin.read()
"""


def test_a_killed_writer_leaves_nothing_for_long_and_a_living_one_is_let_be(tmp_path):
    def start() -> subprocess.Popen:
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITES],
            cwd=tmp_path,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert writer.stdout.readline() == b"writing\n"
        return writer

    killed, living = start(), start()
    (tmp_path / ".a.duckdb.lock").touch()
    killed.kill()
    killed.wait()
    assert len(list(tmp_path.iterdir())) == 7
    with renamed_into_place(tmp_path / "a.duckdb") as temporary:
        temporary.write_text("mine")
    assert len(list(tmp_path.iterdir())) == 5
    living.communicate()
    assert living.returncode == 0
    assert sorted(f.name for f in tmp_path.iterdir()) == [".a.duckdb.lock", "a.duckdb"]
    assert (tmp_path / "a.duckdb").read_text() == "half of it"


def test_a_file_where_a_folder_is_wanted_is_one_line(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match=r"file/x\.parquet: cannot be written"):
        REJECTED.write(REJECTED.empty(), tmp_path / "file" / "x.parquet")
