"""Two runs side by side: only pairs that both have, and every figure against a plain oracle."""

from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest
from synthetic import SyntheticRun, synthetic_run, write_run
from typer.testing import CliRunner

from benchc import tables
from benchc.diagnose.database import build
from benchc.diagnose.query import query
from benchc.errors import BadInput
from benchc.report.command import app
from benchc.report.compare import build_comparison, compare, differences
from benchc.report.facts import facts_of


def written(run: SyntheticRun, folder: Path) -> Path:
    build(write_run(run, folder), folder / "bench-c.duckdb")
    return folder / "bench-c.duckdb"


def flattened(run: SyntheticRun) -> SyntheticRun:
    """The same run with half the logits on corrupted pictures, and one severity-2 row failed."""
    predictions = {}
    for model, frame in run.predictions.items():
        logits = [
            [x * (0.5 if severity else 1.0) for x in row]
            for row, severity in frame.select("logits", "severity").iter_rows()
        ]
        p = [(e := np.exp(np.array(row) - max(row))) / e.sum() for row in logits]
        changed = frame.with_columns(
            logits=pl.Series(logits), p=pl.Series([row.tolist() for row in p])
        )
        failed = (pl.col("severity") == 2) & (pl.col("sample_id") == frame["sample_id"][0])
        names = ("logits", "p", "top1", "is_tie", "option_mass")
        changed = changed.with_columns(
            *(pl.when(~failed).then(pl.col(name)).alias(name) for name in names),
            status=pl.when(failed).then(pl.lit("nonfinite_logits")).otherwise(pl.col("status")),
        )
        predictions[model] = tables.PREDICTIONS.conform(changed)
    return replace(run, predictions=predictions)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    run = synthetic_run(12, ["a", "b"], ["fog", "snow"], [1, 2], selectors=["a"])
    folder = tmp_path_factory.mktemp("both")
    return written(run, folder / "one"), written(flattened(run), folder / "two")


def test_figures_are_means_over_the_pairs_of_both(both: tuple[Path, Path]) -> None:
    sql = "SELECT model, sample_id, corruption, severity, correct, ras FROM shifts"
    one, two = (query(path, f"{sql} WHERE ras IS NOT NULL") for path in both)
    shared = one.join(two, on=["model", "sample_id", "corruption", "severity"], suffix="_two")
    with facts_of(dict(zip(("first", "second"), both, strict=True))) as facts:
        rows = compare(facts("compared"), seed=3)
    assert {row["model"] for row in rows} == {"a", "b"}
    assert len(rows) == 2 * 3 * 2
    for row in rows:
        own = shared.filter(pl.col("model") == row["model"])
        if row["corruption"] is not None:
            own = own.filter(pl.col("corruption") == row["corruption"])
        column = {"accuracy": "correct", "ras": "ras"}[row["measure"]]
        assert row["n_pairs"] == own.height < one.filter(pl.col("model") == row["model"]).height
        assert row["first"] == pytest.approx(own[column].mean(), abs=1e-9)
        assert row["second"] == pytest.approx(own[f"{column}_two"].mean(), abs=1e-9)
        assert row["value"] == pytest.approx(row["second"] - row["first"])
        assert row["low"] <= row["value"] <= row["high"]
    scores = [row for row in rows if row["measure"] == "ras"]
    assert any(row["low"] < row["high"] for row in scores)
    assert all(row["value"] == 0 for row in rows if row["measure"] == "accuracy")


def test_page_shows_both_runs(both: tuple[Path, Path], tmp_path: Path) -> None:
    arguments = ["compare", *map(str, both), "--out", str(tmp_path / "c.html")]
    outcome = CliRunner().invoke(app, [*arguments, "--names", "plain", "size-aware"])
    assert outcome.exit_code == 0, outcome.output
    page = (tmp_path / "c.html").read_text("utf-8")
    assert "plain beside size-aware" in page
    assert page.count('class="chart"') == 2 * 2
    assert "Their settings and the fingerprints of their models are the same" in page


def test_a_run_beside_itself_moves_nothing(both: tuple[Path, Path]) -> None:
    with facts_of({"first": both[0], "second": both[0]}) as facts:
        rows = compare(facts("compared"), seed=0)
    assert {(row["value"], row["low"], row["high"]) for row in rows} == {(0.0, 0.0, 0.0)}


def test_one_picture_has_no_interval(tmp_path: Path) -> None:
    run = synthetic_run(2, ["a"], ["fog"], [1, 2])
    assert run.images.height == 1
    one, two = written(run, tmp_path / "one"), written(flattened(run), tmp_path / "two")
    with facts_of({"first": one, "second": two}) as facts:
        rows = compare(facts("compared"), seed=0)
    assert {(row["low"], row["high"]) for row in rows} == {(None, None)}
    assert "which may be chance" in build_comparison(one, two, ("plain", "other"))


def test_runs_without_a_pair_in_common_are_refused(both: tuple[Path, Path], tmp_path: Path) -> None:
    other = written(synthetic_run(4, ["else"], ["fog"], [1]), tmp_path)
    with pytest.raises(BadInput, match="no pair in common"):
        build_comparison(both[0], other, ("one", "two"))
    with pytest.raises(BadInput, match="no such database"):
        build_comparison(both[0], tmp_path / "none.duckdb", ("one", "two"))
    with pytest.raises(BadInput, match="both runs are called 'one'"):
        build_comparison(*both, ("one", "one"))
    duckdb.connect(str(tmp_path / "other.duckdb")).close()
    with pytest.raises(BadInput, match="not a database of this version") as refusal:
        build_comparison(both[0], tmp_path / "other.duckdb", ("one", "two"))
    assert "LINE" not in str(refusal.value)


def test_differences_name_the_setting() -> None:
    one = {"seed": 1, "corrupt": {"reference_side": None, "store": None}}
    two = {"seed": 1, "corrupt": {"reference_side": 224, "store": None}}
    assert differences("config", one, two) == [("config.corrupt.reference_side", "null", "224")]
    assert differences("config", one, one) == []
    assert differences("model a", None, "x") == [("model a", "null", '"x"')]
