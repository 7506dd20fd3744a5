"""Estimates with their 95 % intervals: one line per model, two scores against each other.

Values and ends of intervals are the database's.
"""

from collections.abc import Mapping, Sequence

import altair as alt

from benchc.report.charts.spec import (
    INK,
    SPACED,
    Spec,
    color,
    named,
    numbers,
    rows_of,
    specification,
    zero,
)
from benchc.report.facts import Row

CONDITIONS = named("clean", "corrupted")
RUNS = named("first", "second")
SCOPES = named("selection", "control", "pool")


def intervals(
    rows: Sequence[Row],
    order: Sequence[str],
    colors: Mapping[str, str],
    title: str,
    format: str,
    limits: Sequence[float],
) -> Spec:
    """Draw a dot and its interval for each model and kind.

    Args:
        rows: model, kind, value, low, high.
        order: models from the top.
        colors: the kinds in order, with their colours; a model's line is split between them.
        title: what the value is.
        format: how the axis writes it.
        limits: range of the axis.
    """
    placed = [{**row, "place": list(colors).index(row["kind"])} for row in rows]
    scale = alt.Scale(domain=list(limits), nice=False, clamp=True)
    axis = numbers(format)
    base = alt.Chart(rows_of(placed)).encode(
        y=alt.Y("model:N", sort=list(order), title=None, axis=alt.Axis(labelLimit=130)),
        yOffset=alt.YOffset(
            "place:O", scale=alt.Scale(domain=list(range(len(colors))), paddingOuter=0.6)
        ),
        color=color("kind", colors),
        tooltip=["model:N", "kind:N", *(alt.Tooltip(f"{n}:Q", format=".4f") for n in _ESTIMATE)],
    )
    bars = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title=title, scale=scale, axis=axis), x2="high:Q"
    )
    shapes = ["circle", "square", "diamond"][: len(colors)]
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X("value:Q", title=title, scale=scale, axis=axis),
        shape=alt.Shape("kind:N", scale=alt.Scale(domain=list(colors), range=shapes), legend=None),
    )
    line = 16 * len(colors) + 8
    return specification(alt.layer(zero("x"), bars, dots), height=line * len(order))


def moves(
    rows: Sequence[Row], order: Sequence[str], title: str, format: str, limits: Sequence[float]
) -> Spec:
    """Draw each corruption's value in two runs, joined by a line.

    Args:
        rows: corruption, first, second, n_pairs of one model.
        order: corruptions from the top.
        title: what the value is.
        format: how the axis writes it.
        limits: range of the axis.
    """
    scale = alt.Scale(domain=list(limits), nice=False, clamp=True)
    axis = numbers(format)
    base = alt.Chart(rows_of(rows)).encode(
        y=alt.Y(
            "corruption:N",
            sort=list(order),
            title=None,
            axis=alt.Axis(labelLimit=120, labelExpr=SPACED),
        ),
        tooltip=[
            "corruption:N",
            *(alt.Tooltip(f"{run}:Q", format=".4f") for run in RUNS),
            "n_pairs:Q",
        ],
    )
    joined = base.mark_rule(color="var(--soft)", opacity=0.6).encode(
        x=alt.X("first:Q", title=title, scale=scale, axis=axis), x2="second:Q"
    )
    dots = [
        base.mark_point(filled=True, size=size, opacity=1, color=color, shape=shape).encode(
            x=alt.X(f"{run}:Q", title=title, scale=scale, axis=axis)
        )
        for (run, color), (shape, size) in zip(
            RUNS.items(), (("circle", 110), ("square", 40)), strict=True
        )
    ]
    return specification(alt.layer(zero("x"), joined, *dots), height=16 * max(1, len(order)))


def scatter(rows: Sequence[Row]) -> Spec:
    """Draw each model by its clean accuracy and its mean RAS, with both intervals.

    Args:
        rows: model, accuracy, accuracy_low, accuracy_high, ras, ras_low, ras_high.
    """
    room = alt.Scale(zero=False, padding=24)
    percent = alt.Axis(format="%", tickCount=6)

    def x(field: str) -> alt.X:
        return alt.X(field, title="accuracy on clean pictures", scale=room, axis=percent)

    def y(field: str) -> alt.Y:
        return alt.Y(field, title="mean RAS", scale=room)

    base = alt.Chart(rows_of(rows)).encode(
        x=x("accuracy:Q"),
        y=y("ras:Q"),
        tooltip=["model:N", alt.Tooltip("accuracy:Q", format=".1%"), alt.Tooltip("ras:Q")],
    )
    span = base.mark_rule(color="var(--soft)", opacity=0.6)
    spans = [
        span.encode(x=x("accuracy_low:Q"), x2="accuracy_high:Q"),
        span.encode(y=y("ras_low:Q"), y2="ras_high:Q"),
    ]
    dots = base.mark_point(filled=True, size=80, opacity=1, color="var(--corrupted)")
    names = base.mark_text(align="left", dx=8, dy=-8, color=INK, fontSize=12).encode(text="model:N")
    return specification(alt.layer(*spans, dots, names), height=320)


_ESTIMATE = ("value", "low", "high")
