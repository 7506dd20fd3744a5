"""A benchmark that is another one than before is said to be, and how to hold it."""

import duckdb
import pytest

from benchc.select.moved import moved


@pytest.fixture
def kept(synthetic_database):
    with duckdb.connect(str(synthetic_database), read_only=True) as connection:
        found = connection.execute("SELECT sample_id FROM selection WHERE kept").fetchall()
    return [sample for (sample,) in found]


def test_the_same_samples_in_another_order_are_the_same_benchmark(kept, synthetic_database):
    assert len(kept) > 3
    assert moved(reversed(kept), synthetic_database) is None


def test_what_left_and_what_came_in_is_counted(kept, synthetic_database):
    line = moved([*kept[3:], "a", "b"], synthetic_database)
    assert f"3 of the {len(kept)} samples in {synthetic_database} left it and 2 came in" in line
    assert "`selectors: [007, 1e5]`" in line
    assert "\n" not in line


@pytest.mark.parametrize("content", [None, b"", b"no database", b"x" * 9000])
def test_a_database_that_is_none_says_nothing(tmp_path, content):
    path = tmp_path / "bench-c.duckdb"
    if content is not None:
        path.write_bytes(content)
    assert moved(["a"], path) is None


def test_a_database_of_another_kind_says_nothing(tmp_path):
    duckdb.connect(str(tmp_path / "d.duckdb")).execute("CREATE TABLE t (x INTEGER)").close()
    assert moved(["a"], tmp_path / "d.duckdb") is None
