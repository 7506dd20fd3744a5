"""Put the table of rooms into ARCHITECTURE.md: python docs/rooms.py."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[1]
PACKAGE = PROJECT / "src/benchc"
PAGE = PROJECT / "ARCHITECTURE.md"
BLOCK = re.compile(r"\| level \| room .*?(?=\n\n)", re.DOTALL)

#: From top to bottom; a room may import those of lower rows only, also inside a function.
LEVELS = (
    ("cli",),
    ("discover",),
    ("report", "embed", "reference"),
    ("diagnose", "infer", "select"),
    ("corrupt", "pool"),
    ("fetch", "models", "world"),
    ("pictures",),
    ("running",),
    ("config",),
    ("tables",),
    ("sql", "keyed"),
    ("errors",),
)


def room_of(file: Path, package: Path = PACKAGE) -> str:
    """Return the room that a module of the package is in."""
    return file.relative_to(package).parts[0].removesuffix(".py")


def imported(file: Path, package: Path = PACKAGE) -> Iterator[tuple[str, int]]:
    """Yield the modules of the package that a file imports anywhere, and on which line."""
    here = (package.name, *file.relative_to(package).parts[:-1])
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = ".".join(here[: len(here) + 1 - node.level]) if node.level else ""
            base = ".".join(part for part in (above, node.module) if part)
            names = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            if name.startswith(f"{package.name}."):
                yield name, node.lineno


def arrows(package: Path = PACKAGE) -> dict[tuple[str, str], str]:
    """Return each pair of rooms of which the first imports the second, and one place where."""
    return {
        (room_of(file, package), name.split(".")[1]): f"{file.relative_to(package)}:{line}"
        for file in sorted(package.rglob("*.py"))
        for name, line in imported(file, package)
        if name.split(".")[1] != room_of(file, package)
    }


def purpose(room: str) -> str:
    """Return the first sentence of a room's docstring."""
    folder = PACKAGE / room / "__init__.py"
    file = folder if folder.is_file() else PACKAGE / f"{room}.py"
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return " ".join(re.split(r"(?<=\.)\s", text)[0].split())


def table() -> str:
    """Return the rooms as a Markdown table, from top to bottom."""
    rows = [
        f"| {level} | `{room}` | {purpose(room)} |"
        for level, rooms in enumerate(LEVELS, 1)
        for room in rooms
    ]
    return "\n".join(["| level | room | what it holds |", "|---|---|---|", *rows])


def page() -> str:
    """Return the page with its table made anew."""
    return BLOCK.sub(lambda _: table(), PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
