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
from benchc.discover.settings import CONTROL, WAYS
from benchc.errors import BadInput

MEASURES = (
    ("fdr", "FDR, %", 100, 1),
    ("validity", "validity, %", 100, 1),
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
    ("validity", "Validity"),
    ("semantic", "Diversity: semantic part of Delta"),
    ("lexical", "Diversity: lexical part of Delta"),
    ("frac_reward_zero_std", "Share of collapsed groups"),
    ("unjudged", "Share that the verifier could not judge"),
)
COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8f8f89", "#a8671e",
)  # fmt: skip
"""Okabe and Ito's, and two more; they can be told apart on a light and on a dark page."""
DASHES = ("solid", "dashed", "dotted")
SHOWN, ONLY_RL, TOP = 96, 12, 10
INK = "currentColor"
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
        curves = _rows(connection, "curves")
        trainings = _trainings(curves)
        measured = _rows(connection, "measures")
        order = {way: i for i, way in enumerate(WAYS)}
        values = {
            "headings": [heading for _, heading, _, _ in MEASURES],
            "tables": _tables(games, measured, order),
            "trainings": trainings,
            "curves": _curves(curves, trainings),
            "first": _first(_rows(connection, "first")),
            "tree": _tree(_rows(connection, "tree")),
            "models": sorted({game["model"] for game in games}),
            "top": _rows(connection, "top", limit=TOP),
            "shared": _rows(connection, "shared"),
            "n_models": len({game["model"] for game in games}),
            "rises": [
                {**row, "condition": _condition(row["corruption"], row["severity"])}
                for row in _rows(connection, "rises", limit=TOP)
            ],
            "browser": _pictured(_rows(connection, "browser", limit=SHOWN), load),
            "only_rl": _pictured(_rows(connection, "only_rl", limit=ONLY_RL), load),
        }
    return _render(values)


def _rows(connection: duckdb.DuckDBPyConnection, name: str, **values: Any) -> list[Row]:
    text = (resources.files("benchc.discover") / "sql" / "page" / f"{name}.sql").read_text("utf-8")
    try:
        cursor = connection.execute(text, values or None)
    except duckdb.CatalogException:
        raise BadInput(
            "this is no database of a discovery; `make discover` makes one, "
            "`results/discover/default/discovery.duckdb`"
        ) from None
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
        table["lead"] = None
        table["drawn"] = max((cell["drawn"] for cell, _, _ in found if cell), default=0)
        table["rows"].append(
            {**game, "cells": [_cell(cell, factor, decimals) for cell, factor, decimals in found]}
        )
    for place, table in tables.items():
        rates = {
            game["way"]: cells[*place, game["way"], "fdr"]
            for game in table["rows"]
            if game["way"] != CONTROL
            and cells.get((*place, game["way"], "fdr"), {}).get("value") is not None
        }
        if rates:
            best = max(rates, key=lambda way: rates[way]["value"])
            table["lead"] = {"way": best, "fdr": _cell(rates[best], 100, 1)}
    return list(tables.values())


def _cell(row: Row | None, factor: float, decimals: int) -> dict[str, str] | None:
    """Return an estimate and its interval in words; None where there is none."""
    if row is None or row["value"] is None:
        return None
    value, low, high = (
        "?" if v is None else f"{factor * v:.{decimals}f}"
        for v in (row["value"], row["low"], row["high"])
    )
    return {"value": value, "interval": f"[{low}, {high}]"}


def _condition(corruption: str, severity: int) -> str:
    return "clean pictures" if corruption == "clean" else f"{corruption}, severity {severity}"


def _trainings(rows: Sequence[Row]) -> list[dict[str, str]]:
    """Return the trainings with the colour and the stroke of their lines."""
    names = list(dict.fromkeys(row["training"] for row in rows))
    return [
        {"name": name, "colour": COLOURS[i % len(COLOURS)], "stroke": DASHES[i // len(COLOURS) % 3]}
        for i, name in enumerate(names)
    ]


def _curves(
    rows: Sequence[Row], trainings: Sequence[Mapping[str, str]]
) -> list[dict[str, Markup | str]]:
    """Return one chart a measure, a line a training."""
    names = [training["name"] for training in trainings]
    dashes: dict[str, list[float]] = {"solid": [1, 0], "dashed": [5, 3], "dotted": [1.5, 2]}
    colour = alt.Scale(domain=names, range=[training["colour"] for training in trainings])
    dash = alt.Scale(domain=names, range=[dashes[training["stroke"]] for training in trainings])
    charts: list[dict[str, Markup | str]] = []
    for name, title in CURVES:
        own = [row for row in rows if row["measure"] == name]
        # A measure that never moves from nought says nothing that a sentence does not.
        if not any(row["value"] for row in own):
            continue
        chart = (
            alt.Chart(alt.Data(values=own))
            .mark_line(strokeWidth=1.8, point=len({row["step"] for row in own}) < 25)
            .encode(
                x=alt.X("step:Q", title="step").axis(tickMinStep=1, format="d"),
                y=alt.Y("value:Q", title=None, scale=alt.Scale(domainMin=0)).axis(format="%"),
                color=alt.Color("training:N", scale=colour, legend=None),
                strokeDash=alt.StrokeDash("training:N", scale=dash, legend=None),
            )
            .properties(width=340, height=170, background="transparent")
            .configure_view(stroke=None)
            .configure_axis(
                labelColor=INK, titleColor=INK, domainColor=INK, tickColor=INK, gridColor=INK,
                gridOpacity=0.12, domainOpacity=0.4, tickOpacity=0.4, labelFontSize=12,
                titleFontSize=12, titleFontWeight="normal")
        )  # fmt: skip
        svg = Markup(vl_convert.vegalite_to_svg(chart.to_json()))
        charts.append({"title": title, "svg": svg})
    return charts


def _first(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return each primitive's failure rate over the tenths of an RL training, model by model.

    What reaches half of its own highest rate first comes first.
    """
    rates: dict[str, dict[str, dict[int, float]]] = {}
    for row in rows:
        rates.setdefault(row["model"], {}).setdefault(row["primitive"], {})[row["part"]] = row[
            "rate"
        ]

    def onset(name_and_own: tuple[str, Mapping[int, float]]) -> tuple[int, str]:
        name, own = name_and_own
        half = max(own.values()) / 2
        return min(part for part, rate in own.items() if rate >= half), name

    return [
        {
            "model": model,
            "rows": [
                {"primitive": name, "rates": [own.get(part) for part in range(1, 11)]}
                for name, own in sorted(of_model.items(), key=onset)
                if any(own.values())
            ],
        }
        for model, of_model in sorted(rates.items())
    ]


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
    """Add each row's picture as a data address, and its condition in words."""
    return [
        {
            **row,
            "condition": _condition(row["corruption"], row["severity"]),
            "image": _address(load(row["picture"], row["corruption"], row["severity"])),
        }
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
