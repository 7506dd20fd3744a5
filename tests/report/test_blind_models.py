"""A model that does not look at the pictures is named at the head of the page and gets no title."""

import polars as pl
import pytest
from synthetic import synthetic_run, write_run

from benchc.diagnose.database import build
from benchc.diagnose.query import query
from benchc.report.page import build_report


def blind(run, keys, verdict):
    """Give some models answers that no picture changes, and a record that says so."""
    for key in keys:
        clean = run.predictions[key].filter(pl.col("corruption") == "clean")
        told = [name for name in clean.columns if name not in ("corruption", "severity")]
        places = run.predictions[key].select("sample_id", "corruption", "severity")
        run.predictions[key] = places.join(clean.select(told), on="sample_id").select(clean.columns)
    for model in run.models:
        looks = verdict if model["key"] in keys else "looks"
        record = {"looks": {"pairs": 9, "moved": 0, "verdict": looks}}
        model["record"] = {"settings": dict(model["settings"]), **record}
    return run


@pytest.fixture(scope="module", params=["does not look", "hardly looks"])
def built(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("blind")
    run = blind(synthetic_run(36, ("seeing", "weak", "deaf"), seed=3), ["deaf"], request.param)
    build(write_run(run, folder), folder / "b.duckdb")
    page = build_report(folder / "b.duckdb", folder / "images.parquet", 0).page
    return folder / "b.duckdb", page, request.param


def test_it_has_the_best_ras_and_stands_last(built):
    path, _, verdict = built
    rows = query(path, "SELECT model, ras, looks FROM leaderboard WHERE scope = 'selection'").rows()
    assert max(rows, key=lambda row: row[1])[0] == "deaf"
    assert rows[-1] == ("deaf", 0.0, verdict)
    states = dict(query(path, "SELECT model, looks FROM model_status").rows())
    assert states == {"seeing": "looks", "weak": "looks", "deaf": verdict}


def test_the_head_of_the_page_names_it_and_no_sentence_praises_it(built):
    _, page, verdict = built
    text = " ".join(page.split())
    head, _, rest = text.partition('<p class="lead">')
    assert f"<strong>deaf {verdict} at the pictures:</strong>" in head
    lead = rest.partition("</p>")[0]
    assert "deaf" not in lead
    trust = rest.partition('<ul class="trust">')[2].partition("</ul>")[0]
    assert trust
    assert "deaf" not in trust
    praised = [row for row in page.split("<tr>") if "(most often right)" in row]
    assert praised
    assert not [row for row in praised if '<th scope="row">deaf' in row]


def test_no_finding_about_all_models_leans_on_it(built):
    path, _, _ = built
    said = query(path, "SELECT about FROM verdicts WHERE model IS NULL")["about"]
    assert said.len() > 0
    assert "deaf" not in "".join(said)
    others = query(
        path,
        "SELECT max(difference) AS d FROM simultaneous_differences WHERE scope = 'selection' "
        "AND measure = 'ras' AND model = 'seeing' AND other = 'weak'",
    )["d"].item()
    value = query(
        path,
        "SELECT value FROM verdicts WHERE scope = 'selection' "
        "AND finding = 'clean_accuracy_is_no_guarantee' AND starts_with(contrast, 'RAS')",
    )["value"].item()
    assert abs(value) == pytest.approx(abs(others))


def test_where_no_model_looks_none_is_ranked(tmp_path):
    run = blind(synthetic_run(12, ("a", "b"), ("fog",), (1, 5)), ["a", "b"], "does not look")
    build(write_run(run, tmp_path), tmp_path / "b.duckdb")
    page = build_report(tmp_path / "b.duckdb", tmp_path / "images.parquet", 0).page
    assert "No model that was asked looks at the pictures" in page
    assert "★" not in page.partition("<main")[2].partition('id="leaderboard"')[0].replace(
        "★ is right most often", ""
    )
