"""Content hashes: equal for equal tables however stored, different for any difference."""

import math

import duckdb
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.errors import BadInput
from benchc.tables.contents import content_hashes

FRAME = pl.DataFrame(
    {
        "key": ["a", "b", "c"],
        "value": [0.1, None, 1e-300],
        "many": [[0.1, None], [], None],
        "data": [b"\x00\xff", b"", None],
    },
    schema_overrides={"many": pl.List(pl.Float64), "data": pl.Binary},
)


@pytest.fixture
def hash_of(tmp_path):
    def of(frame: pl.DataFrame, **options) -> str:
        frame.write_parquet(tmp_path / "t.parquet", **options)
        ((name, content),) = content_hashes(tmp_path)
        assert name == "t.parquet"
        return content

    return of


def test_storage_and_row_order_do_not_count(hash_of):
    assert hash_of(FRAME) == hash_of(FRAME.reverse(), compression="gzip", row_group_size=1)


@pytest.mark.parametrize(
    "changed",
    [
        FRAME.head(2),
        pl.concat([FRAME, FRAME.head(1)]),
        FRAME.rename({"value": "values"}),
        FRAME.with_columns(pl.col("value").cast(pl.Float32)),
        FRAME.with_columns(pl.col("value").fill_null(0.0)),
        FRAME.with_columns(data=pl.lit(b"\x00\xfe")),
        FRAME.with_columns(many=pl.lit([0.1], dtype=pl.List(pl.Float64))),
        FRAME.clear(),
    ],
)
def test_any_difference_counts(hash_of, changed):
    assert hash_of(changed) != hash_of(FRAME)


def test_the_columns_of_an_empty_table_count(hash_of):
    assert hash_of(FRAME.clear()) != hash_of(FRAME.clear().drop("value"))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_last_bit_of_a_number_counts(tmp_path_factory, value):
    folder = tmp_path_factory.mktemp("bits")
    other = math.nextafter(value, math.inf)
    for name, number in (("a", value), ("b", other)):
        pl.DataFrame({"x": [number]}).write_parquet(folder / f"{name}.parquet")
    (_, first), (_, second) = content_hashes(folder)
    assert first != second


def test_a_database_holds_what_its_tables_hold(tmp_path):
    FRAME.write_parquet(tmp_path / "t.parquet")
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        connection.execute(f"CREATE TABLE \"a t\" AS FROM '{tmp_path / 't.parquet'}'")
    found = dict(content_hashes(tmp_path))
    assert found["x.duckdb:a t"] == found["t.parquet"]


def test_what_cannot_be_read_is_named(tmp_path):
    with pytest.raises(BadInput, match="holds no table"):
        list(content_hashes(tmp_path))
    with pytest.raises(BadInput, match="no such folder"):
        list(content_hashes(tmp_path / "none"))
    (tmp_path / "torn.parquet").write_bytes(b"PAR1")
    with pytest.raises(BadInput, match=r"torn\.parquet: cannot be read"):
        list(content_hashes(tmp_path))
