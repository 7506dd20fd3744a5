"""A model behind a server runs through the whole line, and its key is left nowhere."""

import json
import math
import zlib

import duckdb
import pytest
from protocol_server import KEY, Script, picture, serving, status, words
from small_run import Workflow
from typer.testing import CliRunner

from benchc.cli import app
from benchc.tables import PREDICTIONS

pytestmark = pytest.mark.workflow

#: Requests before the first question: a plain one, and four pictures twice.
TRIAL = 9

CONFIG = """
sources:
  drawn: {{kind: drawn, samples: 12}}
corruptions: [contrast]
severities: [1, 5]
models:
  served:
    backend: openai
    url: {url}
    model: stub
    revision: first
    key_variable: BENCHC_TEST_KEY
select: {{impurity_above: 0, stratify: null}}
"""


def by_contrast(body: dict) -> list[tuple[str, float]]:
    """Be the less for A and the more for B the flatter the picture is; know no letter behind D."""
    for_a = min(0.9, 0.01 + float(picture(body).std()) / 100)
    shares = {"A": for_a, "B": 0.96 - for_a, "C": 0.02, "D": 0.01}
    return [(letter, math.log(share)) for letter, share in shares.items()]


def test_a_served_model_runs_through_the_whole_line(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCHC_TEST_KEY", KEY)
    script = Script(by_contrast, wants_key=True)
    config = tmp_path / "served.yaml"
    workflow = Workflow(tmp_path, config)
    with serving(script) as url:
        config.write_text(CONFIG.format(url=url))
        said = workflow.run("all")
    asked = 12 * (1 + 1 + 2)
    assert len(script.bodies) == asked + TRIAL
    # The server is gone, and planning asks none; that it was elsewhere reruns nothing.
    config.write_text(CONFIG.format(url="http://127.0.0.1:9/v1"))
    assert workflow.planned("all") == {}

    record = json.loads((tmp_path / "results/infer/served/run.json").read_text())
    (ran_on,) = record["ran_on"]
    assert ran_on["server"]["models"][0]["id"] == "stub"
    with duckdb.connect(str(tmp_path / "results/bench-c.duckdb"), read_only=True) as connection:
        status = dict(
            connection.execute("SELECT status, count(*) FROM predictions GROUP BY ALL").fetchall()
        )
        shifted = connection.execute("SELECT count(*) FROM shifts WHERE ras < 0").fetchone()[0]
    assert set(status) == {"ok", "missing_option"}
    assert sum(status.values()) == asked
    assert shifted > 0
    assert KEY not in said
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file


FAILING = """
sources:
  drawn: {{kind: drawn, samples: 12}}
corruptions: [contrast]
severities: [{severities}]
models:
  served: {{backend: openai, url: {url}, model: stub, retries: 0, concurrency: 2}}
"""


def some_fail(body: dict):
    """Fail one question in five, but none of the trial."""
    said = words(body)
    is_trial = said.startswith("What is this?") or "D. yellow" in said
    return status(500) if not is_trial and zlib.crc32(said.encode()) % 5 == 0 else None


def test_the_same_command_asks_what_failed_and_nothing_else(tmp_path):
    """Three times; then the rows are final until `benchc infer retry`."""
    script = Script(by_contrast)
    workflow = Workflow(tmp_path, tmp_path / "failing.yaml")
    predictions = "results/infer/served/predictions.parquet"

    def run(severities: str, fault) -> tuple[dict[str, int], int]:
        workflow.config.write_text(FAILING.format(url=url, severities=severities))
        script.fault_of = fault
        script.bodies.clear()
        planned = workflow.planned(predictions)
        workflow.run(predictions)
        asked = [body for body in script.bodies if "D. yellow" not in words(body)]
        return planned, sum(not words(body).startswith("What is this?") for body in asked)

    with serving(script) as url:
        planned, asked = run("1, 5", some_fail)
        assert (planned["infer_pool"], asked) == (1, 48)
        failed = PREDICTIONS.read(tmp_path / predictions)["status"].is_in(["server_error"]).sum()
        assert 0 < failed < 24
        for _ in range(2):
            assert run("1, 5", some_fail) == ({"infer_pool": 1}, failed)
        assert run("1, 5", some_fail) == ({}, 0)
        retry = CliRunner().invoke(
            app, ["infer", "retry", "served", "--results", str(tmp_path / "results")]
        )
        assert f"{failed} questions will be asked again" in retry.output
        assert run("1, 5", lambda body: None) == ({"infer_pool": 1}, failed)
        assert run("1, 5", lambda body: None) == ({}, 0)
        assert set(PREDICTIONS.read(tmp_path / predictions)["status"]) <= {"ok", "missing_option"}
        # A severity more is that severity; one less is nothing.
        assert run("1, 3, 5", lambda body: None) == ({"corrupt": 1, "infer_pool": 1}, 12)
        assert run("1, 3", lambda body: None) == ({"corrupt": 1, "infer_pool": 1}, 0)
