"""Options of command lines, quoted for the shell."""

import shlex


def options(**values: object) -> str:
    """Return options for a command line; those that are None are left out."""
    return " ".join(
        f"--{name.replace('_', '-')} {shlex.quote(str(value))}"
        for name, value in values.items()
        if value is not None
    )
