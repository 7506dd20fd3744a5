"""The learning curves of a discovery as one figure: a panel per measure, a line per training."""

from collections.abc import Mapping, Sequence
from itertools import product

import altair as alt

from benchc.report import wording
from benchc.report.charts.spec import Spec, rows_of, specification
from benchc.report.facts import Row
from benchc.report.figure import Figure, Panel

#: Measure, and how it is called.
CURVES = {
    "fdr": "FDR of the training's own questions",
    "held_out_fdr": "FDR on validation pictures",
    "validity": "Validity",
    "semantic": "Diversity: semantic part of Delta",
    "lexical": "Diversity: lexical part of Delta",
    "frac_reward_zero_std": "Share of collapsed groups",
    "unjudged": "Share that the verifier could not judge",
}
#: Okabe and Ito's, and two more; they can be told apart on a light and on a dark page.
COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8f8f89", "#a8671e",
)  # fmt: skip
DASHES: Mapping[str, Sequence[float]] = {"solid": [1, 0], "dashed": [5, 3], "dotted": [1.5, 2]}

#: Colour and dash of each training.
Strokes = Mapping[str, tuple[str, str]]


def figure(rows: Sequence[Row]) -> Figure | None:
    """Return the figure; None where nothing was logged.

    Args:
        rows: training, measure, step and value, in the order of the trainings.
    """
    # A measure that never moves from nought says nothing that a sentence does not.
    moving = {row["measure"] for row in rows if row["value"]}
    shown = [name for name in CURVES if name in moving]
    if not shown:
        return None
    styles = [(colour, dash) for dash, colour in product(DASHES, COLOURS)]
    trainings = list(dict.fromkeys(row["training"] for row in rows))
    strokes = {name: styles[i % len(styles)] for i, name in enumerate(trainings)}
    values = {(row["training"], row["step"], row["measure"]): row["value"] for row in rows}
    places = sorted({(row["training"], row["step"]) for row in rows})
    return Figure(
        "learning",
        "What each training reached after each update of the weights.",
        [_panel(name, [row for row in rows if row["measure"] == name], strokes) for name in shown],
        [(name, colour, dash) for name, (colour, dash) in strokes.items()],
        ["training", "step", *(CURVES[name] for name in shown)],
        [
            [
                training,
                str(step),
                *(wording.percent(values.get((training, step, name))) for name in shown),
            ]
            for training, step in places
        ],
    )


def _panel(name: str, rows: Sequence[Row], strokes: Strokes) -> Panel:
    last = {row["training"]: row["value"] for row in rows}
    said = wording.spoken((name, wording.percent(value)) for name, value in last.items())
    return Panel(CURVES[name], _lines(rows, strokes), f"{CURVES[name]}, at the last step: {said}")


def _lines(rows: Sequence[Row], strokes: Strokes) -> Spec:
    colour = alt.Scale(domain=list(strokes), range=[colour for colour, _ in strokes.values()])
    dash = alt.Scale(
        domain=list(strokes), range=[list(DASHES[dash]) for _, dash in strokes.values()]
    )
    chart = (
        alt.Chart(rows_of(rows))
        .mark_line(strokeWidth=1.8, point=len({row["step"] for row in rows}) < 25)
        .encode(
            x=alt.X("step:Q", title="step").axis(tickMinStep=1, format="d"),
            y=alt.Y("value:Q", title=None, scale=alt.Scale(domainMin=0)).axis(format="%"),
            color=alt.Color("training:N", scale=colour, legend=None),
            strokeDash=alt.StrokeDash("training:N", scale=dash, legend=None),
            tooltip=["training:N", "step:Q", alt.Tooltip("value:Q", format=".1%")],
        )
    )
    return specification(chart, height=170)
