"""The page about a discovery: the table, the curves, the tree, the failures one by one.

Never reads the clock, the network or the machine: the same input gives the same bytes.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import altair as alt
import duckdb
import jinja2
import vl_convert
from markupsafe import Markup
from PIL import Image

from benchc.discover.database import opened
from benchc.discover.settings import WAYS

MEASURES = (
    ("validity", "validity, %", 100, 1),
    ("fdr", "FDR, %", 100, 1),
    ("fdr_valid", "FDR over valid, %", 100, 1),
    ("sd", "SD", 1, 1),
    ("ld", "LD", 1, 3),
    ("skills_per_question", "skills per question", 1, 2),
    ("unique_skills", "unique skills", 1, 1),
    ("skill_combinations", "skill combinations", 1, 1),
)
"""Measure, heading, factor, decimals."""
CURVES = (
    ("fdr", "FDR of the training's own questions"),
    ("held_out_fdr", "FDR on validation pictures"),
    ("validity", "validity"),
    ("semantic", "semantic part of Delta"),
    ("lexical", "lexical part of Delta"),
    ("frac_reward_zero_std", "share of collapsed groups"),
)
SHOWN, ONLY_RL, TOP = 40, 12, 10
Row = dict[str, Any]
Load = Callable[[str, str, int], Image.Image]


def build_page(database: Path, load: Load) -> str:
    """Return the report of a discovery as one HTML document.

    Args:
        database: What `benchc discover build` wrote.
        load: Returns the picture of a key under a corruption at a severity.

    Raises:
        BadInput: the database is missing or of another kind.
    """
    with opened(database) as connection:
        games = _rows(connection, "games")
        measured = _rows(connection, "measures")
        order = {way: i for i, way in enumerate(WAYS)}
        values = {
            "headings": [heading for _, heading, _, _ in MEASURES],
            "tables": _tables(games, measured, order),
            "curves": _curves(_rows(connection, "curves")),
            "first": _first(_rows(connection, "first")),
            "tree": _tree(_rows(connection, "tree")),
            "models": sorted({game["model"] for game in games}),
            "top": _rows(connection, "top", limit=TOP),
            "shared": _rows(connection, "shared"),
            "rises": _rows(connection, "rises", limit=TOP),
            "browser": _pictured(_rows(connection, "browser", limit=SHOWN), load),
            "only_rl": _pictured(_rows(connection, "only_rl", limit=ONLY_RL), load),
        }
    return _render(values)


def _rows(connection: duckdb.DuckDBPyConnection, name: str, **values: Any) -> list[Row]:
    text = (resources.files("benchc.discover") / "sql" / "page" / f"{name}.sql").read_text("utf-8")
    cursor = connection.execute(text, values or None)
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _tables(
    games: Sequence[Row], measured: Sequence[Row], order: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Return one table a model and condition: a row a way, a cell a measure."""
    cells = {
        (r["model"], r["corruption"], r["severity"], r["way"], r["measure"]): r for r in measured
    }
    tables: dict[tuple[str, str, int], dict[str, Any]] = {}
    for game in sorted(games, key=lambda g: (g["corruption"] != "clean", order[g["way"]])):
        place = (game["model"], game["corruption"], game["severity"])
        table = tables.setdefault(
            place, {"model": place[0], "condition": _condition(place[1], place[2]), "rows": []}
        )
        found = [
            (cells.get((*place, game["way"], name)), factor, decimals)
            for name, _, factor, decimals in MEASURES
        ]
        table["drawn"] = max((cell["drawn"] for cell, _, _ in found if cell), default=0)
        table["rows"].append(
            {**game, "cells": [_cell(cell, factor, decimals) for cell, factor, decimals in found]}
        )
    return list(tables.values())


def _cell(row: Row | None, factor: float, decimals: int) -> str:
    """Return an estimate and its interval in words."""
    if row is None or row["value"] is None:
        return "none"
    value, low, high = (
        "?" if v is None else f"{factor * v:.{decimals}f}"
        for v in (row["value"], row["low"], row["high"])
    )
    return f"{value} [{low}, {high}]"


def _condition(corruption: str, severity: int) -> str:
    return "clean pictures" if corruption == "clean" else f"{corruption}, severity {severity}"


def _curves(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return one chart a measure, a line a training."""
    charts = []
    for name, title in CURVES:
        own = [row for row in rows if row["measure"] == name]
        if own:
            chart = (
                alt.Chart(alt.Data(values=own))
                .mark_line(strokeWidth=1.5)
                .encode(
                    x=alt.X("step:Q", title="step"),
                    y=alt.Y("value:Q", title=None, scale=alt.Scale(zero=False)),
                    color=alt.Color("game:N", title=None),
                )
                .properties(width=320, height=170)
            )
            charts.append({"title": title, "svg": _svg(chart)})
    return charts


def _first(rows: Sequence[Row]) -> Markup | None:
    """Return a chart of the failure rate of each primitive over the training."""
    if not rows:
        return None
    chart = (
        alt.Chart(alt.Data(values=list(rows)))
        .mark_line(strokeWidth=1.5)
        .encode(
            x=alt.X("part:O", title="tenth of the training", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("rate:Q", title="failures / questions asked"),
            color=alt.Color("primitive:N", title=None),
        )
        .properties(width=520, height=280)
    )
    return _svg(chart)


def _svg(chart: alt.Chart) -> Markup:
    return Markup(vl_convert.vegalite_to_svg(chart.to_json()))


def _tree(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the meta-skills with their skills, each with the failure rate of every model."""
    tree: dict[int, dict[str, Any]] = {}
    for row in rows:
        meta = tree.setdefault(
            row["meta_skill"], {"name": row["meta_name"], "rates": {}, "skills": {}}
        )
        if row["skill"] is None:
            meta["rates"][row["model"]] = row["failure_rate"]
        else:
            skill = meta["skills"].setdefault(
                row["skill"],
                {"name": row["name"], "novel": row["novel"], "only_one": row["only_one"],
                 "example": row["example"], "rates": {}},
            )  # fmt: skip
            skill["rates"][row["model"]] = row["failure_rate"]
    return list(tree.values())


def _pictured(rows: Sequence[Row], load: Load) -> list[Row]:
    """Add each row's picture as a data address."""
    return [
        {**row, "image": _address(load(row["picture"], row["corruption"], row["severity"]))}
        for row in rows
    ]


def _address(picture: Image.Image) -> str:
    small = picture.copy()
    small.thumbnail((160, 160))
    buffer = io.BytesIO()
    small.save(buffer, format="WEBP", quality=80)
    return "data:image/webp;base64," + base64.b64encode(buffer.getvalue()).decode()


def _render(values: Mapping[str, Any]) -> str:
    folder = resources.files("benchc.discover") / "templates"
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["rate"] = lambda value: "" if value is None else f"{100 * value:.0f} %"
    css = (resources.files("benchc.report") / "templates" / "page.css").read_text("utf-8")
    template = environment.from_string((folder / "page.html.j2").read_text("utf-8"))
    return template.render(css=Markup(css), **values)
