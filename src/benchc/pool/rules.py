"""What holds for a row of any source: no option twice, no marker of its picture in the question."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from benchc.pool.rows import Reason, SourceRows, Unusable

MARKER = re.compile(
    r"<\|vision_start\|>(?:<\|image_pad\|>)+<\|vision_end\|>|\(<image>\./</image>\)"
    r"|<\|?image(?:[ _-]?(?P<number>\d+))?\|?>(?:</image>)?|<img[ _-]?(?P<img>\d+)>|<img></img>"
    r"|<image_placeholder>|<imagehere>|<start_of_image>|<__media__>",
    re.IGNORECASE,
)
"""How benchmarks and models write "here is the picture" into a text."""
_BEGINS_A_LINE = re.compile(rf"^[ \t]*(?:{MARKER.pattern})[ \t]*\n?", re.IGNORECASE | re.MULTILINE)
_ENDS = re.compile(rf"(?:{MARKER.pattern})\Z", re.IGNORECASE)


def by_one_rule(source: SourceRows) -> SourceRows:
    """Return the rows of a source as every model is asked them; what no model can be asked is out.

    A marker of the one picture is taken off the question: each model places the picture its own
    way. A row is malformed in which two options are the same.
    """
    kept = SourceRows(rejected=list(source.rejected), file=source.file)
    for row in source.rows:
        with kept.rejecting(row.source_ref, row.where):
            refuse_same_options(row.options)
            kept.rows.append(replace(row, question=without_marker(row.question, row.options)))
    return kept


def refuse_same_options(options: Sequence[str]) -> None:
    """Refuse options two of which read the same, but for spacing and the coding of accents.

    Raises:
        Unusable: malformed.
    """
    read = [" ".join(unicodedata.normalize("NFC", text).split()) for text in options]
    if len(set(read)) < len(read):
        twice = next(text for text in read if read.count(text) > 1)
        raise Unusable(Reason.MALFORMED, f"two of its options are the same, {twice[:80]!r}")


def without_marker(question: str, options: Sequence[str]) -> str:
    """Return a question without the marker of its picture; within a line it reads `the image`.

    Raises:
        Unusable: multi_image, if the question or an option speaks of another picture; malformed,
            if nothing else is left.
    """
    if any(MARKER.search(text) for text in options):
        raise Unusable(Reason.MULTI_IMAGE, "its options are pictures")
    numbers = [found["number"] or found["img"] for found in MARKER.finditer(question)]
    if not numbers:
        return question
    if numbers.count(None) > 1 or any(number and int(number[:9]) > 1 for number in numbers):
        raise Unusable(Reason.MULTI_IMAGE, "its question holds the markers of several pictures")
    text = _ENDS.sub("", _BEGINS_A_LINE.sub("", question).rstrip())
    text = MARKER.sub("the image", text).strip()
    if not text:
        raise Unusable(Reason.MALFORMED, "it has no question")
    return text
