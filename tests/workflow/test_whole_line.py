"""The whole line through the real Snakefile, on a small config."""

import hashlib
import re
import subprocess
import time
from pathlib import Path

import duckdb
import polars as pl
import pytest
from small_run import ADDED, PROJECT, TINY, Workflow

from benchc.tables import PREDICTIONS

#: What makes the database and its page anew.
REBUILT = {"database", "publish", "report", "publish_report", "all"}

pytestmark = pytest.mark.workflow

PHOTOS = PROJECT.parent / "shared" / "cases" / "photos"


def database(workflow: Workflow) -> duckdb.DuckDBPyConnection:
    return duckdb.connect(str(workflow.folder / "results/bench-c.duckdb"), read_only=True)


def test_every_table_holds_the_run(finished):
    with database(finished) as connection:
        counts = {
            table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("samples", "models", "predictions", "shifts")
        }
        kept, pairs = connection.execute(
            "SELECT n_samples, n_pairs FROM leaderboard WHERE scope = 'selection' LIMIT 1"
        ).fetchone()
    # 24 samples, clean and blank and three corruptions at five severities, two models
    assert counts == {"samples": 24, "models": 2, "predictions": 24 * 17 * 2, "shifts": 24 * 15 * 2}
    assert kept > 0
    assert pairs == kept * 15


def test_the_decompositions_add_up_to_the_whole(finished):
    with database(finished) as connection:
        for table in ("source_attribution", "state_attribution", "trajectory_attribution"):
            apart = connection.execute(
                f"""SELECT max(abs(parts.ras - leaderboard.ras))
                    FROM (SELECT scope, model, sum(contribution) AS ras FROM {table}
                          WHERE crossing = 'all' GROUP BY scope, model) AS parts
                    JOIN leaderboard USING (scope, model)"""
            ).fetchone()[0]
            assert apart < 1e-9


def test_the_report_is_one_page_that_names_each_model(finished):
    page = (finished.folder / "results/report/index.html").read_text(encoding="utf-8")
    assert "llava" in page
    assert "idefics3" in page
    assert not re.search(r'(src|href)="https?://', page)


def test_straight_after_there_is_nothing_to_do(finished):
    assert finished.planned("all") == {}


def test_a_touch_of_every_source_file_reruns_nothing(finished):
    for file in (PROJECT / "src").rglob("*.py"):
        file.touch()
    assert finished.planned("all") == {}


def test_adding_a_model_runs_its_own_jobs_alone(finished):
    config = finished.folder / "more.yaml"
    config.write_text(TINY.replace("selectors:", ADDED.strip("\n") + "\nselectors:"))
    more = Workflow(finished.folder, config)
    target = "results/models/newcomer/diagnosis.parquet"
    assert more.planned(target) == {"infer_chosen": 1, "diagnose_model": 1}
    untouched = {
        path: path.stat().st_mtime_ns
        for path in (finished.folder / "results/infer").rglob("predictions.parquet")
    }
    more.run(target)
    assert more.planned("all") == dict.fromkeys(REBUILT, 1)
    more.run("all")
    assert all(path.stat().st_mtime_ns == before for path, before in untouched.items())
    with database(more) as connection:
        models = connection.execute("SELECT model, selector FROM models ORDER BY model").fetchall()
    assert models == [("idefics3", True), ("llava", True), ("newcomer", False)]
    # And it is gone again when the config no longer names it, without any inference.
    assert set(finished.planned("all")) == REBUILT
    finished.run("all")
    with database(finished) as connection:
        assert connection.execute("SELECT count(*) FROM models").fetchone()[0] == 2


def test_a_killed_run_goes_on_where_it_was(finished, tmp_path):
    again = Workflow(tmp_path, finished.config)
    chunks = tmp_path / "results/infer/llava/chunks"
    process = subprocess.Popen(
        again.command("results/infer/llava/predictions.parquet"),
        cwd=PROJECT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    _wait_for(lambda: len(answered(chunks)) >= 3, process)
    subprocess.run(["pkill", "-KILL", "-s", str(process.pid)], check=False)
    process.wait()
    done = answered(chunks)
    again.run("--unlock")
    again.run("all")
    assert set(done) <= set(answered(chunks))
    assert len(answered(chunks)) == len(set(answered(chunks))), "asked twice"
    for key in ("llava", "idefics3"):
        name = f"results/infer/{key}/predictions.parquet"
        assert _content(tmp_path / name) == _content(finished.folder / name)


def answered(folder: Path) -> list[str]:
    """Return the names of what was asked together, as often as it was answered."""
    lines = [line for path in folder.glob("*.jsonl") for line in path.open() if line.endswith("\n")]
    return re.findall(r'"unit":"(\w+)"', "".join(lines))


def _wait_for(condition, process: subprocess.Popen) -> None:
    for _ in range(1200):
        if condition() or process.poll() is not None:
            return
        time.sleep(0.1)
    raise AssertionError("the run did not get there in two minutes")


def _content(path: Path) -> str:
    return hashlib.sha256(PREDICTIONS.read(path).write_json().encode()).hexdigest()


@pytest.mark.parametrize(
    ("config", "says"),
    [
        (TINY.replace("corruptions:", "corruption:"), "corruption: unknown key; did you mean"),
        (TINY.replace("reference/llava", "reference/lava"), "models.llava.path: reference/lava"),
        (TINY + "severities: [0]\n", "severities.0"),
        (TINY.replace("  idefics3:", "  LLaVA:"), "'llava' and 'LLaVA' are one file"),
    ],
)
def test_a_bad_config_stops_before_any_work(tmp_path, config, says):
    (tmp_path / "bad.yaml").write_text(config)
    said = Workflow(tmp_path, tmp_path / "bad.yaml").run("all", ok=False)
    assert says in said
    assert not (tmp_path / "results").exists()


def _with_folder(folder: Path) -> str:
    mine = f"mine: {{kind: folder, path: '{folder}'}}"
    return TINY.replace("drawn: {kind: drawn, samples: 24}", mine)


def test_a_bad_row_is_named_before_any_inference(tmp_path):
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    (pictures / "questions.jsonl").write_text(
        '{"id": "q1", "image": "x.png", "question": "What?", "options": ["one"], "answer": 0}\n'
    )
    (tmp_path / "mine.yaml").write_text(
        TINY.replace(
            "drawn: {kind: drawn, samples: 24}", f"mine: {{kind: folder, path: '{pictures}'}}"
        )
    )
    said = Workflow(tmp_path, tmp_path / "mine.yaml").run("all", ok=False)
    assert "questions.jsonl" in said
    assert "q1" in said or "line 1" in said or ":1" in said
    assert not (tmp_path / "results/infer").exists()


@pytest.mark.skipif(not PHOTOS.is_dir(), reason=f"no photographs in {PHOTOS}")
def test_real_photographs_run_through_the_whole_line(tmp_path):
    config = tmp_path / "photos.yaml"
    corruptions = "corruptions: [gaussian_noise, defocus_blur, contrast]"
    fewer = "corruptions: [fog]\nseverities: [1, 5]"
    config.write_text(_with_folder(PHOTOS).replace(corruptions, fewer))
    workflow = Workflow(tmp_path, config)
    workflow.run("all")
    with database(workflow) as connection:
        status = connection.execute("SELECT DISTINCT status FROM predictions").fetchall()
        samples = connection.execute("SELECT count(*) FROM samples").fetchone()[0]
    assert samples == 39
    assert status == [("ok",)]
    page = (tmp_path / "results/report/index.html").read_text(encoding="utf-8")
    assert "chance" in page


def test_the_tables_hold_no_path_of_this_machine(finished):
    for path in (finished.folder / "results/infer").rglob("predictions.parquet"):
        assert str(PROJECT) not in str(pl.read_parquet(path).head(3))
