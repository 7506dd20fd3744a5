"""The formats that samples come in, one module each, which returns rows of one shape."""

from pkgutil import resolve_name

from benchc.config.sources import Source
from benchc.pool.rows import SourceRows
from benchc.pool.rules import by_one_rule


def read_source(spec: Source) -> SourceRows:
    """Return all rows of the source that `spec` names, in its order, none decoded yet.

    Raises:
        BadInput: The source as a whole cannot be read.
    """
    return by_one_rule(resolve_name(spec.reader)(spec))
