"""What is found anew in each draw of the bootstrap: temperatures, and the factors of flattening.

Held fixed, they would make intervals too short: a draw's own mean entropy moves, and with it the
factor that matches it. Each moves by one Newton step, and the figures follow to first order.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from benchc.diagnose.bootstrap import exact, ratio
from benchc.diagnose.nulls import padded
from benchc.diagnose.sums import TEMPERED, Refits
from benchc.diagnose.temperature import (
    Answers,
    Temperature,
    fitted,
    matched,
    newton_step,
    ras_and_slope,
    ras_at,
    scores_at,
)


@dataclass(frozen=True)
class Clean:
    """One model's answers on the clean pictures of a scope, each question once.

    Attributes:
        sample_ids: sorted.
        answers: what it said, at its own temperature.
        images: the picture of each, a row of the bootstrap's weights.
        temperature: the one that its logits were divided by.
    """

    sample_ids: pl.Series
    answers: Answers
    images: np.ndarray
    temperature: float

    @classmethod
    def of(cls, rows: pl.DataFrame) -> "Clean":
        """Return rows of `sql/clean_logits.sql`."""
        truth = rows["answer"].to_numpy().astype(np.intp)
        return cls(
            rows["sample_id"],
            Answers(padded(rows["logits"]), truth),
            rows["image"].to_numpy(),
            float(rows["temperature"][0]),
        )

    def temperatures(self, weights: np.ndarray, confidence: float) -> dict[str, Temperature]:
        """Return the matched and the fitted temperature, in each draw."""
        drawn = weights[self.images]
        return {
            "matched": matched(self.answers, drawn, confidence),
            "fitted": fitted(self.answers, drawn),
        }


def with_temperatures(
    pairs: pl.DataFrame, clean: Clean, temperatures: dict[str, Temperature]
) -> tuple[pl.DataFrame, dict[str, np.ndarray]]:
    """Add RAS at each temperature and its slope to pairs; return also how it moves in the draws.

    Args:
        pairs: rows of `sql/bootstrap_pairs.sql`.
        clean: the clean answers of the same scope.
        temperatures: one for each of `TEMPERED`; one without a solution is left out.
    """
    place = _places(pairs["sample_id"], clean.sample_ids)
    before = Answers(clean.answers.logits[:, place], clean.answers.truth[place])
    after = Answers(_of_length(padded(pairs["corrupted_logits"]), before.logits), before.truth)
    moves = {}
    for kind in TEMPERED:
        found = temperatures[kind]
        if found.reason:
            continue
        ras, slope = ras_at(before, after, float(np.exp(found.log[0])))
        pairs = pairs.with_columns(pl.Series(f"{kind}_ras", ras), pl.Series(f"{kind}_slope", slope))
        moves[kind] = (found.log - found.log[0])[None, :]
    return pairs, moves


def with_flattening(
    pairs: pl.DataFrame, clean: Clean, factors: pl.DataFrame, weights: np.ndarray
) -> tuple[pl.DataFrame, Refits]:
    """Add the slopes of flattened RAS to pairs; return how the factors move in the draws.

    Args:
        pairs: rows of `sql/bootstrap_pairs.sql`.
        clean: the clean answers of the same scope.
        factors: rows of `flattening`: kind, corruption, severity, factor.
        weights: how often each picture stands in each draw, (pictures, 1 + B).
    """
    conditions = pairs.select("corruption", "severity").unique().sort("corruption", "severity")
    on = ["corruption", "severity"]
    numbered = pairs.select(on).join(
        conditions.with_row_index("condition"), on=on, how="left", maintain_order="left"
    )
    pairs = pairs.with_columns(numbered["condition"].cast(pl.Int64))
    condition = numbered["condition"].to_numpy()
    place = _places(pairs["sample_id"], clean.sample_ids)
    image = pairs["image"].to_numpy()
    entropy = pairs["corrupted_uncertainty"].to_numpy()
    moves: dict[str, np.ndarray] = {}
    for (kind,), rows in sorted(factors.group_by("kind")):
        factor = conditions.cast({"corruption": pl.String}).join(
            rows.select(*on, "factor"), on=on, how="left", maintain_order="left"
        )["factor"]
        known = pairs[f"{kind}_ras"].is_not_null().to_numpy()
        slopes = np.zeros(pairs.height)
        move = np.zeros((conditions.height, weights.shape[1]))
        for number, value in enumerate(factor):
            mine = np.flatnonzero(known & (condition == number))
            if value is None or not mine.size:
                continue
            flat = _Flattened.of(clean, place[mine], value)
            slopes[mine] = flat.ras_slope
            drawn = weights[image[mine]]
            count = drawn.sum(axis=0)
            off = exact(flat.uncertainty - entropy[mine]) @ drawn
            move[number] = newton_step(
                ratio(off, count), ratio(exact(flat.uncertainty_slope) @ drawn, count)
            )
        pairs = pairs.with_columns(pl.Series(f"{kind}_slope", slopes))
        moves[str(kind)] = move
    return pairs, moves


@dataclass(frozen=True)
class _Flattened:
    """Flattened answers of some questions, and their slopes by the logarithm of the factor."""

    uncertainty: np.ndarray
    uncertainty_slope: np.ndarray
    ras_slope: np.ndarray

    @classmethod
    def of(cls, clean: Clean, place: np.ndarray, factor: float) -> "_Flattened":
        answers = Answers(clean.answers.logits[:, place], clean.answers.truth[place])
        before, after = scores_at(answers, 1.0), scores_at(answers, 1.0 / factor)
        # A factor on logits is one over a temperature: its logarithm has the other sign.
        _, slope = ras_and_slope(
            after.misalignment - before.misalignment,
            after.uncertainty - before.uncertainty,
            -after.misalignment_slope,
            -after.uncertainty_slope,
        )
        return cls(after.uncertainty, -after.uncertainty_slope, slope)


def _places(wanted: pl.Series, known: pl.Series) -> np.ndarray:
    places = pl.DataFrame({"sample_id": known}).with_row_index("place")
    found = pl.DataFrame({"sample_id": wanted.cast(pl.String)}).join(
        places, on="sample_id", how="left", maintain_order="left"
    )
    return found["place"].to_numpy().astype(np.intp)


def _of_length(logits: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Return logits with as many rows as others, those of options that nobody has at -inf."""
    short = like.shape[0] - logits.shape[0]
    return np.pad(logits, ((0, max(short, 0)), (0, 0)), constant_values=-np.inf)[: like.shape[0]]
