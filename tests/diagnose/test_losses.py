"""`losses` and `loss_contrasts`: what is asked by what corrupts."""

import numpy as np
import polars as pl
import pytest

from benchc.diagnose.bootstrap import simultaneous, weights
from benchc.diagnose.figures import Block, Label
from benchc.diagnose.losses import ASKED, loss_contrasts, losses
from benchc.diagnose.query import query

_CELLS = [("read", "blur"), ("read", "noise"), ("count", "blur"), ("count", "noise")]


def _block(changes: dict[tuple[str, str], float], pictures: int = 60) -> Block:
    """Accuracy changes of cells: each picture loses or keeps its answer by a keyed coin."""
    random = np.random.default_rng(4)
    drawn = weights(pictures, 5, 400)
    lost = -np.stack([1.0 * (random.random(pictures) < -changes[cell]) for cell in _CELLS])
    draws = lost @ drawn / pictures
    cells = pl.DataFrame(_CELLS, schema=["benchmark", "corruption_group"], orient="row")
    counts = np.full((1, len(_CELLS)), pictures)
    named = cells.with_columns(crossing=pl.lit(ASKED[0]))
    return Block(named, [Label("accuracy_change")], draws[None], counts, counts)


@pytest.mark.parametrize("hurt", _CELLS)
def test_a_planted_loss_is_marked_and_told_apart(hurt):
    blocks = {ASKED[0]: _block({cell: -0.6 if cell == hurt else -0.05 for cell in _CELLS})}
    (found,) = losses(blocks)
    marked = found.filter(mark="loss").select("benchmark", "corruption_group").rows()
    assert hurt in marked
    (apart,) = loss_contrasts(blocks)
    # Cells that share neither benchmark nor group are not held against each other.
    assert apart.height == 4
    told = apart.filter(pl.col("high") < 0).select("benchmark", "corruption_group").rows()
    assert told == [hurt, hurt]
    assert (apart["difference"] <= 0).all()


def test_where_nothing_is_planted_nothing_is_told_apart():
    blocks = {ASKED[0]: _block(dict.fromkeys(_CELLS, -0.3))}
    (apart,) = loss_contrasts(blocks)
    assert not (apart["high"] < 0).any()


def test_intervals_together_are_wider_than_each_alone():
    (found,) = losses({ASKED[0]: _block(dict.fromkeys(_CELLS, -0.3))})
    alone = found["high"] - found["low"]
    assert (found["together_high"] - found["together_low"] > alone).all()


def test_few_pictures_have_counts_and_no_figures_and_widen_nothing():
    block = _block(dict.fromkeys(_CELLS, -0.3))
    block.n_images[0, 2] = 9
    block.draws[0, 2] *= 100
    (found,) = losses({ASKED[0]: block})
    few = found.filter(benchmark="count", corruption_group="blur").row(0, named=True)
    assert few["n_images"] == 9
    assert {few[name] for name in ("value", "low", "high", "together_low", "mark")} == {None}
    low, _ = simultaneous(np.delete(block.draws[0], 2, axis=0), np.full(3, 60))
    assert found["together_low"].drop_nulls().to_list() == pytest.approx(low.tolist())
    (apart,) = loss_contrasts({ASKED[0]: block})
    assert apart.height == 2


@pytest.mark.parametrize("pictures", [3, 9])
def test_a_pool_of_few_pictures_has_no_contrast(pictures):
    assert list(loss_contrasts({ASKED[0]: _block(dict.fromkeys(_CELLS, -0.3), pictures)})) == []


def test_the_database_holds_the_values_of_measures(synthetic_database):
    found = query(
        synthetic_database,
        """SELECT count(*) AS n, max(abs(losses.value - measures.accuracy_change)) AS apart
           FROM losses JOIN measures USING (scope, model, crossing, benchmark, corruption_group)
           WHERE losses.category IS NOT DISTINCT FROM measures.category
             AND measure = 'accuracy_change' AND n_images >= 10""",
    )
    assert found["n"][0] > 0
    assert found["apart"][0] < 1e-9
    few = "SELECT count(*) AS n FROM losses WHERE n_images < 10 AND value IS NOT NULL"
    assert query(synthetic_database, few)["n"][0] == 0
