"""The one exception for what a user can mend; never for a fault of ours."""


class BadInput(ValueError):  # noqa: N818 - it names what is wrong, not that something is
    """Refused input: one line with the file, row or key, what is wrong, and the way out."""
