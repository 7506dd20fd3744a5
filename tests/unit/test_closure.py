"""The hash of code changes with what a result depends on, and with nothing else."""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from benchc.config.models import BACKENDS, TransformersModel
from benchc.models import backends
from benchc.running import closure
from benchc.running.workflow import _CODE, Workflow

PROJECT = Path(__file__).parents[2]
PACKAGE = PROJECT / "src/benchc"

SOURCES = {
    "__init__.py": "VERSION = 1\n",
    "a.py": '''
"""Module."""
from typing import TYPE_CHECKING
from benchc import c
from benchc.config.settings import Fields, Other
from benchc.errors import BadInput
if TYPE_CHECKING:
    from benchc.e import Shape
LIMIT = 3
def entry(x: "Shape"):
    """Doc."""
    if x > LIMIT:
        raise BadInput(f"{x} is too much")
    return Fields(), c.one(x), isinstance(x, Other)
def lazy(x):
    from .b import other
    return other(x)
''',
    "b.py": "def other(x):\n    return x\n",
    "c.py": "def one(x):\n    return x\n",
    "command.py": "from benchc.errors import BadInput\n"
    "def first():\n    return shared()\n"
    "def second():\n    from benchc import b\n    return b\n"
    "def shared():\n    return 1\n",
    "e.py": "class Shape:\n    sides = 3\n",
    "config/settings.py": "class Fields:\n"
    "    kind: str = Field(default='x', description='what')\n"
    "    def check(self):\n        return 1\n"
    "class Other:\n    size: int = 1\n",
    "errors.py": "class BadInput(Exception):\n    code: int = 1\n",
}


def forget() -> None:
    for function in vars(closure).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


@pytest.fixture
def at(monkeypatch):
    """Look for the package's modules in another folder."""

    def look_in(folder: Path) -> None:
        monkeypatch.setattr(closure, "root", lambda: folder)
        forget()

    yield look_in
    monkeypatch.undo()
    forget()


@pytest.fixture
def edit(tmp_path, at):
    for name, text in SOURCES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    at(tmp_path)

    def edited(name: str, old: str, new: str) -> None:
        text = (tmp_path / name).read_text()
        assert old in text
        (tmp_path / name).write_text(text.replace(old, new))
        forget()

    return edited


EDITS = [
    pytest.param("a.py", "LIMIT = 3", "LIMIT = 4", True, id="a constant"),
    pytest.param("c.py", "return x", "return -x", True, id="an imported module"),
    pytest.param("b.py", "return x", "return -x", True, id="a module imported in a function"),
    pytest.param("config/settings.py", "'x'", "'y'", True, id="a default that code uses"),
    pytest.param("config/settings.py", "size: int = 1", "size: int = 2", False, id="another"),
    pytest.param("config/settings.py", "'what'", "'other words'", False, id="a description"),
    pytest.param("config/settings.py", "return 1", "return 2", False, id="a check"),
    pytest.param("errors.py", "code: int = 1", "code: int = 2", False, id="errors"),
    pytest.param("a.py", "is too much", "is too large", False, id="the words of a refusal"),
    pytest.param("a.py", "x > LIMIT", "x >= LIMIT", True, id="when it is refused"),
    pytest.param("a.py", '"""Doc."""', '"""Other words."""', False, id="a docstring"),
    pytest.param("a.py", '"""Module."""', "", False, id="no docstring"),
    pytest.param("a.py", "LIMIT = 3", "LIMIT = 3  # why", False, id="a comment"),
    pytest.param("a.py", "LIMIT = 3", "LIMIT = (\n    3\n)", False, id="formatting"),
    pytest.param("e.py", "sides = 3", "sides = 4", False, id="what types alone import"),
    pytest.param("__init__.py", "VERSION = 1", "VERSION = 2", False, id="the version"),
]


@pytest.mark.parametrize(("name", "old", "new", "counts"), EDITS)
def test_what_decides_counts_and_words_do_not(edit, name, old, new, counts):
    before = closure.fingerprint("benchc.a")
    edit(name, old, new)
    assert (closure.fingerprint("benchc.a") != before) is counts


def test_of_a_module_of_commands_one_counts_with_what_it_uses(edit):
    first, second = "benchc.command:first", "benchc.command:second"
    assert closure.modules(first) == [first]
    assert closure.modules(second) == ["benchc.b", second]
    before = [closure.fingerprint(entry) for entry in (first, second)]
    edit("command.py", "return 1", "return 2")
    after = [closure.fingerprint(entry) for entry in (first, second)]
    assert [one != two for one, two in zip(before, after, strict=True)] == [True, False]


def test_what_is_left_beside_is_not_followed(edit):
    before = closure.fingerprint("benchc.a", beside=["benchc.c"])
    edit("c.py", "return x", "return 1")
    assert closure.fingerprint("benchc.a", beside=["benchc.c"]) == before


@pytest.mark.parametrize("entry", ["benchc.nowhere", "benchc.c:nothing", "json"])
def test_an_entry_that_is_not_there_is_an_error(edit, entry):
    with pytest.raises(ValueError, match=r"no module|defines no"):
        closure.fingerprint(entry)


def test_the_whole_package_can_be_followed():
    for file in PACKAGE.rglob("*.py"):
        parts = file.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(("benchc", *(part for part in parts if part != "__init__")))
        if name != "benchc":
            assert name in closure.modules(name)


PYTHONS = [f"python3.{minor}" for minor in range(11, 15)]
ALL_CODE = """
import runpy, sys, types
sys.modules["benchc"] = types.ModuleType("benchc")
found = runpy.run_path(sys.argv[1] + "/running/closure.py")
from pathlib import Path
found["fingerprint"].__globals__["root"] = lambda: Path(sys.argv[1])
for entry in sys.argv[2:]:
    print(entry, found["fingerprint"](entry))
"""


def _python(name: str) -> str | None:
    """Return an interpreter of this version that runs, on the path or among those of pyenv."""
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    number = name.removeprefix("python")
    installed = sorted(kept.glob(f"{number}.*/bin/python"))
    for found in filter(None, [shutil.which(name), *map(str, installed)]):
        if subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0:
            return found
    return None


@pytest.mark.parametrize("version", PYTHONS)
def test_every_python_finds_the_same_hashes(version):
    python = _python(version)
    if python is None:
        pytest.skip(f"no {version} on this machine")
    assert _hashes_by(python) == _hashes_by(sys.executable)


@cache
def _hashes_by(python: str) -> str:
    entries = [
        *(entry for stage in _CODE.values() for entry in stage),
        *(backend.module for backend in BACKENDS.values()),
    ]
    command = [python, "-c", ALL_CODE, str(PACKAGE), *entries]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert len(found.splitlines()) == len(entries)
    return found


STAGES = ("pool", "embed", "infer", "select", "diagnose_model", "database", "report")
CORRUPTIONS = (
    "gaussian_noise",
    "defocus_blur",
    "gaussian_blur",
    "snow",
    "frost",
    "jpeg_compression",
)
ANSWERS = {"infer", "answers"}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoint")
    (folder / "config.json").write_text("{}")
    return folder


@pytest.fixture(scope="module")
def unedited(checkpoint) -> dict[str, str]:
    return _everything(checkpoint)


@pytest.fixture
def package(tmp_path, at) -> Path:
    """A copy of the package that is looked at in its place."""
    copy = tmp_path / "benchc"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    at(copy)
    return copy


def _everything(checkpoint: Path) -> dict[str, str]:
    """Return all that reruns something when it changes; `answers` are the keys of chunks."""
    run = Workflow({}, str(PROJECT))
    found = {stage: run.code(stage) for stage in STAGES}
    found["infer"] = run.infer_code("llava")
    found |= {name: run.corruption_code(name) for name in CORRUPTIONS}
    found["table of a hub"] = closure.fingerprint("benchc.pool.sources.parquet")
    found["answers"] = backends.model_key(TransformersModel(path=str(checkpoint)), 1)
    return found


RERUNS = [
    pytest.param(
        "corrupt/blur.py", "constants[1] * scale", "constants[1] * scale * 2",
        {"defocus_blur", "gaussian_blur"}, id="one blur"
    ),
    pytest.param(
        "corrupt/exact.py", "return ", "return 0 or ",
        {"gaussian_noise", "defocus_blur", "gaussian_blur", "snow", "frost"}, id="exact numbers",
    ),
    pytest.param("models/prompt.py", "return ", "return '' or ", ANSWERS, id="a prompt"),
    pytest.param("models/encode.py", "return ", "return '' or ", ANSWERS, id="the encoder"),
    pytest.param("models/server.py", "return ", "return '' or ", set(), id="another backend"),
    pytest.param("infer/run.py", "return ", "return '' or ", {"infer"}, id="how chunks are cut"),
    pytest.param("errors/__init__.py", "return ", "return '' or ", set(), id="errors"),
    pytest.param("tables/contract.py", "no such file", "nothing there", set(), id="an error text"),
    pytest.param("tables/schemas.py", "in order", "in turn", {"database"}, id="a column comment"),
    pytest.param(
        "tables/columns.py", "key of the model", "name of the model", {"database"},
        id="a comment on a column that tables share",
    ),
    pytest.param(
        "diagnose/verdicts.py", "FINDINGS = {", 'FINDINGS = {\n    "new": "A finding",',
        {"database", "report"}, id="a new verdict",
    ),
    pytest.param(
        "diagnose/sql/verdicts/blur_hurts_right_answers_most.sql", "SELECT", "SELECT DISTINCT",
        {"database"}, id="the statement of a verdict",
    ),
    pytest.param("config/models.py", "What runs the model", "What asks", set(), id="a description"),
    pytest.param("config/section.py", "take another", "choose another", set(), id="a refusal"),
    pytest.param(
        "config/sources.py", 'default="letter", description', 'default="index", description',
        {"table of a hub"}, id="a default of a map of columns",
    ),
    pytest.param("cli.py", "return ", "return None or ", set(), id="the command line"),
]  # fmt: skip


@pytest.mark.parametrize(("place", "old", "new", "expected"), RERUNS)
def test_an_edit_reruns_what_depends_on_it(
    package, checkpoint, unedited, place, old, new, expected
):
    text = (package / place).read_text()
    assert old in text, f"{old} is not in {place}"
    (package / place).write_text(text.replace(old, new, 1))
    found = _everything(checkpoint)
    assert {name for name, value in unedited.items() if found[name] != value} == expected


def test_words_rerun_nothing(package, checkpoint, unedited):
    for path in package.rglob("*.py"):
        path.write_text(path.read_text().replace('"""', '"""Other words. ', 1) + "\n\n# Why.\n")
    assert _everything(checkpoint) == unedited
