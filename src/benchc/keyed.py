"""Random numbers that are a function of their key and of nothing else.

Never holds state: no global seed, no order of calls, no dependence on workers.
"""

import hashlib

import numpy as np

_DOMAIN = "benchc/1"


def digest(*key: str | int) -> bytes:
    """Return the 32-byte SHA-256 of a key of strings and integers.

    Parts are length-prefixed, so that ("ab", "c") and ("a", "bc") differ.
    """
    parts = [_DOMAIN, *map(str, key)]
    encoded = [part.encode() for part in parts]
    return hashlib.sha256(b"".join(len(e).to_bytes(4, "little") + e for e in encoded)).digest()


def philox(*key: str | int) -> np.random.Philox:
    """Return a counter-based bit generator keyed by `key`; its raw stream never changes."""
    return np.random.Philox(key=int.from_bytes(digest(*key)[:16], "little"))


def generator(*key: str | int) -> np.random.Generator:
    """Return a NumPy generator keyed by `key`, for draws that need distributions."""
    return np.random.Generator(philox(*key))
