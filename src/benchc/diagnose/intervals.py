"""Intervals of every figure and paired differences between models, from one bootstrap.

Never computes a figure: it hands pairs to `figures` and stores what comes back.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import duckdb
import numpy as np
import polars as pl
from tqdm import tqdm

from benchc.diagnose.bootstrap import interval, simultaneous, weights
from benchc.diagnose.contrasts import contrasts, is_contrasted
from benchc.diagnose.figures import Block, Label, figures, joined
from benchc.diagnose.statements import fetch, insert, statement

#: The crossings in which models are compared.
COMPARED = ("all", "severity", "corruption_group", "corruption", "benchmark")
#: The measures by which models are ranked: their differences have intervals that hold together.
RANKED = ("clean_accuracy", "accuracy_change", "ras")
_LABELS = {"measure": pl.String, "part": pl.String, "tau": pl.Float64}


@dataclass(frozen=True)
class Compared:
    """One model's figures in the crossings that are compared, and the pairs they are over."""

    known: np.ndarray
    blocks: dict[str, Block]


def add_intervals(connection: duckdb.DuckDBPyConnection, seed: int, draws: int) -> None:
    """Fill `intervals`, `differences` and `simultaneous_differences`, scope by scope.

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
        _add_differences(connection, scope, drawn, compared)


def _add_differences(
    connection: duckdb.DuckDBPyConnection,
    scope: str,
    drawn: np.ndarray,
    compared: Mapping[str, Compared],
) -> None:
    apart = {}
    for model, other in combinations(compared, 2):
        one, two = _on_common_pairs(connection, scope, drawn, model, other, compared)
        minus = {name: replace(one[name], draws=one[name].draws - two[name].draws) for name in one}
        found = [_differences(block) for block in minus.values()]
        _insert(connection, "differences", found, scope=scope, model=model, other=other)
        apart[model, other] = minus["all"].only(lambda label: label.measure in RANKED)
    if apart:
        _insert(connection, "simultaneous_differences", [_together(apart)], scope=scope)


def _add_model(
    connection: duckdb.DuckDBPyConnection, scope: str, model: str, drawn: np.ndarray
) -> Compared:
    """Insert the intervals of one model; return what models are compared by."""
    pairs = _pairs(connection, scope, model)
    known = pairs["pair"].to_numpy().astype(np.int32)
    blocks_of_cells = figures(pairs, drawn)
    del pairs  # `figures` lets go of most of it
    rows, kept = [], []
    for block in blocks_of_cells:
        rows.append(_intervals(block))
        kept.append(_needed(block))
    blocks = joined(kept)
    rows += [_intervals(block) for block in contrasts(blocks)]
    _insert(connection, "intervals", rows, scope=scope, model=model)
    return Compared(known, {name: _whole(blocks[name]) for name in COMPARED if name in blocks})


def _on_common_pairs(
    connection: duckdb.DuckDBPyConnection,
    scope: str,
    drawn: np.ndarray,
    model: str,
    other: str,
    compared: Mapping[str, Compared],
) -> list[dict[str, Block]]:
    """Return the figures of two models over the pairs for which both have a RAS."""
    one, two = compared[model], compared[other]
    if np.array_equal(one.known, two.known):
        return [one.blocks, two.blocks]
    common = pl.col("pair").is_in(np.intersect1d(one.known, two.known))
    return [
        joined(figures(_pairs(connection, scope, key).filter(common), drawn, COMPARED, parts=False))
        for key in (model, other)
    ]


def _pairs(connection: duckdb.DuckDBPyConnection, scope: str, model: str) -> pl.DataFrame:
    values = {"scope": scope, "model": model}
    pairs = fetch(connection, statement("bootstrap_pairs"), values)
    # Texts would point into what DuckDB handed over, and keep all of it in memory.
    return pairs.cast({pl.String: pl.Categorical})


def _needed(block: Block) -> Block:
    """Return the figures that a model is compared by, or contrasted with itself."""
    crossing = block.cells["crossing"][0]

    def is_needed(label: Label) -> bool:
        compared = crossing in COMPARED and label.part is None
        return compared or is_contrasted(crossing, label)

    return block.only(is_needed)


def _whole(block: Block) -> Block:
    return block.only(lambda label: label.part is None)


def _differences(block: Block) -> pl.DataFrame:
    """Return rows of `differences` but for scope and models."""
    return _intervals(block).drop("part", "tau").rename({"value": "difference"})


def _together(apart: Mapping[tuple[str, str], Block]) -> pl.DataFrame:
    """Return rows of `simultaneous_differences` but for the scope, each two models both ways."""
    blocks = list(apart.values())
    draws = np.concatenate([block.draws for block in blocks], axis=1)
    enough = np.concatenate([block.n_images for block in blocks], axis=1) >= 2
    low, high = simultaneous(np.where(enough[..., None], draws, np.nan))
    models = pl.DataFrame(list(apart), schema=["model", "other"], orient="row")
    ends = {"difference": draws[..., 0], "low": low, "high": high}
    rows = pl.concat(
        models.with_columns(
            pl.lit(label.measure).alias("measure"),
            *(pl.Series(name, x[place], nan_to_null=True) for name, x in ends.items()),
        )
        for place, label in enumerate(blocks[0].labels)
    )
    turned = rows.select(
        pl.col("other").alias("model"),
        pl.col("model").alias("other"),
        "measure",
        -pl.col("difference"),
        (-pl.col("high")).alias("low"),
        (-pl.col("low")).alias("high"),
    )
    return pl.concat([rows, turned]).sort("model", "other", "measure")


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
