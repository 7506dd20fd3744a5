"""What a run against a server will ask, said before the first request."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from benchc.models.prompt import letter_prompt
from benchc.tables import SAMPLES, SELECTION

_CHARACTERS = 4
"""Of English, to a token: a rule of thumb for the tokenizers in use."""


def price(key: str, rows: Iterable[Mapping[str, Any]], instruction: str, times: int = 1) -> str:
    """Return how many requests are ahead, and how many tokens, as one line.

    Args:
        key: The model's key in the config.
        rows: What will be asked: `question` and `options`.
        instruction: The last line of each prompt.
        times: Requests for each row.
    """
    requests = characters = 0
    for row in rows:
        requests += times
        characters += times * len(letter_prompt(row["question"], row["options"], instruction))
    tokens = -(-characters // _CHARACTERS)
    return (
        f"{key}: {requests:,} requests ahead, each with one picture and one token to answer; about "
        f"{tokens:,} tokens of text in all (at {_CHARACTERS} characters each), and what the server "
        "counts for a picture"
    )


def foreseen(
    key: str, instruction: str, conditions: int, samples: Path, selection: Path | None
) -> str:
    """Return what a whole run will ask of a server, or what is not known of it yet, as one line.

    Args:
        key: The model's key in the config.
        instruction: The last line of each prompt.
        conditions: Under how many each question is asked, clean and blank among them.
        samples: The pool's table, which may not be there.
        selection: The selection's, for a model that is asked its samples only; it may not be there.

    Raises:
        BadInput: a table is damaged or drifted.
    """
    if not samples.exists():
        return (
            f"{key}: how many requests a run will send is not known before there is a pool "
            f"({samples}): {conditions:,} for each question, one under each condition"
        )
    asked, note = SAMPLES.read(samples), "what is answered already is not asked again"
    if selection is not None and selection.exists():
        wanted = SELECTION.read(selection).filter(pl.col("kept") | pl.col("control"))
        asked = asked.join(wanted, on="sample_id", how="semi")
    elif selection is not None:
        note = (
            f"at most, for how many of the pool's {asked.height:,} questions it will be asked is "
            f"not known before there is a selection ({selection})"
        )
    rows = asked.select("question", "options").iter_rows(named=True)
    return f"{price(key, rows, instruction, conditions)}; {note}"
