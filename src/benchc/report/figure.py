"""A figure of the page: charts, what they say in words, and the same numbers as a table.

The page's script draws them from the specifications.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchc.report.charts.spec import Spec
from benchc.report.facts import Row


@dataclass(frozen=True)
class Panel:
    """One chart with its title and what it says in words."""

    title: str
    spec: Spec
    alt: str


@dataclass(frozen=True)
class Figure:
    """One or more panels with a caption, a legend, and the numbers as a table.

    `legend` holds (label, colour, mark); a mark is box, circle, square, solid, dashed or dotted.
    `size` is how wide a panel wants to be: narrow, middle or wide.
    """

    id: str
    caption: str
    panels: list[Panel]
    legend: list[tuple[str, str, str]]
    columns: list[str]
    rows: list[list[str]]
    size: str = "narrow"


def legend(
    colors: Mapping[str, str], labels: Mapping[str, str], marks: Sequence[str] = ()
) -> list[tuple[str, str, str]]:
    """Return the legend of a colour scale; without `marks`, boxes."""
    kinds = marks or ["box"] * len(colors)
    named = zip(colors.items(), kinds, strict=True)
    return [(labels[key], color, kind) for (key, color), kind in named]


def by_model(
    rows: Sequence[Row], order: Sequence[str], draw: Callable[[str, list[Row]], Panel]
) -> list[Panel]:
    """Return one panel for each model that has rows."""
    panels = []
    for model in order:
        own = [row for row in rows if row["model"] == model]
        if own:
            panels.append(draw(model, own))
    return panels


def in_order(rows: Iterable[Row], order: Sequence[str]) -> list[Row]:
    """Return rows by the place of their model on the leaderboard, else as they are."""
    return sorted(rows, key=lambda row: order.index(row["model"]))
