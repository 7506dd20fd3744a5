"""Lines: mean RAS over severity beside its nulls, and reliability diagrams.

Every point is one row of the database.
"""

from collections.abc import Sequence

import altair as alt

from benchc.report.charts.points import CONDITIONS
from benchc.report.charts.spec import INK, Spec, color, rows_of, specification, zero
from benchc.report.charts.stacks import CLEAN_STATES
from benchc.report.facts import Row

#: What a line is of, and how it is drawn.
KINDS = {"measured": [1, 0], "flattening": [6, 4], "blank": [2, 3]}


def trends(rows: Sequence[Row], limits: Sequence[float]) -> Spec:
    """Draw mean RAS over severity: measured with its interval, and what each null would give.

    Args:
        rows: severity, clean_state, kind, value, low, high of one model.
        limits: range of the axis.
    """
    scale = alt.Scale(domain=list(limits), nice=False, clamp=True)
    base = alt.Chart(rows_of(rows)).encode(
        x=alt.X("severity:O", title="severity", axis=alt.Axis(labelAngle=0)),
        color=color("clean_state", CLEAN_STATES),
        tooltip=[
            "clean_state:N",
            "kind:N",
            "severity:O",
            *(alt.Tooltip(f"{name}:Q", format="+.4f") for name in ("value", "low", "high")),
        ],
    )
    y = alt.Y("value:Q", title="mean RAS", scale=scale)
    band = (
        base.transform_filter("datum.kind == 'measured'")
        .mark_area(opacity=0.22)
        .encode(y=alt.Y("low:Q", scale=scale, title="mean RAS"), y2="high:Q")
    )
    dashes = alt.StrokeDash(
        "kind:N", scale=alt.Scale(domain=list(KINDS), range=list(KINDS.values())), legend=None
    )
    lines = base.mark_line(strokeWidth=2).encode(y=y, strokeDash=dashes)
    points = (
        base.transform_filter("datum.kind == 'measured'")
        .mark_point(filled=True, size=46, opacity=1)
        .encode(
            y=y,
            shape=alt.Shape(
                "clean_state:N",
                scale=alt.Scale(domain=list(CLEAN_STATES), range=["circle", "square"]),
                legend=None,
            ),
        )
    )
    return specification(alt.layer(zero("y"), band, lines, points), height=200)


def reliability(rows: Sequence[Row]) -> Spec:
    """Draw accuracy over confidence, clean and corrupted; on the diagonal the two agree.

    Args:
        rows: condition, confidence, accuracy, weight, n_pairs of one model.
    """
    unit = alt.Scale(domain=[0, 1], nice=False)
    percent = alt.Axis(format="%", values=[0, 0.5, 1])
    ends = alt.Chart(rows_of([{"at": 0}, {"at": 1}]))
    diagonal = ends.mark_line(color=INK, opacity=0.5, strokeWidth=1).encode(x="at:Q", y="at:Q")
    base = alt.Chart(rows_of(rows)).encode(
        x=alt.X("confidence:Q", title="confidence", scale=unit, axis=percent),
        y=alt.Y("accuracy:Q", title="share right", scale=unit, axis=percent),
        color=color("condition", CONDITIONS),
    )
    points = base.mark_point(filled=True, opacity=0.9).encode(
        size=alt.Size("weight:Q", scale=alt.Scale(domain=[0, 1], range=[16, 500]), legend=None),
        shape=alt.Shape(
            "condition:N",
            scale=alt.Scale(domain=list(CONDITIONS), range=["circle", "square"]),
            legend=None,
        ),
        tooltip=[
            "condition:N",
            alt.Tooltip("confidence:Q", format=".1%"),
            alt.Tooltip("accuracy:Q", format=".1%"),
            alt.Tooltip("weight:Q", format=".1%"),
            "n_pairs:Q",
        ],
    )
    lines = base.mark_line(strokeWidth=1.5, opacity=0.4)
    return specification(alt.layer(diagonal, lines, points), height=220)
