"""Numbers and names as a reader sees them, and notes on one row."""

import json
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from benchc.report.facts import Row

NONE = "–"
#: What `looks` says of a model that no picture moves; the macro `is_blind` knows them too.
BLIND = ("does not look", "hardly looks")
_SCOPES = {
    "selection": "the selection",
    "control": "the random control",
    "pool": "the whole pool",
}


def percent(value: float | None) -> str:
    """Return a share as a percentage with one decimal."""
    return NONE if value is None else f"{100 * value:.1f}\u00a0%".replace("-", "−")


def rate(value: float | None) -> str:
    """Write a share as whole percent; nothing where there is none."""
    return "" if value is None else f"{100 * value:.0f} %"


def signed(value: float | None) -> str:
    """Return a score with three decimals and its sign."""
    if value is None:
        return NONE
    rounded = round(value, 3)
    if rounded == 0:
        return "0.000"
    return f"{rounded:+.3f}".replace("-", "−")


def signed_short(value: float) -> str:
    """Return a limit with its sign and no digits to spare."""
    return f"{value:+g}".replace("-", "−")


def plain(value: float | None) -> str:
    """Return a number with three decimals."""
    return NONE if value is None else f"{value:.3f}".replace("-", "−")


def points(value: float | None) -> str:
    """Return a difference of shares in percentage points."""
    return NONE if value is None else f"{100 * value:+.1f}\u00a0points".replace("-", "−")


def interval(low: float | None, high: float | None, form: Callable[[float | None], str]) -> str:
    """Return an interval in words; empty where it has no ends."""
    if low is None or high is None:
        return ""
    number, *_ = form(low).split("\u00a0")
    return f"{number} to {form(high)}"


def estimate(row: Row, form: Callable[[float | None], str]) -> str:
    """Return value and interval of a row with value, low and high."""
    ends = interval(row["low"], row["high"], form)
    return f"{form(row['value'])} ({ends})" if ends else form(row["value"])


def count(value: int | None) -> str:
    """Return a whole number, its thousands apart."""
    return NONE if value is None else f"{value:,}".replace(",", "\u202f")


def spaced(name: str) -> str:
    """Return an id as words."""
    return name.replace("_", " ")


def pretty(value: str) -> str:
    """Return JSON text indented; any other text as it is."""
    try:
        return json.dumps(json.loads(value), indent=2, sort_keys=True, ensure_ascii=False)
    except ValueError:
        return value


def listed(names: Sequence[str]) -> str:
    """Return names as words in a row: a, b and c."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def scope_name(scope: str) -> str:
    """Return what a scope is called in a sentence."""
    return _SCOPES[scope]


def spoken(pairs: Iterable[tuple[str, str]]) -> str:
    """Return labelled values as one phrase, for a chart's alternative text."""
    return "; ".join(f"{label} {value}" for label, value in pairs)


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
