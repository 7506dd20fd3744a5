"""The database as a whole: content against the oracle, comments, moves, rebuilds, refusals."""

import json
import math
import os
import shutil
import subprocess
import sys
from dataclasses import replace

import oracle
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import synthetic_run, write_run

from benchc import tables
from benchc.diagnose import database, schema
from benchc.diagnose.database import build
from benchc.diagnose.query import query
from benchc.diagnose.scoped import SCOPES, scoped, stackings
from benchc.diagnose.shifts import diagnose
from benchc.errors import BadInput

ATTRIBUTIONS = {
    "source_attribution": "clean_state",
    "state_attribution": "state",
    "trajectory_attribution": "class",
}
CROSSED = "scope, model, crossing, benchmark, category, corruption_group, corruption, severity"


def facts(run):
    """One dictionary a pair, by the oracle: what the database has to say about it."""
    answers = dict(run.samples.select("sample_id", "answer").iter_rows())
    p = {}
    for frame in run.predictions.values():
        for row in frame.iter_rows(named=True):
            p[row["model"], row["sample_id"], row["corruption"], row["severity"]] = row["p"]
    pairs, paths = [], {}
    for key in sorted(k for k in p if k[3] > 0):
        model, sample, _, severity = key
        clean, corrupted = p[model, sample, "clean", 0], p[key]
        answer = answers[sample]
        ds, dc, ras, state = oracle.shift(clean, corrupted, answer)
        right = [None if x is None else oracle.is_correct(x, answer) for x in (clean, corrupted)]
        paths.setdefault(key[:3], (right[0], {}))[1][severity] = right[1]
        pairs.append({"key": key, "ds": ds, "dc": dc, "ras": ras, "state": state, "right": right})
    for pair in pairs:
        pair["class"], pair["onset"] = oracle.trajectory(*paths[pair["key"][:3]])
    return pairs


def shows(pair, phenomenon, tau):
    dc, ds = pair["dc"], pair["ds"]
    return {
        "silent_degradation": pair["state"] == "cc" and pair["ras"] < -tau,
        "overconfident_degradation": dc > tau and ds < -tau,
        "hesitant_support": dc < -tau and ds > tau,
        "lucky_guess": pair["state"] == "wc" and pair["class"] == "transient_gain",
        "unstable_gain": pair["state"] == "wc" and pair["ras"] < -tau,
    }[phenomenon]


def near(value):
    return None if value is None else pytest.approx(value, abs=1e-9)


@settings(max_examples=8)
@given(seed=st.integers(0, 1000), severities=st.sampled_from([(1, 2, 3, 4, 5), (2,), (1, 4)]))
def test_tables_equal_the_oracle(tmp_path_factory, seed, severities):
    folder = tmp_path_factory.mktemp("world")
    run = synthetic_run(7, ("1e5", "007"), ("fog", "snow"), severities, seed, failing={"007": 0.15})
    build(replace(write_run(run, folder), draws=2), folder / "b.duckdb")

    def ask(sql):
        return query(folder / "b.duckdb", sql).rows(named=True)

    wanted = facts(run)
    key = ["model", "sample_id", "corruption", "severity"]
    found = ask("FROM shifts ORDER BY model, sample_id, corruption, severity")
    assert [tuple(row[k] for k in key) for row in found] == [pair["key"] for pair in wanted]
    for row, pair in zip(found, wanted, strict=True):
        assert row["uncertainty_shift"] == near(pair["ds"])
        assert row["misalignment_shift"] == near(pair["dc"])
        assert row["ras"] == near(pair["ras"])
        assert row["state"] == pair["state"]
        assert [row["clean_correct"], row["correct"]] == pair["right"]
    walks = {
        (r["model"], r["sample_id"], r["corruption"]): (r["class"], r["onset"])
        for r in ask("FROM trajectories")
    }
    assert walks == {pair["key"][:3]: (pair["class"], pair["onset"]) for pair in wanted}

    kept = set(run.selection.filter("kept")["sample_id"])
    for line in ask("FROM leaderboard WHERE scope = 'selection'"):
        mine = [x for x in wanted if x["key"][0] == line["model"] and x["key"][1] in kept]
        known = [x for x in mine if x["ras"] is not None]
        assert (line["n_pairs"], line["n_missing"]) == (len(known), len(mine) - len(known))
        if not known:
            continue
        mean = math.fsum(x["ras"] for x in known) / len(known)
        assert line["ras"] == near(mean)
        assert line["destructive"] + line["corrective"] == near(mean)
        assert line["clean_accuracy"] == near(sum(x["right"][0] for x in known) / len(known))
        assert line["corrupted_accuracy"] == near(sum(x["right"][1] for x in known) / len(known))
        for table, column in ATTRIBUTIONS.items():
            rows = ask(
                f"FROM {table} WHERE scope = 'selection' AND crossing = 'all' "
                f"AND model = '{line['model']}'"
            )
            for row in rows:
                label = row[column]
                part = [
                    x["ras"]
                    for x in known
                    if label in (x["state"], x["class"], (x["state"] or "?")[0])
                ]
                assert row["share"] == near(len(part) / len(known))
                assert row["contribution"] == near(math.fsum(part) / len(known))
                assert row["mean_ras"] == near(math.fsum(part) / len(part) if part else None)
        for row in ask(
            "FROM phenomena WHERE scope = 'selection' AND crossing = 'all' "
            f"AND model = '{line['model']}'"
        ):
            shown = [x for x in known if shows(x, row["phenomenon"], row["tau"])]
            assert row["n_pairs"] == len(shown)


@pytest.mark.parametrize("table", ATTRIBUTIONS)
def test_contributions_add_up_in_every_crossing(synthetic_database, table):
    sums = query(
        synthetic_database,
        f"SELECT {CROSSED}, sum(share) AS share, sum(contribution) AS ras "
        f"FROM {table} GROUP BY ALL",
    )
    means = query(
        synthetic_database,
        """SELECT   scope, model, corruption, severity, avg(ras) AS ras
           FROM     pairs WHERE ras IS NOT NULL
           GROUP BY scope, model, GROUPING SETS ((), (severity), (corruption, severity))""",
    )
    assert sums.filter((pl.col("share") - 1).abs() > 1e-9).height == 0
    some = sums.filter(pl.col("crossing").is_in(["all", "severity", "corruption_by_severity"]))
    both = some.join(
        means, on=["scope", "model", "corruption", "severity"], nulls_equal=True, how="left"
    )
    assert both.height == means.height
    assert both["ras_right"].null_count() == 0
    assert (both["ras"] - both["ras_right"]).abs().max() < 1e-9


def test_models_keep_their_names_and_scopes(synthetic_database):
    found = query(synthetic_database, "SELECT DISTINCT model FROM shifts ORDER BY model")
    assert found["model"].to_list() == ["007", "1e5", "inf"]
    scopes = query(synthetic_database, "SELECT scope, model FROM leaderboard ORDER BY ALL").rows()
    assert scopes == [
        *(("control", m) for m in ("007", "1e5", "inf")),
        *(("pool", m) for m in ("007", "1e5")),
        *(("selection", m) for m in ("007", "1e5", "inf")),
    ]


def test_blank_is_a_prediction_and_no_shift(synthetic_database):
    count = "SELECT count(*) AS n FROM {} WHERE corruption = 'blank' OR severity = 0"
    assert query(synthetic_database, count.format("predictions"))["n"].item() > 0
    assert query(synthetic_database, count.format("shifts"))["n"].item() == 0


def test_every_row_has_a_key_of_its_own(synthetic_database):
    for table in (*schema.GIVEN, *schema.DERIVED, *schema.VIEWS):
        keys = query(synthetic_database, f"FROM {table.name}").select(table.key)
        assert not keys.is_duplicated().any(), table.name


def test_no_nan_is_stored(synthetic_database):
    for table in (*schema.GIVEN, *schema.DERIVED, schema.PAIRS):
        for column in table.columns:
            if column.dtype == tables.REAL:
                sql = f'SELECT count(*) AS n FROM {table.name} WHERE isnan("{column.name}")'
                assert query(synthetic_database, sql)["n"].item() == 0


def test_everything_is_commented(synthetic_database):
    for kind, name in (("tables", "table_name"), ("views", "view_name")):
        bare = f"SELECT {name} FROM duckdb_{kind}() WHERE NOT internal AND comment IS NULL"
        assert query(synthetic_database, bare).height == 0
    bare = """SELECT table_name, column_name FROM duckdb_columns()
              WHERE  NOT internal AND comment IS NULL"""
    assert query(synthetic_database, bare).height == 0
    bare = """SELECT function_name FROM duckdb_functions()
              WHERE  NOT internal AND function_type = 'macro' AND comment IS NULL"""
    assert query(synthetic_database, bare).height == 0


def test_the_database_can_be_moved(synthetic_database, tmp_path, monkeypatch):
    moved = tmp_path / "far" / "renamed.duckdb"
    moved.parent.mkdir()
    shutil.copy(synthetic_database, moved)
    monkeypatch.chdir(tmp_path)
    found = query("far/renamed.duckdb", "SELECT count(ras) AS n FROM pairs")["n"].item()
    again = """SELECT sum(normalized_entropy(p)), (SELECT sum(uncertainty) FROM scores)
               FROM   predictions"""
    assert found > 0
    row = query("far/renamed.duckdb", again).row(0)
    assert row[0] == pytest.approx(row[1])


def test_the_storage_format_is_as_old_as_promised(synthetic_database):
    """DuckDB 1.2 reads storage version 64 and 65; the number stands behind the magic bytes."""
    head = synthetic_database.read_bytes()[:20]
    assert head[8:12] == b"DUCK"
    assert int.from_bytes(head[12:20], "little") <= 65


@pytest.fixture
def oldest_client(pytestconfig, tmp_path):
    """A folder with the oldest DuckDB that the documentation promises; fetched once."""
    held = pytestconfig.cache.mkdir("duckdb") / "1.2.0"
    if not held.exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary"]
        command += [":all:", "--target", str(tmp_path / "duckdb"), "duckdb==1.2.0"]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=120)
        except (subprocess.SubprocessError, OSError) as error:
            pytest.skip(f"DuckDB 1.2.0 cannot be fetched: {error}")
        shutil.move(tmp_path / "duckdb", held)
    return held


OLD_CLIENT = """
import json, sys, duckdb
connection = duckdb.connect(sys.argv[1], read_only=True)
def ask(sql):
    return connection.sql(sql).fetchall()
names = ask("SELECT schema_name, table_name FROM duckdb_tables()")
names += ask("SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal")
json.dump({
    "version": duckdb.__version__,
    "rows": {f"{s}.{name}": len(ask(f"FROM {s}.{name}")) for s, name in names},
    "macros": ask("SELECT ras(0.1, -0.2), sum(normalized_entropy(p)) FROM predictions")[0],
}, sys.stdout)
"""


def test_a_client_as_old_as_promised_reads_it_all(synthetic_database, oldest_client):
    said = subprocess.run(
        [sys.executable, "-c", OLD_CLIENT, str(synthetic_database)],
        env={**os.environ, "PYTHONPATH": str(oldest_client)},
        check=True,
        capture_output=True,
    ).stdout
    found = json.loads(said)
    assert found["version"] == "1.2.0"
    held = [f"main.{table.name}" for table in (*schema.GIVEN, *schema.DERIVED, *schema.VIEWS)]
    held += [f"{scope}.{scoped(*stacking).name}" for scope in SCOPES for stacking in stackings()]
    assert found["rows"] == {
        name: query(synthetic_database, f"FROM {name}").height for name in held
    }
    uncertainty = "SELECT sum(uncertainty) AS s FROM scores"
    expected = [-0.12, query(synthetic_database, uncertainty)["s"].item()]
    assert found["macros"] == pytest.approx(expected)


def test_a_table_larger_than_a_slice_is_read_whole(tmp_path, monkeypatch):
    run = synthetic_run(8, ("a", "b"), ("fog",), (1, 5))
    monkeypatch.setattr(database, "_ROWS_AT_ONCE", 10)
    build(replace(write_run(run, tmp_path), draws=2), tmp_path / "b.duckdb")
    given = pl.concat(run.predictions[model] for model in ("a", "b"))
    assert given.height > 40
    assert query(tmp_path / "b.duckdb", "FROM predictions").equals(given)


def test_same_tables_give_the_same_content(made_up_run, tmp_path):
    sources = replace(write_run(made_up_run, tmp_path), draws=10, columns=["camera"])
    build(sources, tmp_path / "one.duckdb")
    backwards = replace(
        sources,
        predictions=sources.predictions[::-1],
        scores=sources.scores[::-1],
        shifts=sources.shifts[::-1],
        models=sources.models[::-1],
    )
    build(backwards, tmp_path / "two.duckdb")
    for table in (*schema.GIVEN, *schema.DERIVED):
        one, two = (query(tmp_path / f"{n}.duckdb", f"FROM {table.name}") for n in ("one", "two"))
        assert one.height > 0
        assert one.equals(two), table.name
    assert not list(tmp_path.glob(".*"))


READER = """
import sys, duckdb
connection = duckdb.connect(sys.argv[1], read_only=True)
for _ in range(2):
    print(connection.sql("SELECT value FROM run WHERE name = 'benchc'").fetchall()[0][0])
    print(connection.sql("SELECT count(*) FROM pairs").fetchall()[0][0], flush=True)
    sys.stdin.readline()
"""


def test_a_reader_in_another_process_neither_blocks_a_rebuild_nor_breaks(made_up_run, tmp_path):
    path = tmp_path / "b.duckdb"
    sources = replace(write_run(made_up_run, tmp_path), draws=2)
    build(sources, path)
    with subprocess.Popen(
        [sys.executable, "-c", READER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as reader:
        before = [reader.stdout.readline(), reader.stdout.readline()]
        assert before[0] == "0.1.0\n"
        build(replace(sources, run={"benchc": "0.2.0"}), path)
        after, _ = reader.communicate("\n\n")
    assert after.splitlines() == [line.strip() for line in before]
    assert reader.returncode == 0
    assert query(path, "FROM run").rows() == [("benchc", "0.2.0")]


def broken(frame, change, row=5):
    """`frame` with `change` applied to one row."""
    rows = frame.to_dicts()
    rows[row] |= change
    return pl.DataFrame(rows, schema=frame.schema)


def test_predictions_that_are_not_whole_are_refused(made_up_run):
    good = made_up_run.predictions["1e5"]
    at = good.row(5, named=True)
    tie = [1 / len(at["p"])] * len(at["p"])
    cases = [
        ("rows of 1e5, other; only 1e5", broken(good, {"model": "other"})),
        ("holds no predictions", good.clear()),
        ("stands 2 times", pl.concat([good, good[5:6]])),
        ("do not add to one", broken(good, {"p": [x / 2 for x in at["p"]]})),
        ("probabilities and", broken(good, {"p": [*tie, 0.0]})),
        ("yet the status is ok", broken(good, {"p": None})),
        ("lacks", good[:5].vstack(good[6:])),
        ("lacks clean", good.filter(pl.col("corruption") != "clean")),
        ("no sample of the pool", broken(good, {"sample_id": "zzz/1"})),
        ("rows mix", broken(good, {"temperature": 2.0})),
        ("cannot have severity", broken(good, {"severity": 0})),
        ("cannot have severity", broken(good, {"severity": 7})),
    ]
    for message, frame in cases:
        with pytest.raises(BadInput, match=message) as caught:
            diagnose(frame, made_up_run.samples, made_up_run.selection, name="p.parquet")
        assert str(caught.value).startswith("p.parquet: ")
        assert "\n" not in str(caught.value)
    sample = made_up_run.selection.filter("kept")["sample_id"][0]
    with pytest.raises(BadInput, match="was not asked"):
        diagnose(
            good.filter(pl.col("sample_id") != sample), made_up_run.samples, made_up_run.selection
        )
    with pytest.raises(BadInput, match="holds rows of 1e5"):
        diagnose(good, made_up_run.samples, model="007")


def test_files_that_do_not_belong_together_are_refused(made_up_run, tmp_path):
    sources = write_run(made_up_run, tmp_path)
    path = tmp_path / "b.duckdb"

    def refused(message, **changes):
        with pytest.raises(BadInput, match=message) as caught:
            build(replace(sources, **changes), path)
        assert "\n" not in str(caught.value)
        assert not path.exists()

    refused("no predictions file", predictions=sources.predictions[1:])
    refused("none of the models", models=sources.models[1:])
    refused("and so does", predictions=[*sources.predictions, sources.predictions[0]])
    refused("no known corruption", groups={"blur": ["motion_blur"]})
    torn = tmp_path / "torn.parquet"
    for size in (0, 40):
        torn.write_bytes(sources.samples.read_bytes()[:size])
        refused("torn.parquet", samples=torn)
        refused("torn.parquet", predictions=[*sources.predictions[1:], torn])
    drifted = tmp_path / "drifted.parquet"
    pl.read_parquet(sources.shifts[0]).with_columns(pl.col("ras").cast(pl.Float32)).write_parquet(
        drifted
    )
    refused("drifted.parquet.*ras", shifts=[*sources.shifts[1:], drifted])
    stale = tmp_path / "stale.parquet"
    tables.SHIFTS.write(pl.read_parquet(sources.shifts[0]).with_columns(ras=0.01), stale)
    refused("stale.parquet.*does not follow", shifts=[*sources.shifts[1:], stale])
    other = made_up_run.selection[1:]
    tables.SELECTION.write(other, tmp_path / "other.parquet")
    refused("not the selection of", selection=tmp_path / "other.parquet")
    fewer = tmp_path / "fewer.parquet"
    gone = pl.read_parquet(sources.predictions[0]).filter(pl.col("corruption") != "fog")
    tables.PREDICTIONS.write(gone, fewer)
    refused("unlike other models", predictions=[fewer, *sources.predictions[1:]])
    alone = replace(sources, models=sources.models[:1], shifts=sources.shifts[:1])
    with pytest.raises(BadInput, match="not run under fog severity 1, unlike"):
        build(replace(alone, predictions=[fewer]), path)
