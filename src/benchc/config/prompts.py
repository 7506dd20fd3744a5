"""The players' prompts: those of the package by name, and a user's own by file.

A prompt is a Jinja template; what a template of a role may and must use is here.
"""

from dataclasses import dataclass
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

from benchc.config.checked import nearest
from benchc.errors import BadInput

ENDINGS = (".j2", ".txt", ".md")
"""How the name of a user's own file ends; a name of the package has no ending."""


@dataclass(frozen=True)
class Role:
    """One of the prompts that a game needs.

    Attributes:
        packaged: Names of the prompts that the package has for it.
        needs: What a template must use.
        may_use: What else it may use.
    """

    packaged: tuple[str, ...]
    needs: frozenset[str]
    may_use: frozenset[str] = frozenset()


ROLES = {
    "questioner": Role(
        ("questioner", "questioner_drawn"), frozenset(), frozenset({"count", "examples"})
    ),
    "answerer": Role(("answerer", "answerer_drawn"), frozenset({"question"})),
    "judge": Role(("verifier_judge",), frozenset({"question"})),
    "compare": Role(("verifier_compare",), frozenset({"question", "truth", "answer"})),
}


def _known(role: str, name: str) -> str:
    packaged = ROLES[role].packaged
    if name not in packaged and not is_file(name):
        raise ValueError(
            f"unknown value {name!r}{nearest(name, packaged)}; a file of your own ends in "
            f"{', '.join(ENDINGS)}"
        )
    return name


QuestionerPrompt = Annotated[str, AfterValidator(partial(_known, "questioner"))]
AnswererPrompt = Annotated[str, AfterValidator(partial(_known, "answerer"))]
JudgePrompt = Annotated[str, AfterValidator(partial(_known, "judge"))]
ComparePrompt = Annotated[str, AfterValidator(partial(_known, "compare"))]


def is_file(name: str) -> bool:
    """Say whether a prompt is a user's own file."""
    return name.endswith(ENDINGS)


def text(name: str) -> str:
    """Return the template of a prompt.

    Raises:
        BadInput: a file that cannot be read, or has no words.
    """
    if not is_file(name):
        return (resources.files("benchc.discover") / "prompts" / f"{name}.j2").read_text("utf-8")
    try:
        found = Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise BadInput(f"{name}: cannot be read as a prompt ({reason})") from None
    if not found.strip():
        raise BadInput(f"{name}: the prompt is empty")
    return found


def check(role: str, name: str) -> None:
    """Refuse a user's template that does not use what its role gives.

    Raises:
        BadInput: it cannot be read, is no Jinja template, uses something else, or lacks what it
            needs.
    """
    if not is_file(name):
        return
    import jinja2
    from jinja2 import meta

    template, wanted = text(name), ROLES[role]
    try:
        used = meta.find_undeclared_variables(jinja2.Environment().parse(template))
    except jinja2.TemplateError as error:
        line = f"line {error.lineno}: " if isinstance(error, jinja2.TemplateSyntaxError) else ""
        raise BadInput(f"{name}: {line}not a Jinja template ({error.message})") from None
    given = ", ".join(f"{{{{ {word} }}}}" for word in sorted(wanted.needs | wanted.may_use))
    for word in sorted(used - wanted.needs - wanted.may_use):
        raise BadInput(f"{name}: nobody gives {{{{ {word} }}}}; this prompt is given {given}")
    for word in sorted(wanted.needs - used):
        raise BadInput(f"{name}: the prompt must hold {{{{ {word} }}}}; it is given {given}")
