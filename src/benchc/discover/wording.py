"""The players' prompts, filled in; their templates are files, of the package or a user's."""

from __future__ import annotations

from functools import cache

import jinja2

from benchc.config import prompts


def render(name: str, **values: object) -> str:
    """Return a prompt filled in; a value that is missing is an error.

    Args:
        name: Of a prompt of the package, or of a user's file.
        values: What the template uses.
    """
    return _template(name).render(values)


@cache
def _template(name: str) -> jinja2.Template:
    return jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(
        prompts.text(name).strip()
    )
