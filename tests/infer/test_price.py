"""What a run will ask of a server is said by `benchc check`, as the run itself says it."""

import re
from pathlib import Path

import polars as pl
import pytest
from protocol_server import Script, serving
from synthetic import synthetic_run
from test_openai_run import by_picture, predict
from test_run import world  # noqa: F401

from benchc.errors import BadInput
from benchc.infer.command import check_model
from benchc.infer.price import foreseen
from benchc.models.prompt import letter_prompt
from benchc.tables import IMAGES, SAMPLES, SELECTION

PROJECT = Path(__file__).parents[2]
CONFIG = """
models:
  chooser: {path: reference/llava, instruction: ""}
  served: {backend: openai, url: "http://localhost:1/v1", model: m, instruction: "Letter only.",
           retries: 0, timeout: 1}
corruptions: [fog, contrast, frost]
severities: [1, 5]
"""
CONDITIONS = 2 + 3 * 2


@pytest.fixture
def said(tmp_path, capsys):
    """Returns a function from selectors to what a check says before it finds no server."""

    def check(selectors: str, key: str = "served") -> str:
        config = tmp_path / "config.yaml"
        config.write_text(f"{CONFIG}selectors: [{selectors}]\n")
        with pytest.raises(BadInput):
            check_model(key, config, PROJECT, tmp_path, 4)
        return capsys.readouterr().out

    return check


@pytest.fixture
def pool(tmp_path):
    run = synthetic_run(n_samples=12)
    SAMPLES.write(run.samples, tmp_path / "pool/samples.parquet")
    IMAGES.write(run.images, tmp_path / "pool/images.parquet")
    return run


def line(samples, times):
    prompts = [
        letter_prompt(row["question"], row["options"], "Letter only.")
        for row in samples.iter_rows(named=True)
    ]
    tokens = -(-times * sum(map(len, prompts)) // 4)
    return rf"served: {times * len(prompts):,} requests ahead, .*about {tokens:,} tokens of text"


def test_without_a_pool_it_says_what_is_not_known(tmp_path):
    found = foreseen("served", "", CONDITIONS, tmp_path / "none.parquet", None)
    assert found == (
        "served: how many requests a run will send is not known before there is a pool "
        f"({tmp_path / 'none.parquet'}): 8 for each question, one under each condition"
    )


def test_the_command_says_it_without_a_pool(said):
    assert "is not known before there is a pool" in said("served")


def test_a_selector_is_asked_the_pool(tmp_path, pool):
    found = foreseen("served", "Letter only.", CONDITIONS, tmp_path / "pool/samples.parquet", None)
    assert re.match(line(pool.samples, CONDITIONS), found)
    assert found.endswith("; what is answered already is not asked again")


def test_another_model_is_asked_the_selection_once_there_is_one(tmp_path, pool):
    samples, selection = tmp_path / "pool/samples.parquet", tmp_path / "selection.parquet"
    found = foreseen("served", "Letter only.", CONDITIONS, samples, selection)
    assert re.match(line(pool.samples, CONDITIONS), found)
    assert "; at most, for how many of the pool's 12 questions it will be asked" in found
    assert found.endswith(f"is not known before there is a selection ({selection})")
    SELECTION.write(pool.selection, selection)
    chosen = pool.selection.filter(pl.col("kept") | pl.col("control"))
    assert 0 < chosen.height < 12
    found = foreseen("served", "Letter only.", CONDITIONS, samples, selection)
    assert re.match(line(pool.samples.join(chosen, on="sample_id", how="semi"), CONDITIONS), found)


@pytest.mark.parametrize("selectors", ["served", "chooser"])
def test_the_command_says_which_of_them_it_is(pool, said, selectors):
    found = said(selectors)
    assert re.match(line(pool.samples, CONDITIONS), found)
    assert ("before there is a selection" in found) is (selectors == "chooser")


def test_a_damaged_pool_is_one_line(tmp_path):
    (tmp_path / "samples.parquet").write_bytes(b"PAR1 no more")
    with pytest.raises(BadInput, match=r"samples.parquet"):
        foreseen("served", "", CONDITIONS, tmp_path / "samples.parquet", None)


def test_it_is_what_the_run_says_and_sends(world, tmp_path, capsys):  # noqa: F811
    samples, _, corrupted = world
    SAMPLES.write(samples, tmp_path / "samples.parquet")
    conditions = 2 + corrupted.select("corruption", "severity").unique().height
    found = foreseen("stub", "", conditions, tmp_path / "samples.parquet", None)
    with serving(Script(by_picture)) as url:
        answered = predict(world, url, tmp_path / "run").predictions.height
    (said,) = re.findall(r"^stub: .* requests ahead.*$", capsys.readouterr().err, re.MULTILINE)
    assert found.startswith(said.strip())
    assert said.startswith(f"stub: {answered:,} requests")
