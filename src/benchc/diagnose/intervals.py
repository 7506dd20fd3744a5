"""Intervals of every figure and paired differences between models, from one bootstrap.

`figures` computes them from pairs; this module stores what comes back.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import duckdb
import numpy as np
import polars as pl
import scipy.stats
from tqdm import tqdm

from benchc.diagnose.bootstrap import (
    FEWEST,
    centred_interval,
    interval,
    ratio,
    simultaneous,
    student_interval,
    weights,
)
from benchc.diagnose.contrasts import contrasts, is_contrasted
from benchc.diagnose.figures import Block, Label, figures, joined
from benchc.diagnose.losses import is_asked, loss_contrasts, losses
from benchc.diagnose.mild import mild_rises
from benchc.diagnose.own_columns import own_figures
from benchc.diagnose.refits import Clean, with_flattening, with_temperatures
from benchc.diagnose.scope_differences import AT_MIX, at_selection_mix, scope_differences
from benchc.diagnose.statistics_schema import TEMPERATURES
from benchc.diagnose.sums import NULLS, Refits
from benchc.diagnose.temperature import MATCHED_CONFIDENCE, Temperature
from benchc.sql import fetch, insert, statement

#: The crossings in which models are compared.
COMPARED = ("all", "severity", "corruption_group", "corruption", "benchmark")
#: The measures by which models are ranked: their differences have intervals that hold together.
RANKED = ("clean_accuracy", "accuracy_change", "ras", "ras_matched", "ras_fitted")
_LABELS = {"measure": pl.String, "part": pl.String, "tau": pl.Float64}


@dataclass(frozen=True)
class Compared:
    """One model's figures in the crossings that are compared, and the pairs they are over.

    `at_mix` is the pool's at the selection's mix of benchmarks; None in other scopes.
    """

    known: np.ndarray
    blocks: dict[str, Block]
    at_mix: Block | None = None


def add_intervals(connection: duckdb.DuckDBPyConnection, seed: int, draws: int) -> None:
    """Fill `intervals`, `differences` and `simultaneous_differences`, scope by scope.

    Args:
        connection: holds every table that `sql/bootstrap_pairs.sql` reads.
        seed: key of the draws.
        draws: how many.
    """
    connection.execute(
        f"CREATE TEMP TABLE IF NOT EXISTS clusters AS {statement('diagnose/clusters')}"
    )
    scopes = connection.sql(
        """SELECT scope, list(DISTINCT model ORDER BY model) FROM scopes GROUP BY ALL ORDER BY 1"""
    ).fetchall()
    ((n_images,),) = connection.sql("SELECT count(DISTINCT image) FROM clusters").fetchall()
    drawn = weights(n_images, seed, draws)
    whole: dict[str, dict[str, Block]] = {}
    for scope, models in scopes:
        compared = {
            model: _add_model(connection, scope, model, drawn, seed)
            for model in tqdm(models, desc=f"intervals, {scope}", disable=None)
        }
        _add_differences(connection, scope, drawn, compared)
        for model, found in compared.items():
            mine = whole.setdefault(model, {})
            if "all" in found.blocks:
                mine[scope] = found.blocks["all"]
            if found.at_mix is not None:
                mine[AT_MIX] = found.at_mix
    for model, by_scope in sorted(whole.items()):
        for other, apart in scope_differences(by_scope).items():
            keys = {"scope": "selection", "model": model, "other": model, "other_scope": other}
            _insert(connection, "differences", [_differences(apart)], **keys)


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
        keys = {"scope": scope, "model": model, "other": other, "other_scope": scope}
        _insert(connection, "differences", found, **keys)
        apart[model, other] = minus["all"].only(lambda label: label.measure in RANKED)
    if apart:
        _insert(connection, "simultaneous_differences", [_together(apart)], scope=scope)
        _insert(connection, "rank_correlations", _rank_correlations(compared), scope=scope)


def _rank_correlations(compared: Mapping[str, Compared]) -> list[pl.DataFrame]:
    """Return rows of `rank_correlations` but for the scope; none with fewer than three models."""
    draws: dict[str, list[np.ndarray]] = {}
    for found in compared.values():
        whole = found.blocks.get("all")
        for place, label in enumerate(whole.labels if whole else ()):
            draws.setdefault(label.measure, []).append(whole.draws[place, 0])  # type: ignore[union-attr]
    if len(draws.get("clean_accuracy", ())) < 3:
        return []
    ranks = {name: scipy.stats.rankdata(np.stack(draws[name]), axis=0) for name in RANKED}
    rows = []
    for measure in RANKED[1:]:
        one, two = (x - x.mean(axis=0) for x in (ranks["clean_accuracy"], ranks[measure]))
        size = np.sqrt((one**2).sum(axis=0) * (two**2).sum(axis=0))
        correlation = ratio((one * two).sum(axis=0), size)
        unknown = np.isnan(np.stack(draws[measure])).any(axis=0)
        correlation[unknown] = np.nan
        low, high = interval(correlation[None])
        rows.append({"measure": measure, "n_models": len(one), "value": correlation[0],
                     "low": low[0], "high": high[0]})  # fmt: skip
    return [pl.DataFrame(rows).with_columns(pl.col(pl.Float64).fill_nan(None))]


def _add_model(
    connection: duckdb.DuckDBPyConnection,
    scope: str,
    model: str,
    drawn: np.ndarray,
    seed: int,
) -> Compared:
    """Insert the intervals of one model; return what models are compared by."""
    pairs, refits = _pairs(connection, scope, model, drawn, store=True)
    known = pairs["pair"].to_numpy().astype(np.int32)
    blocks_of_cells = figures(pairs, drawn, refits=refits)
    mild = mild_rises(pairs, drawn, seed)
    at_mix = at_selection_mix(connection, model, pairs, drawn) if scope == "pool" else None
    for name, block in own_figures(pairs, fetch(connection, "FROM own_columns"), drawn, refits):
        own = _intervals(block).drop("part", "tau", "crossing").rename({"benchmark": "own_value"})
        keys = {"scope": scope, "model": model, "own_column": name}
        _insert(connection, "own_column_intervals", [own], **keys)
    del pairs  # `figures` lets go of most of it
    rows, kept = [], []
    for block in blocks_of_cells:
        rows.append(_intervals(block))
        kept.append(_needed(block))
    blocks = joined(kept)
    rows += [_intervals(block) for block in (*contrasts(blocks), *filter(None, [mild]))]
    _insert(connection, "intervals", rows, scope=scope, model=model)
    _insert(connection, "losses", list(losses(blocks)), scope=scope, model=model)
    _insert(connection, "loss_contrasts", list(loss_contrasts(blocks)), scope=scope, model=model)
    compared = {name: _whole(blocks[name]) for name in COMPARED if name in blocks}
    return Compared(known, compared, at_mix)


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
    found = []
    for key in (model, other):
        pairs, refits = _pairs(connection, scope, key, drawn)
        blocks = figures(pairs.filter(common), drawn, COMPARED, refits=refits, parts=False)
        found.append(joined(blocks))
    return found


def _pairs(
    connection: duckdb.DuckDBPyConnection,
    scope: str,
    model: str,
    drawn: np.ndarray,
    *,
    store: bool = False,
) -> tuple[pl.DataFrame, Refits]:
    """Return one model's pairs, and what is found anew in each draw; `store` its temperatures."""
    values = {"scope": scope, "model": model}
    pairs = fetch(connection, statement("diagnose/bootstrap_pairs"), values)
    # Texts would point into what DuckDB handed over, and keep all of it in memory.
    pairs = pairs.cast({pl.String: pl.Categorical})
    if pairs.is_empty():
        return pairs.drop("corrupted_logits"), {}
    clean = Clean.of(fetch(connection, statement("diagnose/clean_logits"), values))
    temperatures = clean.temperatures(drawn, MATCHED_CONFIDENCE)
    if store:
        _insert_temperatures(connection, values, clean, temperatures)
    pairs, moves = with_temperatures(pairs, clean, temperatures)
    factors = fetch(connection, "FROM flattening WHERE scope = $scope AND model = $model", values)
    pairs, factor_moves = with_flattening(pairs, clean, factors, drawn)
    return pairs.drop("corrupted_logits"), {**moves, **factor_moves}


def _insert_temperatures(
    connection: duckdb.DuckDBPyConnection,
    values: Mapping[str, str],
    clean: Clean,
    temperatures: Mapping[str, Temperature],
) -> None:
    rows = []
    for kind, found in temperatures.items():
        ends = (found.log[0], *(end[0] for end in interval(found.log[None])))
        value, low, high = (
            None if found.reason else clean.temperature * float(np.exp(end)) for end in ends
        )
        rows.append(
            {**values, "kind": kind, "n_samples": len(clean.sample_ids), "temperature": value,
             "low": low, "high": high, "reason": found.reason}
        )  # fmt: skip
    insert(connection, "temperatures", TEMPERATURES.from_rows(rows))


def _needed(block: Block) -> Block:
    """Return the figures that a model is compared by, or contrasted with itself."""
    crossing = block.cells["crossing"][0]

    def is_needed(label: Label) -> bool:
        compared = crossing in COMPARED and label.part is None
        return compared or is_contrasted(crossing, label) or is_asked(crossing, label)

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
    enough = np.concatenate([block.n_images for block in blocks], axis=1) >= FEWEST
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


#: Means over a part of the pairs, whose number of pictures is itself drawn.
_OVER_A_PART = frozenset({"mean_ras", *(f"{kind}_ras" for kind in NULLS), "swapped_ras"})


def ends(block: Block) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and upper ends of the intervals of figures, each (figures, cells).

    Percentiles of the draws, but: means over a part of the pairs, which may come from few
    pictures, reach as far as Student's t; what is debiased lies around its estimate; the expected
    calibration error, whose draws lie above it, has none; and nothing has one that comes from
    fewer than ten pictures (docs/method.md).
    """
    if block.ends is not None:
        low, high = block.ends
    else:
        low, high = interval(block.draws)
        for row, label in enumerate(block.labels):
            if label.measure in _OVER_A_PART or label.measure.startswith("ras_above_"):
                low[row], high[row] = student_interval(block.draws[row], block.n_images[row])
            elif label.measure.endswith("squared_calibration_error"):
                low[row], high[row] = centred_interval(block.draws[row])
            elif label.measure.endswith("_ece"):
                low[row] = high[row] = np.nan
    enough = block.n_images >= FEWEST
    return np.where(enough, low, np.nan), np.where(enough, high, np.nan)


def _intervals(block: Block) -> pl.DataFrame:
    """Return rows of `intervals` but for scope and model."""
    labels = pl.DataFrame(block.labels, schema=_LABELS, orient="row")
    low, high = ends(block)
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
