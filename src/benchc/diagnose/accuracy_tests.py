"""Paired tests of the accuracy of two models: signs flipped picture by picture, and McNemar's.

Answers about one picture hang together, whatever the question and the corruption. Under the null
hypothesis that two models are alike, their names could be swapped for any picture as a whole: so a
flip turns the sign of all differences of a picture at once.
"""

from collections.abc import Mapping
from itertools import combinations, product
from math import comb

import duckdb
import numpy as np
import polars as pl

from benchc import keyed
from benchc.sql import fetch, insert, statement

#: The smallest p-value that flips drawn at random can give is 1 / (1 + FLIPS).
FLIPS = 9_999
#: Up to so many pictures that differ, all flips are tried.
_ALL_FLIPS = 13
_AT_ONCE = 500


def add_accuracy_tests(connection: duckdb.DuckDBPyConnection, seed: int) -> None:
    """Fill `accuracy_tests`, for every two models of a scope, on clean and on corrupted pictures.

    Args:
        connection: holds `pairs`, `scores`, `scopes` and `clusters`.
        seed: key of the flips; all comparisons share them.
    """
    scopes = connection.sql(
        "SELECT scope, list(DISTINCT model ORDER BY model) FROM scopes GROUP BY ALL ORDER BY 1"
    ).fetchall()
    for scope, models in scopes:
        answers = {model: _answers(connection, scope, model) for model in models}
        for condition in ("clean", "corrupted"):
            rows = compared({model: answers[model][condition] for model in models}, seed, condition)
            if rows.height:
                named = rows.with_columns(scope=pl.lit(scope), condition=pl.lit(condition))
                insert(connection, "accuracy_tests", named)


def compared(answers: Mapping[str, pl.DataFrame], seed: int, condition: str) -> pl.DataFrame:
    """Return rows of `accuracy_tests` but for scope and condition.

    Args:
        answers: per model image (number of the picture) and correct (1, 0 or None), the same
            questions in the same order for all.
        seed: key of the flips.
        condition: McNemar's test is for `clean` only, and for pictures with one question each.
    """
    rows = []
    by_image = []
    for model, other in combinations(answers, 2):
        one, two = answers[model], answers[other]
        both = (one["correct"].is_not_null() & two["correct"].is_not_null()).to_numpy()
        image = one["image"].to_numpy()[both]
        if not image.size:
            continue
        apart = (one["correct"] - two["correct"]).to_numpy()[both].astype(np.int64)
        pictures, place, counts = np.unique(image, return_inverse=True, return_counts=True)
        sums = np.bincount(place, apart, pictures.size).astype(np.int64)
        row = {
            "model": model,
            "other": other,
            "n_answers": int(apart.size),
            "n_images": int(pictures.size),
            "n_differing": int(np.count_nonzero(sums)),
            "difference": float(apart.mean()),
        }
        rows.append({**row, "test": "sign_flip"})
        by_image.append(np.zeros(int(image.max()) + 1))
        by_image[-1][pictures] = sums
        if condition == "clean" and counts.max() == 1:
            rows.append({**row, "test": "mcnemar", "p_value": mcnemar(apart)})
    if not rows:
        return pl.DataFrame()
    flipped = iter(sign_flip(by_image, seed))
    for row in rows:
        row.setdefault("p_value", None)
        if row["test"] == "sign_flip":
            row["p_value"] = next(flipped)
    frame = pl.DataFrame(rows)
    adjusted = [
        part.with_columns(p_holm=pl.Series(holm(part["p_value"].to_numpy())))
        for part in frame.partition_by("test", maintain_order=True)
    ]
    return pl.concat(adjusted).sort("model", "other", "test")


def sign_flip(by_image: list[np.ndarray], seed: int) -> list[float]:
    """Return two-sided p-values of the sums of some rows of whole numbers, one per picture.

    All flips are tried where few pictures differ; else `FLIPS` are drawn, the same for all rows,
    and the row itself counts as one.

    Args:
        by_image: per comparison the sum of the differences of each picture, indexed by its number.
        seed: key of the flips.
    """
    n_images = max(sums.size for sums in by_image)
    sums = np.stack([np.pad(row, (0, n_images - row.size)) for row in by_image], axis=1)
    observed = np.abs(sums.sum(axis=0))
    extreme = np.zeros(sums.shape[1], dtype=np.int64)
    random = keyed.generator("sign flips", seed)
    for first in range(0, FLIPS, _AT_ONCE):
        size = min(_AT_ONCE, FLIPS - first)
        signs = 2.0 * random.integers(0, 2, (size, n_images)) - 1.0
        # Whole numbers far below 2**53: exact in any order of addition.
        extreme += (np.abs(signs @ sums) >= observed).sum(axis=0)
    p_values = (1 + extreme) / (1 + FLIPS)
    for column in range(sums.shape[1]):
        differing = sums[sums[:, column] != 0, column]
        if differing.size <= _ALL_FLIPS:
            signs = np.array(list(product((-1.0, 1.0), repeat=differing.size)))
            p_values[column] = np.mean(np.abs(signs @ differing) >= observed[column])
    return [float(p) for p in p_values]


def mcnemar(apart: np.ndarray) -> float:
    """Return the exact two-sided p-value of McNemar's test.

    Args:
        apart: (n,) 1 where one model alone is right, -1 where the other alone is, else 0.
    """
    one, other = int((apart == 1).sum()), int((apart == -1).sum())
    differing = one + other
    tail = sum(comb(differing, k) for k in range(min(one, other) + 1))
    return min(1.0, 2 * tail / 2**differing)


def holm(p_values: np.ndarray) -> np.ndarray:
    """Return p-values adjusted for their number by Holm's method, in the same order."""
    order = np.argsort(p_values, kind="stable")
    scaled = p_values[order] * np.arange(p_values.size, 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(scaled))
    return adjusted


def _answers(
    connection: duckdb.DuckDBPyConnection, scope: str, model: str
) -> dict[str, pl.DataFrame]:
    found = fetch(connection, statement("diagnose/correctness"), {"scope": scope, "model": model})
    return {
        condition: found.filter(condition=condition).select("image", "correct")
        for condition in ("clean", "corrupted")
    }
