"""Every row of the small files in the benchmarks' own formats, against what is right for it."""

import json
from pathlib import Path

import pytest

from benchc.config.sources import (
    MmvpSource,
    ParquetSource,
    SeedBench2PlusSource,
    VlmevalkitSource,
)
from benchc.errors import BadInput
from benchc.pool.build import build_source, merge
from benchc.pool.rows import Reason
from benchc.pool.sources import read_source

CASES = Path(__file__).parents[2].parent / "shared" / "cases" / "samples"
EXPECTED = CASES / "EXPECTED.jsonl"

pytestmark = pytest.mark.skipif(not EXPECTED.exists(), reason="no folder of benchmark samples here")


def parquet(name, fields):
    return ParquetSource(kind="parquet", path=CASES / name, fields=fields)


def tsv(name):
    return VlmevalkitSource(kind="vlmevalkit", path=CASES / name)


SPECS = {
    "mmbench_dev.tsv": tsv("mmbench_dev.tsv"),
    "mmbench_test.tsv": tsv("mmbench_test.tsv"),
    "mmt_val_mi.tsv": tsv("mmt_val_mi.tsv"),
    "seed2plus.tsv": tsv("seed2plus.tsv"),
    "seed2plus_hf.parquet": parquet("seed2plus_hf.parquet", "seedbench2plus"),
    "seed2plus/SEED-Bench-2-plus-text-rich.json": SeedBench2PlusSource(
        kind="seedbench2plus", path=CASES / "seed2plus" / "SEED-Bench-2-plus-text-rich.json"
    ),
    "mmstar.parquet": parquet("mmstar.parquet", "mmstar"),
    "realworldqa.parquet": parquet("realworldqa.parquet", "realworldqa"),
    "ai2d.parquet": parquet("ai2d.parquet", "ai2d"),
    "scienceqa.parquet": parquet("scienceqa.parquet", "scienceqa"),
    "hallusion.parquet": parquet("hallusion.parquet", "hallusion"),
    "mmmu.parquet": parquet("mmmu.parquet", "mmmu"),
    "cvbench.parquet": parquet("cvbench.parquet", "cvbench"),
    "mmvp/Questions.csv": MmvpSource(kind="mmvp", path=CASES / "mmvp"),
}

REASONS = {
    ("mmbench_dev.tsv", "16"): Reason.ANSWER_OUTSIDE_OPTIONS,
    ("mmbench_dev.tsv", "17"): Reason.NO_IMAGE,
    ("mmbench_dev.tsv", "18"): Reason.ANSWER_OUTSIDE_OPTIONS,
    ("mmbench_dev.tsv", "21"): Reason.UNDECODABLE_IMAGE,
    ("seed2plus/SEED-Bench-2-plus-text-rich.json", "9"): Reason.NO_IMAGE,
    ("mmt_val_mi.tsv", "22147"): Reason.ANSWER_OUTSIDE_OPTIONS,
}
STATUS = {
    "circular-duplicate": Reason.CIRCULAR_COPY,
    "no-answer": Reason.NO_ANSWER,
    "open-ended": Reason.OPEN_ENDED,
    "no-image": Reason.NO_IMAGE,
    "multi-image": Reason.MULTI_IMAGE,
}

# Where the stored question is not the source's text as it stands.
QUESTIONS = {
    (
        "mmbench_dev.tsv",
        "7",
    ): "The cup stands on a saucer.\nIt is small.\nIs this drink hot coffee?",
    ("scienceqa.parquet", "2"): "Five options.\nPick one.",
    ("mmmu.parquet", "validation_Demo_1"): "What is in the cup?",
    ("realworldqa.parquet", "0"): "What is the animal lying on?",
    ("mmstar.parquet", "0"): (
        "Which option describes the object relationship in the image correctly?"
    ),
    ("mmstar.parquet", "391"): "How many angels have halos?",
    ("mmstar.parquet", "945"): "Is the number of cats less than three?",
}


def expected() -> list[dict]:
    if not EXPECTED.exists():
        return []
    return [json.loads(line) for line in EXPECTED.read_text(encoding="utf-8").splitlines()]


def test_every_file_is_read_and_no_row_is_lost_or_made_up():
    assert {row["file"] for row in expected()} == SPECS.keys()
    for name, spec in SPECS.items():
        source = read_source(spec)
        refs = [row.source_ref for rows in (source.rows, source.rejected) for row in rows]
        assert sorted(refs) == sorted(row["id"] for row in expected() if row["file"] == name)


@pytest.mark.parametrize("row", expected(), ids=lambda row: f"{row['file']}-{row['id']}")
def test_row(row):
    outcome = OUTCOMES.get(row["file"]) or OUTCOMES.setdefault(row["file"], outcomes(row["file"]))
    kind, found = outcome[row["id"]]
    place = (row["file"], row["id"])
    if row["status"] not in ("ok", "ok-or-error"):
        assert (kind, found) == ("rejected", STATUS.get(row["status"]) or REASONS[place])
        return
    assert kind == "sample"
    assert found.question == QUESTIONS.get(place, row["question"])
    assert list(found.options) == [text for _, text in sorted(row["options"].items())]
    assert found.options[found.answer] == row["options"][row["answer"]]


OUTCOMES: dict[str, dict] = {}


def outcomes(name):
    """Return (`sample`, row) or (`rejected`, reason) for each id, pictures decoded."""
    source = read_source(SPECS[name])
    found: dict[str, tuple] = {
        verdict.source_ref: ("rejected", verdict.reason) for verdict in source.rejected
    }
    for row in source.rows:
        try:
            assert row.picture().shape[2] == 3
            found[row.source_ref] = ("sample", row)
        except BadInput:
            found[row.source_ref] = ("rejected", Reason.UNDECODABLE_IMAGE)
    return found


def test_one_item_in_three_carriers_is_counted_once():
    names = ["seed2plus/SEED-Bench-2-plus-text-rich.json", "seed2plus_hf.parquet", "seed2plus.tsv"]
    pools = [build_source(f"s{i}", SPECS[name]) for i, name in enumerate(names)]
    merged = merge(pools)
    assert merged.samples["sample_id"].to_list() == ["s0/0", "s0/1", "s0/2"]
    assert merged.rejected["reason"].value_counts().sort("reason").rows() == [
        ("duplicate", 6),
        ("no_image", 1),
    ]


def test_the_two_halves_of_a_pair_are_two_samples():
    pool = build_source("mmvp", SPECS["mmvp/Questions.csv"])
    assert pool.samples.height == 2
    assert pool.samples["question"].n_unique() == 1
    again = build_source("again", SPECS["mmvp/Questions.csv"])
    assert merge([pool, again]).samples.height == 2


def test_all_files_together():
    keys = {name: f"b{number}" for number, name in enumerate(SPECS)}
    pools = [
        build_source(keys[name], spec)
        for name, spec in SPECS.items()
        if name not in ("mmbench_test.tsv", "mmt_val_mi.tsv")
    ]
    merged = merge(pools)
    rows = sum(row["file"] not in ("mmbench_test.tsv", "mmt_val_mi.tsv") for row in expected())
    assert merged.samples.height + merged.rejected.height == rows
