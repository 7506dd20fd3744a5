"""The recipes in docs/queries.md run word for word on the small run."""

import json
import re
import shlex

import pytest
from small_run import PROJECT

from benchc.cli import app

DOCUMENT = (PROJECT / "docs/queries.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"```console\n\$ (benchc sql .*?)\n```", DOCUMENT, flags=re.DOTALL)


def test_there_is_a_dozen():
    assert len(COMMANDS) >= 12
    assert len(COMMANDS) == DOCUMENT.count("```console")


@pytest.mark.workflow
@pytest.mark.parametrize("number", range(len(COMMANDS)))
def test_a_recipe_runs_and_answers(finished, monkeypatch, capsys, number):
    monkeypatch.chdir(finished.folder)
    program, *arguments = shlex.split(COMMANDS[number])
    assert program == "benchc"
    app([*arguments, "--format", "json"], standalone_mode=False)
    rows = json.loads(capsys.readouterr().out)
    assert rows
    assert any(value is not None for row in rows for value in row.values())
