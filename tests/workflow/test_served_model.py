"""A model behind a server runs through the whole line, and its key is left nowhere."""

import json
import math

import duckdb
import pytest
from protocol_server import KEY, Script, picture, serving
from small_run import Workflow

pytestmark = pytest.mark.workflow

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
select: {{impurity_above: 0}}
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
    assert len(script.bodies) == asked + 1
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
