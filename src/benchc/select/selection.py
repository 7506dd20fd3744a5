"""The selection: which samples of the pool are kept, which are the control, and why.

Never drops a sample silently: the table has one row for each sample of the pool.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from benchc import keyed, tables
from benchc.errors import BadInput
from benchc.select.diversity import walk
from benchc.select.impurity import impurity

IMPURITY_ABOVE = 0.10
COSINE_LIMIT = 0.95


def select(
    samples: pl.DataFrame,
    predictions: Sequence[pl.DataFrame],
    embeddings: pl.DataFrame,
    *,
    impurity_above: float = IMPURITY_ABOVE,
    image_cosine_limit: float = COSINE_LIMIT,
    text_cosine_limit: float = COSINE_LIMIT,
    cap: int | None = None,
    severities: Sequence[int] = (1, 2, 3, 4, 5),
    seed: int = 0,
) -> pl.DataFrame:
    """Choose samples whose answers move under corruption and that differ from one another.

    Samples with an impurity above the threshold are walked from the highest down, ties by
    sample_id; each is kept unless it is a near duplicate of one kept before (diagnosis protocol,
    section 2). The control is a random subset of the same size of those samples of the pool that
    have a complete trajectory; it may overlap.

    Args:
        samples: `samples` rows: the pool.
        predictions: `predictions` rows of each selector, over the pool.
        embeddings: `embeddings` rows of the pool.
        impurity_above: samples whose mean impurity is not above this are left out, 0..1.
        image_cosine_limit: cosine from which two pictures are near.
        text_cosine_limit: cosine from which two texts are near; both must be.
        cap: keep at most this many; None sets no bound.
        severities: the configured severities.
        seed: key of the control's draw.

    Returns:
        A `selection` table, sorted by sample_id.

    Raises:
        BadInput: predictions of samples outside the pool or given twice; a sample without
            embeddings, or embeddings that are no unit vectors of one length.
    """
    pool = samples.select("sample_id").sort("sample_id")
    found = impurity(predictions, severities)
    unknown = found.join(pool, on="sample_id", how="anti")
    if unknown.height:
        raise BadInput(f"predictions: {unknown['sample_id'][0]} is no sample of the pool")
    frame = pool.join(found, on="sample_id", how="left").with_columns(
        pl.col("trajectories").fill_null(0)
    )
    image, text = unit_vectors(pool, embeddings)
    walked = (
        frame.with_row_index("place")
        .filter(pl.col("impurity") > impurity_above)
        .sort(["impurity", "sample_id"], descending=[True, False])
    )
    order = walked["place"].to_numpy()
    owners, n_walked = walk(image[order], text[order], image_cosine_limit, text_cosine_limit, cap)
    ids = walked["sample_id"].to_list()
    reasons = [
        "cap" if i >= n_walked else "accepted" if owner == i else f"near_duplicate_of:{ids[owner]}"
        for i, owner in enumerate(owners.tolist())
    ]
    walk_table = pl.DataFrame(
        {
            "sample_id": ids,
            "rank": [i + 1 if i < n_walked else None for i in range(len(ids))],
            "reason": reasons,
        },
        schema={"sample_id": pl.String, "rank": pl.Int64, "reason": pl.String},
    )
    without = pl.when(pl.col("impurity").is_null()).then(pl.lit("incomplete"))
    chosen = frame.join(walk_table, on="sample_id", how="left").with_columns(
        reason=pl.coalesce("reason", without.otherwise(pl.lit("impurity_not_above")))
    )
    kept = pl.col("reason") == "accepted"
    size = chosen.filter(kept).height
    drawn = control(
        found.filter(pl.col("impurity").is_not_null())["sample_id"].to_list(), size, seed
    )
    return tables.SELECTION.conform(
        chosen.with_columns(kept=kept, control=pl.col("sample_id").is_in(drawn))
    )


def control(sample_ids: Sequence[str], size: int, seed: int) -> list[str]:
    """Return a random subset: the `size` ids whose keyed digests are smallest.

    Each id's digest depends on the seed and on itself alone, so a sample added to the pool
    displaces one other at most.
    """
    return sorted(sample_ids, key=lambda sample: keyed.digest("control", seed, sample))[:size]


def unit_vectors(pool: pl.DataFrame, embeddings: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return the pool's picture and text embeddings, float64 (n, d), in the order of the pool.

    Raises:
        BadInput: a sample without embeddings, or embeddings that are no unit vectors of one length.
    """
    rows = pool.select("sample_id").join(
        embeddings, on="sample_id", how="left", maintain_order="left"
    )
    lost = rows.filter(pl.col("image").is_null() | pl.col("text").is_null())
    if lost.height:
        raise BadInput(f"embeddings: {lost['sample_id'][0]} has none; run the embed stage again")
    return _matrix(rows, "image"), _matrix(rows, "text")


def _matrix(rows: pl.DataFrame, column: str) -> np.ndarray:
    lengths = rows[column].list.len()
    if lengths.n_unique() > 1:
        raise BadInput(
            f"embeddings: {column} vectors of several lengths; run the embed stage again"
        )
    matrix = rows[column].explode().to_numpy().reshape(rows.height, -1)
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    odd = np.flatnonzero(~(np.abs(norms[:, 0] - 1) < 1e-3))
    if odd.size:
        raise BadInput(
            f"embeddings: {column} of {rows['sample_id'][int(odd[0])]} is no unit vector"
        )
    return matrix / norms
