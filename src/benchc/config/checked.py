"""Values that come from a user, checked against their type; what is wrong is one line."""

import difflib
from collections.abc import Iterable, Mapping
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, Tag, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from benchc.errors import BadInput

#: A line names so many words at most.
_FEW = 40

_PLAIN = {
    "tuple_type": "write a list in [ ]",
    "dict_type": "needs keys of its own, indented below it",
    "model_type": "needs keys of its own, indented below it",
    "model_attributes_type": "needs keys of its own, indented below it",
    "union_tag_not_found": "needs `kind`, for instance `kind: folder`",
    "missing": "is missing",
    "too_short": "must not be empty",
    "path_type": "write one path, as text",
}


def checked(form: Any, values: Any, where: str) -> Any:
    """Return values as the type `form`: a model of pydantic, or a union of some.

    Args:
        form: The type.
        values: What the user wrote.
        where: What begins the line: the option or file that the values come from.

    Raises:
        BadInput: a key is unknown, misspelt or missing, or a value is of the wrong type or out of
            range. The line names the key as the user wrote it, and the nearest that is known.
    """
    try:
        return TypeAdapter(form).validate_python(values)
    except ValidationError as error:
        raise BadInput(_one_line(form, min(error.errors(), key=_rank), where)) from None


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the end of a refusal: which known word may be meant, or all if they are few."""
    names = [str(name) for name in known]
    close = difflib.get_close_matches(word, names, n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; known: {', '.join(names)}" if len(names) <= _FEW else ""


def _rank(error: ErrorDetails) -> tuple[bool, int, bool]:
    """Order errors by how much they explain, the best first."""
    return (
        # A misspelt key explains the field that is missing for it.
        error["type"] != "extra_forbidden",
        # Of the members of a union, the one that the values went deepest into is meant,
        -len(error["loc"]),
        # and of a word and something else, the word where a word was given and only there.
        (error["type"] == "literal_error") != isinstance(error["input"], str),
    )


def _one_line(form: Any, error: ErrorDetails, where: str) -> str:
    parts, known = _followed(form, error["loc"])
    if error["type"] == "union_tag_invalid":
        parts.append(error["ctx"]["discriminator"].strip("'"))
    place = ".".join(parts).replace("\n", " ")
    given = error["input"]
    said = error["msg"].removeprefix("Value error, ").replace("Input should", f"{given!r} should")
    message = _PLAIN.get(error["type"], said.split(", unable to parse")[0])
    if error["type"] == "extra_forbidden":
        message = f"unknown key{nearest(parts[-1], known)}"
    elif error["type"] == "string_type" and isinstance(given, bool):
        message = "write yes, no, on, off, true and false in quotes where they are texts"
    elif error["type"] == "string_type":
        message = f"{given!r} is not text; write it in a config file, in quotes"
    elif error["type"] == "literal_error":
        message = _unknown(given, error["ctx"]["expected"])
    elif error["type"] == "union_tag_invalid":
        message = _unknown(error["ctx"]["tag"], error["ctx"]["expected_tags"])
    return ": ".join(filter(None, (where, place, message)))


def _unknown(given: Any, expected: str) -> str:
    """Say that a value is none of those that pydantic lists."""
    choices = [choice.strip("'") for choice in expected.replace(" or ", ", ").split(", ")]
    return f"unknown value {given!r}{nearest(str(given), choices)}"


def _followed(form: Any, place: tuple[int | str, ...]) -> tuple[list[str], list[str]]:
    """Follow a place of pydantic's through a type.

    Returns:
        The keys as a user writes them, without the names that pydantic gives the members of a
        union, and the keys that are known where the last of them stands.
    """
    parts: list[str] = []
    known: list[str] = []
    here = _bare(form)
    for part in place:
        if part == "[key]":
            continue
        if _is_union(here):
            here = _members(here).get(str(part))
            continue
        parts.append(str(part))
        fields = getattr(here, "model_fields", {})
        known = list(fields)
        if part in fields:
            here = _bare(fields[part].annotation)
        else:
            # The values of a mapping, the items of a list.
            inner = [a for a in get_args(here) if a is not ...]
            here = _bare(inner[-1]) if inner else None
    return parts, known


def _is_union(form: Any) -> bool:
    return get_origin(form) in (Union, UnionType)


def _bare(form: Any) -> Any:
    """Return a type without its annotations, and without None as a second choice."""
    if get_origin(form) is Annotated:
        return _bare(get_args(form)[0])
    if _is_union(form):
        choices = [a for a in get_args(form) if a is not type(None)]
        return _bare(choices[0]) if len(choices) == 1 else form
    return form


def _members(form: Any) -> Mapping[str, Any]:
    """Return the models among the members of a union by what pydantic calls them there."""
    found: dict[str, Any] = {}
    for member in get_args(form):
        model = _bare(member)
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            continue
        tags = [m.tag for m in get_args(member)[1:] if isinstance(m, Tag)]
        kind = model.model_fields.get("kind")
        tags += get_args(kind.annotation) if kind and get_origin(kind.annotation) is Literal else []
        found |= dict.fromkeys(tags or [model.__name__], model)
    return found
