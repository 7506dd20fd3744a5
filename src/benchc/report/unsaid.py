"""What a run is too small or too plain to say, each in one line that names it.

The figures themselves are left out where they are made; here a reader learns which and why.
"""

from benchc.diagnose.bootstrap import FEWEST
from benchc.report import wording
from benchc.report.facts import Facts, Row


def unsaid(facts: Facts, scope: str) -> list[str]:
    """Return the lines over one scope; none where everything can be said."""
    return [*_of_extent(facts("unsaid", scope=scope)[0]), *_of_fits(facts("unfitted", scope=scope))]


def _of_extent(extent: Row) -> list[str]:
    lines = []
    if extent["n_models"] == 1:
        lines.append("One model only: no model is compared with another, and none is ranked.")
    if extent["n_models"] == 2:
        lines.append(
            "Two models: whether clean accuracy orders models as RAS does cannot be said (no rank "
            "correlation from fewer than three)."
        )
    if extent["n_images"] < FEWEST:
        lines.append(
            f"{wording.count(extent['n_images'])} picture{'s' * (extent['n_images'] != 1)}: no "
            f"interval, and so no verdict, from fewer than {FEWEST}."
        )
    if extent["n_benchmarks"] == 1:
        lines.append(
            "One benchmark: which questions suffer most can be said by its categories only."
        )
    if extent["fewest_options"] == extent["most_options"] == 2:
        lines.append(
            "Every question has two options: entropy then follows from confidence alone, so that "
            "uncertainty says nothing beside it."
        )
    return lines


def _of_fits(rows: list[Row]) -> list[str]:
    return [f"RAS {row['kind']} of {row['model']} cannot be said: {row['reason']}." for row in rows]
