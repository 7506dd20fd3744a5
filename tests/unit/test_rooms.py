"""The plan of the house, read from the syntax trees: who imports whom, and what exists once."""

import ast
import importlib.util
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from benchc.config.corruptions import CORRUPTIONS

PROJECT = Path(__file__).parents[2]
PACKAGE = PROJECT / "src/benchc"


def _plan():
    spec = importlib.util.spec_from_file_location("rooms", PROJECT / "docs/rooms.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PLAN = _plan()
LEVEL = {room: level for level, rooms in enumerate(PLAN.LEVELS) for room in rooms}
BELONGS = {"__init__", "__main__", "py.typed"}
STAGES = {file.stem for file in (PROJECT / "rules").glob("*.smk")}


def test_every_room_has_a_place_in_the_plan():
    there = {path.name.removesuffix(".py") for path in PACKAGE.iterdir()} - BELONGS
    assert there - {"__pycache__"} == LEVEL.keys()


def test_the_top_level_can_be_counted_on_two_hands():
    assert len(STAGES & LEVEL.keys()) >= 9
    assert len(LEVEL.keys() - STAGES) <= 10, sorted(LEVEL.keys() - STAGES)


def upward(arrows, level):
    return {
        f"{place}: {room} (level {level[room] + 1}) imports {other} (level {level[other] + 1})"
        for (room, other), place in arrows.items()
        if {room, other} <= level.keys() and level[room] >= level[other]
    }


def test_arrows_point_downward():
    assert len(PLAN.arrows()) > 50
    assert not upward(PLAN.arrows(), LEVEL)


def test_rooms_import_each_other_in_no_circle():
    graph = {}
    for room, other in PLAN.arrows():
        graph.setdefault(room, set()).add(other)
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize(
    "line",
    [
        "import benchc.upper.thing",
        "from benchc import upper",
        "from benchc.upper import thing",
        "from ..upper.thing import name",
        "from .. import upper",
        "def late():\n    from benchc.upper import thing",
        "if TYPE_CHECKING:\n    from benchc.upper.thing import Name",
    ],
)
def test_no_way_to_import_is_overlooked(tmp_path, line):
    room = tmp_path / "benchc/lower"
    room.mkdir(parents=True)
    (room / "module.py").write_text(line)
    arrows = PLAN.arrows(tmp_path / "benchc")
    assert set(arrows) == {("lower", "upper")}
    assert upward(arrows, {"upper": 0, "lower": 1})


def test_the_page_shows_this_plan():
    assert PLAN.table() in PLAN.PAGE.read_text(encoding="utf-8"), "run: python docs/rooms.py"


DECODERS = ("PIL.Image.open", "cv2.imread", "cv2.imdecode", "cv2.imreadmulti", "torchvision.io")


def used(text):
    """Return the dotted names that a module's text uses, in full, its imports resolved."""
    tree, known, names = ast.parse(text), {}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                known[alias.asname or whole] = whole
                names.add(alias.name)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                known[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                names.add(f"{node.module}.{alias.name}")
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            # import_module("openai") and __import__("openai")
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            names |= {str(node.args[0].value)} if "import" in called else set()
    for node in ast.walk(tree):
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name) and node.id in known:
            names.add(".".join([known[node.id], *reversed(parts)]))
    return names


def users(*names, package=PACKAGE):
    """Return the modules that use one of some names, or what lies below it."""
    return {
        file.relative_to(package).with_suffix("").as_posix()
        for file in package.rglob("*.py")
        if any(f"{use}.".startswith(f"{name}.") for use in used(file.read_text()) for name in names)
    }


def test_one_module_talks_to_servers_of_models():
    assert users("openai") == {"models/server"}


def test_one_module_locks():
    assert users("fcntl", "filelock", "portalocker", "msvcrt") == {"tables/locks"}


#: What writes into its own place, and why.
APPENDS_OR_GOES_ON = {
    "cli": "a command's log",
    "diagnose/intervals": "columns that get other names, and no file",
    "discover/train": "a game's log, a line a step",
    "fetch/address": "a download that a later run goes on with",
    "infer/journal": "the answers of a run, appended",
    "models/server": "a byte for each request",
    "running/gpus": "an empty file to lock",
    "tables/files": "the writer itself",
    "tables/seal": "the checksum of a file that is not in place yet",
}


def written(text):
    """Yield calls that write a file under a name which `renamed_into_place` did not give."""
    tree = ast.parse(text)
    given = {
        item.optional_vars.id
        for node in ast.walk(tree)
        if isinstance(node, ast.With)
        for item in node.items
        if isinstance(item.optional_vars, ast.Name) and "renamed_into" in ast.unparse(item)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        name = called.rpartition(".")[2]
        modes = [value.value for value in ast.walk(node) if isinstance(value, ast.Constant)]
        opens = name in ("open", "fdopen") and any(
            isinstance(mode, str) and set(mode) & set("wax+") and set(mode) <= set("rwaxbt+")
            for mode in modes
        )
        if (
            opens
            or (name in ("write_text", "write_bytes") and called != "write_text")
            or called in ("os.replace", "os.rename", "shutil.move", "os.renames")
            or (name in ("rename", "replace") and len(node.args) == 1 and not node.keywords)
        ) and called.partition(".")[0] not in given:
            yield called


def test_one_module_puts_files_in_place():
    found = {
        file.relative_to(PACKAGE).with_suffix("").as_posix(): calls
        for file in PACKAGE.rglob("*.py")
        if (calls := list(written(file.read_text())))
    }
    assert found.keys() == APPENDS_OR_GOES_ON.keys(), found


@pytest.mark.parametrize(
    "line",
    [
        "path.write_text(text)", "Path(a).write_bytes(b)", "open(path, 'w')", "path.open('ab')",
        "os.replace(a, b)", "a.replace(b)", "os.rename(a, b)", "shutil.move(a, b)",
        "path.open(mode='r+b')", "os.fdopen(number, 'wb')",
        "with other(path) as temporary:\n    temporary.write_text(text)",
    ],
)  # fmt: skip
def test_no_way_to_write_is_overlooked(line):
    assert list(written(line))
    assert not list(
        written("with renamed_into_place(p) as temporary:\n    temporary.write_text(x)")
    )
    assert not list(written("path.open('rb')\nname.replace('a', 'b')\nwrite_text(path, text)"))


def test_one_module_decodes_pictures():
    assert users(*DECODERS) == {"pictures/decode"}


def test_kernels_are_reached_through_condition_alone():
    modules = {entry.kernel.partition(":")[0] for entry in CORRUPTIONS.values()}
    kernels = {name.removeprefix("benchc.").replace(".", "/") for name in modules}
    assert users(*modules) <= kernels
    # The package's own name for it is for people who call it from Python.
    calls = users("benchc.corrupt.render.corrupt", "benchc.corrupt.corrupt")
    assert calls == {"corrupt/condition", "corrupt/__init__"}


@pytest.mark.parametrize(
    "text",
    [
        "from PIL import Image\nImage.open(x)",
        "from PIL import Image as I\ndef f():\n    with I.open(x): pass",
        "import PIL.Image\nPIL.Image.open(x)",
        "import cv2 as c\nc.imread(x)",
        "from cv2 import imdecode",
        "from torchvision.io import decode_image",
        "from torchvision import io\nio.read_image(x)",
        "import torchvision.io",
        "import importlib\nimportlib.import_module('torchvision.io')",
        "__import__('torchvision.io.image')",
    ],
)
def test_no_way_to_decode_is_overlooked(tmp_path, text):
    (tmp_path / "second.py").write_text(text)
    assert users(*DECODERS, package=tmp_path) == {"second"}


def processor_calls(tree):
    """Yield the lines where a module calls a processor, or lets one encode a chat."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        keywords = {keyword.arg for keyword in node.keywords}
        tokenizes = any(
            k.arg == "tokenize" and getattr(k.value, "value", True) is not False
            for k in node.keywords
        )
        if (
            name in {"processor", "processing_class"}
            or ("images" in keywords and {"text", "return_tensors"} & keywords)
            or (name == "apply_chat_template" and (tokenizes or "tokenize" not in keywords))
        ):
            yield node.lineno


def test_one_module_calls_a_processor():
    places = {
        file.relative_to(PACKAGE).as_posix()
        for file in PACKAGE.rglob("*.py")
        for _ in processor_calls(ast.parse(file.read_text(encoding="utf-8")))
    }
    assert places == {"models/encode.py"}


@pytest.mark.parametrize(
    "line",
    [
        "inputs = processor(text=texts)",
        "inputs = self.encoder.processor(texts, pictures)",
        "inputs = anything(text=texts, images=pictures)",
        "inputs = questioner.processing_class(texts)",
        "ids = anything.apply_chat_template(messages)",
        "ids = anything.apply_chat_template(messages, tokenize=True)",
    ],
)
def test_no_way_to_call_a_processor_is_overlooked(line):
    assert list(processor_calls(ast.parse(line))) == [1]
