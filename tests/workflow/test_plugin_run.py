"""A corruption of a user's own through the whole line: tables, inference by workers, the page."""

import re
from pathlib import Path

import duckdb
import pytest
from small_run import PROJECT, Workflow

pytestmark = pytest.mark.workflow

PAGE = (PROJECT / "docs/corruptions.md").read_text(encoding="utf-8")
EXAMPLE = re.search(r"`my.py`:\n\n```python\n(.*?)```", PAGE, re.DOTALL)[1]
CONFIG = """
sources:
  drawn: {{kind: drawn, samples: 12}}
corruptions: [fog, rain]
corrupt: {{plugins: {{rain: {{file: {file}, function: rain, group: weather}}}}}}
severities: [1, 3, 5]
models:
  llava: {{path: reference/llava, instruction: ""}}
select: {{impurity_above: 0, stratify: null}}
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plugins")
    (folder / "my.py").write_text(EXAMPLE)
    (folder / "run.yaml").write_text(CONFIG.format(file=folder / "my.py"))
    workflow = Workflow(folder, folder / "run.yaml", cores=1)
    workflow.run()
    return workflow


def ask(folder: Path, statement: str) -> list[tuple]:
    with duckdb.connect(str(folder / "results/bench-c.duckdb"), read_only=True) as connection:
        return connection.execute(statement).fetchall()


def test_it_stands_in_the_database_and_on_the_page(run):
    group = "SELECT corruption_group FROM corruptions WHERE corruption = 'rain'"
    assert ask(run.folder, group) == [("weather",)]
    answered = "SELECT count(*) FROM predictions WHERE corruption = 'rain' AND status = 'ok'"
    assert ask(run.folder, answered) == [(36,)]
    assert "rain" in (run.folder / "results/report/index.html").read_text(encoding="utf-8")


def test_its_edit_renders_it_alone(run):
    assert run.planned() == {}
    (run.folder / "my.py").write_text(EXAMPLE.replace("20 *", "30 *"))
    planned = run.planned()
    (run.folder / "my.py").write_text(EXAMPLE)
    assert planned["corrupt"] == 1
    assert "pool" not in planned
