"""Stacked bars: how often each class of pair occurs, and what it adds to the mean RAS.

The contributions are the database's, and their sum is marked.
"""

from collections.abc import Mapping, Sequence

import altair as alt

from benchc.report.charts.spec import INK, Spec, color, named, numbers, rows_of, specification, zero
from benchc.report.facts import Row
from benchc.report.wording import finite

CLEAN_STATES = named("c", "w")
STATES = named("cc", "cw", "wc", "ww")
CLASSES = named(
    "stable_correct",
    "persistent_loss",
    "transient_loss",
    "persistent_gain",
    "transient_gain",
    "stable_wrong",
    "incomplete",
)


def shares(rows: Sequence[Row], order: Sequence[str], colors: Mapping[str, str]) -> Spec:
    """Draw one bar a model, its pairs by class; a bar is 1 long.

    Args:
        rows: model, class, share.
        order: models from the top.
        colors: the classes in order, with their colours.
    """
    bars = _stacked(rows, order, colors, "share", "share of pairs", ".0%")
    return specification(bars, height=28 * len(order))


def contributions(rows: Sequence[Row], order: Sequence[str], colors: Mapping[str, str]) -> Spec:
    """Draw what each class adds to a model's mean RAS, and a mark at the sum.

    Args:
        rows: model, class, contribution.
        order: models from the top.
        colors: the classes in order, with their colours.
    """
    bars = _stacked(rows, order, colors, "contribution", "contribution to mean RAS", "+.2f")
    sums = [
        {"model": model, "ras": sum(parts)}
        for model in order
        if (parts := finite(row["contribution"] for row in rows if row["model"] == model))
    ]
    marks = (
        alt.Chart(rows_of(sums))
        .mark_tick(color=INK, thickness=3, height={"band": 0.9})
        .encode(
            y=alt.Y("model:N", sort=list(order), title=None),
            x=alt.X("ras:Q"),
            tooltip=["model:N", alt.Tooltip("ras:Q", title="mean RAS", format="+.4f")],
        )
    )
    return specification(alt.layer(bars, zero("x"), marks), height=28 * len(order))


def _stacked(
    rows: Sequence[Row],
    order: Sequence[str],
    colors: Mapping[str, str],
    field: str,
    title: str,
    format: str,
) -> alt.Chart:
    places = {name: place for place, name in enumerate(colors)}
    placed = [{**row, "place": places[row["class"]]} for row in rows]
    return (
        alt.Chart(rows_of(placed))
        .mark_bar(stroke="var(--back)", strokeWidth=0.5, height={"band": 0.72})
        .encode(
            y=alt.Y("model:N", sort=list(order), title=None, axis=alt.Axis(labelLimit=130)),
            x=alt.X(f"{field}:Q", title=title, stack="zero", axis=numbers(format)),
            color=color("class", colors),
            order=alt.Order("place:Q"),
            tooltip=[
                "model:N",
                "class:N",
                "n_pairs:Q",
                alt.Tooltip("share:Q", format=".1%"),
                alt.Tooltip("mean_ras:Q", format="+.4f"),
                alt.Tooltip("contribution:Q", format="+.4f"),
            ],
        )
    )
