"""What a run against a server will ask, said before the first request."""

from collections.abc import Iterable, Mapping
from typing import Any

from benchc.models.prompt import letter_prompt

_CHARACTERS = 4
"""Of English, to a token: a rule of thumb for the tokenizers in use."""


def price(key: str, rows: Iterable[Mapping[str, Any]], instruction: str) -> str:
    """Return how many requests are ahead, and how many tokens, as one line.

    Args:
        key: The model's key in the config.
        rows: What will be asked: `question` and `options`, once for each request.
        instruction: The last line of each prompt.
    """
    requests = characters = 0
    for row in rows:
        requests += 1
        characters += len(letter_prompt(row["question"], row["options"], instruction))
    tokens = -(-characters // _CHARACTERS)
    return (
        f"{key}: {requests:,} requests ahead, each with one picture and one token to answer; about "
        f"{tokens:,} tokens of text in all (at {_CHARACTERS} characters each), and what the server "
        "counts for a picture"
    )
