"""The sentences that open the page: which model to trust under which degradation.

Each sentence is made from one row of `sql/best.sql`.
"""

from collections.abc import Mapping, Sequence

from benchc.report import wording
from benchc.report.facts import Row

#: Rivals named in one sentence; more are counted.
_NAMED = 3


def lead(best: Sequence[Row], board: Mapping[str, Row]) -> str:
    """Return the first sentences: who is right most, and what RAS tells apart, over everything.

    Args:
        best: rows of `sql/best.sql`.
        board: the line of the leaderboard of each model that looks at the pictures.
    """
    overall = {row["measure"]: row for row in best if row["corruption_group"] is None}
    if not board:
        return "No model that was asked looks at the pictures: none can be trusted or ranked."
    if "corrupted_accuracy" not in overall or "ras" not in overall:
        return "No pair of predictions has a score, so nothing can be said about robustness."
    accurate, steady = overall["corrupted_accuracy"], overall["ras"]
    share = (
        f"{wording.percent(accurate['value'])} of "
        f"{wording.count(board[accurate['model']]['n_pairs'])} pairs{_ends(accurate)}"
    )
    if len(board) == 1:
        text = f"{accurate['model']} is right on {share}, mean RAS {_score(steady)}."
    else:
        text = f"{accurate['model']} is right most often on corrupted pictures: {share}"
        text += f"{_rivals(accurate)}. {_order(overall)}"
    for model in dict.fromkeys((accurate["model"], steady["model"])):
        if _guesses(board[model]):
            text += (
                f" But on clean pictures {model} is no better than guessing, and a model that "
                "guesses has little to lose."
            )
    return text


def by_group(best: Sequence[Row], board: Mapping[str, Row]) -> list[tuple[str, str]]:
    """Return, for each group of corruptions, whom to trust under it.

    Args:
        best: rows of `sql/best.sql`.
        board: the line of the leaderboard of each model that looks at the pictures.
    """
    groups = dict.fromkeys(row["corruption_group"] for row in best if row["corruption_group"])
    sentences = []
    for group in groups:
        own = {row["measure"]: row for row in best if row["corruption_group"] == group}
        accurate, steady = own.get("corrupted_accuracy"), own.get("ras")
        if accurate is None or steady is None:
            continue
        text = f"{accurate['model']}, right on {wording.percent(accurate['value'])}"
        text += f"{_ends(accurate)}{_rivals(accurate)}."
        if _guesses(board[accurate["model"]]):
            text = f"no model: the best, {text}"
            text += " It is no better than guessing even on clean pictures."
        if len(board) == 1:
            text += f" Mean RAS {_score(steady)}."
        else:
            same = steady["model"] == accurate["model"]
            text += f" Highest RAS: {'the same' if same else steady['model']}, "
            text += f"{_score(steady)}{_rivals(steady)}."
        sentences.append((group, text))
    return sentences


def headline(row: Row, groups: Row | None) -> str:
    """Return one plain sentence about a model.

    Args:
        row: its line of the leaderboard.
        groups: its worst and best group of corruptions, None if it has no score.
    """
    if row["ras"] is None:
        return (
            f"none of its {wording.count(row['n_missing'])} pairs has a score: its predictions "
            "failed or are missing."
        )
    text = (
        f"{wording.percent(row['clean_accuracy'])} right on clean and "
        f"{wording.percent(row['corrupted_accuracy'])} on corrupted pictures, "
        f"mean RAS {wording.signed(row['ras'])}"
    )
    if groups is None:
        return f"{text}."
    hurt = groups["worst_ras"] < 0
    text += "; hurt most by" if hurt else "; lowest under"
    text += f" {groups['worst_group']} ({wording.signed(groups['worst_ras'])})"
    if groups["n_groups"] > 1:
        text += ", least by" if hurt else ", highest under"
        text += f" {groups['best_group']} ({wording.signed(groups['best_ras'])})"
    return f"{text}."


def _order(overall: Mapping[str, Row]) -> str:
    """Return what RAS says of the order; plain words such as "loses least" are not its own.

    Raw RAS is higher where a model is less sure, so a model is put first only where its lead is
    beyond its interval at the matched and at the fitted temperature, too.

    Args:
        overall: rows of `sql/best.sql` over all corruptions, by measure.
    """
    highest = overall["ras"]
    found = [overall.get(name) for name in ("ras", "ras_matched", "ras_fitted")]
    if all(row and row["model"] == highest["model"] and not _level(row) for row in found):
        return (
            f"{highest['model']} has the highest RAS, {_score(highest)}{_rivals(highest)}, and so "
            "it has where confidence is matched or fitted."
        )
    text = f"RAS puts no model first: the highest is that of {highest['model']}, {_score(highest)}"
    text += _rivals(highest)
    others = {
        kind: row["model"]
        for kind, row in zip(("matched", "fitted"), found[1:], strict=True)
        if row and row["model"] != highest["model"]
    }
    if others:
        said = wording.listed([f"{model} with confidence {kind}" for kind, model in others.items()])
        text += f"; it is {said}"
    return f"{text}."


def _level(row: Row) -> list[str]:
    """Return the models that cannot be told from the best one."""
    return [rival["model"] for rival in row["rivals"] if not (rival["low"] or 0) > 0]


def _rivals(row: Row) -> str:
    """Return who cannot be told from the best model, or by how much it leads."""
    if not row["rivals"]:
        return ""
    if level := _level(row):
        named = level if len(level) <= _NAMED else [*level[:_NAMED], f"{len(level) - _NAMED} more"]
        return f", not told apart from {wording.listed(named)}"
    nearest = row["rivals"][0]
    if row["measure"].startswith("ras"):
        ahead = f"{nearest['difference']:.3f} ({nearest['low']:.3f} to {nearest['high']:.3f})"
    else:
        ahead = (
            f"{100 * nearest['difference']:.1f} points "
            f"({100 * nearest['low']:.1f} to {100 * nearest['high']:.1f})"
        )
    return f", ahead of {nearest['model']} by {ahead}"


def _ends(row: Row) -> str:
    ends = wording.interval(row["low"], row["high"], wording.percent)
    return f" (95 % interval {ends})" if ends else ""


def _score(row: Row) -> str:
    return wording.estimate(row, wording.signed)


def _guesses(row: Row) -> bool:
    return bool(row["near_chance"] or row["below_chance"])
