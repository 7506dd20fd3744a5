"""Fixtures that several stages' tests share."""

from pathlib import Path

import pytest
from hypothesis import settings
from synthetic import SyntheticRun, synthetic_run, write_run

from benchc.diagnose.database import build

# How long an example takes says something of the machine's other work, not of the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

#: Keys that a careless reader turns into numbers.
AWKWARD_MODELS = ("1e5", "007", "inf")


@pytest.fixture(scope="session")
def made_up_run() -> SyntheticRun:
    """Three models over 60 samples; `007` has failed rows, `inf` was no selector."""
    return synthetic_run(60, models=AWKWARD_MODELS, failing={"007": 0.05})


@pytest.fixture(scope="session")
def synthetic_database(made_up_run: SyntheticRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of `made_up_run`; its Parquet tables lie beside it. Read it only."""
    folder = tmp_path_factory.mktemp("synthetic")
    path = folder / "bench-c.duckdb"
    build(write_run(made_up_run, folder), path)
    return path
