"""The report: every section, any shape of run, one file that loads nothing."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from synthetic import SyntheticRun, synthetic_run, write_run
from typer.testing import CliRunner

from benchc import keyed, tables
from benchc.diagnose.database import build
from benchc.diagnose.verdicts import FINDINGS
from benchc.errors import BadInput
from benchc.pictures.pixels import encode
from benchc.report import wording
from benchc.report.command import app
from benchc.report.page import build_report

SECTIONS = (
    *("summary", "leaderboard", "where", "how", "cases", "conditions", "selection", "verdicts"),
    *("limits", "methods"),
)
DISCOVERY = "../discover/default/index.html"
_VOID = {"meta", "link", "img", "br", "input", "hr"}


class Page(HTMLParser):
    """Checks nesting and collects what the tests ask for."""

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.loaded: list[str] = []
        self.images: list[dict[str, str | None]] = []
        self.labels: list[str] = []
        self.specs: list[dict[str, Any]] = []
        self.cases: dict[str, Any] = {}
        self.text: list[str] = []
        self._json = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.ids += [values["id"] or ""] if "id" in values else []
        named = [values[name] for name in ("src", "href", "srcset", "data") if name in values]
        self.loaded += [value or "" for value in named]
        if tag == "img":
            self.images.append(values)
        if values.get("role") == "img":
            self.labels.append(values["aria-label"] or "")
        is_json = values.get("type") == "application/json"
        self._json = (values.get("id") or "spec") if is_json else ""
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self._json = ""
        assert self.open.pop() == tag, f"</{tag}> closes nothing, line {self.getpos()[0]}"

    def handle_data(self, data: str) -> None:
        if self._json == "case-data":
            self.cases = json.loads(data)
        elif self._json:
            self.specs.append(json.loads(data))
        elif self.open[-1:] not in (["script"], ["style"]):
            self.text.append(data)

    @property
    def prose(self) -> str:
        return " ".join(" ".join(self.text).split())


def page_of(run: SyntheticRun, folder: Path, **options: Any) -> Page:
    build(write_run(run, folder), folder / "bench-c.duckdb")
    paths = folder / "bench-c.duckdb", folder / "images.parquet"
    return checked(build_report(*paths, 0, **options).page)


def checked(text: str) -> Page:
    page = Page(text)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert set(SECTIONS) <= set(page.ids)
    assert page.loaded.count(DISCOVERY) == 1
    assert all(link.startswith(("#", "data:")) for link in page.loaded if link != DISCOVERY)
    assert {link[1:] for link in page.loaded if link.startswith("#")} <= set(page.ids)
    assert all(image["alt"] for image in page.images)
    assert all(page.labels)
    assert len(page.labels) == len(page.specs)
    return page


@pytest.fixture(scope="module")
def page_text(synthetic_database: Path) -> str:
    return build_report(synthetic_database, synthetic_database.parent / "images.parquet", 0).page


@pytest.fixture(scope="module")
def page(page_text: str) -> Page:
    return checked(page_text)


def test_page_shows_every_section(page: Page) -> None:
    for said in (
        "is right most often on corrupted pictures",
        "nothing here says that a model is safe now",
        "What is asked by what corrupts",
        "95 % interval",
        "flattening null",
        "nonfinite logits",
        "raises accuracy",
        "Over the selection",
        "Over the random control",
        "Over the whole pool",
        "raises RAS",
        "property of the published score",
        "crossed form is used",
        "not understanding",
        "silent degradation",
        "impurity not above",
        "picture unreadable",
        "tie for the largest",
    ):
        assert re.search(re.escape(said).replace(r"\ ", r"\s+"), page.prose), said
    named = (
        *(
            "standing",
            "against",
            "heat",
            "accuracy-heat",
            "trends",
            "clean_states",
            "states",
            "flows",
        ),
        *("classes", "reliability", "impurity", "control"),
    )
    assert {f"figure-{name}" for name in named} <= set(page.ids)


def test_cases_hold_what_a_browser_of_them_needs(page: Page, made_up_run: SyntheticRun) -> None:
    held = page.cases
    kinds = {(case["model"], case["state"]) for case in held["cases"]}
    assert {model for model, _ in kinds} == {entry["key"] for entry in made_up_run.models}
    for case in held["cases"]:
        assert case["sample_id"] in held["questions"]
        assert [step["severity"] for step in case["steps"]] == list(range(6))
        for step in case["steps"]:
            name = case["corruption"] if step["severity"] else "clean"
            uri = held["pictures"][f"{case['image_id']}/{name}/{step['severity']}"]
            assert uri.startswith("data:image/jpeg;base64,")
    assert len(page.images) == 3 * 6


def test_page_loads_nothing(page_text: str) -> None:
    own = re.sub(r"<script>.*?</script>", "", page_text, flags=re.DOTALL)
    hosts = set(re.findall(r"https?://[^\"'\s<)]+", own))
    assert all(host.startswith("https://vega.github.io/schema/") for host in hosts)
    for loading in ("@import", "url(", '<link rel="stylesheet', "<iframe"):
        assert loading not in own
    assert len(page_text) < 15_000_000
    assert page_text.count("window.vegaEmbed=") == 1


def test_same_bytes_twice(page_text: str, synthetic_database: Path, tmp_path: Path) -> None:
    outcome = CliRunner().invoke(
        app,
        [
            *("build", "--seed", "0", "--database", str(synthetic_database)),
            *("--images", str(synthetic_database.parent / "images.parquet")),
            *("--out", str(tmp_path / "report" / "index.html")),
        ],
    )
    assert outcome.exit_code == 0, outcome.output
    assert (tmp_path / "report" / "index.html").read_text("utf-8") == page_text
    assert list((tmp_path / "report" / "cases").iterdir()) == []


def test_leaderboard_shows_the_database(page: Page, synthetic_database: Path) -> None:
    from benchc.diagnose.query import query

    for row in query(synthetic_database, "FROM leaderboard").iter_rows(named=True):
        line = [row["model"], wording.percent(row["clean_accuracy"]).replace("\u00a0", " ")]
        assert re.search(rf"{re.escape(line[0])}.*{re.escape(line[1])}", page.prose)
        assert wording.signed(row["ras"]) in page.prose


def test_verdicts_and_phenomena_are_said(page: Page, synthetic_database: Path) -> None:
    from benchc.diagnose.query import query

    assert all(sentence in page.prose for sentence in FINDINGS.values())
    ends = query(
        synthetic_database,
        "SELECT low, high FROM intervals WHERE scope = 'selection' AND crossing = 'all' "
        "AND tau = 0.01",
    )
    assert ends.height == 3 * 5
    for low, high in ends.iter_rows():
        assert wording.interval(low, high, wording.percent).replace("\u00a0", " ") in page.prose


def test_the_selection_is_compared_with_the_other_scopes(
    page: Page, synthetic_database: Path
) -> None:
    from benchc.diagnose.query import query

    rows = query(
        synthetic_database,
        "FROM differences WHERE model = other AND measure = 'ras' AND difference IS NOT NULL",
    ).rows(named=True)
    assert {row["other_scope"] for row in rows} == {"control", "pool", "pool_at_selection_mix"}
    for row in rows:
        said = wording.estimate({**row, "value": row["difference"]}, wording.signed)
        assert said.replace("\u00a0", " ") in page.prose


def test_charts_hold_the_database(page: Page, synthetic_database: Path) -> None:
    from benchc.diagnose.query import query

    held = [row for spec in page.specs for row in rows_of(spec)]
    states = query(
        synthetic_database,
        "SELECT model, state, contribution FROM state_attribution "
        "WHERE scope = 'selection' AND crossing = 'all'",
    )
    for model, state, contribution in states.iter_rows():
        found = [row for row in held if row.get("model") == model and row.get("class") == state]
        assert len(found) == 2
        assert {row["contribution"] for row in found} == {contribution}


@pytest.mark.parametrize(
    "make",
    [
        lambda: synthetic_run(12, ["only"], ["fog"], [5]),
        lambda: synthetic_run(12, ["a", "b"], ["fog", "snow", "contrast"], [2, 4], blank=False),
        lambda: synthetic_run(12, ["a", "b"], failing={"b": 1.0}),
        lambda: synthetic_run(12, ["a"], failing={"a": 1.0}),
        lambda: synthetic_run(12, ["a", "b"], selectors=[]),
    ],
    ids=["one model", "two severities", "a failed model", "nothing but failures", "no selector"],
)
def test_page_copes_with_any_run(make: Callable[[], SyntheticRun], tmp_path: Path) -> None:
    run = make()
    page = page_of(run, tmp_path)
    assert all(entry["key"] in page.prose for entry in run.models)


def test_failed_model_is_said_to_have_no_score(tmp_path: Path) -> None:
    page = page_of(synthetic_run(12, ["a", "b"], failing={"b": 1.0}), tmp_path)
    assert re.search(r"b : none of its 90 pairs has a score", page.prose)


def test_a_model_in_no_figure_is_said(tmp_path: Path) -> None:
    sources = write_run(synthetic_run(12, ["a", "b"], failing={"b": 1.0}), tmp_path)
    sources = replace(sources, run={"config": {"leave_out": ["gone"]}})
    build(sources, tmp_path / "bench-c.duckdb")
    prose = checked(
        build_report(tmp_path / "bench-c.duckdb", tmp_path / "images.parquet", 0).page
    ).prose
    assert "gone is in no figure: left out of this run" in prose
    assert re.search(r"b is in no figure: none of its (\d+) .* \(nonfinite logits \1\)", prose)


def test_a_model_without_a_blank_answer_keeps_its_numbers_in_their_columns(tmp_path: Path) -> None:
    run = synthetic_run(12, ["a", "b"])
    is_blank = pl.col("corruption") == "blank"
    failed = run.predictions["a"].with_columns(
        *(
            pl.when(~is_blank).then(pl.col(name)).alias(name)
            for name in ("logits", "p", "top1", "is_tie", "option_mass")
        ),
        status=pl.when(is_blank).then(pl.lit("too_long")).otherwise(pl.col("status")),
    )
    page = page_of(replaced(run, predictions={**run.predictions, "a": failed}), tmp_path)
    number = r"[+−]?\d\.\d{3}"
    cell = rf"{number}(?: {number} to {number})?"
    assert re.search(rf"minus blank a {cell} – {cell} – b {cell} {cell} {cell} {cell}", page.prose)


def test_empty_selection_is_said(tmp_path: Path) -> None:
    run = synthetic_run(12, ["a"])
    emptied = run.selection.with_columns(
        kept=pl.lit(False), control=pl.lit(False), reason=pl.lit("impurity_not_above")
    )
    page = page_of(replaced(run, selection=emptied), tmp_path)
    assert "The selection is empty" in page.prose
    assert "Over the whole pool" in page.prose


@pytest.mark.parametrize(
    ("headline", "named"), [("selection", "selection"), ("pool", "whole pool")]
)
def test_the_page_begins_with_what_the_run_is_about(tmp_path: Path, headline, named) -> None:
    sources = write_run(synthetic_run(24, ["a", "b"], selectors=["a", "b"]), tmp_path)
    database = tmp_path / "bench-c.duckdb"
    build(replace(sources, run={"config": {"headline": headline}}), database)
    prose = checked(build_report(database, tmp_path / "images.parquet", 0).page).prose
    assert f"Leaderboard Over the {named}" in prose
    assert "below are taken over" not in prose


def test_no_figures_at_all_is_said(tmp_path: Path) -> None:
    run = synthetic_run(12, ["a"])
    emptied = run.selection.with_columns(kept=pl.lit(False), control=pl.lit(False))
    asked = run.samples["sample_id"][0]
    some = {"a": run.predictions["a"].filter(pl.col("sample_id") == asked)}
    page = page_of(replaced(run, selection=emptied, predictions=some), tmp_path)
    assert "There are no figures" in page.prose


def test_chance_is_said_plainly(tmp_path: Path) -> None:
    run = synthetic_run(24, ["guesser"])
    rng = np.random.default_rng(0)
    answers = [int(rng.integers(len(options))) for options in run.samples["options"]]
    samples = tables.SAMPLES.conform(run.samples.with_columns(answer=pl.Series(answers)))
    page = page_of(replaced(run, samples=samples), tmp_path)
    assert "Near chance" in page.prose
    assert re.search(r"cannot be told from guessing|below what guessing", page.prose)


def test_text_of_a_question_is_no_markup(tmp_path: Path) -> None:
    run = synthetic_run(12, ["a"])
    samples = run.samples.with_columns(
        question=pl.lit("</script><b id='summary'>&?"),
        options=pl.col("options").list.eval(pl.lit("<img src=http://x/>") + pl.element()),
    )
    page = page_of(replaced(run, samples=samples), tmp_path)
    asked = {question["question"] for question in page.cases["questions"].values()}
    assert asked == {"</script><b id='summary'>&?"}


def test_twenty_six_options(tmp_path: Path) -> None:
    run = synthetic_run(12, ["a"])
    k = 26
    samples = run.samples.with_columns(
        options=pl.lit([f"option {j}" for j in range(k)]), answer=pl.lit(k - 1)
    )
    p = [0.5] + [0.5 / (k - 1)] * (k - 1)
    spread = run.predictions["a"].with_columns(
        p=pl.lit(p), logits=pl.lit(np.log(p).tolist()), top1=pl.lit(0), is_tie=pl.lit(False)
    )
    page = page_of(replaced(run, samples=samples, predictions={"a": spread}), tmp_path)
    assert all(q["options"][25] == "option 25" for q in page.cases["questions"].values())
    assert {len(step["p"]) for case in page.cases["cases"] for step in case["steps"]} == {26}


@pytest.mark.parametrize("size", [(1, 1), (1, 900), (700, 3), (1500, 1200)])
def test_pictures_of_any_size(size: tuple[int, int], tmp_path: Path) -> None:
    run = synthetic_run(4, ["a"], ["pixelate", "gaussian_noise"], [1])
    pixels = np.random.default_rng(1).integers(0, 256, (*size, 3), dtype=np.uint8)
    images = run.images.with_columns(
        width=pl.lit(size[1]), height=pl.lit(size[0]), bytes=pl.lit(encode(pixels))
    )
    page = page_of(replaced(run, images=images), tmp_path)
    assert page.images


def test_pictures_that_the_models_did_not_see_are_said(page: Page, page_text: str) -> None:
    assert re.search(r"\b0 of the \d+ corrupted pictures", page.prose)
    assert "another seed or reference side" in page.prose


def test_pictures_that_the_models_saw_are_said(tmp_path: Path) -> None:
    from benchc.corrupt.stage import render_corruption

    run = synthetic_run(8, ["a"], ["fog", "shot_noise"], [1, 3])
    parts = [
        render_corruption(run.images, name, [1, 3], seed=7, reference_side=32)
        for name in ("fog", "shot_noise")
    ]
    seen = replaced(run, corrupted=pl.concat(parts))
    build(write_run(seen, tmp_path), tmp_path / "bench-c.duckdb")
    paths = tmp_path / "bench-c.duckdb", tmp_path / "images.parquet"
    same = checked(build_report(*paths, 7, 32).page).prose
    other = checked(build_report(*paths, 8, 32).page).prose
    found = re.search(r"(\d+) of the (\d+) corrupted pictures", same)
    assert found
    assert found[1] == found[2]
    assert "another seed" not in same
    assert "another seed" in other


def test_other_pictures_are_refused(synthetic_database: Path, tmp_path: Path) -> None:
    odd = tables.IMAGES.from_rows(
        [
            {
                "image_id": keyed.digest("other").hex(),
                "width": 1,
                "height": 1,
                "bytes": encode(np.zeros((1, 1, 3), dtype=np.uint8)),
            }
        ]
    )
    tables.IMAGES.write(odd, tmp_path / "images.parquet")
    with pytest.raises(BadInput, match="built from other pictures"):
        build_report(synthetic_database, tmp_path / "images.parquet", 0)


def test_no_database_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such database"):
        build_report(tmp_path / "none.duckdb", tmp_path / "images.parquet", 0)
    (tmp_path / "text.duckdb").write_text("not a database")
    with pytest.raises(BadInput, match="not a readable DuckDB database"):
        build_report(tmp_path / "text.duckdb", tmp_path / "images.parquet", 0)


def rows_of(spec: Any) -> list[dict[str, Any]]:
    """Return the rows of every inline table in a specification."""
    if isinstance(spec, list):
        return [row for part in spec for row in rows_of(part)]
    if not isinstance(spec, dict):
        return []
    own = spec["data"]["values"] if "data" in spec else []
    return own + [row for part in spec.values() for row in rows_of(part)]


def replaced(run: SyntheticRun, **changes: Any) -> SyntheticRun:
    for name in ("samples", "images", "selection", "corrupted"):
        if name in changes:
            table = getattr(tables, name.upper())
            changes[name] = table.conform(changes[name])
    if "predictions" in changes:
        changes["predictions"] = {
            key: tables.PREDICTIONS.conform(frame) for key, frame in changes["predictions"].items()
        }
    return replace(run, **changes)
