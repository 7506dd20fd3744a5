"""What leaves the process as text: no secret is in it, and no character that a terminal obeys.

Everything that is shown or written passes here: refusals (`BadInput`), what the command prints
(`Stream`), tables, records and databases (their writers in `benchc.tables` and `benchc.sql`).
"""

from __future__ import annotations

import base64
import html
import json
import os
import re
import unicodedata
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TextIO, cast
from urllib.parse import quote, quote_plus, urlsplit
from urllib.request import getproxies_environment

if TYPE_CHECKING:
    import polars as pl

MASK = "***"
"""What stands where a secret was."""

SHORTEST = 6
"""Characters of a secret at least: words such as `none` or `EMPTY` stand for no key."""

_variables = {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "OPENAI_API_KEY"}

_MOVES = re.compile(r"\n*(\x1b\[A)+")
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s'\"<>`]+", re.IGNORECASE)
# Invisible letters and marks; other invisible characters are of the categories below.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0")
# Control, format (direction, zero width, tags), surrogate, line and paragraph separators.
_OBEYED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def hold_back(variable: str) -> None:
    """Take the value of an environment variable for a secret from now on."""
    _variables.add(variable)


def without_secrets(text: str) -> str:
    """Return `text` with `MASK` in place of every secret, however it is spelt."""
    spellings = secret_spellings()
    return _pattern(spellings).sub(MASK, text) if spellings else text


def secret_spellings() -> tuple[str, ...]:
    """Return every spelling of every secret there is now, the longest first; in any case."""
    values = [os.environ.get(name, "") for name in sorted(_variables)]
    for proxy in getproxies_environment().values():
        with suppress(ValueError):
            values.append(urlsplit(proxy).password or "")
    return _spellings(tuple(values))


def without_keys(text: str) -> str:
    """Return `text` with `MASK` in place of the query and the password of every address in it."""
    return _ADDRESS.sub(_bare_address, text)


def visible(text: str) -> str:
    """Return `text` with escapes in place of what a terminal obeys or does not show.

    Line ends and tabs stay.
    """
    return text.translate({ord(c): _escaped(c) for c in set(text) if _is_obeyed(c)})


def one_line(text: str) -> str:
    """Return a text of anybody's as one line that may be shown."""
    return visible(without_keys(without_secrets(" ".join(text.split()))))


def excerpt(text: str, most: int) -> str:
    """Return the beginning of somebody else's words as one line: secrets out first, then cut.

    Args:
        text: What was said.
        most: Characters at most.
    """
    line = one_line(text)
    return line if len(line) <= most else f"{line[: most - 3]}..."


def json_without_secrets(value: Any) -> Any:
    """Return a value of JSON with `MASK` in place of every secret in its texts and names."""
    if isinstance(value, str):
        return without_secrets(value)
    if isinstance(value, dict):
        return {without_secrets(str(k)): json_without_secrets(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [json_without_secrets(item) for item in value]
    return value


def json_text(value: Any, **how: Any) -> str:
    """Return a value as JSON text without any secret; a key of digits changes no number.

    Args:
        value: What to write.
        how: As `json.dumps` takes it.
    """
    return json.dumps(json_without_secrets(value), **how)


def frame_without_secrets(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame with `MASK` in place of every secret in its texts and lists of texts."""
    spellings = secret_spellings()
    if not spellings:
        return frame
    import polars as pl

    pattern = f"(?i){'|'.join(map(pl.escape_regex, spellings))}"

    def masked(texts: pl.Expr) -> pl.Expr:
        return texts.str.replace_all(pattern, MASK)

    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String()]
    lists = [name for name, dtype in frame.schema.items() if dtype == pl.List(pl.String())]
    return frame.with_columns(
        *(masked(pl.col(name)) for name in texts),
        *(pl.col(name).list.eval(masked(pl.element())) for name in lists),
    )


class Stream:
    """An output stream that shows nothing but text, and writes it to a log as well."""

    def __init__(self, screen: Any, log: TextIO | None = None, bars: bool = False):
        """Wrap a stream.

        Args:
            screen: The stream.
            log: Gets the same text.
            bars: Let libraries draw progress bars where this is a terminal. Elsewhere they are
                told that it is none, so that they colour nothing.
        """
        self.screen = screen
        self.log = log
        self._bars = bars
        with suppress(AttributeError):
            # What an encoding lacks is escaped, too.
            screen.reconfigure(errors="backslashreplace")

    def write(self, text: str) -> int:
        """Write text, clean; of what moves a cursor, what a progress bar needs passes."""
        moved = self._bars and _MOVES.fullmatch(text) is not None
        clean = text if moved else self._clean(text)
        if self.log is not None and not moved:
            # A full disk must not silence the line that says so.
            with suppress(OSError):
                self.log.write(clean.replace("\r", "\n"))
                self.log.flush()
        self.screen.write(clean)
        return len(text)

    def _clean(self, text: str) -> str:
        text = text.replace("\r\n", "\n")
        # A bar begins with a return, and what removes it ends with one.
        inner = text.strip("\r") if self._bars else text
        before, _, after = text.partition(inner) if inner else (text, "", "")
        return before + visible(without_keys(without_secrets(inner))) + after

    def isatty(self) -> bool:
        """Say whether progress bars may be drawn."""
        return self._bars and self.screen.isatty()

    @property
    def encoding(self) -> str:
        """The encoding of the screen."""
        return self.screen.encoding or "utf-8"

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":
            raise AttributeError("bytes would pass by")
        return getattr(self.screen, name)


def exact(stream: TextIO) -> TextIO:
    """Return where data for another program goes: unchanged, unless a terminal shows them."""
    if isinstance(stream, Stream) and not stream.screen.isatty():
        return cast(TextIO, stream.screen)
    return stream


def _is_obeyed(character: str) -> bool:
    if character in "\n\t":
        return False
    return unicodedata.category(character) in _OBEYED or character in _INVISIBLE


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _bare_address(found: re.Match[str]) -> str:
    address = found[0]
    with suppress(ValueError):
        parts = urlsplit(address)
        host = parts.netloc.rpartition("@")
        bare = parts._replace(
            netloc=f"{MASK}@{host[2]}" if host[1] else parts.netloc,
            query=MASK if parts.query else "",
            fragment=MASK if "=" in parts.fragment else parts.fragment,
        )
        return bare.geturl()
    return MASK


@lru_cache(8)
def _spellings(values: tuple[str, ...]) -> tuple[str, ...]:
    found = set()
    for value in values:
        for part in {value.strip(), " ".join(value.split()), *map(str.strip, value.split("\n"))}:
            if len(part) < SHORTEST:
                continue
            encoded = part.encode("utf-8", "surrogateescape")
            found |= {part, quote(encoded, safe=""), quote_plus(encoded), html.escape(part)}
            in_json = json.dumps(part)[1:-1]
            found |= {in_json, json.dumps(in_json)[1:-1], repr(part)[1:-1], encoded.hex()}
            found |= {
                encode(encoded).decode("ascii").rstrip("=")
                for encode in (base64.b64encode, base64.urlsafe_b64encode)
            }
    return tuple(sorted(found, key=lambda spelling: (-len(spelling), spelling)))


@lru_cache(8)
def _pattern(spellings: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, spellings)), re.IGNORECASE)
