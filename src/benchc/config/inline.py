"""Option values that are either JSON or YAML themselves, or the name of a file that holds it."""

from pathlib import Path
from typing import Any

from benchc.config import yaml_text
from benchc.errors import BadInput


def read(value: str, option: str) -> Any:
    """Return what `value` holds: itself where it starts with a bracket, else the file it names.

    Raises:
        BadInput: the file cannot be read, or neither JSON nor YAML is in it, or a key is
            given twice.
    """
    place = option
    if not value.lstrip().startswith(("{", "[")):
        place = value
        try:
            value = Path(value).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "not UTF-8 text"
            raise BadInput(
                f"{place}: cannot be read ({reason}); give a file, or the values in {{ }}"
            ) from None
    return yaml_text.load(value, place)


def facts(value: str, option: str) -> dict[str, Any]:
    """Return what an option gives as one object of names and values; see `read`.

    Raises:
        BadInput: it is no such object.
    """
    found = read(value, option)
    if not isinstance(found, dict):
        given = value.lstrip().startswith(("{", "["))
        raise BadInput(f"{option if given else value}: not an object of names and values")
    return found
