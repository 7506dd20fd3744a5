"""What selection, control and pool differ by, for one model, in the same draws.

The three share pictures, so that two intervals held side by side say little of their difference.
"""

from collections.abc import Mapping

import duckdb
import numpy as np
import polars as pl

from benchc.diagnose.figures import Block, reweighted
from benchc.sql import fetch, statement

#: The pool as it would be if it asked of each benchmark as often as the selection does.
AT_MIX = "pool_at_selection_mix"
_SELECTION = "selection"


def scope_differences(whole: Mapping[str, Block]) -> dict[str, Block]:
    """Return the selection's figures minus those of every other scope, by the other's name.

    Args:
        whole: one model's figures over all of its pairs, by scope. A difference is taken over the
            measures that both have; its pairs are those of both, its pictures the fewer of the two.
    """
    if _SELECTION not in whole:
        return {}
    own = whole[_SELECTION]
    return {
        scope: _minus(own, other) for scope, other in sorted(whole.items()) if scope != _SELECTION
    }


def _minus(one: Block, other: Block) -> Block:
    known = set(other.labels)
    one = one.only(lambda label: label in known)
    return Block(
        one.cells,
        one.labels,
        one.draws - other.draws,
        one.n_pairs + other.n_pairs,
        np.minimum(one.n_images, other.n_images),
    )


def at_selection_mix(
    connection: duckdb.DuckDBPyConnection, model: str, pairs: pl.DataFrame, drawn: np.ndarray
) -> Block | None:
    """Return the figures of the pool, each benchmark's pairs as often as in the selection.

    What is left of a gap to the selection is no matter of which benchmarks it asks. RAS at a
    temperature of the scope's own is left out.

    Args:
        connection: holds `pairs` and `clusters`.
        model: whose.
        pairs: its rows of `sql/bootstrap_pairs.sql` over the pool.
        drawn: how often each picture stands in each draw, (pictures, 1 + B).

    Returns:
        One cell; None where the selection has no pair with a RAS.
    """
    counts = fetch(connection, statement("diagnose/selection_mix"), {"model": model})
    if counts.is_empty():
        return None
    names = counts["benchmark"].unique().sort()
    size = np.zeros((len(names), drawn.shape[0]))
    place = names.search_sorted(counts["benchmark"])
    size[place.to_numpy(), counts["image"].to_numpy()] = counts["n_pairs"].to_numpy()
    return reweighted(pairs, drawn, dict(zip(names, size @ drawn, strict=True)))
