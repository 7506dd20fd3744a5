"""The flattening null: what RAS would be if a corruption only made answers less (or more) sure.

One factor on a model's clean logits flips no answer.
"""

import duckdb
import numpy as np
import polars as pl

from benchc.sql import fetch, insert, registered, statement

#: The factor is looked for between 2**-20 and 2**20; 45 halvings leave 1e-12 of its logarithm.
_LOG2_BOUND = 20.0
_HALVINGS = 45


def add_nulls(connection: duckdb.DuckDBPyConnection) -> None:
    """Fill `flattening` and `nulls` for every model in the scopes of `sql/null_scopes.sql`.

    Flattening is matched over all pairs of a cell, and once more over those that stay right: what
    flattening would do to kept answers is no fair null where it is matched on lost ones too.
    """
    connection.execute(
        f"CREATE TEMP TABLE IF NOT EXISTS clusters AS {statement('diagnose/clusters')}"
    )
    connection.execute(f"CREATE TEMP TABLE null_scopes AS {statement('diagnose/null_scopes')}")
    for scope, model in connection.sql("FROM null_scopes ORDER BY ALL").fetchall():
        values = {"scope": scope, "model": model}
        clean = fetch(connection, statement("diagnose/clean_logits"), values)
        pairs = fetch(connection, statement("diagnose/corrupted_uncertainty"), values)
        if clean.is_empty() or pairs.is_empty():
            continue
        for kind, matched in (("flattening", pairs), ("flattening_kept", kept(pairs))):
            if matched.is_empty():
                continue
            found, flattened = flatten(clean, matched)
            named = [pl.lit(value).alias(name) for name, value in {**values, "kind": kind}.items()]
            insert(connection, "flattening", found.with_columns(named))
            with registered(connection, "flattened", flattened.with_columns(named)):
                connection.execute(
                    f"INSERT INTO nulls BY NAME {statement('diagnose/flattening_null')}"
                )
    connection.execute(f"INSERT INTO nulls BY NAME {statement('diagnose/blank_null')}")


def kept(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs whose answer is right on both pictures."""
    return pairs.filter(pl.col("state") == "cc")


def flatten(clean: pl.DataFrame, pairs: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Flatten one model's clean logits to the mean entropy of each corrupted cell.

    Args:
        clean: (sample_id, logits divided by the temperature) of the scope, one row per sample.
        pairs: (sample_id, corruption, severity, uncertainty) of the corrupted pictures.

    Returns:
        Rows of `flattening` (corruption, severity, n_pairs, factor, target, reached) and, for every
        pair of a cell whose factor exists, (sample_id, corruption, severity, uncertainty,
        confidence) of the flattened logits.
    """
    cells = pairs.select("corruption", "severity").unique().sort("corruption", "severity")
    grid = cells.join(clean.select("sample_id"), how="cross").join(
        pairs, on=["sample_id", "corruption", "severity"], how="left", maintain_order="left"
    )
    wanted = grid["uncertainty"].to_numpy().reshape(cells.height, clean.height)
    known = ~np.isnan(wanted)
    n_pairs = known.sum(axis=1)
    target = np.where(known, wanted, 0.0).sum(axis=1) / np.maximum(n_pairs, 1)
    logits = padded(clean["logits"])
    factor = matching_factors(logits, known, target)
    entropy, confidence = entropy_and_confidence(logits[:, None, :] * factor[:, None])
    reached = np.where(known, entropy, 0.0).sum(axis=1) / np.maximum(n_pairs, 1)
    found = cells.with_columns(
        n_pairs=pl.Series(n_pairs, dtype=pl.Int64),
        factor=pl.Series(factor, nan_to_null=True),
        target=pl.Series(target),
        reached=pl.Series(reached, nan_to_null=True),
    )
    flattened = grid.select("sample_id", "corruption", "severity").with_columns(
        uncertainty=pl.Series(entropy.reshape(-1)), confidence=pl.Series(confidence.reshape(-1))
    )
    return found, flattened.filter((known & ~np.isnan(factor)[:, None]).reshape(-1))


def padded(logits: pl.Series) -> np.ndarray:
    """Return lists of logits as float64 (K, n), -inf where a question has fewer options."""
    longest = int(logits.list.len().max())  # type: ignore[arg-type]
    columns = [logits.list.get(k, null_on_oob=True).fill_null(-np.inf) for k in range(longest)]
    return np.stack([column.to_numpy() for column in columns])


def entropy_and_confidence(logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return normalised entropy and largest probability of the softmax over the first axis.

    Args:
        logits: float64 (K, ...), -inf where a question has fewer than K options.
    """
    options = np.isfinite(logits).sum(axis=0)
    shifted = np.maximum(logits - logits.max(axis=0), -1e4)  # e^-1e4 is 0, and 0 * -1e4 is no NaN
    mass = np.exp(shifted)
    total = mass.sum(axis=0)
    entropy = np.log(total) - (mass * shifted).sum(axis=0) / total
    return np.clip(entropy / np.log(np.maximum(options, 2)), 0.0, 1.0), 1.0 / total


def matching_factors(logits: np.ndarray, known: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return, for each cell, t > 0 such that softmax(t * logits) has its mean entropy.

    Mean entropy falls in t, from 1 at 0 to that of ties: found by bisection of log2 t.

    Args:
        logits: float64 (K, n), -inf where a question has fewer than K options.
        known: bool (cells, n): the questions that a cell's mean is taken over.
        target: float64 (cells,): the mean normalised entropies, 0..1.

    Returns:
        float64 (cells,): NaN where no factor between 2**-20 and 2**20 reaches the target.
    """
    low = np.full(target.size, -_LOG2_BOUND)
    high = np.full(target.size, _LOG2_BOUND)
    counts = np.maximum(known.sum(axis=1), 1)

    def mean_entropy(log2_factor: np.ndarray) -> np.ndarray:
        entropy, _ = entropy_and_confidence(logits[:, None, :] * 2.0 ** log2_factor[:, None])
        return np.where(known, entropy, 0.0).sum(axis=1) / counts

    reachable = known.any(axis=1) & (mean_entropy(high) <= target) & (target <= mean_entropy(low))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = mean_entropy(middle) > target
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.where(reachable, 2.0 ** ((low + high) / 2), np.nan)
