"""One small run of the real Snakefile, shared by the tests that look at it."""

import pytest
from small_run import TINY, Workflow


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Workflow:
    """Two models, 24 samples, three corruptions, run to the end."""
    folder = tmp_path_factory.mktemp("a run")
    config = folder / "tiny.yaml"
    config.write_text(TINY)
    workflow = Workflow(folder, config)
    workflow.run("all")
    return workflow
