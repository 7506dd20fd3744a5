"""Every command's help teaches it: what it does, each option, and an example that is accepted."""

import inspect
import re
import shlex
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

import pytest
import typer

from benchc.cli import STAGES, app


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every command that does something, with the words that call it."""
    listed = getattr(command, "list_commands", None)
    if listed is None:
        yield path, command
        return
    context = command.make_context("benchc", [], resilient_parsing=True)
    for name in listed(context):
        inner = command.get_command(context, name)
        assert inner is not None
        yield from commands(inner, (*path, name))


ROOT = typer.main.get_command(app)
COMMANDS = dict(commands(ROOT))
NAMES = [" ".join(path) for path in COMMANDS]


def options() -> dict[str, dict[str, Any]]:
    """Return what each option is in every command that has it."""
    found: dict[str, dict[str, Any]] = {}
    for path, command in COMMANDS.items():
        for parameter in command.params:
            for word in parameter.opts:
                if word.startswith("--"):
                    found.setdefault(word, {})[" ".join(path)] = parameter
    return found


def test_all_stages_are_looked_at():
    assert {path[0] for path in COMMANDS} >= set(STAGES)
    assert len(COMMANDS) > 25


@pytest.mark.parametrize("name", NAMES)
def test_a_command_says_what_it_does_and_what_each_option_means(name):
    command = COMMANDS[tuple(name.split())]
    first = inspect.cleandoc(command.help or "").splitlines()[0]
    assert re.match(r"[A-Z].*[.:;,\w]$", first)
    for parameter in command.params:
        if parameter.name != "help":
            said = getattr(parameter, "help", None)
            assert said, f"{name}: {parameter.name}"
            assert said[0].isupper() or said.split()[0].rstrip(",:").islower()
            assert said.rstrip("`").endswith((".", "leaderboard")), said


@pytest.mark.parametrize("name", NAMES)
def test_a_commands_help_ends_in_an_example_that_is_accepted(name):
    path = tuple(name.split())
    command = COMMANDS[path]
    text = inspect.cleandoc(command.help or "")
    (example,) = re.findall(r"^Example: (.*?)(?:\n\n|\Z)", text, re.DOTALL | re.MULTILINE)
    words = shlex.split(example.replace("<(", "").replace(")", ""))
    while words[:1] and words[0] != "benchc":
        words = words[1:]
    assert tuple(words[1 : 1 + len(path)]) == path
    rest = words[1 + len(path) :]
    if "benchc" in rest:
        rest = rest[: rest.index("benchc")]
    command.make_context(name, rest)


@pytest.mark.parametrize(("word", "places"), options().items())
def test_an_option_is_of_one_kind_everywhere(word, places):
    kinds = {
        name: _kind(parameter.type_descriptor.annotation) for name, parameter in places.items()
    }
    assert len(set(kinds.values())) == 1, kinds


def _kind(annotation: Any) -> str:
    """Return what one value is: a list holds several of it, and nothing may be given."""
    while get_args(annotation) and get_origin(annotation) is not Literal:
        annotation = next(inner for inner in get_args(annotation) if inner is not type(None))
    return "str" if get_origin(annotation) is Literal else annotation.__name__
