"""The trajectories with the largest shifts, with pictures, for the case browser.

The order in `sql/cases.sql` decides, and a size limit what is embedded.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tqdm import tqdm

from benchc.report.facts import Facts, Row
from benchc.report.pictures import Renderer

#: Trajectories offered for each model, group of corruptions and state.
PER_CELL = 12
#: The page embeds cases until their text is this long; the rest are side files. Characters.
EMBEDDED_SIZE = 2_300_000

_DIGITS = 4


@dataclass
class Batch:
    """Cases with the questions and pictures they need, as `cases.js` reads them.

    `pictures` maps IMAGE/CORRUPTION/SEVERITY to a data URI.
    """

    cases: list[Row] = field(default_factory=list)
    questions: dict[str, Row] = field(default_factory=dict)
    pictures: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> str:
        """Return the batch as compact JSON."""
        values = {"cases": self.cases, "questions": self.questions, "pictures": self.pictures}
        return json.dumps(values, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


@dataclass(frozen=True)
class Cases:
    """What the page embeds, and how many cases lie in the side file of each corruption."""

    embedded: Batch
    left: dict[str, int]
    _rest: dict[str, list[Row]]
    _renderer: Renderer

    def side_files(self) -> Iterator[tuple[str, str]]:
        """Yield name and text of each side file, one per corruption; pictures are drawn here."""
        for corruption, cases in tqdm(self._rest.items(), "cases", unit="file", disable=None):
            batch = Batch()
            for case in cases:
                _add(batch, case, self._renderer)
            yield f"{corruption}.js", f"benchcCases({batch.as_json()});\n"


def choose(facts: Facts, scope: str, renderer: Renderer, size: int = EMBEDDED_SIZE) -> Cases:
    """Return the cases of one scope, the largest shifts embedded.

    Args:
        facts: the database.
        scope: samples to choose from.
        renderer: draws their pictures.
        size: characters that the embedded cases may take; the largest shift of each model, group
            and state comes first, then the second of each, and so on.
    """
    rows = facts("cases", scope=scope, n=PER_CELL)
    embedded = Batch()
    rest: dict[str, list[Row]] = defaultdict(list)
    used = 0
    for case in tqdm(_completed(facts, rows), "pictures", unit="case", disable=None):
        if used < size:
            used += _add(embedded, case, renderer)
        else:
            rest[case["corruption"]].append(case)
    return Cases(
        embedded, {name: len(cases) for name, cases in sorted(rest.items())}, rest, renderer
    )


def _completed(facts: Facts, rows: Sequence[Row]) -> list[Row]:
    """Return the cases with the steps of their trajectories and their questions."""
    asked: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        asked[row["model"]].add(row["sample_id"])
    steps: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for model, samples in asked.items():
        for step in facts("steps", model=model, samples=sorted(samples)):
            steps[model, step.pop("sample_id"), step.pop("corruption")].append(_short(step))
    wanted = sorted({row["sample_id"] for row in rows})
    questions = {row.pop("sample_id"): row for row in facts("questions", samples=wanted)}
    return [
        {
            **_short(row),
            "asked": questions[row["sample_id"]],
            "steps": [
                *steps[row["model"], row["sample_id"], "clean"],
                *steps[row["model"], row["sample_id"], row["corruption"]],
            ],
        }
        for row in rows
    ]


def _add(batch: Batch, case: Row, renderer: Renderer) -> int:
    """Add a case, its question and its pictures; return by how many characters it grew."""
    kept = {name: value for name, value in case.items() if name not in ("asked", "place")}
    batch.cases.append(kept)
    batch.questions[case["sample_id"]] = case["asked"]
    grown = len(json.dumps(kept))
    for step in case["steps"]:
        severity = step["severity"]
        corruption = case["corruption"] if severity else "clean"
        key = f"{case['image_id']}/{corruption}/{severity}"
        if key not in batch.pictures:
            batch.pictures[key] = renderer.thumbnail(case["image_id"], corruption, severity)
            grown += len(key) + len(batch.pictures[key])
    return grown


def _short(row: Row) -> Row:
    """Return a row with its numbers rounded to what the page shows."""
    return {name: _rounded(value) for name, value in row.items()}


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, list):
        return [_rounded(part) for part in value]
    return value
