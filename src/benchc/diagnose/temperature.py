"""RAS at another temperature: how far the order of models depends on how sure they are.

RAS moves with the temperature of the softmax although no answer does (docs/method.md).
Two temperatures make models comparable: `matched`, at which a model's mean clean confidence is
a constant, and `fitted`, at which its clean negative log-likelihood is least.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchc.diagnose.bootstrap import exact

#: The temperature is looked for between 2**-20 and 2**20.
_LOG2_BOUND = 20.0
_HALVINGS = 45
#: A Newton step in log t goes no further than this.
_FURTHEST = 1.0

MATCHED_CONFIDENCE = 0.80


@dataclass(frozen=True)
class Answers:
    """What a model said: logits at temperature 1 and what is right.

    Attributes:
        logits: float64 (K, n), -inf where a question has fewer than K options.
        truth: int (n,), the right option.
    """

    logits: np.ndarray
    truth: np.ndarray


@dataclass(frozen=True)
class Scores:
    """Scores at a temperature t, and how fast they change with log t; each float64 (n,).

    Attributes:
        confidence: largest probability, 0..1.
        uncertainty: normalised entropy, 0..1.
        misalignment: distance of the confidence from correctness, 0..1.
        confidence_slope: d confidence / d log t.
        uncertainty_slope: d uncertainty / d log t.
        misalignment_slope: d misalignment / d log t.
    """

    confidence: np.ndarray
    uncertainty: np.ndarray
    misalignment: np.ndarray
    confidence_slope: np.ndarray
    uncertainty_slope: np.ndarray
    misalignment_slope: np.ndarray


def scores_at(answers: Answers, t: float) -> Scores:
    """Return scores of the softmax of logits / t.

    With z = logits / t: d p_k = -p_k (z_k - mean z) d log t, and d entropy = var z d log t.
    """
    known = np.isfinite(answers.logits)
    z = np.where(known, answers.logits - answers.logits.max(axis=0), 0.0) / t
    mass = np.where(known, np.exp(z), 0.0)
    total = mass.sum(axis=0)
    p = mass / total
    mean = (p * z).sum(axis=0)
    variance = (p * (z - mean) ** 2).sum(axis=0)
    size = np.log(np.maximum(known.sum(axis=0), 2))
    confidence = 1.0 / total
    # The largest logit is at z = 0.
    confidence_slope = confidence * mean
    is_right = _correct(answers)
    return Scores(
        confidence=confidence,
        uncertainty=np.clip((np.log(total) - mean) / size, 0.0, 1.0),
        misalignment=np.where(is_right, 1.0 - confidence, confidence),
        confidence_slope=confidence_slope,
        uncertainty_slope=variance / size,
        misalignment_slope=np.where(is_right, -confidence_slope, confidence_slope),
    )


def ras_at(clean: Answers, corrupted: Answers, t: float) -> tuple[np.ndarray, np.ndarray]:
    """Return RAS of each pair at temperature t, and d RAS / d log t; each float64 (n,)."""
    before, after = scores_at(clean, t), scores_at(corrupted, t)
    dc = after.misalignment - before.misalignment
    ds = after.uncertainty - before.uncertainty
    dc_slope = after.misalignment_slope - before.misalignment_slope
    ds_slope = after.uncertainty_slope - before.uncertainty_slope
    return ras_and_slope(dc, ds, dc_slope, ds_slope)


def ras_and_slope(
    dc: np.ndarray, ds: np.ndarray, dc_slope: np.ndarray, ds_slope: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return RAS of shifts of misalignment and uncertainty, and its derivative from theirs."""
    crossed = np.where((dc > 0) & (ds < 0) | (dc < 0) & (ds > 0), 1.0, 0.0)
    # -dC - [dC]+ [-dS]+ - [-dC]+ [dS]+: both penalties are -|dC| |dS| = dC dS where the signs
    # differ.
    ras = -dc + crossed * dc * ds
    return ras, -dc_slope + crossed * (dc_slope * ds + dc * ds_slope)


@dataclass(frozen=True)
class Temperature:
    """A temperature in every draw of the bootstrap.

    Attributes:
        log: float64 (1 + B,), the natural logarithm; column 0 is the estimate. NaN throughout
            where there is none.
        reason: why there is none; empty where there is one.
    """

    log: np.ndarray
    reason: str = ""


def matched(
    clean: Answers, weights: np.ndarray, confidence: float = MATCHED_CONFIDENCE
) -> Temperature:
    """Return the temperature at which the mean clean confidence is a constant.

    Args:
        clean: Answers on the clean pictures, each question once.
        weights: float64 (n, 1 + B), how often each question stands in each draw; column 0 is ones.
        confidence: The constant, 0..1.
    """

    def above(t: float) -> np.ndarray:
        return scores_at(clean, t).confidence - confidence

    def slope(t: float) -> np.ndarray:
        return scores_at(clean, t).confidence_slope

    reason = f"no temperature gives its clean answers a mean confidence of {confidence:g}"
    return _solved(above, slope, weights, reason)


def fitted(clean: Answers, weights: np.ndarray) -> Temperature:
    """Return the temperature of the least mean negative log-likelihood of the clean truth.

    Args:
        clean: Answers on the clean pictures, each question once.
        weights: see `matched`.
    """
    columns = np.arange(clean.truth.size)
    known = np.isfinite(clean.logits)
    shifted = np.where(known, clean.logits - clean.logits.max(axis=0), 0.0)
    right = shifted[clean.truth, columns]

    def expected(t: float) -> tuple[np.ndarray, np.ndarray]:
        mass = np.where(known, np.exp(shifted / t), 0.0)
        p = mass / mass.sum(axis=0)
        mean = (p * shifted).sum(axis=0)
        return mean, (p * (shifted - mean) ** 2).sum(axis=0)

    # NLL is convex in 1/t, with the derivative E[logit] - logit of the truth.
    def above(t: float) -> np.ndarray:
        return right - expected(t)[0]

    def slope(t: float) -> np.ndarray:
        return expected(t)[1] / t

    reason = "its clean likelihood has no best temperature: it knows all of the answers, or none"
    return _solved(above, slope, weights, reason)


def _solved(
    above: Callable[[float], np.ndarray],
    slope: Callable[[float], np.ndarray],
    weights: np.ndarray,
    reason: str,
) -> Temperature:
    """Find where the mean of a monotone function of log t is 0: by bisection, in draws by Newton.

    Args:
        above: The function of t, per question.
        slope: Its derivative by log t, per question.
        weights: see `matched`.
        reason: What to say where it has no zero.
    """
    nowhere = Temperature(np.full(weights.shape[1], np.nan), reason)
    low, high = -_LOG2_BOUND, _LOG2_BOUND
    start, end = above(2.0**low).mean(), above(2.0**high).mean()
    if not start * end < 0:
        return nowhere
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if above(2.0**middle).mean() * start > 0:
            low = middle
        else:
            high = middle
    log_t = (low + high) / 2 * np.log(2.0)
    t = float(np.exp(log_t))
    counts = weights.sum(axis=0)
    step = newton_step(exact(above(t)) @ weights / counts, exact(slope(t)) @ weights / counts)
    return Temperature(log_t + step)


def newton_step(distance: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Return by how much log t moves in each draw, float64 (..., 1 + B): one step, at most 1.

    Args:
        distance: what should be 0, in each draw; column 0 is solved already.
        slope: its derivative by log t, in each draw.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        step = np.clip(-distance / slope, -_FURTHEST, _FURTHEST)
    step = np.where(np.isnan(step), 0.0, step)
    step[..., 0] = 0.0
    return np.asarray(step)


def _correct(answers: Answers) -> np.ndarray:
    """Return whether the right option alone holds the largest logit."""
    top = answers.logits.max(axis=0)
    alone = (answers.logits == top).sum(axis=0) == 1
    right = answers.logits[answers.truth, np.arange(answers.truth.size)] == top
    return np.asarray(alone & right)
