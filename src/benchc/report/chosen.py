"""How the samples were chosen: the impurity, the map of the embeddings, the counts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchc import tables
from benchc.errors import BadInput
from benchc.report import wording
from benchc.report.charts import maps
from benchc.report.facts import Facts, Row
from benchc.report.figure import Figure, Panel, legend

_OUTCOMES = {"kept": "kept", "left_out": "left out"}
_MEMBERS = {
    "selection": "selection",
    "control": "random control",
    "selection_and_control": "both",
    "neither": "neither",
}


def figures(facts: Facts, embeddings: Path | None) -> dict[str, Any]:
    """Return the figures and tables of this section by name.

    Raises:
        BadInput: `embeddings` is not the table of these samples.
    """
    return {
        "benchmarks": facts("benchmarks"),
        "reasons": facts("reasons"),
        "rejected": facts("rejected"),
        "impurity": _impurity(facts("impurity")),
        "members": _members(facts("members"), embeddings),
    }


def _impurity(rows: Sequence[Row]) -> Figure | None:
    if not rows:
        return None
    said = wording.spoken(
        (f"{row['low']:.2f} to {row['high']:.2f} {_OUTCOMES[row['outcome']]}", str(row["n"]))
        for row in rows
    )
    return Figure(
        "impurity",
        "Samples of the pool by the mean Gini impurity of their answer trajectories: 0 where no "
        "corruption changes any selector's answer.",
        [Panel("Impurity", maps.impurity(rows), f"Samples by impurity: {said}")],
        legend(maps.OUTCOMES, _OUTCOMES),
        ["from", "below", "outcome", "samples"],
        [
            [
                f"{row['low']:.2f}",
                f"{row['high']:.2f}",
                _OUTCOMES[row["outcome"]],
                wording.count(row["n"]),
            ]
            for row in rows
        ],
        "wide",
    )


def _members(rows: Sequence[Row], embeddings: Path | None) -> Figure | None:
    if embeddings is None or len(rows) < 3:
        return None
    held = tables.EMBEDDINGS.read(embeddings, ["sample_id", "image", "text"])
    joined = pl.DataFrame({"sample_id": [row["sample_id"] for row in rows]}).join(
        held, on="sample_id", how="left", maintain_order="left"
    )
    absent = joined.filter(pl.col("image").is_null())["sample_id"]
    if absent.len():
        raise BadInput(
            f"{embeddings}: no embedding of {absent[0]}; the database was built from other samples"
        )
    vectors = np.hstack([np.array(joined[name].to_list()) for name in ("image", "text")])
    places, explained = main_axes(vectors)
    order = {"neither": 0, "control": 1, "selection": 2, "selection_and_control": 3}
    drawn = [
        {**row, "x": x, "y": y, "place": order[row["member"]]}
        for row, (x, y) in zip(rows, places.round(4).tolist(), strict=True)
    ]
    counts = {
        (benchmark, member): n
        for benchmark, member, n in pl.DataFrame(rows)
        .group_by("benchmark", "member")
        .len()
        .iter_rows()
    }
    benchmarks = sorted({row["benchmark"] for row in rows})
    said = wording.spoken(
        (label, str(sum(row["member"] == member for row in rows)))
        for member, label in _MEMBERS.items()
    )
    return Figure(
        "members",
        "The pool on the two main axes of its embeddings (principal components of picture and text "
        "vectors side by side). A selection that follows the spread of the pool covers the same "
        "ground as the random control.",
        [Panel("Pool, selection and control", maps.members(drawn, explained), f"Samples: {said}")],
        legend(maps.MEMBERS, _MEMBERS, ["circle", "triangle", "diamond", "circle"]),
        ["benchmark", *_MEMBERS.values()],
        [
            [benchmark, *(wording.count(counts.get((benchmark, m), 0)) for m in _MEMBERS)]
            for benchmark in benchmarks
        ],
        "wide",
    )


def main_axes(vectors: np.ndarray) -> tuple[np.ndarray, list[float]]:
    """Return the two principal components of each row, and the share of variance of each.

    Args:
        vectors: (n, d) float, n >= 2.

    Returns:
        (n, 2) float, each axis pointing to where its largest entry is positive; two shares in 0..1.
    """
    centred = vectors - vectors.mean(axis=0)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    scores = u[:, :2] * s[:2]
    if scores.shape[1] < 2:
        scores = np.hstack([scores, np.zeros((len(scores), 2 - scores.shape[1]))])
    largest = scores[np.abs(scores).argmax(axis=0), [0, 1]]
    total = float((s**2).sum()) or 1.0
    shares = [*(s[:2] ** 2 / total), 0.0, 0.0][:2]
    return scores * np.where(largest < 0, -1.0, 1.0), [float(share) for share in shares]
