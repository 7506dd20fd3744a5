"""A hash of exactly the code and files that a result depends on.

Follows names through syntax trees, so that a comment, a docstring, formatting or an unrelated
function changes nothing. Never imports or runs the code it reads.
"""

import ast
import hashlib
import json
import re
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

#: Modules that check and carry what a user wrote. What was written counts by itself, and so a new
#: setting, its description or a refusal reruns nothing.
SETTINGS = (
    "benchc.checked",
    "benchc.discover.settings",
    "benchc.errors",
    "benchc.fetch.origin",
    "benchc.infer.settings",
    "benchc.inline",
    "benchc.pool.specs",
    "benchc.section",
)

_PACKAGE = "benchc"
_WHOLE = "*"
_WORTH_REMEMBERING = 16 * 2**20


def of_code(*entries: str, ignoring: Iterable[str] = ()) -> str:
    """Return a 16-digit hash of the definitions that `entries` reach inside the package.

    Args:
        entries: Each `module:name`, or `module` for everything in it.
        ignoring: Entries that are not followed.
    """
    stop = {_entry(entry) for entry in ignoring}
    seen: set[tuple[str, str]] = set()
    waiting = [_entry(entry) for entry in entries]
    while waiting:
        reference = waiting.pop()
        if reference in seen or reference in stop or (reference[0], _WHOLE) in stop:
            continue
        seen.add(reference)
        waiting.extend(_reached(*reference))
    texts = [f"{module}:{name}={_text(module, name)}" for module, name in sorted(seen)]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def of_files(paths: Iterable[Path], cache: Path | None = None, root: Path | None = None) -> str:
    """Return a 16-digit hash of files' names and contents; SQL without its comments.

    Args:
        paths: The files.
        cache: A JSON file that remembers the hashes, where the files are large together, by
            device, inode, size and time of change; it spares reading them again and may be
            deleted at any time.
        root: A folder above the files from which their names count; by default a name is the last
            part of a path.
    """
    whole = hashlib.sha256()
    known = _remembered(cache)
    before = len(known)
    size = 0
    for path in sorted(paths):
        name = path.name if root is None else path.relative_to(root).as_posix()
        if path.suffix == ".sql":
            content = hashlib.sha256(_bare_sql(path.read_text()).encode()).hexdigest()
        else:
            found = path.stat()
            size += found.st_size
            key = f"{found.st_dev}:{found.st_ino}:{found.st_size}:{found.st_mtime_ns}"
            content = known.get(key) or known.setdefault(key, _of_content(path))
        whole.update(f"{name}={content}\n".encode())
    if cache is not None and len(known) > before and size >= _WORTH_REMEMBERING:
        from benchc.tables import renamed_into_place

        with renamed_into_place(cache) as temporary:
            temporary.write_text(json.dumps(known, indent=1, sort_keys=True))
    return whole.hexdigest()[:16]


def of_place(place: Path, cache: Path | None = None) -> str:
    """Return a 16-digit hash of a file, or of all in a folder but hidden files, wherever it lies.

    Args:
        place: The file or folder; what is not there is known by its name.
        cache: See `of_files`.
    """
    if place.is_file():
        return of_files([place], cache)
    if not place.is_dir():
        return place.name
    shown = (f for f in place.rglob("*") if "/." not in f"/{f.relative_to(place).as_posix()}")
    return of_files(filter(Path.is_file, shown), cache, place)


def _of_content(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _remembered(cache: Path | None) -> dict[str, str]:
    try:
        found = json.loads(cache.read_text()) if cache is not None else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def packaged(*patterns: str) -> list[Path]:
    """Return the package's own data files, not code, that match patterns such as `report/*.css`."""
    found = {path for pattern in patterns for path in _root().glob(pattern)}
    return sorted(p for p in found if p.is_file() and p.suffix not in {".py", ".pyc"})


def _bare_sql(text: str) -> str:
    return " ".join(re.sub(r"--[^\n]*", " ", text).split())


def _entry(entry: str) -> tuple[str, str]:
    module, _, name = entry.partition(":")
    return module, name or _WHOLE


@cache
def _root() -> Path:
    spec = find_spec(_PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


@cache
def _path(module: str) -> Path | None:
    """Return the file of a module of this package, without importing it."""
    first, *parts = module.split(".")
    if first != _PACKAGE:
        return None
    place = _root().joinpath(*parts)
    for candidate in (place.with_suffix(".py"), place / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


@cache
def _definitions(module: str) -> dict[str, list[ast.stmt]]:
    """Return what a module defines at its top level, by name; bare statements under `*`."""
    path = _path(module)
    if path is None:
        raise ValueError(f"{module} is no module of {_PACKAGE}")
    found: dict[str, list[ast.stmt]] = {_WHOLE: []}
    for node in _without_docstrings(ast.parse(path.read_text(encoding="utf-8"))).body:
        for name in _names_defined(node):
            found.setdefault(name, []).append(node)
    return found


def _names_defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)]
        return names or [_WHOLE]
    return [_WHOLE]


@cache
def _reached(module: str, name: str) -> list[tuple[str, str]]:
    definitions = _definitions(module)
    nodes = [inner for outer in _nodes(module, name) for inner in ast.walk(outer)]
    if name != _WHOLE and all(isinstance(n, ast.ImportFrom) for n in definitions[name]):
        return [r for node in nodes for r in _imported_from(module, node, name)]
    reached = [(module, other) for other in definitions] if name == _WHOLE else []
    # Modules by the names they have here, those imported inside a function among them.
    modules = _modules(module, [node for found in definitions.values() for node in found])
    inside = _modules(module, nodes)
    modules |= inside
    whole = {id(node): node.id for node in nodes if isinstance(node, ast.Name)}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            # A module counts by the members that are used, below.
            imported = _imported_from(module, node)
            reached += [r for r in imported if r[1] != _WHOLE or r[0] not in inside.values()]
        elif isinstance(node, ast.Import):
            reached += [(a.name, _WHOLE) for a in node.names if _path(a.name)]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            source = modules.get(node.value.id)
            if source is not None:
                whole.pop(id(node.value), None)
                reached.append(_member(source, node.attr))
    for used in whole.values():
        if used in inside:
            reached.append((inside[used], _WHOLE))
        elif used in definitions:
            reached.append((module, used))
    if name != _WHOLE and definitions[_WHOLE]:
        reached += [
            (module, n.id)
            for statement in definitions[_WHOLE]
            for n in ast.walk(statement)
            if isinstance(n, ast.Name) and n.id in definitions
        ]
    return reached


def _modules(module: str, nodes: Iterable[ast.AST]) -> dict[str, str]:
    """Return the modules of this package that `from` imports bring in, by their names there."""
    return {
        alias.asname or alias.name: f"{source}.{alias.name}"
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for source in [_absolute(module, node)]
        if _path(source) is not None
        for alias in node.names
        if _member(source, alias.name) == (f"{source}.{alias.name}", _WHOLE)
    }


def _imported_from(module: str, node: ast.AST, only: str | None = None) -> list[tuple[str, str]]:
    """Return what an import brings in, under one name or under all."""
    if not isinstance(node, ast.ImportFrom) or _path(_absolute(module, node)) is None:
        return []
    return [
        _member(_absolute(module, node), alias.name)
        for alias in node.names
        if only is None or (alias.asname or alias.name) == only
    ]


def _member(module: str, name: str) -> tuple[str, str]:
    """Return what `module.name` is: a definition, a module, or whatever the whole module makes."""
    if name != _WHOLE and name in _definitions(module):
        return module, name
    if _path(f"{module}.{name}"):
        return f"{module}.{name}", _WHOLE
    return module, _WHOLE


def _absolute(module: str, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    path = _path(module)
    package = module.split(".")
    if path is None or path.name != "__init__.py":
        package = package[:-1]
    base = package[: len(package) - (node.level - 1)]
    return ".".join([*base, *([node.module] if node.module else [])])


def _nodes(module: str, name: str) -> list[ast.stmt]:
    definitions = _definitions(module)
    if name not in definitions:
        raise ValueError(f"{module} defines no {name}")
    return definitions[name]


@cache
def _text(module: str, name: str) -> str:
    nodes = [*_nodes(module, name), *_definitions(module)[_WHOLE]]
    return "".join(
        ast.dump(node) for node in nodes if not isinstance(node, ast.Import | ast.ImportFrom)
    )


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        holder = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        if isinstance(node, holder) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return tree
