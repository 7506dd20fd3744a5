"""What a run cannot say is said in one line each, on runs that are too small or too plain."""

from dataclasses import replace

import polars as pl
import pytest
from synthetic import SyntheticRun, synthetic_run, write_run

from benchc.diagnose.database import build
from benchc.report.facts import facts_of
from benchc.report.unsaid import unsaid


def _of_one_benchmark(run: SyntheticRun) -> SyntheticRun:
    return replace(run, samples=run.samples.with_columns(benchmark=pl.lit("only")))


def _lines(run: SyntheticRun, folder) -> list[str]:
    build(write_run(run, folder), folder / "bench-c.duckdb")
    with facts_of({"run": folder / "bench-c.duckdb"}) as facts:
        return unsaid(facts, "selection")


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (synthetic_run(40, models=["a"], selectors=["a"]), "One model only"),
        (synthetic_run(40, models=["a", "b"]), "Two models"),
        (synthetic_run(12), "no interval, and so no verdict, from fewer than 10"),
        (_of_one_benchmark(synthetic_run(40)), "One benchmark"),
    ],
)
def test_what_is_too_few_is_named_in_one_line(run, said, tmp_path):
    lines = _lines(run, tmp_path)
    assert sum(said in line for line in lines) == 1
    assert all("\n" not in line and line.endswith(".") for line in lines)


def test_a_model_at_chance_has_no_common_confidence_and_says_so(tmp_path):
    run = synthetic_run(40)
    run.predictions["beta"] = run.predictions["beta"].with_columns(
        pl.col("logits").list.eval(pl.element() * 0),
        pl.col("p").list.eval(pl.element() * 0 + 1 / pl.len()),
        top1=pl.lit(0),
        is_tie=pl.lit(True),
    )
    lines = _lines(run, tmp_path)
    assert any(line.startswith("RAS matched of beta cannot be said: ") for line in lines)
    assert not any("of alpha" in line for line in lines)


def test_a_run_that_can_say_everything_has_no_line(tmp_path):
    assert _lines(synthetic_run(60), tmp_path) == []


@pytest.mark.parametrize(("most", "said"), [(2, True), (3, False)])
def test_two_options_everywhere_are_said(most, said):
    extent = {"n_models": 4, "n_images": 80, "n_benchmarks": 3, "fewest_options": 2}
    rows = {"unsaid": [extent | {"most_options": most}], "unfitted": []}
    lines = unsaid(lambda name, scope: rows[name], "selection")
    assert any("two options" in line for line in lines) == said
