"""A folder given for a file, or a file for a folder, is refused before any work."""

import pytest
from typer.testing import CliRunner

from benchc.cli import app


@pytest.mark.parametrize(
    "command",
    [
        "sql SELECT --out {folder}",
        "report compare a b --out {folder}",
        "report build --database a --images b --seed 1 --out {folder}",
        "corrupt gallery a.png --out {folder}",
        "reference show --out {folder}",
        "--log {folder} hash",
        "pool source a --spec b --out {file}",
        "pool merge a --out {file}",
        "discover export --asked a --out {file}",
    ],
)
def test_an_output_of_the_wrong_kind_is_refused_by_its_option(tmp_path, command):
    file = tmp_path / "file"
    file.touch()
    result = CliRunner().invoke(app, command.format(folder=tmp_path, file=file).split())
    assert result.exit_code == 2
    assert "Invalid value for '--" in result.output
