"""What has to be fetched is planned once a thing, and a run finds it where it was fetched to."""

import io
import json
import os
import re
import resource
import subprocess
from pathlib import Path

import polars as pl
import pytest
import yaml
from PIL import Image
from servers import COMMIT, Hub, serving

from benchc.config.corruptions import CORRUPTIONS
from benchc.config.run import read_config
from benchc.running.workflow import Workflow

PROJECT = Path(__file__).parents[2]
PAPER = PROJECT / "config" / "paper.yaml"
CLIP = {"hub_id": "org/clip", "revision": "main"}
QWEN = {"hub_id": "org/qwen", "revision": "main"}
TABLE = {"kind": "vlmevalkit", "url": "https://a.org/b.tsv", "md5": "0" * 32}


def workflow(**values: object) -> Workflow:
    return Workflow(values, str(PROJECT))


def snakemake(config: Path, folder: Path, *arguments: str, **environment: str) -> str:
    command = ["snakemake", *arguments, "--cores", "2", "--directory", str(folder)]
    command += ["--snakefile", str(PROJECT / "Snakefile"), "--configfile", str(config)]
    done = subprocess.run(
        command, cwd=PROJECT, capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_what_two_models_share_is_fetched_once():
    run = workflow(models={"letter": QWEN, "text": {**QWEN, "scoring": "text"}})
    (name,) = run.fetches
    assert {tuple(run.record_of(model)) for model in run.config.models.values()} == {
        (f"results/fetch/{name}.json",)
    }
    assert run.model_fingerprint("letter") != run.model_fingerprint("text")


def test_an_address_or_a_folder_is_no_part_of_what_a_model_is():
    def fingerprint(**changes: str) -> str:
        model = {"url": "https://a.org/m.zip", "md5": "0" * 32, "unpack": True, **changes}
        return workflow(models={"m": model}).model_fingerprint("m")

    assert fingerprint() == fingerprint(url="https://mirror.org/m.zip")
    assert fingerprint() != fingerprint(md5="1" * 32)
    assert "results/" not in fingerprint()


def test_a_mirror_of_the_same_file_changes_nothing_for_a_source():
    def told(**changes: str) -> tuple[str, list[str]]:
        run = workflow(sources={"t": {**TABLE, **changes}})
        records = run.record_of(run.config.sources["t"])
        return run.source_spec("t"), run.fetched_option(records)

    assert told() == told(url="http://mirror.org/c/b.tsv")
    assert told() != told(md5="1" * 32)


def test_sources_models_and_clip_wait_for_what_is_fetched():
    run = workflow(sources={"t": TABLE}, models={"m": QWEN}, embed=CLIP)
    assert len(run.fetches) == 3
    # What is fetched has a record, which is an input: the fingerprint holds no content of files.
    told = json.loads(run.source_fingerprint("t"))
    assert told.pop("reader")
    assert told == json.loads(run.source_spec("t"))
    assert run.clip_fingerprint == ""
    (record,) = run.record_of(run.config.sources["t"])
    assert run.fetched_option([record]) == [f"--fetched {record.removesuffix('.json')}"]
    (record,) = run.record_of(run.config.embed)
    assert run.fetched_option([record]) == [f"--fetched {record.removesuffix('.json')}"]
    assert json.loads(run.source_spec("t"))["path"] == "."


def test_nothing_of_the_default_run_is_fetched():
    assert workflow().fetches == {}


@pytest.mark.workflow
def test_a_benchmark_and_a_model_come_from_a_hub_and_nothing_is_fetched_again(tmp_path):
    checkpoints = [
        *(PROJECT / "reference/llava").iterdir(),
        *(PROJECT / "reference/clip").iterdir(),
    ]
    files = {f.name: f.read_bytes() for f in checkpoints if f.is_file()}
    picture = io.BytesIO()
    Image.new("RGB", (64, 64), (200, 40, 40)).save(picture, "PNG")
    row = {"image": "a.png", "question": "What colour?", "options": ["red", "blue"], "answer": "A"}
    files |= {"questions.jsonl": json.dumps(row).encode(), "a.png": picture.getvalue()}
    hub = Hub(files, large=("model.safetensors", "open_clip_model.safetensors"))
    thing = {"hub_id": "org/thing", "revision": "main"}
    config = tmp_path / "hub.yaml"
    config.write_text(
        yaml.safe_dump(
            {
                "sources": {"mine": {"kind": "folder", **thing, "files": ["*.jsonl", "*.png"]}},
                "models": {"m": {**thing, "instruction": ""}},
                "embed": thing,
                "corruptions": ["contrast"],
                "severities": [1],
            }
        )
    )
    with serving(hub) as server:
        token = {"HF_ENDPOINT": server.url, "HF_TOKEN": "hf_secret"}
        snakemake(config, tmp_path, "fetch_all", **token)
    # Nobody serves any more: the rest cannot but do without a network.
    targets = ["results/infer/m/predictions.parquet", "results/embed/embeddings.parquet"]
    snakemake(config, tmp_path, *targets, **token)
    predictions = pl.read_parquet(tmp_path / "results/infer/m/predictions.parquet")
    assert set(predictions["status"]) == {"ok"}
    record = json.loads((tmp_path / "results/infer/m/run.json").read_text())
    assert record["settings"]["revision"] == COMMIT
    assert "Nothing to be done" in snakemake(config, tmp_path, *targets, "-n")
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or b"hf_secret" not in file.read_bytes(), file


def test_the_papers_config_says_what_it_claims():
    config = read_config(yaml.safe_load(PAPER.read_text()), PROJECT, [PAPER])
    assert len(config.sources) == 6
    assert sum(source.samples or 0 for source in config.sources.values()) == 4000
    assert len(config.models) == 13
    assert config.corruptions == tuple(CORRUPTIONS)
    assert all(model.revision and model.dtype == "bfloat16" for model in config.models.values())


def test_the_papers_config_is_planned_in_five_seconds_of_work(tmp_path):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = snakemake(PAPER, tmp_path, "-n")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    counts = dict(re.findall(r"^(\w+) +(\d+)$", said.split("Job stats:")[-1], re.MULTILINE))
    assert counts["fetch"] == "20"
    assert counts["pool_source"] == "6"
    assert counts["corrupt"] == str(len(CORRUPTIONS))
    assert counts["infer_pool"] == "13"
    assert counts["total"] == "79"
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 5
