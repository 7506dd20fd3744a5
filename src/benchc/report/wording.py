"""Numbers and sentences as a reader sees them.

Never reads the database: it is given rows.
"""

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from benchc.report.facts import Row

NONE = "–"
_SCOPES = {
    "selection": "the selection",
    "control": "the random control",
    "pool": "the whole pool",
}


def percent(value: float | None) -> str:
    """Return a share as a percentage with one decimal."""
    return NONE if value is None else f"{100 * value:.1f} %"


def signed(value: float | None) -> str:
    """Return a score with three decimals and its sign."""
    if value is None:
        return NONE
    rounded = round(value, 3)
    if rounded == 0:
        return "0.000"
    return f"{rounded:+.3f}".replace("-", "−")


def plain(value: float | None) -> str:
    """Return a number with three decimals."""
    return NONE if value is None else f"{value:.3f}".replace("-", "−")


def count(value: int | None) -> str:
    """Return a whole number, its thousands apart."""
    return NONE if value is None else f"{value:,}".replace(",", "\u202f")


def spaced(name: str) -> str:
    """Return an id as words."""
    return name.replace("_", " ")


def letter(index: int) -> str:
    """Return the label of an option, A for the first."""
    return chr(ord("A") + index)


def pretty(value: str) -> str:
    """Return JSON text indented; any other text as it is."""
    try:
        return json.dumps(json.loads(value), indent=2, sort_keys=True, ensure_ascii=False)
    except ValueError:
        return value


def scope_name(scope: str) -> str:
    """Return what a scope is called in a sentence."""
    return _SCOPES[scope]


def spoken(pairs: Iterable[tuple[str, str]]) -> str:
    """Return labelled values as one phrase, for a chart's alternative text."""
    return "; ".join(f"{label} {value}" for label, value in pairs)


def opening(board: Sequence[Row]) -> str:
    """Return what a reader wants first: who holds up best, who worst, and who is right most.

    Args:
        board: the leaderboard of one scope, best first.
    """
    scored = [row for row in board if row["ras"] is not None]
    if not scored:
        return "No pair of predictions has a score, so nothing can be said about robustness."
    first, last = scored[0], scored[-1]
    size = f"{count(first['n_pairs'])} pairs of a clean and a corrupted picture"
    if len(scored) == 1:
        text = f"{first['model']} has a mean RAS of {signed(first['ras'])} over {size}."
    else:
        text = (
            f"{first['model']} holds up best under corruption (mean RAS {signed(first['ras'])} "
            f"over {size}), {last['model']} worst ({signed(last['ras'])})."
        )
        most = max(scored, key=lambda row: row["corrupted_accuracy"])
        if most["corrupted_accuracy"] > first["corrupted_accuracy"]:
            text += (
                f" Right most often on corrupted pictures is {most['model']} "
                f"({percent(most['corrupted_accuracy'])})."
            )
    if first["near_chance"] or first["below_chance"]:
        text += (
            f" But on clean pictures {first['model']} cannot be told from guessing, "
            "and a model that guesses has little to lose."
        )
    return text


def headline(row: Row, groups: Row | None) -> str:
    """Return one plain sentence about a model.

    Args:
        row: its line of the leaderboard.
        groups: its worst and best group of corruptions, None if it has no score.
    """
    if row["ras"] is None:
        return (
            f"none of its {count(row['n_missing'])} pairs has a score: its predictions failed "
            "or are missing."
        )
    text = (
        f"{percent(row['clean_accuracy'])} right on clean and "
        f"{percent(row['corrupted_accuracy'])} on corrupted pictures, "
        f"mean RAS {signed(row['ras'])}"
    )
    if groups is None:
        return f"{text}."
    hurt = groups["worst_ras"] < 0
    text += "; hurt most by" if hurt else "; lowest under"
    text += f" {groups['worst_group']} ({signed(groups['worst_ras'])})"
    if groups["n_groups"] > 1:
        text += ", least by" if hurt else ", highest under"
        text += f" {groups['best_group']} ({signed(groups['best_ras'])})"
    return f"{text}."


def chance_note(row: Row) -> str | None:
    """Return a plain warning where clean accuracy is not above guessing, else None."""
    if not (row["near_chance"] or row["below_chance"]):
        return None
    verdict = (
        "is below what guessing would score"
        if row["below_chance"]
        else "cannot be told from guessing"
    )
    margin = 2 * row["standard_error"]
    return (
        f"clean accuracy {percent(row['clean_accuracy'])} {verdict}: chance is "
        f"{percent(row['chance'])} ± {percent(margin)} (two standard errors, "
        f"{count(row['n_pictures'])} pictures). Its RAS says little about robustness."
    )


def flip_note(row: Row) -> str:
    """Return how often a flip moved RAS against the reader's expectation."""
    return (
        f"{row['model']}: {count(row['n_lost_raised'])} of {count(row['n_lost'])} "
        f"right-to-wrong flips raised RAS, {count(row['n_gained_lowered'])} of "
        f"{count(row['n_gained'])} wrong-to-right flips lowered it"
    )


def finite(values: Iterable[Any]) -> list[float]:
    """Return the numbers among `values`."""
    return [float(v) for v in values if v is not None and math.isfinite(v)]
