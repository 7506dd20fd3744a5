"""How much a sample's answers move over the severities: Gini impurity of answer trajectories.

Never looks at the right answer: a trajectory is what the model chose, right or wrong.
"""

from collections.abc import Sequence

import polars as pl

from benchc.errors import BadInput

_PAIR = ["model", "sample_id"]
_CONDITION = [*_PAIR, "corruption", "severity"]


def impurity(predictions: Sequence[pl.DataFrame], severities: Sequence[int]) -> pl.DataFrame:
    """Return each sample's mean impurity over selector models and corruptions.

    A trajectory is the top-1 option of one (model, sample, corruption) at severity 0, the clean
    picture that all corruptions share, and at the configured severities: m points. Its Gini
    impurity is 1 - sum_k (n_k / m)^2 (diagnosis protocol, section 2; m = 6 at five severities).
    A trajectory with a point missing or without a top-1 is incomplete and left out of the mean.

    The sums are of integers and divided once, so the mean does not depend on the order of rows.

    Args:
        predictions: `predictions` rows of the selectors; other severities and the `blank`
            control are ignored.
        severities: the configured severities, each in 1..5.

    Returns:
        sample_id; impurity, 0..1, NULL without a complete trajectory; trajectories, the number of
        complete ones. One row for each sample that occurs, sorted by sample_id.

    Raises:
        BadInput: a model, sample and condition that occurs more than once.
    """
    rows = pl.concat(frame.select(*_CONDITION, "top1") for frame in predictions)
    twice = rows.filter(pl.struct(_CONDITION).is_duplicated()).sort(_CONDITION)
    if twice.height:
        raise BadInput(f"predictions: {twice.select(_CONDITION).row(0, named=True)} occurs twice")
    clean = rows.filter(pl.col("corruption") == "clean").select(*_PAIR, "top1")
    corrupted = rows.filter(pl.col("severity").is_in(list(severities)))
    trajectory = [*_PAIR, "corruption"]
    walks = corrupted.select(trajectory).unique()
    points = pl.concat(
        [
            corrupted.select(*trajectory, "top1"),
            walks.join(clean, on=_PAIR).select(*trajectory, "top1"),
        ]
    ).drop_nulls("top1")
    length = 1 + len(set(severities))
    complete = (
        points.group_by(*trajectory, "top1")
        .len("n")
        .group_by(trajectory)
        .agg(pl.col("n").cast(pl.Int64).sum(), squares=(pl.col("n").cast(pl.Int64) ** 2).sum())
        .filter(pl.col("n") == length)
    )
    whole = pl.col("trajectories") * length**2
    return (
        complete.group_by("sample_id")
        .agg(pl.col("squares").sum(), pl.len().cast(pl.Int64).alias("trajectories"))
        .join(rows.select("sample_id").unique(), on="sample_id", how="right")
        .select(
            "sample_id",
            impurity=(whole - pl.col("squares")) / whole,
            trajectories=pl.col("trajectories").fill_null(0),
        )
        .sort("sample_id")
    )
