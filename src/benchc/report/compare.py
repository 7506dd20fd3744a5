"""Two runs side by side: the same models and pictures, for instance corrupted at two scales.

Two pairs are the same where sample, picture, corruption and severity agree.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchc.diagnose import bootstrap
from benchc.errors import BadInput
from benchc.report import wording
from benchc.report.charts import points
from benchc.report.charts.spec import domain
from benchc.report.facts import Row, facts_of
from benchc.report.figure import Figure, Panel, by_model, legend
from benchc.report.frame import render

MEASURES = {
    "accuracy": ("accuracy on corrupted pictures", "correct", wording.percent, wording.points),
    "ras": ("mean RAS", "ras", wording.signed, wording.signed),
}


def build_comparison(first: Path, second: Path, names: tuple[str, str], seed: int = 0) -> str:
    """Return the comparison of two runs as one HTML document.

    Args:
        first: database of one run.
        second: database of another run over the same pool.
        names: what to call the two.
        seed: of the bootstrap, whose intervals are clustered by picture.

    Raises:
        BadInput: one name for both; a file that is no database of this version; or two without a
            pair in common.
    """
    if names[0] == names[1]:
        raise BadInput(f"--names: both runs are called {names[0]!r}; give two names")
    with facts_of({"first": first, "second": second}) as facts:
        sums = facts("compared")
        differing = facts("differing")
    if not sums:
        raise BadInput(
            f"{first} and {second} have no pair in common: they need a model key, samples and "
            "corruptions that are the same"
        )
    rows = compare(sums, seed)
    models = list(dict.fromkeys(row["model"] for row in rows))
    return render(
        "compare.html.j2",
        names=names,
        databases=(first, second),
        sentences=[(model, _sentence(rows, model, names)) for model in models],
        figures=[_figure(rows, models, measure, names) for measure in MEASURES],
        made_otherwise=[
            (
                row["name"].removeprefix("made."),
                row["first"] or "unknown",
                row["second"] or "unknown",
            )
            for row in differing
            if row["name"].startswith("made.") and row["first"] != row["second"]
        ],
        differing=[
            row
            for fact in differing
            for row in differences(fact["name"], _parsed(fact["first"]), _parsed(fact["second"]))
        ],
    )


def compare(sums: Sequence[Row], seed: int) -> list[Row]:
    """Return both runs' accuracy and mean RAS, by model and corruption and over all.

    Args:
        sums: model, corruption_group, corruption, image_id, n, correct_first, correct_second,
            ras_first, ras_second.
        seed: of the bootstrap over pictures.

    Returns:
        Rows of model, corruption_group and corruption (None: over all), measure, n_pairs, first,
        second, value (second minus first) with low and high, its 95 % interval; None below two
        pictures.
    """
    images = {image: at for at, image in enumerate(sorted({row["image_id"] for row in sums}))}
    weights = bootstrap.weights(len(images), seed, bootstrap.DRAWS)
    cells: dict[tuple[str, str | None, str | None], list[Row]] = {}
    for row in sums:
        cells.setdefault((row["model"], row["corruption_group"], row["corruption"]), []).append(row)
        cells.setdefault((row["model"], None, None), []).append(row)
    found = []
    for (model, group, corruption), own in cells.items():
        at = [images[row["image_id"]] for row in own]
        several = len(set(at)) > 1

        def drawn(name: str, own: list[Row] = own, at: list[int] = at) -> np.ndarray:
            values = [float(row[name]) for row in own]
            by_image = np.bincount(at, values, minlength=len(images))
            return bootstrap.exact(by_image) @ weights

        n = drawn("n")
        for measure, (_, column, _, _) in MEASURES.items():
            first = bootstrap.ratio(drawn(f"{column}_first"), n)
            second = bootstrap.ratio(drawn(f"{column}_second"), n)
            low, high = bootstrap.interval(second - first)
            found.append(
                {
                    "model": model,
                    "corruption_group": group,
                    "corruption": corruption,
                    "measure": measure,
                    "n_pairs": int(n[0]),
                    "first": float(first[0]),
                    "second": float(second[0]),
                    "value": float(second[0] - first[0]),
                    "low": float(low) if several else None,
                    "high": float(high) if several else None,
                }
            )
    return found


def differences(name: str, first: Any, second: Any) -> list[tuple[str, str, str]]:
    """Return what differs between two values, by the path to it.

    Args:
        name: what the values are called.
        first: a value, or nested mappings of values.
        second: as `first`.
    """
    if first == second:
        return []
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return [
            line
            for key in sorted({*first, *second})
            for line in differences(f"{name}.{key}", first.get(key), second.get(key))
        ]
    return [(name, json.dumps(first), json.dumps(second))]


def _parsed(value: str | None) -> Any:
    try:
        return None if value is None else json.loads(value)
    except ValueError:
        return value


def _sentence(rows: Sequence[Row], model: str, names: tuple[str, str]) -> str:
    own = [row for row in rows if row["model"] == model]
    whole = {row["measure"]: row for row in own if row["corruption"] is None}
    said = []
    for measure, (heading, _, form, change) in MEASURES.items():
        row = whole[measure]
        apart = row["low"] is not None and (row["low"] > 0 or row["high"] < 0)
        told = "" if apart else ", which may be chance"
        said.append(
            f"{heading} {form(row['first'])} in {names[0]} and {form(row['second'])} in "
            f"{names[1]}, {wording.estimate(row, change)}{told}"
        )
    each = [row for row in own if row["corruption"] is not None and row["measure"] == "ras"]
    most = max(each, key=lambda row: abs(row["value"]))
    said.append(
        f"RAS moves most under {wording.spaced(most['corruption'])}: "
        f"{wording.estimate(most, wording.signed)}"
    )
    pairs = wording.count(whole["ras"]["n_pairs"])
    return f"over the {pairs} pairs of both runs, {'; '.join(said)}."


def _figure(
    rows: Sequence[Row], models: Sequence[str], measure: str, names: tuple[str, str]
) -> Figure:
    heading, _, form, change = MEASURES[measure]
    own = [row for row in rows if row["measure"] == measure and row["corruption"] is not None]
    order = list(dict.fromkeys(row["corruption"] for row in own))
    share = form is wording.percent
    ends = [row[name] for row in own for name in ("first", "second")]
    limits = [0.0, 1.0] if share else domain(ends)

    def panel(model: str, lines: list[Row]) -> Panel:
        said = wording.spoken(
            (wording.spaced(row["corruption"]), f"{form(row['first'])} and {form(row['second'])}")
            for row in lines
        )
        spec = points.moves(lines, order, heading, ".0%" if share else "+.2f", limits)
        return Panel(model, spec, f"{model}, {heading} in {names[0]} and {names[1]}: {said}")

    return Figure(
        measure,
        f"{heading.capitalize() if share else 'Mean RAS'} under each corruption in both runs, on "
        "the pairs that both have.",
        by_model(own, models, panel),
        legend(points.RUNS, dict(zip(points.RUNS, names, strict=True)), ["circle", "square"]),
        ["model", "corruption", "pairs", *names, "change (95 % interval)"],
        [
            [
                row["model"],
                wording.spaced(row["corruption"]),
                wording.count(row["n_pairs"]),
                form(row["first"]),
                form(row["second"]),
                wording.estimate(row, change),
            ]
            for row in own
        ],
        "middle",
    )
