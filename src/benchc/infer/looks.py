"""Whether a model looks: does another picture change its answer more than the same one, again?

A server that drops the picture answers from the words alone. No corruption then moves it, and it
would lead every table of robust models.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import combinations

import numpy as np
import polars as pl

from benchc.corrupt import BLANK, CLEAN
from benchc.errors import BadInput
from benchc.infer.letters import median_mass
from benchc.models.scores import Backend, Question, Score
from benchc.world.picture import draw
from benchc.world.scene import Ground, Scene, Shape

_QUESTION = "What colour is the circle?"
_ANSWERS = ("red", "green", "blue", "yellow")
_GROUND = Ground("flat", (232, 228, 218), (232, 228, 218), 0)
# Each picture twice, and no place in the row tells its answer.
_ORDERS = ((2, 0, 3, 1), (1, 3, 0, 2))
_ROUNDING = 1e-6
_FEW = 0.05

LOOKS, HARDLY, DOES_NOT, UNKNOWN = "looks", "hardly looks", "does not look", "not measured"


@dataclass(frozen=True)
class Trial:
    """What drawn pictures whose right answers differ changed, under the same words.

    Attributes:
        between: Largest change of an option's logit between two pictures, in natural-log units;
            None where fewer than two pictures were answered.
        repeat: The same between one picture and itself asked once more; None where none was
            answered twice.
        option_mass: Median share of the probability on the options' letters, 0..1; None where it
            is not known.
    """

    between: float | None
    repeat: float | None
    option_mass: float | None = None

    @property
    def verdict(self) -> str:
        """Whether the pictures, and not chance, changed the answers."""
        if self.between is None or self.repeat is None:
            return UNKNOWN
        if self.between <= max(self.repeat, _ROUNDING):
            return DOES_NOT
        return HARDLY if self.between <= 3 * self.repeat else LOOKS

    def said(self) -> str:
        """Return the two spreads in words."""
        if self.between is None or self.repeat is None:
            return "too few of the trial's pictures were answered to tell whether it looks"
        return (
            f"four drawn pictures under the same words move an option's logit by "
            f"{self.between:.2g} at most, the same picture asked twice by {self.repeat:.2g}"
        )

    def refuse_blindness(self, key: str) -> None:
        """Refuse a model whose answers no picture changes.

        Args:
            key: The model's key in the config.

        Raises:
            BadInput: all pictures were answered alike, as far as the same one asked twice is.
        """
        if self.verdict == DOES_NOT:
            raise BadInput(
                f"{key}: it does not look at pictures: {self.said()}; a server that drops pictures "
                "does so (see docs/servers.md), or a checkpoint whose picture part is missing"
            )


@dataclass(frozen=True)
class Looks:
    """What `run.json` says, under `looks`.

    Attributes:
        pairs: Samples answered with their clean picture and with a blank one.
        moved: Pairs whose answers differ by more than twice `spread_repeat`.
        spread_between: Median over the pairs of the largest change of an option's logit,
            in natural-log units; None without pairs.
        spread_repeat: The same change, at most, between a drawn picture and itself asked again.
        verdict: `looks`, `hardly looks` (fewer than one pair in twenty moved, or the trial's
            pictures changed little more than chance), `does not look` (no pair moved) or `not
            measured`.
    """

    pairs: int
    moved: int
    spread_between: float | None
    spread_repeat: float | None
    verdict: str

    def record(self) -> dict[str, object]:
        """Return it as JSON."""
        return asdict(self)


def trial(backend: Backend) -> Trial:
    """Ask about four drawn pictures, in mixed order, twice.

    Args:
        backend: The loaded model.
    """
    first, second = (
        dict(zip(order, backend.score([_question(place) for place in order]), strict=True))
        for order in _ORDERS
    )
    pairs = [(_logits(first[place]), _logits(second[place])) for place in range(len(_ANSWERS))]
    answered = [[said for said in pair if said is not None] for pair in pairs]
    means = [np.mean(said, axis=0) for said in answered if said]
    repeats = [_distance(*said) for said in answered if len(said) == 2]
    return Trial(
        max((_distance(a, b) for a, b in combinations(means, 2)), default=None),
        max(repeats, default=None),
        median_mass([*first.values(), *second.values()]),
    )


def measured(predictions: pl.DataFrame, seen: Trial) -> Looks:
    """Return what blank pictures changed over a whole run.

    Args:
        predictions: `predictions` rows of one model.
        seen: What the trial of that model found.
    """
    clean, blank = (
        predictions.filter((pl.col("corruption") == name) & (pl.col("status") == "ok")).select(
            "sample_id", "logits"
        )
        for name in (CLEAN, BLANK)
    )
    pairs = clean.join(blank, on="sample_id", suffix="_blank").drop("sample_id")
    changes = [_distance(np.array(one), np.array(other)) for one, other in pairs.iter_rows()]
    return _judged(changes, seen)


def merged(parts: Sequence[Mapping[str, object]], predictions: pl.DataFrame) -> Looks:
    """Return what blank pictures changed in all shards of a model.

    Args:
        parts: The record of each.
        predictions: Those of all.
    """
    repeats = [float(str(p["spread_repeat"])) for p in parts if p["spread_repeat"] is not None]
    repeat = max(repeats, default=None)
    between = np.inf if repeats and all(p["verdict"] != HARDLY for p in parts) else repeat
    return measured(predictions, Trial(between, repeat))


def _judged(changes: Sequence[float], seen: Trial) -> Looks:
    if not changes:
        return Looks(0, 0, None, seen.repeat, seen.verdict)
    limit = max(2 * (seen.repeat or 0.0), _ROUNDING)
    moved = sum(change > limit for change in changes)
    if moved == 0:
        verdict = DOES_NOT
    elif moved < _FEW * len(changes) or seen.verdict in (HARDLY, DOES_NOT):
        verdict = HARDLY
    else:
        verdict = LOOKS
    return Looks(len(changes), moved, float(np.median(changes)), seen.repeat, verdict)


@cache
def _question(place: int) -> Question:
    shape = Shape(112, 112, "circle", _ANSWERS[place], "solid", 27)
    return Question(draw(Scene((shape,), (), _GROUND)), _QUESTION, _ANSWERS)


def _logits(score: Score) -> np.ndarray | None:
    """Return what is compared: not p, which may stay where a picture moves all logits alike."""
    if score.status != "ok" or score.logits is None or not np.isfinite(score.logits).all():
        return None
    return np.asarray(score.logits)


def _distance(some: np.ndarray, others: np.ndarray) -> float:
    return float(np.abs(some - others).max())
