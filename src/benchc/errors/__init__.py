"""What a user can fix, said in one line that holds no secret and obeys nobody.

The exception is here, and in `outward` the one place that every text passes on its way out.
"""

from benchc.errors.outward import one_line


class BadInput(ValueError):  # noqa: N818 - it names what is wrong, not that something is
    """Refused input: one line with the file, row or key, what is wrong, and the way out."""

    def __str__(self) -> str:
        """Return the line as it may be shown anywhere, whoever's words are quoted in it."""
        return one_line(super().__str__())
