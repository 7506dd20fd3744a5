"""Time zone, locale, hash seed, folder and cores change nothing in any table."""

import pytest
from small_run import PROJECT, Workflow, tables_of

pytestmark = pytest.mark.workflow

ODD = {
    "TZ": "Pacific/Chatham",  # 12 hours and 45 minutes from Greenwich
    "LC_ALL": "C",
    "LANG": "C",
    "PYTHONHASHSEED": "4294967295",
    "OMP_NUM_THREADS": "3",
}


def test_another_environment_gives_the_same_tables(finished, tmp_path):
    folder = tmp_path / "ein Läufchen"
    folder.mkdir()
    Workflow(folder, finished.config, environment=ODD, cores=1).run("all")
    assert tables_of(folder) == tables_of(finished.folder)


@pytest.mark.scale
def test_the_default_run_in_another_environment_gives_the_same_tables(tmp_path):
    folder = tmp_path / "zwei Läufe"
    folder.mkdir()
    Workflow(folder, PROJECT / "config.yaml", environment=ODD, cores=1).run("all")
    assert tables_of(folder) == tables_of(PROJECT)
