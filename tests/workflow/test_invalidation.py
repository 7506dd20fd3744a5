"""What an edit reruns: a copy of the project is edited after a run, and the real plan is read."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator

import pytest
from small_run import ADDED, PROJECT, TINY, Workflow

pytestmark = pytest.mark.workflow

#: Rules that follow whatever was built, and move it into place.
MOVED = {"all", "publish", "publish_report"}
DIAGNOSIS = {"diagnose_model", "database", "report"}
FROM_SELECTION = {"select"} | DIAGNOSIS
FROM_INFERENCE = {"infer_pool"} | FROM_SELECTION
FROM_PICTURES = {"corrupt"} | FROM_INFERENCE
NOT_COPIED = shutil.ignore_patterns(
    ".*", "results", "build", "*.egg-info", "__pycache__", "tests", "docs", "benchmarks"
)


@pytest.fixture(scope="module")
def edited(tmp_path_factory) -> Workflow:
    """A copy of the project with a finished run of its own, to be edited and put back."""
    project = tmp_path_factory.mktemp("copy") / "project"
    shutil.copytree(PROJECT, project, ignore=NOT_COPIED)
    config = project / "tiny.yaml"
    config.write_text(TINY)
    workflow = Workflow(project, config, project)
    workflow.run("all")
    return workflow


@pytest.fixture
def put_back(edited) -> Iterator[None]:
    """Undo what a test edits in the copy."""
    kept = {
        path: path.read_bytes()
        for place in ("src", "rules", "reference/clip", "tiny.yaml")
        for path in ([edited.project / place, *(edited.project / place).rglob("*")])
        if path.is_file() and path.suffix != ".pyc"
    }
    yield
    for path, content in kept.items():
        if path.read_bytes() != content:
            path.write_bytes(content)


def substitute(workflow: Workflow, place: str, pattern: str, by: str) -> None:
    """Replace the first match of `pattern` in a file of the copy."""
    path = workflow.project / place
    text, count = re.subn(pattern, by, path.read_text(), count=1)
    assert count == 1, f"{pattern} is not in {place}"
    path.write_text(text)


def rules(workflow: Workflow) -> set[str]:
    """The planned rules; a published file follows what was built."""
    return set(workflow.planned("all")) - MOVED


def test_comments_words_formatting_and_dates_rerun_nothing(edited, put_back):
    for path in (edited.project / "src").rglob("*.py"):
        lines = path.read_text()
        path.write_text(lines + "\n\n# A comment.\n")
    for path in (edited.project / "src").rglob("*.sql"):
        path.write_text("-- A comment.\n" + path.read_text())
    substitute(edited, "src/benchc/corrupt/blur.py", '"""', '"""Another word. ')
    substitute(edited, "src/benchc/models/scores.py", "(import numpy as np)", r"\1  # why")
    substitute(edited, "src/benchc/config/models.py", "What runs the model", "What asks it")
    substitute(edited, "src/benchc/config/checked.py", "is missing", "is not there")
    for path in (edited.project / "reference").rglob("*"):
        path.touch()
    assert rules(edited) == set()


@pytest.mark.parametrize("place", ["clone", "much/deeper"])
def test_a_clone_with_copied_results_reruns_nothing(edited, tmp_path, place):
    clone, folder = tmp_path / "clone", tmp_path / place
    shutil.copytree(PROJECT, clone, ignore=NOT_COPIED)
    shutil.copytree(edited.project / "results", folder / "results", copy_function=shutil.copy)
    shutil.copytree(edited.project / ".snakemake", folder / ".snakemake")
    shutil.copy(edited.config, folder)
    assert rules(Workflow(folder, folder / "tiny.yaml", clone)) == set()


def test_another_clip_model_reruns_what_follows_from_it(edited, put_back):
    config = edited.project / "reference/clip/open_clip_config.json"
    config.write_text(config.read_text() + "\n")
    assert rules(edited) == {"embed"} | FROM_SELECTION


CODE = [
    pytest.param(
        "src/benchc/corrupt/blur.py",
        r"constants\[1\] \* scale",
        "constants[1] * scale * 2",
        FROM_PICTURES,
        id="one blur",
    ),
    pytest.param(
        "src/benchc/models/prompt.py", r"return ", "return '' or ", FROM_INFERENCE, id="prompt"
    ),
    pytest.param("src/benchc/tables/contract.py", "no such file", "nothing", set(), id="error"),
    pytest.param("src/benchc/infer/run.py", "return ", "return '' or ", FROM_INFERENCE, id="run"),
    pytest.param(
        "src/benchc/pool/sources/drawn.py",
        r"return ",
        "return None or ",
        {"pool_source", "pool", "embed"} | FROM_PICTURES,
        id="the source in use",
    ),
    pytest.param(
        "src/benchc/pool/sources/folder.py",
        r"return ",
        "return None or ",
        set(),
        id="another source",
    ),
    pytest.param(
        "src/benchc/diagnose/sql/macros.sql",
        r"(CREATE MACRO normalized_entropy\(p\) AS\s+)",
        r"\1 1.0 * ",
        DIAGNOSIS,
        id="entropy macro",
    ),
    pytest.param(
        "src/benchc/models/transformers_backend.py",
        r"return ",
        "return () and ",
        FROM_INFERENCE,
        id="backend",
    ),
    pytest.param(
        "src/benchc/select/impurity.py",
        r"impurity=\(whole - ",
        "impurity=(whole + 0 - ",
        FROM_SELECTION,
        id="impurity",
    ),
    pytest.param(
        "src/benchc/report/wording.py", r"return ", "return '' or ", {"report"}, id="report"
    ),
]


@pytest.mark.parametrize(("place", "pattern", "by", "expected"), CODE)
def test_an_edit_of_code_reruns_what_depends_on_it(edited, put_back, place, pattern, by, expected):
    substitute(edited, place, pattern, by)
    planned = edited.planned("all")
    assert set(planned) - MOVED == expected
    # Of three corruptions one is a blur, and no edit but that of the pool concerns them all.
    assert planned.get("corrupt", 1) == (3 if "pool" in planned else 1)


SETTINGS = [
    pytest.param(r"(impurity_above: )0", r"\g<1>0.01", FROM_SELECTION, id="threshold"),
    pytest.param(r"(path: reference/llava,)", r"\1 batch_size: 8, device: cpu,", set(), id="speed"),
    pytest.param(r"(select: .*)", r"\1\ninfer: {workers: 0}", set(), id="workers"),
    pytest.param(r"diagnose: .*", "", {"database", "report"}, id="own columns"),
    pytest.param(
        r'(path: reference/llava, )instruction: ""',
        r'\1instruction: "Answer:"',
        FROM_INFERENCE,
        id="prompt",
    ),
    pytest.param(r"(path: reference/llava,)", r"\1 scoring: text,", FROM_INFERENCE, id="scoring"),
    pytest.param(
        r"selectors: \[llava, idefics3\]", "selectors: [llava]", None, id="selector removed"
    ),
]


@pytest.mark.parametrize(("pattern", "by", "expected"), SETTINGS)
def test_an_edit_of_the_config_reruns_what_depends_on_it(edited, put_back, pattern, by, expected):
    substitute(edited, "tiny.yaml", pattern, by)
    planned = edited.planned("all")
    if expected is None:
        # The other model now answers the chosen samples only, from its finished chunks.
        assert planned.get("infer_pool", 0) == 0
        assert "select" in planned
    else:
        assert set(planned) - MOVED == expected
        assert planned.get("infer_pool", 1) == 1


def test_a_model_added_as_selector_runs_before_the_selection(edited, put_back):
    substitute(edited, "tiny.yaml", "selectors:", ADDED.strip("\n") + "\nselectors:")
    substitute(edited, "tiny.yaml", "idefics3]", "idefics3, newcomer]")
    planned = edited.planned("all")
    assert planned["infer_pool"] == 1
    assert set(planned) - MOVED == FROM_INFERENCE


def batches(workflow: Workflow) -> set[str]:
    """Return what is kept of the models' answers, a line for each batch."""
    files = (workflow.project / "results/infer").rglob("chunks/*.jsonl")
    return {line for path in files for line in path.open() if '"unit"' in line}


def test_a_changed_corruption_asks_its_changed_severity_alone(edited, put_back):
    before = batches(edited)
    registry = "src/benchc/config/corruptions.py"
    text = (edited.project / registry).read_text()
    entry = text[text.index('"defocus_blur"') :]
    first = re.search(r"\((\d+), ", entry)
    assert first is not None
    substitute(
        edited,
        registry,
        r'("defocus_blur"(?:.|\n)*?\()' + first[1] + ", ",
        rf"\g<1>{int(first[1]) + 1}, ",
    )
    planned = edited.planned("all")
    assert planned["corrupt"] == 1
    assert set(planned) - MOVED == FROM_PICTURES
    edited.run("all")
    after = batches(edited)
    assert before <= after
    # One severity of one corruption changes, for two models.
    assert len(after - before) == 2


def test_more_samples_ask_the_batches_of_changed_pictures(edited, put_back):
    before = batches(edited)
    substitute(edited, "tiny.yaml", "samples: 24", "samples: 25")
    planned = edited.planned("all")
    assert planned["pool_source"] == 1
    edited.run("all")
    # One picture joins, and so few are one block: clean, blank, 3 corruptions at 5, two models.
    assert len(batches(edited) - before) == (2 + 3 * 5) * 2


def test_the_command_works_from_anywhere(edited, tmp_path):
    done = subprocess.run(
        [*edited.command("all", "--dry-run")],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(edited.project / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
