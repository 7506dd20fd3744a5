"""The page about a discovery: the table, the curves, the tree, the failures one by one."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from benchc.config.discovery import WAYS
from benchc.discover import curves
from benchc.discover.database import opened
from benchc.discover.pictures import CONDITION, Load
from benchc.pictures.pixels import Pixels
from benchc.report.facts import Row
from benchc.report.frame import render

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
UNREINFORCED = [name for name, way in WAYS.items() if not way.reinforced]
SHOWN, ONLY_RL, TOP = 96, 12, 10


def build_page(database: Path, load: Load) -> str:
    """Return the report of a discovery as one HTML document.

    Args:
        database: What `benchc discover build` wrote.
        load: Returns the picture of a key under a condition.

    Raises:
        BadInput: the database is missing or of another kind.
    """
    with opened(database) as facts:
        games = facts("page/games")
        measured = facts("page/measures")
        order = {way: i for i, way in enumerate(WAYS)}
        values = {
            "headings": [heading for _, heading, _, _ in MEASURES],
            "tables": _tables(games, measured, order),
            "learning": curves.figure(facts("page/curves")),
            "first": _first(facts("page/first")),
            "tree": _tree(facts("page/tree")),
            "models": sorted({game["model"] for game in games}),
            "top": facts("page/top", limit=TOP),
            "shared": facts("page/shared"),
            "n_models": len({game["model"] for game in games}),
            "rises": [
                {**row, "condition": _condition(row["corruption"], row["severity"])}
                for row in facts("page/rises", limit=TOP)
            ],
            "browser": _pictured(facts("page/browser", limit=SHOWN), load),
            "only_rl": _pictured(
                facts("page/only_rl", limit=ONLY_RL, unreinforced=UNREINFORCED), load
            ),
        }
    return render("discovery.html.j2", "discover", **values)


def _tables(
    games: Sequence[Row], measured: Sequence[Row], order: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Return one table per model and condition, one row per way, one cell per measure."""
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
            if not WAYS[game["way"]].control
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
            "image": _address(load(*(row[part] for part in CONDITION))),
        }
        for row in rows
    ]


def _address(picture: Pixels) -> str:
    small = Image.fromarray(picture)
    small.thumbnail((160, 160))
    buffer = io.BytesIO()
    small.save(buffer, format="WEBP", quality=80)
    return "data:image/webp;base64," + base64.b64encode(buffer.getvalue()).decode()
