"""A hash of the code that a result depends on: the modules that its entry imports, each as syntax.

Comments, docstrings, formatting, descriptions and the words of refusals change nothing, nor does
the version of Python. Never imports or runs the code it reads.
"""

import ast
import hashlib
from collections.abc import Collection, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_PACKAGE = "benchc"
_SETTINGS = "benchc.config"

#: Modules that bring values and show messages, and compute nothing: they are not followed. What a
#: user wrote counts by itself; of a class of settings that code makes anew, the defaults count.
CARRIERS = (
    "benchc.cli",
    _SETTINGS,
    "benchc.errors",
    "benchc.fetch",
    "benchc.running",
    "benchc.tables",
)


def fingerprint(*entries: str, beside: Collection[str] = ()) -> str:
    """Return a 16-digit hash of all that `entries` import inside the package, and of themselves.

    Args:
        entries: Each a module, or `module:name` for one command and what it uses of its module.
        beside: Modules and packages that are not followed, besides `CARRIERS`.
    """
    texts = (f"{entry}={_text(entry)}" for entry in modules(*entries, beside=beside))
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def modules(*entries: str, beside: Collection[str] = ()) -> list[str]:
    """Return what counts: modules, commands, and classes of settings as `module:name`; see above.

    Raises:
        ValueError: an entry is no module of the package, or its module does not define the name.
    """
    found: set[str] = set()
    waiting = list(entries)
    while waiting:
        entry = waiting.pop()
        if entry in found:
            continue
        found.add(entry)
        waiting += [
            reached
            for reached in _imported(entry)
            if ":" in reached or not _within(reached, (*CARRIERS, *beside))
        ]
    return sorted(found)


def _within(module: str, packages: Collection[str]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


@cache
def root() -> Path:
    """Return the folder of the package."""
    spec = find_spec(_PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


@cache
def _file(module: str) -> Path | None:
    """Return the file of a module of this package, without importing it; None for any other."""
    first, *parts = module.split(".")
    if first != _PACKAGE or not parts:
        return None
    place = root().joinpath(*parts)
    files = (place.with_suffix(".py"), place / "__init__.py")
    return next((file for file in files if file.is_file()), None)


@cache
def _syntax(module: str) -> ast.Module:
    file = _file(module)
    if file is None:
        raise ValueError(f"{module} is no module of {_PACKAGE}")
    tree: ast.Module = _WithoutWords().visit(ast.parse(file.read_text(encoding="utf-8")))
    return tree


@cache
def _tree(entry: str) -> ast.Module:
    """Return what counts of an entry: a module, one command of it, or one class's defaults."""
    module, _, name = entry.partition(":")
    tree = _syntax(module)
    if not name:
        return tree
    if _within(module, (_SETTINGS,)):
        return ast.Module(_defaults(tree, name), [])
    return ast.Module(_used(tree, name), [])


@cache
def _text(entry: str) -> str:
    return _dump(_tree(entry))


def _dump(node: object) -> str:
    """Return syntax as text, the same on every Python: fields that are empty are left out."""
    if isinstance(node, ast.AST):
        fields = [(k, v) for k, v in ast.iter_fields(node) if v is not None and v != []]
        return f"{type(node).__name__}({','.join(f'{k}={_dump(v)}' for k, v in fields)})"
    if isinstance(node, list):
        return f"[{','.join(map(_dump, node))}]"
    return repr(node)


@cache
def _imported(entry: str) -> frozenset[str]:
    return frozenset(_imports(entry))


def _imports(entry: str) -> Iterator[str]:
    """Yield the modules that an entry imports, also inside functions; not those for types alone."""
    module = entry.partition(":")[0]
    nodes = list(ast.walk(_tree(entry)))
    called = {n.func.id for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if _file(alias.name))
        elif isinstance(node, ast.ImportFrom):
            source = _source(module, node)
            for alias in node.names:
                if _file(f"{source}.{alias.name}"):
                    yield f"{source}.{alias.name}"
                elif _file(source):
                    yield source
                    is_made = alias.name in called and _within(source, (_SETTINGS,))
                    if is_made and _defaults(_syntax(source), alias.name):
                        yield f"{source}:{alias.name}"


def _source(module: str, node: ast.ImportFrom) -> str:
    """Return the module that a `from` import names, relative or not."""
    if not node.level:
        return node.module or ""
    file = _file(module)
    is_package = file is not None and file.name == "__init__.py"
    parts = module.split(".")
    above = parts[: len(parts) - node.level + is_package]
    return ".".join([*above, *([node.module] if node.module else [])])


def _defaults(tree: ast.Module, name: str) -> list[ast.stmt]:
    """Return the fields of a class with their defaults; none if there is no class of this name."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name]
    return [node for found in classes for node in found.body if isinstance(node, ast.AnnAssign)]


def _used(tree: ast.Module, name: str) -> list[ast.stmt]:
    """Return the statements of a module that define a name, and what these use of the module."""
    names, kept = {name}, []
    for _ in tree.body:
        kept = [node for node in tree.body if names & _defined(node)]
        names |= {n.id for node in kept for n in ast.walk(node) if isinstance(n, ast.Name)}
    if not any(name in _defined(node) for node in kept):
        raise ValueError(f"its module defines no {name}")
    return kept


def _defined(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    stored = (n for n in ast.walk(node) if isinstance(n, ast.Name))
    return {n.id for n in stored if isinstance(n.ctx, ast.Store)}


class _WithoutWords(ast.NodeTransformer):
    """Takes out what is there for people, or for a type checker."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        """Drop docstrings."""
        is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if is_text else self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST | None:
        """Drop what is imported for types alone."""
        typing = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        return None if typing else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Drop descriptions of settings, and what a refusal says."""
        if isinstance(node.func, ast.Name) and node.func.id == "BadInput":
            return ast.Call(node.func, [], [])
        node.keywords = [keyword for keyword in node.keywords if keyword.arg != "description"]
        return self.generic_visit(node)
