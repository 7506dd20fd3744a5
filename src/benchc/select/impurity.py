"""How much a sample's answers move over the severities: Gini impurity of answer trajectories.

The right answer plays no part: a trajectory is what the model chose, right or wrong.
"""

from collections.abc import Sequence

import polars as pl

from benchc.errors import BadInput

_PAIR = ["model", "sample_id"]
_CONDITION = [*_PAIR, "corruption", "severity"]


def trajectories(predictions: Sequence[pl.DataFrame], severities: Sequence[int]) -> pl.DataFrame:
    """Return the complete answer trajectories of some models.

    A trajectory is the top-1 option of one (model, sample, corruption) at severity 0, the clean
    picture that all corruptions share, and at the configured severities: m points. One with a
    point missing or without a top-1 is incomplete and left out.

    Args:
        predictions: `predictions` rows of the models; other severities and the `blank` control are
            ignored.
        severities: the configured severities, each in 1..5.

    Returns:
        model, sample_id, corruption; squares, sum_k n_k^2 over the options chosen n_k times.

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
    return (
        points.group_by(*trajectory, "top1")
        .len("n")
        .group_by(trajectory)
        .agg(pl.col("n").cast(pl.Int64).sum(), squares=(pl.col("n").cast(pl.Int64) ** 2).sum())
        .filter(pl.col("n") == points_of(severities))
        .drop("n")
    )


def impurity(
    samples: pl.DataFrame, complete: pl.DataFrame, severities: Sequence[int]
) -> pl.DataFrame:
    """Return each sample's mean impurity over models and corruptions.

    The Gini impurity of a trajectory of m points is 1 - sum_k (n_k / m)^2 (docs/method.md;
    m = 6 at five severities). With K options it is at most `largest(K, m)`: divided by
    that, questions with few options are judged like those with many.

    The sums are of integers and divided once, so the mean does not depend on the order of rows.

    Args:
        samples: `samples` rows: sample_id and options.
        complete: sample_id and squares of complete trajectories, as of `trajectories`; or sums of
            them, with a column `trajectories` of how many each is the sum of.
        severities: the configured severities.

    Returns:
        sample_id; impurity and normalised_impurity, 0..1, NULL without a complete trajectory;
        trajectories, the number of complete ones. One row per sample, sorted by sample_id.
    """
    if "trajectories" not in complete.columns:
        complete = complete.with_columns(trajectories=pl.lit(1, pl.Int64))
    m = points_of(severities)
    whole = pl.col("trajectories") * m**2
    # What m^2 is at most above sum_k n_k^2 among K options.
    most = {options: m**2 - _spread(options, m) for options in range(2, 27)}
    bound = pl.col("options").list.len().replace_strict(most, return_dtype=pl.Int64)
    return (
        complete.group_by("sample_id")
        .agg(pl.col("squares", "trajectories").sum())
        .join(samples.select("sample_id", "options"), on="sample_id", how="right")
        .select(
            "sample_id",
            impurity=(whole - pl.col("squares")) / whole,
            normalised_impurity=(whole - pl.col("squares")) / (pl.col("trajectories") * bound),
            trajectories=pl.col("trajectories").fill_null(0),
        )
        .sort("sample_id")
    )


def points_of(severities: Sequence[int]) -> int:
    """Return m, the points of a trajectory: the severities and the clean picture."""
    return 1 + len(set(severities))


def largest(options: int, points: int) -> float:
    """Return the largest Gini impurity of `points` answers among `options`: spread evenly.

    At six points .5000, .6667, .7222, .7778 for K = 2 to 5, and .8333 from K = 6 on.
    """
    return 1 - _spread(options, points) / points**2


def _spread(options: int, points: int) -> int:
    """Return sum_k n_k^2 of answers spread as evenly as may be: the smallest there is."""
    each, more = divmod(points, options)
    return more * (each + 1) ** 2 + (options - more) * each**2
