"""Rows for a trainer, made when they are asked for, so that pictures are read one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from datasets import Dataset
from datasets.table import InMemoryTable


class _Transform:
    """Makes rows from their numbers."""

    def __init__(self, row: Callable[[int], dict[str, Any]]):
        self._row = row

    def __call__(self, batch: dict[str, list[int]]) -> dict[str, list[Any]]:
        made = [self._row(number) for number in batch["number"]]
        return {name: [row[name] for row in made] for name in made[0]}

    def __getstate__(self) -> None:
        # A data set hashes its transform by pickling it, and with it all models behind the rows.
        return None


def lazy_rows(count: int, row: Callable[[int], dict[str, Any]]) -> Dataset:
    """Return a data set of `count` rows, each made by a function of its number."""
    # Given a fingerprint, the data set does not hash itself, which fails with some pyarrow.
    numbers = Dataset(InMemoryTable.from_pydict({"number": list(range(count))}), fingerprint="rows")
    return numbers.with_transform(_Transform(row))
