"""YAML as people write it, with one rule more: a key stands once in its mapping."""

from collections.abc import Hashable
from typing import Any

import yaml

from benchc.errors import BadInput


def load(text: str, place: str) -> Any:
    """Return what a YAML or JSON text holds.

    Args:
        text: The text.
        place: The name under which a refusal speaks of it.

    Raises:
        BadInput: it is no YAML, or a key is given twice.
    """
    try:
        return yaml.load(text, Loader=_OnceLoader)
    except yaml.YAMLError as error:
        raise BadInput(f"{place}: neither JSON nor YAML ({' '.join(str(error).split())})") from None
    except _TwiceError as error:
        raise BadInput(f"{place}, {error}") from None


class _TwiceError(Exception):
    """A key was given twice."""


class _OnceLoader(yaml.SafeLoader):
    """The safe loader, which by itself keeps the last of two equal keys and says nothing."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        lines: dict[tuple[str, str], int] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag == "tag:yaml.org,2002:merge":
                continue
            line = key.start_mark.line + 1
            if (key.tag, key.value) in lines:
                first = lines[key.tag, key.value]
                raise _TwiceError(
                    f"line {line}: key {key.value!r} was given before, in line {first}"
                )
            lines[key.tag, key.value] = line
        return super().construct_mapping(node, deep)
