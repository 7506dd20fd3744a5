"""Options that a benchmark wrote into the text of its question.

A list of options that does not read A, B, C, ... in order is refused.
"""

import re
from string import ascii_uppercase

from benchc.pool.rows import Reason, Unusable

_FORMAT_HINT = re.compile(r"\AHint: [^\n]*correct option letter[^\n]*\nQuestion: ")
_ORDER = re.compile(r"\n+Please answer directly with [^\n]*\Z")
_HEADING = re.compile(r"\s*(?:Options|Choices):\s*\Z")
_INLINE = re.compile(r"\s*\bOptions: *A: ")
_FIRST_LINE = re.compile(r"^\(?A[.:)] ", re.MULTILINE)


def split_question(text: str) -> tuple[str, dict[str, str]]:
    """Return the question alone, and the options by letter; none if it has none.

    Known are `Options: A: one, B: two` and one line per option: `(A) one`, `A. one`, `A: one`.
    Instructions on how to write the answer are taken off: every model here is asked its own way.

    Raises:
        Unusable: malformed, where a list of options begins and does not go on as one.
    """
    text = _ORDER.sub("", _FORMAT_HINT.sub("", text.strip()))
    inline = list(_INLINE.finditer(text))
    if inline:
        return text[: inline[-1].start()].strip(), _split_inline(text[inline[-1].end() :])
    first = _FIRST_LINE.search(text)
    if first:
        question = _HEADING.sub("", text[: first.start()]).strip()
        return question, _split_lines(text[first.start() :])
    if re.search(r"\b(?:Options|Choices):", text):
        raise Unusable(Reason.MALFORMED, "its options cannot be told from its question")
    return text, {}


def _split_inline(text: str) -> dict[str, str]:
    """Return the options of `one, B: two, C: three`."""
    options: dict[str, str] = {}
    for letter, after in zip(ascii_uppercase, [*ascii_uppercase[1:], ""], strict=True):
        head, mark, text = text.partition(f", {after}: ") if after else (text, "", "")
        options[letter] = head.strip()
        if not mark:
            break
    return options


def _split_lines(text: str) -> dict[str, str]:
    """Return the options of lines that begin with A, B, C, ..., one after the other."""
    options: dict[str, str] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        letter = ascii_uppercase[len(options) : len(options) + 1]
        found = re.fullmatch(rf"\(?{letter}[.:)]? +(.+)", line) if letter else None
        if not found:
            raise Unusable(Reason.MALFORMED, f"{line!r} does not go on with its list of options")
        options[letter] = found[1].strip()
    return options
