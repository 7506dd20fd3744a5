"""The formats that samples come in: one module each, `read(spec)` gives rows of one shape.

Never lets a format's quirks past this folder.
"""

from collections.abc import Callable
from typing import Any

from benchc.pool.rows import SourceRows
from benchc.pool.sources import drawn, folder, mmvp, parquet, seedbench2plus, vlmevalkit
from benchc.pool.specs import Source

_READERS: dict[str, Callable[[Any], SourceRows]] = {
    "drawn": drawn.read,
    "folder": folder.read,
    "vlmevalkit": vlmevalkit.read,
    "parquet": parquet.read,
    "seedbench2plus": seedbench2plus.read,
    "mmvp": mmvp.read,
}


def read_source(spec: Source) -> SourceRows:
    """Return all rows of the source that `spec` names, in its order, none decoded yet.

    Raises:
        BadInput: The source as a whole cannot be read.
    """
    return _READERS[spec.kind](spec)
