"""Failure discovery with LoRA, photographs and servers, through the real Snakefile."""

import json
import signal
import subprocess
from pathlib import Path

import duckdb
import pytest
import real_scale
import yaml
from protocol_server import serving
from small_run import Workflow

pytestmark = pytest.mark.workflow

PATIENCE = 1800
"""Seconds for a game; it takes some twenty where nothing else runs."""
GAMES = {("tiny", "zero_shot"), ("tiny", "rl"), ("served", "zero_shot"), ("served", "rl")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("scale")
    real_scale.players(folder)
    return folder


def config(folder: Path, url: str, **changes) -> dict:
    """Return a config in the shape of config/discover.yaml."""
    models = {
        "tiny": {"path": str(folder / "answerer")},
        "served": {"backend": "openai", "url": url, "model": real_scale.ANSWERER},
    }
    return {
        "models": models,
        "discover": {**real_scale.section(folder, url, **changes), "brief": ["tiny", "served"]},
    }


@pytest.fixture(scope="module")
def discovered(folder) -> Workflow:
    """A whole discovery: zero-shot and RL against two models."""
    file = folder / "discover.yaml"
    workflow = Workflow(folder / "run", file)
    workflow.folder.mkdir()
    with serving(real_scale.server()) as url:
        file.write_text(yaml.safe_dump(config(folder, url)))
        workflow.run("discover")
    return workflow


def rows(workflow: Workflow, statement: str) -> list[tuple]:
    path = workflow.folder / "results/discover/default/discovery.duckdb"
    with duckdb.connect(str(path), read_only=True) as connection:
        return connection.execute(statement).fetchall()


def test_every_table_is_there_and_every_game_in_it(discovered):
    for table in ("questions", "measures", "training"):
        found = set(rows(discovered, f"SELECT DISTINCT model, way FROM {table}"))
        assert found == (GAMES if table != "training" else {g for g in GAMES if g[1] == "rl"})
    for table in ("judgements", "skills", "meta_skills", "skill_failure_rates", "steps"):
        assert rows(discovered, f"SELECT count(*) FROM {table}") > [(0,)], table


def test_what_the_verifier_could_not_judge_is_counted_and_is_never_a_failure(discovered):
    counts = dict(
        rows(discovered, "SELECT verifier_failure, count(*) FROM judgements GROUP BY ALL")
    )
    assert None in counts
    assert len(counts) > 2
    assert rows(discovered, """
        SELECT count(*) FROM judgements
        WHERE verifier_failure IS NOT NULL AND (valid OR failed OR correct IS NOT NULL)
    """) == [(0,)]  # fmt: skip
    ((unjudged,),) = rows(discovered, "SELECT max(value) FROM training WHERE measure = 'unjudged'")
    assert 0 < unjudged < 1


def test_the_page_shows_the_photographs(discovered):
    page = (discovered.folder / "results/discover/default/index.html").read_text()
    assert page.count("data:image/webp") > 0
    assert 'alt="picture 000000000' in page


def test_another_server_or_bound_asks_nothing_again(discovered):
    said = yaml.safe_load(discovered.config.read_text())
    said["discover"]["verifier"] |= {"url": "http://127.0.0.1:9/v1", "max_requests": 9999}
    elsewhere = Workflow(discovered.folder, discovered.folder / "elsewhere.yaml")
    elsewhere.config.write_text(yaml.safe_dump(said))
    assert elsewhere.planned("discover") == {}
    said["discover"]["verifier"]["model"] = "another"
    elsewhere.config.write_text(yaml.safe_dump(said))
    assert elsewhere.planned("discover")["play"] == 4


def play(folder: Path, run: Path, url: str, **changes) -> list[str]:
    """Return the command of a game of RL, as the rule would write it, with files in `run`."""
    served = json.dumps({"backend": "openai", "url": url, "model": real_scale.ANSWERER})
    settings = json.dumps(real_scale.section(folder, url, **changes))
    outputs = [f"--{name}={run / name}.parquet" for name in ("out", "training", "steps")]
    return ["benchc", "discover", "play", "rl", "--key=served", f"--model-settings={served}",
            f"--settings={settings}", f"--work={run / 'work'}", *outputs]  # fmt: skip


def start(command: list[str]) -> subprocess.Popen:
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def end(process: subprocess.Popen, code: int) -> list[str]:
    """Wait for a command, which has to end with a code; return what it said."""
    error = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == code, error
    return error.splitlines()


def test_a_killed_game_goes_on_to_the_log_of_an_unbroken_one(discovered, folder, tmp_path):
    script = real_scale.server()
    running: list[subprocess.Popen] = []
    fault_of = script.fault_of

    def kill(body: dict):
        if (tmp_path / "work/checkpoint-2/failure_memory.npy").exists():
            running[0].kill()
        return fault_of(body)

    script.fault_of = kill
    with serving(script) as url:
        running.append(start(play(folder, tmp_path, url)))
        end(running[0], -signal.SIGKILL)
        assert not (tmp_path / "out.parquet").exists()
        script.fault_of = fault_of
        end(start(play(folder, tmp_path, url)), 0)
    whole = discovered.folder / "results/discover/work/served/clean/rl/log.jsonl"
    assert (tmp_path / "work/log.jsonl").read_text() == whole.read_text()
    table = discovered.folder / "results/discover/served/clean/rl/asked.parquet"
    assert (tmp_path / "out.parquet").read_bytes() == table.read_bytes()
    assert {p.name for p in (tmp_path / "work").iterdir()} == {"best", "log.jsonl"}


def test_the_bound_on_requests_holds_over_two_starts(folder, tmp_path):
    script = real_scale.server()

    def judged():
        return sum(body["model"] == real_scale.VERIFIER for body in script.bodies)

    with serving(script) as url:
        for _ in range(2):
            lines = end(start(play(folder, tmp_path, url, verifier={"max_requests": 40})), 1)
            assert "raise `max_requests` (40)" in lines[-1]
            assert judged() <= 40
    assert not (tmp_path / "out.parquet").exists()
