"""Raw counter bits for the corruptions, and the row strips they are used in.

Of NumPy's generators only the raw stream is promised to stay the same, so nothing else is used.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

STRIP = 1 << 18
"""Values per strip: large enough to hide call costs, small enough to stay in the cache."""


def bits16(source: np.random.Philox, count: int) -> NDArray[np.uint16]:
    """Return `count` uniform 16-bit integers, uint16 (count,)."""
    raw = source.random_raw((count + 3) // 4)
    return np.asarray(raw, dtype="<u8").view("<u2")[:count]


def uniform(source: np.random.Philox, bound: int) -> int:
    """Return one integer in [0, bound), for a bound far below 2^64."""
    return int(source.random_raw()) % bound


def strips(height: int, row: int, values: int = STRIP) -> Iterator[slice]:
    """Yield slices that cut `height` rows of `row` values into strips of about `values`."""
    step = max(1, values // max(1, row))
    for start in range(0, height, step):
        yield slice(start, min(start + step, height))
