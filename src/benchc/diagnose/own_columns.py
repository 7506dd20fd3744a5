"""Own columns of the sources: what samples have there, and the measures by each value.

Nothing else of a run depends on them.
"""

import json
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from benchc.config.checked import nearest
from benchc.diagnose.figures import Block, figures
from benchc.diagnose.sums import Refits
from benchc.errors import BadInput
from benchc.tables.columns import OWN_COLUMN, OWN_VALUE, SAMPLE

MOST_VALUES = 30
"""Of a column that is crossed: more are no classes, and figures of each come from few pictures."""
#: The value takes the place of the benchmark: it is as fixed for a sample.
_CROSSINGS = ("benchmark", "benchmark_by_corruption_group")


def own_values(samples: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return what samples have in the named own columns, one row for each value that is there.

    Args:
        samples: The pool.
        names: Keys of the JSON objects in `extra`.

    Returns:
        sample_id, own_column and own_value, by name and sample; numbers and truths as JSON writes
        them. Empty texts and null have no row.

    Raises:
        BadInput: no sample has such a column; a value is a list or map; it has more than
            `MOST_VALUES` values, or none that two samples share.
    """
    extras = [
        (sample, json.loads(extra) if extra else {})
        for sample, extra in samples.select("sample_id", "extra").sort("sample_id").rows()
    ]
    there = sorted({key for _, extra in extras for key in extra})
    rows = []
    for name in names:
        if name not in there:
            instead = nearest(name, there) if there else "; the sources have none of their own"
            raise BadInput(f"diagnose.columns: no source has a column {name!r}{instead}")
        found = [
            {SAMPLE.name: sample, OWN_COLUMN.name: name, OWN_VALUE.name: text}
            for sample, extra in extras
            if (text := _text(extra.get(name), name, sample))
        ]
        _refuse_no_classes(name, [row[OWN_VALUE.name] for row in found])
        rows += found
    columns = (SAMPLE, OWN_COLUMN, OWN_VALUE)
    return pl.DataFrame(rows, schema={column.name: pl.String for column in columns})


def own_figures(
    pairs: pl.DataFrame, own: pl.DataFrame, drawn: np.ndarray, refits: Refits
) -> Iterator[tuple[str, Block]]:
    """Yield the measures by the values of each own column, and by those and corruption group.

    Args:
        pairs: As `figures` takes them.
        own: Rows of `own_columns`.
        drawn: How often each picture occurs in each draw, (pictures, 1 + B).
        refits: See `figures`.

    Yields:
        The column's name, and a block whose cells have `own_value`.
    """
    pairs = pairs.with_columns(pl.col("sample_id").cast(pl.String)).drop("benchmark")
    for (name,), values in own.group_by("own_column", maintain_order=True):
        named = values.select("sample_id", benchmark="own_value")
        mine = pairs.join(named, on="sample_id", maintain_order="left")
        if mine.height:
            for block in figures(mine, drawn, _CROSSINGS, refits=refits, parts=False):
                yield str(name), block


def _text(value: object, name: str, sample: str) -> str:
    if isinstance(value, list | dict):
        raise BadInput(
            f"diagnose.columns: {name!r} of sample {sample} is {json.dumps(value)[:60]}, a list or "
            "map; only columns of single values can be crossed"
        )
    if value is None:
        return ""
    return value.strip() if isinstance(value, str) else json.dumps(value)


def _refuse_no_classes(name: str, values: Sequence[str]) -> None:
    different = len(set(values))
    if different > MOST_VALUES:
        raise BadInput(
            f"diagnose.columns: {name!r} has {different} values, more than {MOST_VALUES}; put them "
            "into fewer classes in the source"
        )
    if different == len(values):
        raise BadInput(
            f"diagnose.columns: no two samples share a value of {name!r}, so that it makes no "
            "classes"
        )
