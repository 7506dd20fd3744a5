"""The queries of the README run word for word, and show the columns it shows; discovery's too."""

import json
import re
import shlex
import shutil
import subprocess

import duckdb
import pytest
import yaml
from PIL import Image
from small_run import PROJECT

from benchc.config.run import read_config
from benchc.diagnose.query import DISCOVERIES, query

README = (PROJECT / "README.md").read_text(encoding="utf-8")
QUERIES = re.findall(r"```console\n\$ benchc sql \"(.*?)\"\n(.*?)```", README, flags=re.DOTALL)
DISCOVERY = re.findall(
    r"^\$ benchc sql \"((?:SELECT|PIVOT) .*?)\"\n(.*?)(?=^\$ |```)",
    (PROJECT / "docs/discovery.md").read_text(encoding="utf-8"),
    flags=re.DOTALL | re.MULTILINE,
)


def test_there_are_three_queries():
    assert len(QUERIES) >= 3
    assert len(DISCOVERY) >= 3


def test_what_one_model_costs_is_computed():
    """From the rate that is stated; corruptions and severities are those of the first lines."""
    corruptions, severities = re.search(r"in (\d+) ways\s+at (\d+) severities", README).groups()
    prompts, samples, asked, hours, rate = (
        float(number.replace(",", ""))
        for number in re.search(
            r"(\d+)\s+prompts\. ([\d,]+) samples are ([\d,]+) prompts, ([\d.]+) GPU hours at an "
            r"assumed (\d+) answers\s+a second",
            README,
        ).groups()
    )
    assert prompts == int(corruptions) * int(severities) + 2
    assert asked == prompts * samples
    assert hours == round(asked / rate / 3600, 1)


def test_one_counting_question_of_the_pool_is_about_something_absent():
    from benchc.world.samples import draw_pool

    counting = [sample for sample in draw_pool(300, 1) if sample.track == "counting"]
    assert len(counting) == 50
    assert [s.options[s.answer] for s in counting].count("0") == 1


@pytest.mark.workflow
@pytest.mark.parametrize("number", range(len(QUERIES)))
def test_a_query_runs_and_has_its_columns(finished, number):
    statement, shown = QUERIES[number]
    frame = query(finished.folder / "results/bench-c.duckdb", statement)
    header = next(line for line in shown.splitlines() if "model" in line)
    # The small run has fewer corruptions, hence fewer columns where a query turns rows into them.
    assert len(frame.columns) > 1
    assert set(frame.columns) <= set(re.findall(r"\w+", header))


@pytest.mark.scale
@pytest.mark.parametrize("number", range(len(QUERIES)))
def test_a_query_gives_what_the_readme_shows(number, capsys):
    from benchc.diagnose.answers import print_query

    statement, shown = QUERIES[number]
    print_query(PROJECT / "results/bench-c.duckdb", statement, "table", None)
    assert capsys.readouterr().out.strip() == shown.strip()


@pytest.mark.scale
@pytest.mark.parametrize("number", range(len(DISCOVERY)))
def test_a_query_gives_what_the_page_on_discovery_shows(number, capsys):
    from benchc.diagnose.answers import print_query

    statement, shown = DISCOVERY[number]
    for name, (place, maker) in DISCOVERIES.items():
        if f"{name}." in statement and not (PROJECT / "results" / place).is_file():
            pytest.skip(f"there is no finished `{maker}` here")
    print_query(PROJECT / "results/bench-c.duckdb", statement, "table", None)
    assert capsys.readouterr().out.strip() == shown.strip()


@pytest.mark.scale
def test_the_default_run_is_at_the_scale_it_claims():
    with duckdb.connect(str(PROJECT / "results/bench-c.duckdb"), read_only=True) as connection:
        samples, predictions = connection.execute(
            "SELECT (SELECT count(*) FROM samples), (SELECT count(*) FROM predictions)"
        ).fetchone()
        kept = connection.execute("SELECT count(*) FROM selection WHERE kept").fetchone()[0]
    assert samples >= 300
    assert predictions >= 115_000
    assert 60 <= kept <= samples / 2


def clone_without_results(folder):
    """Return a copy of the project, its large folders linked."""
    for name in ("src", "rules", "profiles", "reference", "config", "envs"):
        (folder / name).symlink_to(PROJECT / name)
    for name in ("Snakefile", "config.yaml"):
        shutil.copy(PROJECT / name, folder)
    return folder


def said_by(command, folder):
    done = subprocess.run(
        shlex.split(command), cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def job_table(text):
    return re.findall(r"^(\w+) +(\d+)$", text, re.MULTILINE)


@pytest.mark.workflow
def test_pictures_of_ones_own_are_checked_and_planned_as_shown(tmp_path):
    section = README.partition("## Your own pictures")[2].partition("\n## ")[0]
    (question,) = re.findall(r"```json\n(.*?)\n```", section, re.DOTALL)
    (config,) = re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)
    project = clone_without_results(tmp_path)
    (project / "my-pictures").mkdir()
    (project / "my-pictures/questions.jsonl").write_text(question + "\n")
    Image.new("RGB", (40, 30), "brown").save(
        project / "my-pictures" / json.loads(question)["image"]
    )
    (project / "mine.yaml").write_text(config)
    (check,) = re.findall(r"`(benchc pool check my-pictures)`", section)
    assert "1 sample" in said_by(check, project)
    (command,) = re.findall(r"^\$ (snakemake .*)$", section, re.MULTILINE)
    planned = dict(job_table(said_by(f"{command} --dry-run", project)))
    models = len(read_config({}, PROJECT).models)
    assert planned["infer_pool"] == str(models)
    assert planned["corrupt"] == str(len(yaml.safe_load(config)["corruptions"]))


@pytest.mark.workflow
def test_the_large_config_is_planned_as_shown(tmp_path):
    section = README.partition("## At the scale")[2].partition("\n## ")[0]
    command, shown = re.findall(r"^\$ (snakemake .*?)\n(.*?)```", section, re.DOTALL | re.M)[0]
    said = said_by(command, clone_without_results(tmp_path))
    stats = said.partition("Job stats:")[2]
    assert (
        job_table(shown) == job_table(stats[: stats.index("total") + 40])[: len(job_table(shown))]
    )
    assert "total" in dict(job_table(shown))
