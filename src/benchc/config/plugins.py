"""Corruptions of a user's own: a function in a file, known by its name beside the convention's.

They are handed to every process of a run in an environment variable, which children inherit.
"""

import json
import os
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from benchc.config.corruptions import CORRUPTIONS, GROUPS, SEVERITIES, Corruption
from benchc.config.section import Section

VARIABLE = "BENCHC_PLUGINS"
_TAKEN = (*CORRUPTIONS, "clean", "blank")


def _free_name(name: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,40}", name):
        raise ValueError("a corruption's name is lower-case letters, digits and `_`, 41 at most")
    if name in _TAKEN:
        raise ValueError("the product has a corruption of this name; take another")
    return name


def _function_name(name: str) -> str:
    if not name.isidentifier():
        raise ValueError("write the name of a function, without brackets")
    return name


#: What a user calls a corruption.
PluginName = Annotated[str, AfterValidator(_free_name)]


class Plugin(Section):
    """A corruption of your own: `function(picture, severity, rng)` in a Python file."""

    file: Path = Field(description="The Python file.")
    function: Annotated[str, AfterValidator(_function_name)] = Field(
        description="Its function: takes a picture (uint8, height x width x 3, RGB), a severity "
        "from 1 to 5 and a random generator, and returns a picture of the same shape and type.",
    )
    group: Literal["noise", "blur", "weather", "digital", "photometric"] = Field(
        description="The group that it counts to."
    )


def register(plugins: Mapping[str, Plugin], folder: Path) -> None:
    """Make plug-ins known to this process and to those that it starts, and forget all others.

    Args:
        plugins: By name.
        folder: Where relative paths of files count from.
    """
    entries = {
        name: [str((folder / plugin.file).resolve()), plugin.function, plugin.group]
        for name, plugin in plugins.items()
    }
    os.environ[VARIABLE] = json.dumps(entries)


def known() -> dict[str, Corruption]:
    """Return all corruptions by name: the convention's, then the plug-ins of this run."""
    return CORRUPTIONS | _registered(os.environ.get(VARIABLE, "{}"))


def groups() -> dict[str, tuple[str, ...]]:
    """Return the names of all corruptions by group."""
    own = _registered(os.environ.get(VARIABLE, "{}")).values()
    return {
        group: (*names, *(entry.name for entry in own if entry.group == group))
        for group, names in GROUPS.items()
    }


@lru_cache(maxsize=8)
def _registered(text: str) -> dict[str, Corruption]:
    return {
        name: Corruption(
            name, group, f"{file}:{function}", SEVERITIES, f"{function} of {file}", own=True
        )
        for name, (file, function, group) in json.loads(text).items()
    }
