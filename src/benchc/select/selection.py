"""The selection: which samples of the pool are kept, which are the control, and why.

No sample is dropped silently: the table has one row for each sample of the pool.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from benchc import keyed, tables
from benchc.errors import BadInput
from benchc.select.diversity import Near, nearness, walk
from benchc.select.impurity import impurity, trajectories

IMPURITY_ABOVE = 0.22
COSINE_LIMIT = 0.95


@dataclass(frozen=True)
class Rule:
    """How samples are chosen.

    Attributes:
        impurity: which impurity is asked: `normalised` by its largest value, or `raw`.
        impurity_above: samples whose mean impurity is not above this are left out, 0..1.
        image_cosine_limit: cosine from which two pictures are near.
        text_cosine_limit: cosine from which two texts are near; both must be.
        stratify: `benchmark` gives each benchmark its share of the pool; None does not.
        cap: keep at most this many; None sets no bound.
    """

    impurity: Literal["normalised", "raw"] = "normalised"
    impurity_above: float = IMPURITY_ABOVE
    image_cosine_limit: float = COSINE_LIMIT
    text_cosine_limit: float = COSINE_LIMIT
    stratify: Literal["benchmark"] | None = "benchmark"
    cap: int | None = None

    @property
    def column(self) -> str:
        """The column of the impurity that decides."""
        return "normalised_impurity" if self.impurity == "normalised" else "impurity"


DEFAULT = Rule()


@dataclass(frozen=True)
class Pool:
    """What does not depend on whose answers choose.

    Attributes:
        samples: `samples` rows, sorted by sample_id: at least sample_id, benchmark, options.
        image: float64 (n, d), unit rows in the order of `samples`.
        text: float64 (n, e), unit rows in the same order.
    """

    samples: pl.DataFrame
    image: np.ndarray
    text: np.ndarray

    def near(self, rule: Rule) -> Near:
        """Return what says which samples are near duplicates."""
        limits = rule.image_cosine_limit, rule.text_cosine_limit
        return nearness(self.image, self.text, *limits)

    @classmethod
    def of(cls, samples: pl.DataFrame, embeddings: pl.DataFrame) -> "Pool":
        """Return a pool of `samples` and `embeddings` rows.

        Raises:
            BadInput: see `unit_vectors`.
        """
        ordered = samples.sort("sample_id")
        return cls(ordered, *unit_vectors(ordered, embeddings))


@dataclass(frozen=True)
class Selection:
    """What was chosen.

    Attributes:
        samples: A `selection` table, sorted by sample_id.
        quotas: A `quotas` table, one row per benchmark; empty without strata.
    """

    samples: pl.DataFrame
    quotas: pl.DataFrame


def select(
    pool: Pool,
    predictions: Sequence[pl.DataFrame],
    rule: Rule = DEFAULT,
    severities: Sequence[int] = (1, 2, 3, 4, 5),
    seed: int = 0,
) -> Selection:
    """Choose samples whose answers move under corruption and that differ from one another.

    Without strata, samples with an impurity above the threshold are walked from the highest down,
    ties by sample_id; each is kept unless it is a near duplicate of one kept before. With strata,
    the number kept that way is dealt to the benchmarks by their shares of the pool
    (docs/method.md): the walk then keeps as many of each, asks for no threshold, but
    never takes an impurity of 0. The control is a random subset of the same size of those samples
    of the pool that have a complete trajectory; it may overlap.

    Args:
        pool: The candidates.
        predictions: `predictions` rows of each selector, over the pool.
        rule: How to choose.
        severities: the configured severities.
        seed: key of the control's draw.

    Raises:
        BadInput: predictions of samples outside the pool or given twice.
    """
    unknown = pl.concat(f.select("sample_id") for f in predictions).join(
        pool.samples, on="sample_id", how="anti"
    )
    if unknown.height:
        sample = unknown.sort("sample_id")["sample_id"][0]
        raise BadInput(f"predictions: {sample} is no sample of the pool")
    found = impurity(pool.samples, trajectories(predictions, severities), severities)
    chosen, quotas = choose(pool.samples, found, rule, pool.near(rule))
    size = int(chosen["kept"].sum())
    drawn = control(found.drop_nulls("impurity")["sample_id"].to_list(), size, seed)
    return Selection(
        tables.SELECTION.conform(chosen.with_columns(control=pl.col("sample_id").is_in(drawn))),
        tables.QUOTAS.conform(quotas),
    )


def choose(
    samples: pl.DataFrame, found: pl.DataFrame, rule: Rule, near: Near
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return who is kept and why, and what each benchmark was dealt.

    Args:
        samples: The pool's samples, sorted by sample_id.
        found: rows of `impurity` for each of them, in the same order.
        rule: How to choose.
        near: Which of them are near duplicates, by place.

    Returns:
        `selection` rows but for the control; `quotas` rows, none without strata.
    """
    frame = found.with_columns(samples["benchmark"]).with_row_index("place")
    above = pl.col(rule.column) > rule.impurity_above
    chosen = _walked(frame.filter(above), rule, near, None)
    refused = "impurity_not_above"
    quotas = tables.QUOTAS.empty()
    if rule.stratify is not None:
        dealt = deal(int(chosen["kept"].sum()), samples["benchmark"].value_counts())
        chosen = _walked(frame.filter(pl.col(rule.column) > 0), rule, near, dealt)
        refused = "impurity_zero"
        quotas = _filled(frame, chosen, dealt)
    without = pl.when(pl.col("impurity").is_null()).then(pl.lit("incomplete"))
    rows = frame.drop("place", "benchmark").join(chosen, on="sample_id", how="left")
    return (
        rows.with_columns(
            pl.col("kept").fill_null(False),
            reason=pl.coalesce("reason", without.otherwise(pl.lit(refused))),
        ),
        quotas,
    )


def deal(size: int, counts: pl.DataFrame) -> dict[str, int]:
    """Deal `size` places to benchmarks by their shares of the pool, the largest remainder first.

    Args:
        size: How many places there are.
        counts: benchmark, count: samples of the pool.
    """
    whole = int(counts["count"].sum())
    exact = {name: divmod(size * count, whole) for name, count in counts.iter_rows()}
    dealt = {name: each for name, (each, _) in exact.items()}
    by_remainder = sorted(exact, key=lambda name: (-exact[name][1], name))
    for name in by_remainder[: size - sum(dealt.values())]:
        dealt[name] += 1
    return dealt


def control(sample_ids: Sequence[str], size: int, seed: int) -> list[str]:
    """Return a random subset: the `size` ids whose keyed digests are smallest.

    Each id's digest depends on the seed and on itself alone, so a sample added to the pool
    displaces one other at most.
    """
    return sorted(sample_ids, key=lambda sample: keyed.digest("control", seed, sample))[:size]


def _walked(
    candidates: pl.DataFrame, rule: Rule, near: Near, dealt: Mapping[str, int] | None
) -> pl.DataFrame:
    """Walk the candidates; return sample_id, rank, kept and reason of each."""
    ordered = candidates.sort([rule.column, "sample_id"], descending=[True, False])
    order = ordered["place"].to_numpy()
    if dealt is None:
        strata, quotas = None, None if rule.cap is None else [rule.cap]
    else:
        names = list(dealt)
        strata = np.array([names.index(b) for b in ordered["benchmark"]], dtype=np.int64)
        quotas = [dealt[name] for name in names]
    owners = walk(near, order, strata, quotas)
    ids = ordered["sample_id"].to_list()
    full = "cap" if dealt is None else "quota"
    reasons = [
        full if owner < 0 else "accepted" if owner == i else f"near_duplicate_of:{ids[owner]}"
        for i, owner in enumerate(owners.tolist())
    ]
    walked = np.cumsum(owners >= 0)
    return pl.DataFrame(
        {
            "sample_id": ids,
            "rank": [int(n) if o >= 0 else None for n, o in zip(walked, owners, strict=True)],
            "kept": [reason == "accepted" for reason in reasons],
            "reason": reasons,
        },
        schema={"sample_id": pl.String, "rank": pl.Int64, "kept": pl.Boolean, "reason": pl.String},
    )


def _filled(frame: pl.DataFrame, chosen: pl.DataFrame, dealt: Mapping[str, int]) -> pl.DataFrame:
    """Return rows of `quotas`: what each benchmark was dealt, and how much of it was filled."""
    kept = pl.col("kept").fill_null(False).sum().cast(pl.Int64)
    return (
        frame.join(chosen, on="sample_id", how="left")
        .group_by("benchmark")
        .agg(
            pool=pl.len().cast(pl.Int64),
            movable=(pl.col("impurity") > 0).sum().cast(pl.Int64),
            kept=kept,
        )
        .with_columns(quota=pl.col("benchmark").replace_strict(dealt, return_dtype=pl.Int64))
    )


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
