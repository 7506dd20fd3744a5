"""Memory that ran out, in whatever words a library says so."""

import resource

_SIGNS = (
    "failed to map segment",
    "cannot allocate memory",
    "can't allocate memory",
    "cannot allocate write+execute memory",
    "can't start new thread",
    "insufficient memory",
    "not enough memory",
    "out of memory",
    "bad_alloc",
    "bad allocation",
)
"""What the loader of shared libraries, torch, OpenCV, NumPy, DuckDB and C++ say; small letters."""


def where_memory_ran_out(error: BaseException) -> str | None:
    """Return the line of an error, or of one behind it, that says so; None for other errors."""
    behind: BaseException | None = error
    seen: set[int] = set()
    while behind is not None and id(behind) not in seen:
        seen.add(id(behind))
        for line in str(behind).splitlines():
            if any(sign in line.lower() for sign in _SIGNS):
                return line.strip()
        if isinstance(behind, MemoryError):
            return str(behind) or "no memory is left"
        behind = behind.__cause__ or behind.__context__
    return None


def limit() -> str:
    """Return which limit of memory this process has, as part of a sentence."""
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY:
        return "give it more, or let it do less at once (`batch_size`, `threads`, `--cores`)"
    return f"raise its limit (`ulimit -v`), now {most / 1e9:.1f} GB"
