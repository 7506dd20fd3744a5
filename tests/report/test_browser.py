"""The report in a browser: charts, filters, keyboard, side files, narrow windows, no network."""

from pathlib import Path
from typing import Any

import pytest
from browser import CHROMIUM, visit
from synthetic import SyntheticRun

from benchc.report.page import build_report

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium or Chrome on this machine")


@pytest.fixture(scope="module")
def report(synthetic_database: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page, with room for a few cases only; the others are side files."""
    images = synthetic_database.parent / "images.parquet"
    made = build_report(synthetic_database, images, 0, embedded_size=60_000)
    folder = tmp_path_factory.mktemp("report")
    (folder / "cases").mkdir()
    for name, text in made.side_files.items():
        (folder / "cases" / name).write_text(text, "utf-8")
    page = folder / "index.html"
    page.write_text(made.page, "utf-8")
    return page


LEAF = """
const form = find("#case-browser form");
const choose = (name, value) => {
  form.elements[name].value = value;
  form.elements[name].dispatchEvent(new Event("change", { bubbles: true }));
};
const heading = () => find("article.case h3")?.textContent ?? "";
const count = () => Number(find("#case-place").textContent.split(" of ")[1] ?? 0);
const press = (key) => find("article.case").dispatchEvent(
  new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
"""


def test_charts_are_drawn_without_a_complaint_or_a_request(report: Path) -> None:
    seen = visit(
        report,
        """
        const charts = [...document.querySelectorAll(".chart")];
        return {
          charts: charts.length,
          drawn: charts.filter((chart) => chart.querySelector("svg path, svg line")).length,
          unnamed: charts.filter((chart) => !chart.getAttribute("aria-label")).length,
          broken: [...document.images].filter((image) => !image.naturalWidth).length,
          long: [...document.querySelectorAll(".chart svg text")].map((text) => text.textContent)
            .filter((text) => /\\.\\d{4}|NaN|undefined|null/.test(text)),
        };
        """,
    )
    assert seen.outcome["drawn"] == seen.outcome["charts"] > 15
    assert seen.outcome["unnamed"] == seen.outcome["broken"] == 0
    assert seen.outcome["long"] == []
    assert seen.console == []
    assert seen.asked == []


@pytest.mark.parametrize(
    "policy",
    [
        "default-src 'unsafe-inline' data:; script-src 'unsafe-inline'",
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:",
    ],
)
def test_charts_are_drawn_under_a_strict_policy(report: Path, policy: str) -> None:
    """As servers of build artefacts send one: nothing may be evaluated."""
    page = report.with_name("strict.html")
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    page.write_text(report.read_text("utf-8").replace("<head>", f"<head>{meta}", 1), "utf-8")
    assert meta in page.read_text("utf-8")
    seen = visit(
        page,
        """
        const charts = [...document.querySelectorAll(".chart")];
        let evaluated = true;
        try { new Function("return 1")(); } catch (error) { evaluated = false; }
        return { charts: charts.length, evaluated, drawn: charts.filter(
          (chart) => chart.querySelector("svg path, svg line")).length };
        """,
    )
    assert seen.outcome["drawn"] == seen.outcome["charts"] > 15
    assert seen.outcome["evaluated"] is False
    # The refused line is the test's own.
    assert [line for line in seen.console if "unsafe-eval" not in line] == []


def test_the_helper_sees_complaints_and_requests(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        "<body data-charts=drawn><img src=http://127.0.0.1:9/x.png>"
        "<script>console.error('a complaint')</script></body>"
    )
    seen = visit(page, "return 1;")
    assert any("a complaint" in line for line in seen.console)
    assert "http://127.0.0.1:9/x.png" in seen.asked


def test_filters_leave_the_cases_that_fit(report: Path, made_up_run: SyntheticRun) -> None:
    model = made_up_run.models[0]["key"]
    outcome: dict[str, Any] = visit(
        report,
        LEAF
        + f"""
        const whole = count();
        choose("state", "cw");
        const state = count();
        choose("state", "");
        choose("model", {model!r});
        const one = [count(), heading()];
        choose("state", "cw");
        const both = [count(), heading(), location.hash];
        choose("corruption", "fog");
        const three = heading();
        choose("corruption", ""); choose("state", ""); choose("model", "");
        choose("order", "low");
        const lowest = heading();
        choose("order", "high");
        return {{ whole, state, one, both, three, lowest, highest: heading(), end: count() }};
        """,
    ).outcome
    assert outcome["whole"] == outcome["end"]
    for filtered in (outcome["state"], outcome["one"][0]):
        assert 0 < outcome["both"][0] <= filtered < outcome["whole"]
    assert outcome["one"][1].startswith(f"{model}, ")
    assert ", cw at severity" in outcome["both"][1]
    assert outcome["both"][2] == f"#cases?model={model}&state=cw"
    assert outcome["three"] == "" or ", fog, cw" in outcome["three"]
    lowest, highest = (
        float(outcome[name].rpartition("RAS ")[2].replace("−", "-"))
        for name in ("lowest", "highest")
    )
    assert lowest < highest


def test_arrow_keys_leaf_through_the_cases(report: Path) -> None:
    outcome = visit(
        report,
        LEAF
        + """
        const places = [];
        for (const key of ["ArrowLeft", "ArrowRight", "ArrowRight", "ArrowLeft"]) {
          press(key);
          places.push(Number(find("#case-place").textContent.split(" of ")[0]));
        }
        const pictures = document.querySelectorAll("article.case img").length;
        return { places, pictures, bars: document.querySelectorAll("article.case .bars i").length };
        """,
    ).outcome
    assert outcome["places"] == [1, 2, 3, 2]
    assert outcome["pictures"] == 6
    assert outcome["bars"] >= 12


def test_an_address_and_a_cell_lead_to_their_cases(report: Path, made_up_run: SyntheticRun) -> None:
    model = made_up_run.models[-1]["key"]
    outcome = visit(
        report,
        LEAF
        + """
        const opened = heading();
        const cell = find("#figure-heat .chart svg .mark-rect path");
        cell.dispatchEvent(new MouseEvent("click", { bubbles: true }));
        await wait(() => location.hash.includes("corruption"));
        await new Promise((go) => setTimeout(go, 100));
        return { opened, hash: location.hash, chosen: form.elements.corruption.value };
        """,
        fragment=f"cases?model={model}",
    ).outcome
    assert outcome["opened"].startswith(f"{model}, ")
    assert f"corruption={outcome['chosen']}" in outcome["hash"]
    assert outcome["chosen"]


def test_side_files_are_loaded_when_asked_for(report: Path) -> None:
    load = (
        LEAF
        + """
        const before = count();
        find("button[name=more]").click();
        await wait(() => find("button[name=more]").hidden || /copy the folder/.test(
          find("#case-left").textContent));
        return { before, after: count(), said: find("#case-left").textContent };
        """
    )
    held = visit(report, load)
    assert held.outcome["after"] > held.outcome["before"]
    assert held.asked == []
    alone = report.parent / "alone"
    alone.mkdir()
    (alone / "index.html").write_bytes(report.read_bytes())
    missing = visit(alone / "index.html", load).outcome
    assert missing["after"] == missing["before"]
    assert "copy the folder" in missing["said"]


def test_nothing_scrolls_sideways_but_tables(report: Path) -> None:
    outcome = visit(
        report,
        """
        document.querySelectorAll("details").forEach((part) => part.open = true);
        return { window: innerWidth, page: document.documentElement.scrollWidth };
        """,
        width=390,
    ).outcome
    assert outcome["page"] <= outcome["window"] <= 500
