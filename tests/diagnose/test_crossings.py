"""Every statement that groups by crossings groups by the same ones."""

import re
from importlib import resources

import pytest

from benchc.diagnose.figures import CROSSINGS

SQL = resources.files("benchc.diagnose").joinpath("sql")
GROUPED = sorted(
    f.name for f in SQL.iterdir() if f.is_file() and "GROUPING SETS" in f.read_text("utf-8")
)


@pytest.mark.parametrize("name", GROUPED)
def test_the_crossings_of_a_statement(name):
    text = SQL.joinpath(name).read_text("utf-8")
    (sets,) = re.findall(r"GROUPING SETS \(((?:\([^()]*\)[\s,]*)+)\)", text)
    found = [tuple(re.findall(r"\w+", one)) for one in re.findall(r"\([^()]*\)", sets)]
    assert found == list(CROSSINGS.values())


def test_there_are_such_statements():
    assert {"cells.sql", "measures.sql", "phenomena.sql", "calibration.sql"} <= set(GROUPED)
