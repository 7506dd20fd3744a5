"""The picture of the architecture is that of the rules."""

import importlib.util

import pytest
from small_run import PROJECT


@pytest.mark.workflow
def test_the_graph_is_that_of_the_rules():
    spec = importlib.util.spec_from_file_location("p", PROJECT / "docs/architecture_picture.py")
    picture = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(picture)
    assert picture.page() == picture.PAGE.read_text(encoding="utf-8")
