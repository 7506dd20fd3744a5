"""The smallest discovery of one's own: photographs, a judge, prompts; through the Snakefile."""

import json
import re
from pathlib import Path

import duckdb
import pytest
import real_scale
import yaml
from protocol_server import Script, serving
from small_run import PROJECT, Workflow

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    real_scale.players(folder)
    return folder


def judge(wrong: int) -> Script:
    """Return a judge of a user's own, to whom so many answers are wrong and the others right."""
    seen: list[str] = []

    def say(body: dict) -> list[tuple[str, float]]:
        asked = real_scale.text(body)
        if asked.startswith("MY COMPARISON"):
            seen.append(asked)
            return [(json.dumps({"same": len(seen) > wrong}), -0.1)]
        assert asked.startswith("MY JUDGEMENT"), asked
        verdicts = dict.fromkeys(("grammatical", "atomic", "grounded", "objective"), True)
        return [(f"Let me see. {json.dumps({**verdicts, 'answer': 'two'})}", -0.1)]

    return Script(say)


@pytest.mark.parametrize("wrong", [0, 1])
def test_a_folder_of_photographs_a_judge_and_prompts_are_enough(folder, tmp_path, wrong):
    values = yaml.safe_load((PROJECT / "config/discover_own.yaml").read_text(encoding="utf-8"))
    for name, words in {
        "judge": "MY JUDGEMENT of {{ question }}",
        "compare": "MY COMPARISON of {{ question }} {{ truth }} {{ answer }}",
        "ask": "Ask {{ count }} things.",
        "answer": "{{ question }} Be brief.",
    }.items():
        (tmp_path / f"{name}.txt").write_text(words)
    values["models"]["mine"]["path"] = str(folder / "answerer")
    values["discover"] |= {
        "images": str(folder / "coco/val2017"),
        "answer_prompt": str(tmp_path / "answer.txt"),
        "answer_tokens": 4,
        "questioner": {
            "path": str(folder / "questioner"), "prompt": str(tmp_path / "ask.txt"),
            "separator": "\n", "questions": 2, "max_tokens": 12,
        },
    }  # fmt: skip
    with serving(judge(wrong)) as url:
        values["discover"]["verifier"] |= {
            "url": url,
            "judge_prompt": str(tmp_path / "judge.txt"),
            "compare_prompt": str(tmp_path / "compare.txt"),
        }
        config = tmp_path / "own.yaml"
        config.write_text(yaml.safe_dump(values))
        workflow = Workflow(tmp_path / "run", config)
        workflow.folder.mkdir()
        workflow.run("discover")
    results = workflow.folder / "results/discover/default"
    with duckdb.connect(str(results / "discovery.duckdb"), read_only=True) as connection:
        ((asked, failed),) = connection.execute(
            "SELECT count(*), count_if(failed) FROM judgements"
        ).fetchall()
        ways = connection.execute("SELECT DISTINCT way FROM measures").fetchall()
        for name in ("skills", "meta_skills", "skill_failure_rates", "steps", "training"):
            connection.execute(f"FROM {name}").fetchall()
    assert asked == 24
    assert failed <= wrong
    assert (failed > 0) == (wrong > 0)
    assert ways == [("zero_shot",)]
    page = (results / "index.html").read_text(encoding="utf-8")
    assert "zero_shot" in page
    said = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert "nan" not in said.lower().replace("nano", "")
