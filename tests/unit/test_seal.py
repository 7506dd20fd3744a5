"""A table is whole to the last bit, or it is refused by name."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc import tables
from benchc.errors import BadInput
from benchc.tables import SAMPLES, SHIFTS, seal
from benchc.tables.contract import Table

ROW = {
    "model": "m", "sample_id": "b/1", "corruption": "fog", "severity": 1,
    "uncertainty_shift": 0.1, "misalignment_shift": 0.1, "ras": -0.1,
    "clean_correct": 1, "correct": 0, "state": "cw",
}  # fmt: skip


@pytest.fixture
def shifts(tmp_path):
    path = tmp_path / "shifts.parquet"
    rows = [{**ROW, "sample_id": f"b/{i}", "ras": -i / 10} for i in range(3)]
    SHIFTS.write(SHIFTS.from_rows(rows), path, {"benchc.ran_on": "cpu"})
    return path


def test_each_bit_counts_in_data_metadata_and_checksum(shifts):
    whole = bytearray(shifts.read_bytes())
    assert seal.damage(shifts) is None
    with shifts.open("r+b") as file:
        for place, byte in enumerate(whole):
            for bit in range(8):
                file.seek(place)
                file.write(bytes([byte ^ 1 << bit]))
                file.flush()
                assert seal.damage(shifts), (place, bit)
            file.seek(place)
            file.write(bytes([byte]))
    assert seal.damage(shifts) is None


@given(st.data())
def test_a_flipped_bit_is_one_line_with_the_name_of_the_file(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("flips") / "shifts.parquet"
    SHIFTS.write(SHIFTS.from_rows([ROW]), path)
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(content)
    columns = data.draw(st.sampled_from([None, ["ras"]]))
    with pytest.raises(BadInput) as refusal:
        SHIFTS.read(path, columns)
    said = str(refusal.value)
    assert said.startswith(f"{path}: ")
    assert "delete it and run again" in said
    assert "\n" not in said


@pytest.mark.parametrize("cut", [1, 8, 100])
def test_a_longer_or_shorter_file_is_refused(shifts, cut):
    whole = shifts.read_bytes()
    for content in (whole[:-cut], whole + b"x" * cut, whole[:-cut] + b"PAR1", b""):
        shifts.write_bytes(content)
        with pytest.raises(BadInput, match=r"shifts\.parquet: "):
            SHIFTS.read(shifts)


def test_a_table_that_was_not_sealed_is_refused(shifts):
    pl.read_parquet(shifts).write_parquet(shifts)
    with pytest.raises(BadInput, match="holds no checksum"):
        SHIFTS.read(shifts)


def sealed_as(table: Table, frame: pl.DataFrame, path) -> None:
    """Write what `Table.write` would refuse."""
    frame.write_parquet(path, metadata={seal.SEAL: seal.UNSEALED})
    seal.seal(path)


NUMBERS = [c for c in SHIFTS.columns if c.range is not None]


@pytest.mark.parametrize("column", NUMBERS, ids=lambda c: c.name)
@pytest.mark.parametrize("end", [0, 1])
def test_a_number_out_of_its_range_is_neither_written_nor_read(tmp_path, column, end):
    beyond = column.range[end] + (1 if end else -1)
    frame = SHIFTS.from_rows([{**ROW, column.name: beyond}])
    says = f"column {column.name} holds"
    with pytest.raises(BadInput, match=says):
        SHIFTS.write(frame, tmp_path / "written.parquet")
    sealed_as(SHIFTS, frame, tmp_path / "read.parquet")
    with pytest.raises(BadInput, match=rf"read\.parquet: {says}"):
        SHIFTS.read(tmp_path / "read.parquet")
    within = SHIFTS.from_rows([{**ROW, column.name: column.range[end]}])
    SHIFTS.write(within, tmp_path / "within.parquet")
    assert SHIFTS.read(tmp_path / "within.parquet").height == 1


def test_each_share_and_shift_has_a_range():
    declared = [getattr(tables, name) for name in tables.__all__]
    for table in (t for t in declared if isinstance(t, Table)):
        for column in table.columns:
            if column.dtype in (tables.REAL, tables.INTEGER):
                assert column.range is not None, f"{table.name}.{column.name}"


def test_probabilities_in_lists_have_a_range(tmp_path):
    row = {
        "model": "m", "sample_id": "s", "corruption": "clean", "severity": 0, "scoring": "letter",
        "temperature": 1.0, "logits": [0.0, 800.0], "p": [0.5, 1.5], "top1": 1, "is_tie": False,
        "option_mass": 1.0, "status": "ok",
    }  # fmt: skip
    with pytest.raises(BadInput, match=r"column p holds 1\.5"):
        tables.PREDICTIONS.conform(tables.PREDICTIONS.from_rows([row]))


def test_a_table_says_what_it_was_made_from(tmp_path, monkeypatch):
    path = tmp_path / "samples.parquet"
    SAMPLES.write(SAMPLES.empty(), path)
    assert tables.metadata(path).get(seal.IDENTITY) is None
    monkeypatch.setattr("benchc.tables.contract._marks", {})
    tables.mark("0123456789abcdef")
    SAMPLES.write(SAMPLES.empty(), path, {"benchc.other": "x" * 200})
    assert tables.metadata(path).get(seal.IDENTITY) == tables.marked() == "0123456789abcdef"
    assert seal.damage(path) is None
    assert tables.metadata(tmp_path / "absent") == {}
