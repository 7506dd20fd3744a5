"""The words of a question as every model is asked it.

The model's own chat template comes later, in the backend.
"""

from collections.abc import Sequence
from string import ascii_uppercase


def option_labels(count: int) -> list[str]:
    """Return the letters of `count` options (2 to 26), `A` first."""
    return list(ascii_uppercase[:count])


def letter_prompt(question: str, options: Sequence[str], instruction: str) -> str:
    """Return the question, one option a line behind its letter, and the instruction."""
    labels = option_labels(len(options))
    choices = [f"{label}. {option}" for label, option in zip(labels, options, strict=True)]
    return "\n".join([question, *choices, *([instruction] if instruction else [])])


def text_prompt(question: str, instruction: str) -> str:
    """Return the question without its options, for scoring each option's text after it."""
    return "\n".join([question, *([instruction] if instruction else [])])
