"""The players' prompts: templates in the package, one file a role.

Never holds a prompt's text.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

import jinja2


def render(name: str, **values: object) -> str:
    """Return a packaged prompt filled in; a value that is missing is an error."""
    return _template(name).render(values)


@cache
def _template(name: str) -> jinja2.Template:
    text = (resources.files("benchc.discover") / "prompts" / f"{name}.j2").read_text("utf-8")
    return jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(text.strip())
