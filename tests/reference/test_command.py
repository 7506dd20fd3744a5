import pytest
from PIL import Image
from typer.testing import CliRunner

from benchc.errors import BadInput
from benchc.reference.command import KEYS, app


def call(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=True)


def test_show_writes_a_sheet(tmp_path):
    assert call("show", "--out", tmp_path / "sheet.png", "--count", 5).exit_code == 0
    assert Image.open(tmp_path / "sheet.png").size == (960, 668)


def test_an_unknown_model_is_refused_with_the_known_ones(tmp_path):
    result = call("train", "gpt", "--out", tmp_path)
    assert isinstance(result.exception, BadInput)
    assert all(key in str(result.exception) for key in KEYS)


def test_a_folder_without_a_checkpoint_is_refused(tmp_path):
    result = call("evaluate", tmp_path)
    assert isinstance(result.exception, BadInput)
    assert str(tmp_path) in str(result.exception)


@pytest.mark.parametrize("command", ["train", "evaluate", "show"])
def test_help_explains(command):
    result = call(command, "--help")
    assert result.exit_code == 0
    assert len(result.output.splitlines()) > 8
