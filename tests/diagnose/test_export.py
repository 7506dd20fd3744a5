"""`benchc diagnose export`: quiet failures as one table, or one line that says why not."""

import json

import polars as pl
import pytest
from typer.testing import CliRunner

from benchc.cli import app
from benchc.diagnose.export import KINDS, export
from benchc.diagnose.query import query
from benchc.errors import BadInput


@pytest.fixture(scope="module")
def exported(synthetic_database, tmp_path_factory):
    out = tmp_path_factory.mktemp("export") / "quiet.parquet"
    export(synthetic_database, out)
    return pl.read_parquet(out)


def test_the_kinds_are_the_protocols(synthetic_database, exported):
    assert set(exported["kind"]) == set(KINDS)
    stated = query(
        synthetic_database,
        "SELECT model, phenomenon AS kind, n_pairs FROM phenomena WHERE scope = 'selection' "
        "AND crossing = 'all' AND tau = 0.01 AND n_pairs > 0",
    ).filter(pl.col("kind").is_in(KINDS))
    found = exported.group_by("model", "kind").len()
    both = stated.join(found, on=["model", "kind"], how="full")
    assert (both["n_pairs"] == both["len"]).all()


def test_a_row_is_enough_to_train_on(exported):
    key = ["model", "kind", "sample_id", "corruption", "severity"]
    assert not exported.select(key).is_duplicated().any()
    for name in ("question", "image_id", "picture_file", "pixels_sha256", "seed"):
        assert exported[name].null_count() == 0
    lengths = exported["options"].list.len()
    for name in ("clean_p", "corrupted_p"):
        assert (exported[name].list.len() == lengths).all()
        assert (exported[name].list.sum() - 1).abs().max() < 1e-9
    right = exported["options"].list.get(exported["answer"])
    assert (right == exported["answer_text"]).all()
    quiet = exported.filter(kind="silent_degradation")
    assert (quiet["corrupted_p"].list.arg_max() == quiet["answer"]).all()
    assert (quiet["ras"] < -0.01).all()
    lucky = exported.filter(kind="lucky_guess")
    assert (lucky["class"] == "transient_gain").all()
    assert (lucky["clean_p"].list.arg_max() != lucky["answer"]).all()


def test_every_format_holds_the_same(synthetic_database, exported, tmp_path):
    for ending in ("csv", "jsonl"):
        export(synthetic_database, tmp_path / f"quiet.{ending}")
    lines = (tmp_path / "quiet.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == exported.to_dicts()
    table = pl.read_csv(tmp_path / "quiet.csv", infer_schema=False)
    for name in ("options", "clean_p", "corrupted_p"):
        assert [json.loads(text) for text in table[name]] == exported[name].to_list()


def test_a_larger_tau_leaves_less_but_for_luck(synthetic_database, exported, tmp_path):
    fewer = export(synthetic_database, tmp_path / "fewer.parquet", tau=0.3)
    for kind in KINDS:
        before, after = (frame.filter(kind=kind).height for frame in (exported, fewer))
        assert after == before if kind == "lucky_guess" else after < before


def test_one_model_one_kind_one_scope(synthetic_database, tmp_path):
    out = tmp_path / "one.jsonl"
    options = ["--scope", "control", "--model", "1e5", "--kinds", "lucky_guess"]
    paths = ["--database", str(synthetic_database), "--out", str(out)]
    result = CliRunner().invoke(app, ["diagnose", "export", *paths, *options])
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert {(r["model"], r["kind"], r["scope"]) for r in rows} == {
        ("1e5", "lucky_guess", "control")
    }
    assert f"{len(rows)} lucky_guess" in result.output


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"models": ["1e55"]}, "--model 1e55: no such model; did you mean '1e5'?"),
        ({"models": ["inf"], "scope": "pool"}, "--model inf: was not run on all of the pool"),
        ({"kinds": ["silent"]}, "--kinds silent: no such kind"),
        ({"scope": "everything"}, "--scope everything: no model was run on it; there is control"),
        ({"tau": 1.0, "kinds": ["overconfident_degradation"]}, "nothing to export"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(synthetic_database, tmp_path, changed, said):
    out = tmp_path / "quiet.parquet"
    out.write_text("of before")
    with pytest.raises(BadInput) as refused:
        export(synthetic_database, out, **changed)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert out.read_text() == "of before"


def test_no_database_no_known_ending_and_another_file(synthetic_database, tmp_path):
    with pytest.raises(BadInput, match="no such database"):
        export(tmp_path / "none.duckdb", tmp_path / "a.csv")
    with pytest.raises(BadInput, match=r"a\.xlsx: ends in none of \.parquet, \.csv, \.jsonl"):
        export(synthetic_database, tmp_path / "a.xlsx")
    (tmp_path / "text.duckdb").write_text("not a database")
    with pytest.raises(BadInput, match=r"text\.duckdb"):
        export(tmp_path / "text.duckdb", tmp_path / "a.csv")
