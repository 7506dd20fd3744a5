"""The charts, as Vega-Lite specifications with their data.

Never renders and never queries: rows in, specifications out. Colours are Okabe and Ito's.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from benchc.report.facts import Row
from benchc.report.wording import finite

Spec = dict[str, Any]

SOURCES = {"c": "#0072B2", "w": "#D55E00"}
STATES = {"cc": "#009E73", "cw": "#D55E00", "wc": "#56B4E9", "ww": "#999999"}
CLASSES = {
    "stable_correct": "#009E73",
    "persistent_loss": "#D55E00",
    "transient_loss": "#E69F00",
    "persistent_gain": "#0072B2",
    "transient_gain": "#56B4E9",
    "stable_wrong": "#999999",
    "incomplete": "#CC79A7",
}
OUTCOMES = {"kept": "#0072B2", "left out": "#999999"}

_RAS = "mean RAS"


def domain(values: Sequence[float | None]) -> list[float]:
    """Return the range that panels share: all values and 0, with a little room."""
    numbers = [0.0, *finite(values)]
    low, high = min(numbers), max(numbers)
    if low == high:
        return [-0.1, 0.1]
    room = 0.06 * (high - low)
    return [round(low - room if low < 0 else low, 6), round(high + room if high > 0 else high, 6)]


def group_bars(groups: Sequence[Row], corruptions: Sequence[Row], limits: list[float]) -> Spec:
    """Draw a bar a group of corruptions and a dot a corruption.

    Args:
        groups: corruption_group, ras, n_pairs of one model.
        corruptions: corruption_group, corruption, ras of the same model.
        limits: range of the axis.
    """
    y = alt.Y("corruption_group:N", title=None, axis=alt.Axis(labelLimit=110))
    scale = alt.Scale(domain=limits, nice=False)
    bars = (
        alt.Chart(_data(groups))
        .mark_bar(color=SOURCES["c"], height={"band": 0.62})
        .encode(
            y=y,
            x=alt.X("ras:Q", title=_RAS, scale=scale),
            tooltip=["corruption_group:N", alt.Tooltip("ras:Q", format="+.4f"), "n_pairs:Q"],
        )
    )
    dots = (
        alt.Chart(_data(corruptions))
        .mark_point(filled=True, size=34, opacity=1, color="#E69F00", stroke="currentColor")
        .encode(
            y=y,
            x=alt.X("ras:Q", title=_RAS, scale=scale),
            tooltip=["corruption:N", alt.Tooltip("ras:Q", format="+.4f")],
        )
    )
    return _spec(alt.layer(bars, dots, _zero("x")), height=26 * max(1, len(groups)))


def severity_lines(rows: Sequence[Row], limits: list[float]) -> Spec:
    """Draw mean RAS over severity, one line for Q_c and one for Q_w.

    Args:
        rows: severity, source, mean_ras, n_pairs of one model.
        limits: range of the axis.
    """
    base = alt.Chart(_data(rows)).encode(
        x=alt.X("severity:O", title="severity", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("mean_ras:Q", title=_RAS, scale=alt.Scale(domain=limits, nice=False)),
        color=_color("source", SOURCES),
    )
    shape = alt.Shape(
        "source:N", scale=alt.Scale(domain=["c", "w"], range=["circle", "square"]), legend=None
    )
    tips = ["source:N", "severity:O", alt.Tooltip("mean_ras:Q", format="+.4f"), "n_pairs:Q"]
    line = base.mark_line(strokeWidth=2)
    points = base.mark_point(filled=True, size=60, opacity=1).encode(shape=shape, tooltip=tips)
    return _spec(alt.layer(_zero("y"), line, points), height=190)


def share_bars(rows: Sequence[Row], order: Sequence[str], colors: Mapping[str, str]) -> Spec:
    """Draw one bar a model, its pairs by class; a bar is 1 long.

    Args:
        rows: model, class, share.
        order: models from the top.
        colors: the classes in order, with their colours.
    """
    return _spec(
        _stacked(rows, order, colors, "share", "share of pairs", "%"), height=28 * len(order)
    )


def contribution_bars(rows: Sequence[Row], order: Sequence[str], colors: Mapping[str, str]) -> Spec:
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
        alt.Chart(_data(sums))
        .mark_tick(color="currentColor", thickness=3, height={"band": 0.9})
        .encode(
            y=alt.Y("model:N", sort=list(order), title=None),
            x=alt.X("ras:Q"),
            tooltip=["model:N", alt.Tooltip("ras:Q", title=_RAS, format="+.4f")],
        )
    )
    return _spec(alt.layer(bars, _zero("x"), marks), height=28 * len(order))


def impurity_bars(rows: Sequence[Row]) -> Spec:
    """Draw the histogram of the impurity.

    Args:
        rows: low, high, outcome, n.
    """
    tenths = alt.Axis(values=[n / 10 for n in range(11)], format=".1f")
    chart = (
        alt.Chart(_data(rows))
        .mark_bar(stroke="currentColor", strokeWidth=0.3)
        .encode(
            x=alt.X("low:Q", title="mean Gini impurity", bin="binned", axis=tenths),
            x2=alt.X2("high:Q"),
            y=alt.Y("n:Q", title="samples", stack="zero", axis=alt.Axis(tickMinStep=1)),
            color=_color("outcome", OUTCOMES),
            tooltip=["low:Q", "high:Q", "outcome:N", "n:Q"],
        )
    )
    return _spec(chart, height=200)


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
        alt.Chart(_data(placed))
        .mark_bar(stroke="white", strokeWidth=0.5, height={"band": 0.72})
        .encode(
            y=alt.Y("model:N", sort=list(order), title=None, axis=alt.Axis(labelLimit=130)),
            x=alt.X(
                f"{field}:Q", title=title, stack="zero", axis=alt.Axis(format=format, tickCount=6)
            ),
            color=_color("class", colors),
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


def _color(field: str, colors: Mapping[str, str]) -> alt.Color:
    scale = alt.Scale(domain=list(colors), range=list(colors.values()))
    return alt.Color(f"{field}:N", scale=scale, legend=None)


def _zero(channel: str) -> alt.Chart:
    rule = alt.Chart(_data([{"zero": 0}])).mark_rule(color="currentColor", opacity=0.5)
    return rule.encode(**{channel: alt.datum(0)})


def _data(rows: Sequence[Row]) -> alt.Data:
    return alt.Data(values=list(rows))


def _spec(chart: Any, height: int) -> Spec:
    spec: Spec = chart.properties(width="container", height=height).to_dict()
    spec.pop("config", None)
    return spec
