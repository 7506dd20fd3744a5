"""The page: gathers sections from the database and pictures, and fills the template.

Never reads the clock, the network or the machine: the same input gives the same bytes.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
import vl_convert
from markupsafe import Markup

from benchc.diagnose.statements import FINDINGS
from benchc.report import cases, chosen, how, overview, specimen, where, wording
from benchc.report.facts import SCOPES, opened
from benchc.report.pictures import Pictures, Renderer


@dataclass(frozen=True)
class Report:
    """The page, and the files with further cases that it loads when asked to, by name."""

    page: str
    side_files: dict[str, str]


def build_report(
    database: Path,
    images: Path,
    seed: int,
    reference_side: int | None = None,
    embeddings: Path | None = None,
    embedded_size: int = cases.EMBEDDED_SIZE,
) -> Report:
    """Return the report: one HTML document, and what lies beside it.

    Args:
        database: what `benchc diagnose build` wrote.
        images: the pool's pictures.
        seed: seed of the run's corruptions.
        reference_side: as the run corrupted.
        embeddings: the pool's embeddings; None leaves their map out.
        embedded_size: characters of the page that cases may take; the rest are side files.

    Raises:
        BadInput: a file that is missing or of another kind; a picture that `images` lacks.
    """
    with opened(database) as facts:
        board = facts("leaderboard")
        scopes = [scope for scope in SCOPES if any(row["scope"] == scope for row in board)]
        scope = scopes[0] if scopes else None
        renderer = Renderer(facts, Pictures(images), seed, reference_side)
        conditions = facts("conditions")
        values: dict[str, Any] = {
            "board": board,
            "scopes": scopes,
            "scope": scope,
            "models": facts("models"),
            "model_status": facts("model_status"),
            "run": facts("run"),
            "seed": seed,
            "reference_side": reference_side,
            "grid": specimen.grid(facts, conditions, renderer),
            **chosen.figures(facts, embeddings),
        }
        found = None
        if scope is not None:
            order = [row["model"] for row in board if row["scope"] == scope]
            found = cases.choose(facts, scope, renderer, embedded_size)
            values |= {
                "order": order,
                "extent": facts("extent", scope=scope)[0],
                **overview.summary(facts, scope, board),
                "beside_control": overview.beside_control(facts, scopes, order),
                **where.figures(facts, scope, order),
                **how.figures(facts, scope, order),
                "findings": FINDINGS,
                "verdicts": facts("verdicts", scope=scope),
                "pair_status": facts("pair_status", scope=scope),
                "per_cell": cases.PER_CELL,
            }
        page = render(
            "page.html.j2",
            **values,
            cases=found if found and found.embedded.cases else None,
            tally=renderer.tally,
        )
        return Report(page, dict(found.side_files()) if found else {})


def render(template: str, **values: Any) -> str:
    """Fill one of the page templates."""
    folder = resources.files("benchc.report").joinpath("templates")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("benchc.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    for name in (
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
    ):
        environment.filters[name] = getattr(wording, name)
    environment.filters["script"] = _script
    environment.globals |= {"signed": wording.signed, "percent": wording.percent}
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
