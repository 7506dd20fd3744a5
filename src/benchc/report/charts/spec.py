"""What every chart shares: colours by name, the range of an axis, data within the specification."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from benchc.report.facts import Row
from benchc.report.wording import finite

Spec = dict[str, Any]

INK = "currentColor"

#: Writes an id on an axis as words.
SPACED = "replace(datum.label, /_/g, ' ')"


def named(*names: str) -> dict[str, str]:
    """Return the colour of each name: a variable of the style sheet, `_` written as `-`."""
    return {name: f"var(--{name.replace('_', '-')})" for name in names}


def color(field: str, colors: Mapping[str, str]) -> alt.Color:
    """Colour by the values of a field; the page draws the legend."""
    scale = alt.Scale(domain=list(colors), range=list(colors.values()))
    return alt.Color(f"{field}:N", scale=scale, legend=None)


def domain(values: Sequence[float | None]) -> list[float]:
    """Return the range that panels share: all values and 0, with a little room."""
    numbers = [0.0, *finite(values)]
    low, high = min(numbers), max(numbers)
    if low == high:
        return [-0.1, 0.1]
    room = 0.06 * (high - low)
    return [round(low - room if low < 0 else low, 6), round(high + room if high > 0 else high, 6)]


def numbers(format: str) -> alt.Axis:
    """Return an axis of numbers, on which 0 has neither sign nor decimals."""
    label = f"datum.value === 0 ? '0' : format(datum.value, '{format}')"
    return alt.Axis(tickCount=6, labelExpr=label)


def rows_of(rows: Sequence[Row]) -> alt.Data:
    """Return rows as inline data."""
    return alt.Data(values=list(rows))


def zero(channel: str) -> alt.Chart:
    """Draw the line at 0 of one axis."""
    rule = alt.Chart(rows_of([{"zero": 0}])).mark_rule(color=INK, opacity=0.5)
    return rule.encode(**{channel: alt.datum(0)})


def specification(chart: Any, height: int) -> Spec:
    """Return a chart as wide as its place on the page."""
    spec: Spec = chart.properties(width="container", height=height).to_dict()
    spec.pop("config", None)
    return spec
