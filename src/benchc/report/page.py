"""The page: gathers sections from the database and pictures, and fills the template.

Never reads the clock, the network or the machine: the same input gives the same bytes.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
import vl_convert
from markupsafe import Markup

from benchc.report import cases, charts, wording
from benchc.report.facts import SCOPES, Facts, Row, opened
from benchc.report.pictures import Renderer, load

_STATES = {
    "cc": "cc: right, still right",
    "cw": "cw: right, then wrong",
    "wc": "wc: wrong, then right",
    "ww": "ww: wrong, still wrong",
}
_SOURCES = {"c": "Q_c: right on the clean picture", "w": "Q_w: wrong on the clean picture"}


@dataclass(frozen=True)
class Panel:
    """One chart with its title and what it says in words."""

    title: str
    spec: charts.Spec
    alt: str


@dataclass(frozen=True)
class Figure:
    """One or more panels with a caption, a legend, and the numbers as a table."""

    id: str
    caption: str
    panels: list[Panel]
    legend: list[tuple[str, str]]
    columns: list[str]
    rows: list[list[str]]


def build_page(database: Path, images: Path, seed: int, reference_side: int | None = None) -> str:
    """Return the report as one HTML document.

    Args:
        database: what `benchc diagnose build` wrote.
        images: the pool's pictures.
        seed: seed of the run's corruptions.
        reference_side: as the run corrupted.

    Raises:
        BadInput: a file that is missing or of another kind; a picture that `images` lacks.
    """
    with opened(database) as facts:
        board = facts("leaderboard")
        present = [scope for scope in SCOPES if any(row["scope"] == scope for row in board)]
        conditions = facts("conditions")
        sample = cases.specimen(facts)
        rows = cases.chosen(facts, present[0]) if present else []
        wanted = [row["image_id"] for row in rows]
        wanted += [sample["image_id"]] if sample is not None else []
        renderer = Renderer(facts, load(images, wanted), seed, reference_side)
        shown_cases = [cases.case(row, facts, renderer) for row in rows]
        values = {
            "board": board,
            "scopes": present,
            "scope": present[0] if present else None,
            "models": facts("models"),
            "run": facts("run"),
            "benchmarks": facts("benchmarks"),
            "reasons": facts("reasons"),
            "rejected": facts("rejected"),
            "impurity": _impurity(facts("impurity")),
            "cases": shown_cases,
            "cases_order": [
                row["model"]
                for row in board
                if row["scope"] == present[0] and row["ras"] is not None
            ]
            if present
            else [],
            "grid": cases.grid(sample, conditions, renderer) if sample and conditions else None,
            "conditions": conditions,
            "seed": seed,
            "reference_side": reference_side,
            **(_figures(facts, present[0], board) if present else {}),
        }
    return _render(values, tally=renderer.tally)


def _figures(facts: Facts, scope: str, board: Sequence[Row]) -> dict[str, Any]:
    own = [row for row in board if row["scope"] == scope]
    order = [row["model"] for row in own]
    worst = {row["model"]: row for row in facts("headlines", scope=scope)}
    return {
        "opening": wording.opening(own),
        "headlines": [
            (row, wording.headline(row, worst.get(row["model"])), wording.chance_note(row))
            for row in own
        ],
        "groups": _groups(facts, scope, order),
        "severities": _severities(facts("severities", scope=scope), order),
        "states": _classes("states", facts("states", scope=scope), order, charts.STATES, _STATES),
        "classes": _classes(
            "classes",
            facts("classes", scope=scope),
            order,
            charts.CLASSES,
            {name: wording.spaced(name) for name in charts.CLASSES},
        ),
        "phenomena": _in_order(facts("phenomena", scope=scope), order),
        "flips": [wording.flip_note(row) for row in _in_order(facts("flips", scope=scope), order)],
    }


def _in_order(rows: Sequence[Row], order: Sequence[str]) -> list[Row]:
    """Return rows by the place of their model on the leaderboard, else as they are."""
    return sorted(rows, key=lambda row: order.index(row["model"]))


def _groups(facts: Facts, scope: str, order: Sequence[str]) -> Figure:
    groups = facts("groups", scope=scope)
    corruptions = facts("corruptions", scope=scope)
    limits = charts.domain([row["ras"] for row in (*groups, *corruptions)])
    panels = []
    for model in order:
        own = [row for row in groups if row["model"] == model]
        each = [row for row in corruptions if row["model"] == model]
        said = wording.spoken((r["corruption_group"], wording.signed(r["ras"])) for r in own)
        panels.append(
            Panel(model, charts.group_bars(own, each, limits), f"{model}, mean RAS: {said}")
        )
    return Figure(
        "groups",
        "Mean RAS by group of corruptions (bar) and by corruption (dot). Left of 0 is worse. "
        "All panels share one scale.",
        panels,
        [("group", charts.SOURCES["c"]), ("one corruption", "#E69F00")],
        ["model", "group", "pairs", "mean RAS", "destructive part", "corrective part"],
        [
            [
                row["model"],
                row["corruption_group"],
                wording.count(row["n_pairs"]),
                *(wording.signed(row[name]) for name in ("ras", "destructive", "corrective")),
            ]
            for row in groups
        ],
    )


def _severities(rows: Sequence[Row], order: Sequence[str]) -> Figure:
    limits = charts.domain([row["mean_ras"] for row in rows])
    panels = []
    for model in order:
        own = [row for row in rows if row["model"] == model]
        said = wording.spoken(
            (f"Q_{row['source']} at severity {row['severity']}", wording.signed(row["mean_ras"]))
            for row in own
        )
        panels.append(
            Panel(model, charts.severity_lines(own, limits), f"{model}, mean RAS: {said}")
        )
    return Figure(
        "severities",
        "Mean RAS by severity, apart for questions answered right (Q_c) and wrong (Q_w) on the "
        "clean picture. Flatter probabilities alone push Q_c down and Q_w up.",
        panels,
        [(_SOURCES[name], color) for name, color in charts.SOURCES.items()],
        ["model", "severity", "source", "pairs", "mean RAS"],
        [
            [
                row["model"],
                str(row["severity"]),
                f"Q_{row['source']}",
                wording.count(row["n_pairs"]),
                wording.signed(row["mean_ras"]),
            ]
            for row in rows
        ],
    )


def _classes(
    name: str,
    rows: Sequence[Row],
    order: Sequence[str],
    colors: Mapping[str, str],
    labels: Mapping[str, str],
) -> Figure:
    def said(value: str, form: Callable[[float | None], str]) -> str:
        return wording.spoken(
            (f"{row['model']} {wording.spaced(row['class'])}", form(row[value])) for row in rows
        )

    what = "state" if name == "states" else "trajectory class"
    places = {key: place for place, key in enumerate(colors)}
    listed = sorted(rows, key=lambda row: (order.index(row["model"]), places[row["class"]]))
    return Figure(
        name,
        f"Pairs by {what}: how often each occurs, and what it adds to the mean RAS "
        "(contributions add up to it; the upright mark is the sum).",
        [
            Panel(
                "Share of pairs",
                charts.share_bars(rows, order, colors),
                f"Shares: {said('share', wording.percent)}",
            ),
            Panel(
                "Contribution to mean RAS",
                charts.contribution_bars(rows, order, colors),
                f"Contributions: {said('contribution', wording.signed)}",
            ),
        ],
        [(labels[key], color) for key, color in colors.items()],
        ["model", what, "pairs", "share", "mean RAS", "contribution"],
        [
            [
                row["model"],
                wording.spaced(row["class"]),
                wording.count(row["n_pairs"]),
                wording.percent(row["share"]),
                wording.signed(row["mean_ras"]),
                wording.signed(row["contribution"]),
            ]
            for row in listed
        ],
    )


def _impurity(rows: Sequence[Row]) -> Figure | None:
    if not rows:
        return None
    said = wording.spoken(
        (f"{row['low']:.2f} to {row['high']:.2f} {row['outcome']}", str(row["n"])) for row in rows
    )
    return Figure(
        "impurity",
        "Samples of the pool by the mean Gini impurity of their answer trajectories: 0 where no "
        "corruption changes any selector's answer.",
        [Panel("Impurity", charts.impurity_bars(rows), f"Samples by impurity: {said}")],
        list(charts.OUTCOMES.items()),
        ["from", "below", "outcome", "samples"],
        [
            [f"{row['low']:.2f}", f"{row['high']:.2f}", row["outcome"], wording.count(row["n"])]
            for row in rows
        ],
    )


def _render(values: Mapping[str, Any], **more: Any) -> str:
    folder = resources.files("benchc.report").joinpath("templates")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: folder.joinpath(name).read_text("utf-8")),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    for name in ("percent", "signed", "plain", "count", "spaced", "pretty", "scope_name"):
        environment.filters[name] = getattr(wording, name)
    environment.filters["script"] = _script
    return environment.get_template("page.html.j2").render(
        css=Markup(folder.joinpath("page.css").read_text("utf-8")),
        js=Markup(folder.joinpath("page.js").read_text("utf-8")),
        vega=Markup(_vega()),
        **values,
        **more,
    )


def _script(spec: charts.Spec) -> Markup:
    """Return a specification as JSON that cannot end its script element."""
    text = json.dumps(spec, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c"))


@cache
def _vega() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script; it sets `window.vegaEmbed`."""
    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;").replace(
        "</script", "<\\/script"
    )
