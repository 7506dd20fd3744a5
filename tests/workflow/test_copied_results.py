"""Results that come without Snakemake's record say themselves what they were made from."""

import re
import shutil
from pathlib import Path

import pytest
from small_run import TINY, Workflow

pytestmark = pytest.mark.workflow

AFTER_SELECTION = {"select", "diagnose_model", "database", "publish", "report", "publish_report"}
AFTER_INFERENCE = {"infer_pool"} | AFTER_SELECTION
SAID = "made with another config or version"


@pytest.fixture(scope="module")
def copied(tmp_path_factory) -> Workflow:
    """A finished run, copied with its dates and without its record."""
    made, folder = tmp_path_factory.mktemp("made"), tmp_path_factory.mktemp("copied")
    config = folder / "tiny.yaml"
    config.write_text(TINY)
    Workflow(made, config).run("all")
    shutil.copytree(made / "results", folder / "results")
    return Workflow(folder, config)


def planned(workflow: Workflow, text: str) -> tuple[set[str], str]:
    workflow.config.write_text(text)
    said = workflow.run("all", "--dry-run")
    return set(workflow.planned("all")) - {"all"}, said


def test_results_of_the_same_config_are_used(copied):
    assert planned(copied, TINY)[0] == set()


@pytest.mark.parametrize(
    ("pattern", "by", "expected"),
    [
        pytest.param("^", "seed: 2\n", {"corrupt"} | AFTER_INFERENCE, id="seed"),
        pytest.param("impurity_above: 0", "impurity_above: 0.01", AFTER_SELECTION, id="threshold"),
        pytest.param('instruction: ""', 'instruction: "Say:"', AFTER_INFERENCE, id="model"),
        pytest.param(", contrast", "", AFTER_INFERENCE, id="a corruption less"),
        pytest.param(
            "samples: 24", "samples: 25",
            {"pool_source", "pool", "embed", "corrupt"} | AFTER_INFERENCE, id="source",
        ),
        pytest.param(
            "^", "leave_out: [idefics3]\n", AFTER_SELECTION, id="a selector less",
        ),
    ],
)  # fmt: skip
def test_results_of_another_config_are_made_again(copied, pattern, by, expected):
    rules, said = planned(copied, re.sub(pattern, by, TINY, count=1))
    assert rules == expected
    assert said.count(SAID) == 1
    (line,) = [line for line in said.splitlines() if SAID in line]
    assert line.startswith("results/")


def test_a_table_made_by_hand_is_made_again(copied):
    table = copied.folder / "results/select/selection.parquet"
    kept = table.read_bytes()
    other = copied.folder / "results/pool/sources/drawn/samples.parquet"
    shutil.copyfile(other, table)
    try:
        assert planned(copied, TINY)[0] == AFTER_SELECTION
    finally:
        table.write_bytes(kept)


def test_what_a_command_is_told_is_short_and_the_same_wherever_it_runs(copied, tmp_path):
    """What a failed job leaves on the screen ends in its command line."""
    lines = {}
    for folder in (tmp_path / "a", tmp_path / "deeper/b"):
        folder.mkdir(parents=True)
        shown = Workflow(folder, copied.config)
        copied.config.write_text(TINY)
        said = shown.run("all", "--dry-run", "--printshellcmds", "--workflow-profile", "none")
        # Files of settings hold paths as their folder sees them, and have names accordingly.
        said = re.sub(r"\.[0-9a-f]{8}\.json", ".json", said)
        lines[folder] = re.findall(r"\bbenchc --log .*$", said, re.MULTILINE)
    (first, second) = lines.values()
    assert len(first) > 10
    assert sorted(first) == sorted(second)
    assert max(map(len, first)) < 1000
    assert not [line for line in first if "{" in line]


def test_the_settings_of_each_job_are_in_files(copied):
    folder = copied.folder / "results/settings"
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*.json")}
    plain = {re.sub(r"\.[0-9a-f]{8}(?=\.json$)", "", name) for name in names}
    assert plain >= {"models/llava.json", "sources/drawn.json", "run.json", "models.json"}
    assert len(plain) == len(names)
    assert not list(Path(folder).rglob(".*"))


def test_what_is_copied_over_a_finished_run_is_told_from_it(copied, tmp_path):
    """Snakemake's record is of the file that was there before."""
    shutil.copytree(copied.folder, tmp_path / "run")
    own = Workflow(tmp_path / "run", tmp_path / "own.yaml")
    own.config.write_text(TINY.replace("impurity_above: 0", "impurity_above: 0.01"))
    own.run("results/select/selection.parquet")
    theirs = copied.folder / "results/select/selection.parquet"
    shutil.copy2(theirs, own.folder / "results/select/selection.parquet")
    said = own.run("results/select/selection.parquet", "--dry-run")
    assert said.count(SAID) == 1
    assert set(own.planned("results/select/selection.parquet")) == {"select"}
