"""Exact numbers behind the corruptions: normal and Poisson quantiles, weights, directions.

Where the last bit of a float routine depends on the machine, it is rounded away.
"""

from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

ONE = 4096
"""Fixed-point unit of quantiles and weights: 12 bits."""

STEPS = 1024
"""Directions come from this many equally likely steps of a quarter turn."""

_DECIMAL = Context(prec=40)
_PI = Decimal("3.14159265358979323846264338327950288419717")


@cache
def normal_quantiles() -> NDArray[np.int32]:
    """Standard normal quantiles at (i + 1/2) / 65536, in units of 1/ONE, int32 (65536,).

    Symmetric by construction: entry i is minus entry 65535 - i. The float quantile is wrong by
    less than 1e-12, and no entry lies that close to a rounding boundary (tested), so that every
    machine gets the same integers.
    """
    inverse = NormalDist().inv_cdf
    upper = [int(inverse((i + 0.5) / 65536) * ONE + 0.5) for i in range(32768, 65536)]
    return np.array([-value for value in reversed(upper)] + upper, dtype=np.int32)


@cache
def normal_table(hundredths: int, unit: int = 1) -> NDArray[np.int16]:
    """Rounded N(0, hundredths / 100) in units of 1/unit at each of 65536 quantiles, int16."""
    quantiles = normal_quantiles().astype(np.int64)
    scale = 100 * ONE
    magnitude = (2 * np.abs(quantiles) * hundredths * unit + scale) // (2 * scale)
    return (np.sign(quantiles) * magnitude).astype(np.int16)


@cache
def poisson_table(photons: int) -> NDArray[np.uint8]:
    """Grey level after Poisson noise, uint8 (256 levels x 4096 quantiles), flattened.

    Entry [v, i] is min(k, photons) / photons in grey levels, k the quantile at (i + 1/2) / 4096
    of a Poisson variable with mean v / 255 * photons.
    """
    table = np.empty((256, 4096), dtype=np.uint8)
    levels = [(510 * k + photons) // (2 * photons) for k in range(photons + 1)]
    for value in range(256):
        mean = _DECIMAL.divide(Decimal(value * photons), Decimal(255))
        term = _DECIMAL.exp(-mean)
        total, start = Decimal(0), 0
        for k in range(photons):
            total = _DECIMAL.add(total, term)
            # The first quantile (i + 1/2) / 4096 that lies above P(K <= k).
            stop = min(4096, int(_DECIMAL.multiply(total, 4096) + Decimal("0.5")))
            table[value, start:stop] = levels[k]
            term = _DECIMAL.divide(_DECIMAL.multiply(term, mean), Decimal(k + 1))
            start = stop
        table[value, start:] = levels[photons]
    return table.reshape(-1)


@cache
def half_gaussian(count: int, sigma: float) -> tuple[int, ...]:
    """Integer weights exp(-i^2 / (2 sigma^2)), i = 0 .. count - 1, that sum to ONE."""
    twice = 2 * Decimal(sigma) ** 2
    raw = [_DECIMAL.exp(_DECIMAL.divide(Decimal(-i * i), twice)) for i in range(count)]
    exact = [_DECIMAL.divide(_DECIMAL.multiply(r, ONE), sum(raw)) for r in raw]
    whole = [int(e) for e in exact]
    by_remainder = sorted(range(count), key=lambda i: (whole[i] - exact[i], i))
    for i in by_remainder[: ONE - sum(whole)]:
        whole[i] += 1
    return tuple(whole)


@cache
def direction(step: int, start_degrees: int) -> tuple[int, int]:
    """Cosine and sine of start + 90 (step + 1/2) / STEPS degrees, in units of 2^-30."""
    degrees = start_degrees + Fraction(90 * (2 * step + 1), 2 * STEPS)
    angle = _PI * degrees.numerator / (180 * degrees.denominator)
    return _series(angle, 0), _series(angle, 1)


def _series(angle: Decimal, first: int) -> int:
    term, total, n = Decimal(1) if first == 0 else angle, Decimal(0), first
    while abs(term) > Decimal("1e-25"):
        total += term
        term = -term * angle * angle / ((n + 1) * (n + 2))
        n += 2
    return int((total * 2**30).to_integral_value())
