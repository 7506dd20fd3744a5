"""Intervals of every figure and paired differences between models, from one bootstrap.

Never computes a figure: it hands pairs to `figures` and stores what comes back.
"""

from dataclasses import dataclass, replace
from itertools import combinations

import duckdb
import numpy as np
import polars as pl
from tqdm import tqdm

from benchc.diagnose.bootstrap import interval, weights
from benchc.diagnose.contrasts import contrasts, is_contrasted
from benchc.diagnose.figures import Block, figures, joined
from benchc.diagnose.statements import fetch, insert, statement

#: The crossings in which models are compared.
COMPARED = ("all", "severity", "corruption_group", "corruption", "benchmark")
_LABELS = {"measure": pl.String, "part": pl.String, "tau": pl.Float64}


@dataclass(frozen=True)
class Compared:
    """One model's figures in the crossings that are compared, and which pairs they are over."""

    known: np.ndarray
    blocks: dict[str, Block]


def add_intervals(connection: duckdb.DuckDBPyConnection, seed: int, draws: int) -> None:
    """Fill `intervals` and `differences`, scope by scope.

    Args:
        connection: holds every table that `sql/bootstrap_pairs.sql` reads.
        seed: key of the draws.
        draws: how many.
    """
    connection.execute(f"CREATE TEMP TABLE clusters AS {statement('clusters')}")
    scopes = connection.sql(
        """SELECT   scope, list(DISTINCT model ORDER BY model), max(n_images)
           FROM     scopes
           JOIN     (SELECT scope, count(*) AS n_images FROM clusters GROUP BY scope) USING (scope)
           GROUP BY scope ORDER BY scope"""
    )
    for scope, models, n_images in scopes.fetchall():
        drawn = weights(n_images, seed, scope, draws)
        compared = {
            model: _add_model(connection, scope, model, drawn)
            for model in tqdm(models, desc=f"intervals, {scope}", disable=None)
        }
        for model, other in combinations(models, 2):
            two = _on_common_pairs(connection, scope, drawn, model, other, compared)
            found = [_differences(*(blocks[name] for blocks in two)) for name in two[0]]
            _insert(connection, "differences", found, scope=scope, model=model, other=other)


def _add_model(
    connection: duckdb.DuckDBPyConnection, scope: str, model: str, drawn: np.ndarray
) -> Compared:
    """Insert the intervals of one model; return what models are compared by."""
    pairs = _pairs(connection, scope, model)
    known = pairs["ras"].is_not_null()
    rows, kept = [], []
    for block in figures(pairs.filter(known), drawn):
        rows.append(_intervals(block))
        kept.append(block.only(lambda label: label.part is None or is_contrasted(label)))
    blocks = joined(kept)
    rows += [_intervals(block) for block in contrasts(blocks)]
    _insert(connection, "intervals", rows, scope=scope, model=model)
    return Compared(
        known.to_numpy(), {name: _whole(blocks[name]) for name in COMPARED if name in blocks}
    )


def _on_common_pairs(
    connection: duckdb.DuckDBPyConnection,
    scope: str,
    drawn: np.ndarray,
    model: str,
    other: str,
    compared: dict[str, Compared],
) -> list[dict[str, Block]]:
    """Return the figures of two models over the pairs for which both have a RAS."""
    one, two = compared[model], compared[other]
    if np.array_equal(one.known, two.known):
        return [one.blocks, two.blocks]
    both = pl.Series(one.known & two.known)
    return [
        joined(figures(_pairs(connection, scope, key).filter(both), drawn, COMPARED, parts=False))
        for key in (model, other)
    ]


def _pairs(connection: duckdb.DuckDBPyConnection, scope: str, model: str) -> pl.DataFrame:
    return fetch(connection, statement("bootstrap_pairs"), {"scope": scope, "model": model})


def _whole(block: Block) -> Block:
    return block.only(lambda label: label.part is None)


def _differences(block: Block, other: Block) -> pl.DataFrame:
    """Return rows of `differences` but for scope and models."""
    rows = _intervals(replace(block, draws=block.draws - other.draws))
    return rows.drop("part", "tau").rename({"value": "difference"})


def _intervals(block: Block) -> pl.DataFrame:
    """Return rows of `intervals` but for scope and model."""
    labels = pl.DataFrame(block.labels, schema=_LABELS, orient="row")
    enough = block.n_images >= 2
    low, high = (np.where(enough, end, np.nan) for end in interval(block.draws))
    numbers = {"value": block.draws[..., 0], "low": low, "high": high}
    return labels.join(block.cells, how="cross", maintain_order="left_right").with_columns(
        pl.Series("n_pairs", block.n_pairs.reshape(-1)),
        pl.Series("n_images", block.n_images.reshape(-1)),
        *(pl.Series(name, x.reshape(-1), nan_to_null=True) for name, x in numbers.items()),
    )


def _insert(
    connection: duckdb.DuckDBPyConnection, table: str, rows: list[pl.DataFrame], **keys: str
) -> None:
    if rows:
        named = [pl.lit(value).alias(name) for name, value in keys.items()]
        insert(connection, table, pl.concat(rows, how="diagonal").with_columns(named))
