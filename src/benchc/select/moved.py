"""Whether the benchmark is another one than that of the run before, which a reader should know."""

from collections.abc import Iterable
from pathlib import Path

import duckdb

from benchc.errors import BadInput
from benchc.sql import fetch, statement
from benchc.tables.database import opened


def moved(kept: Iterable[str], before: Path) -> str | None:
    """Return what has changed and how to hold the benchmark as one line; None where nothing has.

    Args:
        kept: The samples chosen now.
        before: The database of the run before; one that is missing or unreadable says nothing.
    """
    if not before.is_file():
        return None
    try:
        with opened({"before": before}) as connection:
            earlier = fetch(connection, statement("select/earlier_benchmark")).row(0, named=True)
    except (BadInput, duckdb.Error):
        return None
    now, then = set(kept), set(earlier["kept"] or ())
    if now == then:
        return None
    selectors = ", ".join(earlier["selectors"] or ())
    return (
        f"the benchmark moved: {len(then - now)} of the {len(then)} samples in {before} left it "
        f"and {len(now - then)} came in, so that figures of the two are of other questions; "
        f"`selectors: [{selectors}]` chose those, and holds them if nothing else changed"
    )
