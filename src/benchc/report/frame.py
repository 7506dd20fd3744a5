"""The frame of every page: style, charts' script, filters; pages of other stages use it too.

Reads neither the clock, nor the network, nor the machine: the same input gives the same bytes.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

import jinja2
import vl_convert
from markupsafe import Markup

from benchc.report import wording

_FILTERS = (
    "percent",
    "points",
    "signed",
    "plain",
    "count",
    "spaced",
    "pretty",
    "scope_name",
    "estimate",
    "interval",
    "rate",
)


def render(template: str, stage: str = "report", **values: Any) -> str:
    """Fill a page template of a stage; it may extend and include those of the report."""
    stages = dict.fromkeys((stage, "report"))
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(f"benchc.{name}") for name in stages]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {name: getattr(wording, name) for name in _FILTERS}
    environment.filters["script"] = _script
    environment.globals |= {
        "signed": wording.signed,
        "percent": wording.percent,
        "points": wording.points,
    }
    environment.globals["blind"] = wording.BLIND
    folder = resources.files("benchc.report").joinpath("templates")
    return environment.get_template(template).render(
        files={
            name: Markup(folder.joinpath(name).read_text("utf-8"))
            for name in ("page.css", "charts.js", "cases.js")
        },
        vega=Markup(_vega()),
        **values,
    )


def _script(value: Mapping[str, Any] | str) -> Markup:
    """Return JSON that cannot end its script element."""
    if not isinstance(value, str):
        value = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return Markup(value.replace("<", "\\u003c"))


@cache
def _vega() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script; it sets `window.vegaEmbed`."""
    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;").replace(
        "</script", "<\\/script"
    )
