"""Selection against a brute-force oracle that shares no code with it."""

import re
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import CORRUPTIONS, synthetic_run
from typer.testing import CliRunner

from benchc import tables
from benchc.errors import BadInput
from benchc.select import Pool, Rule, cross_fit, select
from benchc.select.command import _why_empty, app
from benchc.select.diversity import cosine_quantiles
from benchc.select.impurity import largest, trajectories


def embed(ids, image, text):
    def unit(rows):
        rows = np.asarray(rows, dtype=float)
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).tolist()

    n = len(ids)
    return tables.EMBEDDINGS.conform(
        pl.DataFrame(
            {
                "sample_id": ids,
                "image": unit(image),
                "text": unit(text),
                "text_tokens": [7] * n,
                "text_truncated": [False] * n,
            }
        )
    )


def oracle_impurity(frames, severities):
    top1 = {}
    for frame in frames:
        for row in frame.iter_rows(named=True):
            top1[row["model"], row["sample_id"], row["corruption"], row["severity"]] = row["top1"]
    values: dict[str, list[Fraction]] = {key[1]: [] for key in top1}
    walks = {k[:3] for k in top1 if k[2] not in ("clean", "blank") and k[3] in severities}
    for model, sample, corruption in walks:
        path = [top1.get((model, sample, "clean", 0))]
        path += [top1.get((model, sample, corruption, s)) for s in severities]
        if None not in path:
            shares = [Fraction(path.count(k), len(path)) for k in set(path)]
            values[sample].append(1 - sum(share**2 for share in shares))
    return values


def oracle_walk(order, mean, vectors, limits, room):
    """Walk as a person would: `room` says how many more of a sample's kind may be kept."""

    def cosine(a, b):
        return sum(x * y for x, y in zip(a, b, strict=True)) + 1e-9

    reasons, accepted = {}, []
    for sample in sorted(order, key=lambda s: (-mean[s], s)):
        if not room(sample, accepted):
            reasons[sample] = "full"
            continue
        near = [
            other
            for other in accepted
            if all(cosine(vectors[sample][i], vectors[other][i]) >= limits[i] for i in (0, 1))
        ]
        reasons[sample] = f"near_duplicate_of:{near[0]}" if near else "accepted"
        if not near:
            accepted.append(sample)
    return reasons, accepted


def oracle_select(samples, frames, embeddings, above, limits, cap, severities, kind, stratify):
    values = oracle_impurity(frames, severities)
    options = dict(zip(samples["sample_id"], map(len, samples["options"]), strict=True))
    mean = {s: sum(v) / len(v) if v else None for s, v in values.items()}
    if kind == "normalised":
        m = len(severities) + 1
        most = {k: max(oracle_spreads(k, m)) for k in set(options.values())}
        mean = {s: None if v is None else v / most[options[s]] for s, v in mean.items()}
    mean = {s: None if mean.get(s) is None else float(mean[s]) for s in samples["sample_id"]}
    vectors = {r["sample_id"]: (r["image"], r["text"]) for r in embeddings.iter_rows(named=True)}
    known = [s for s in mean if mean[s] is not None]
    no_cap = len(mean) if cap is None else cap
    candidates, refused, full = [s for s in known if mean[s] > above], "impurity_not_above", "cap"
    walked = oracle_walk(candidates, mean, vectors, limits, lambda _, kept: len(kept) < no_cap)
    if stratify:
        home = dict(zip(samples["sample_id"], samples["benchmark"], strict=True))
        homes = list(home.values())
        exact = {b: Fraction(len(walked[1]) * homes.count(b), len(homes)) for b in set(homes)}
        quota = {b: int(share) for b, share in exact.items()}
        for b in sorted(exact, key=lambda b: (quota[b] - exact[b], b)):
            quota[b] += sum(quota.values()) < len(walked[1])
        candidates, refused, full = [s for s in known if mean[s] > 0], "impurity_zero", "quota"
        walked = oracle_walk(
            candidates,
            mean,
            vectors,
            limits,
            lambda s, kept: sum(home[k] == home[s] for k in kept) < quota[home[s]],
        )
    reasons = {s: full if r == "full" else r for s, r in walked[0].items()}
    for sample in mean:
        if mean[sample] is None:
            reasons[sample] = "incomplete"
        elif sample not in reasons:
            reasons[sample] = refused
    examined = [s for s in candidates if reasons[s] not in ("cap", "quota")]
    return reasons, sorted(examined, key=lambda s: (-mean[s], s))


def oracle_spreads(options, points):
    """All impurities of `points` answers among `options`, by counting every way to answer."""
    for answers in combinations_with_replacement(range(options), points):
        yield 1 - sum(Fraction(answers.count(k), points) ** 2 for k in set(answers))


def choose(run, frames, vectors, severities=(1, 2, 3, 4, 5), seed=0, **rule):
    """Choose as the source does, but for what a test says."""
    plain = {"impurity": "raw", "impurity_above": 0.1, "stratify": None}
    return select(
        Pool.of(run.samples, vectors), frames, Rule(**plain | rule), severities, seed
    ).samples


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 14),
    severities=st.sampled_from([(1, 2, 3, 4, 5), (3,), (1, 5)]),
    failing=st.sampled_from([0.0, 0.1, 0.6]),
    above=st.sampled_from([0.0, 0.1, 0.3, 0.9]),
    limit=st.sampled_from([0.5, 0.95, 1.0]),
    cap=st.sampled_from([None, 1, 3]),
    kind=st.sampled_from(["raw", "normalised"]),
    stratify=st.sampled_from([None, "benchmark"]),
)
def test_selection_equals_the_oracle(
    seed, n, severities, failing, above, limit, cap, kind, stratify
):
    run = synthetic_run(n, ("a", "b"), ("fog", "snow"), severities, seed, failing={"a": failing})
    frames = [run.predictions["a"], run.predictions["b"]]
    frames[1] = frames[1].filter(pl.int_range(pl.len()) % 7 != seed % 7)
    rng = np.random.default_rng(seed)
    ids = run.samples["sample_id"].to_list()
    vectors = embed(
        ids,
        np.add(rng.integers(0, 3, (n, 3)), (0, 0, 1)),
        np.add(rng.integers(0, 2, (n, 2)), (1, 0)),
    )
    limits = {"image_cosine_limit": limit, "text_cosine_limit": limit}
    rule = Rule(impurity=kind, impurity_above=above, stratify=stratify, cap=cap, **limits)
    whole = select(Pool.of(run.samples, vectors), frames, rule, severities, seed)
    found = whole.samples
    reasons, order = oracle_select(
        run.samples, frames, vectors, above, (limit, limit), cap, severities, kind, stratify
    )
    assert dict(zip(found["sample_id"], found["reason"], strict=True)) == reasons
    walked = found.filter(pl.col("rank").is_not_null()).sort("rank")
    assert walked["sample_id"].to_list() == order
    assert walked["rank"].to_list() == list(range(1, walked.height + 1))
    assert found["kept"].sum() == found["control"].sum()
    assert (found.filter("control")["trajectories"] > 0).all()
    means = oracle_impurity(frames, severities)
    for row in found.iter_rows(named=True):
        mine = means.get(row["sample_id"], [])
        assert row["trajectories"] == len(mine)
        assert row["impurity"] == (float(sum(mine) / len(mine)) if mine else None)
    assert whole.quotas["kept"].sum() == (found["kept"].sum() if stratify else 0)
    assert (whole.quotas["kept"] <= whole.quotas["quota"]).all()


@pytest.mark.parametrize("options", range(2, 8))
@pytest.mark.parametrize("points", range(2, 8))
def test_the_largest_impurity_is_that_of_the_best_spread_answers(options, points):
    assert largest(options, points) == pytest.approx(float(max(oracle_spreads(options, points))))


def test_the_largest_impurities_at_six_points():
    assert [round(largest(k, 6), 4) for k in (2, 3, 4, 5, 6, 26)] == [
        0.5, 0.6667, 0.7222, 0.7778, 0.8333, 0.8333
    ]  # fmt: skip


def test_a_quota_that_cannot_be_filled_stays_open_and_is_named():
    """Benchmark b never moves: none of its samples is taken, and nobody else gets its places."""
    run = synthetic_run(40, ("m",))
    homes = ["a" if i % 2 else "b" for i in range(40)]
    samples = run.samples.with_columns(benchmark=pl.Series(homes))
    still = samples.filter(pl.col("benchmark") == "b")["sample_id"].to_list()
    moving = pl.when(pl.col("sample_id").is_in(still)).then(0).otherwise(pl.col("severity") % 2)
    frame = run.predictions["m"].with_columns(top1=moving.cast(pl.Int64))
    vectors = embed(samples["sample_id"].to_list(), *np.eye(40)[None].repeat(2, 0))
    found = select(Pool.of(samples, vectors), [frame], Rule())
    assert found.quotas.sort("benchmark").rows() == [("a", 20, 20, 10, 10), ("b", 20, 0, 10, 0)]
    assert set(found.samples.filter("kept")["sample_id"]).isdisjoint(still)
    reasons = dict(found.samples["reason"].value_counts().iter_rows())
    assert reasons == {"accepted": 10, "quota": 10, "impurity_zero": 20}


def test_the_cross_fit_never_asks_the_model_that_is_left_out():
    """Samples chosen without a model, or by the other half, do not change with its answers."""
    run = synthetic_run(30, ("a", "b", "c"), CORRUPTIONS)
    groups = {"one": CORRUPTIONS[:2], "two": CORRUPTIONS[2:]}
    vectors = embed(
        run.samples["sample_id"].to_list(), *np.random.default_rng(0).normal(size=(2, 30, 4))
    )
    pool, frames = Pool.of(run.samples, vectors), [run.predictions[k] for k in "abc"]
    halves, chosen = cross_fit(pool, frames, groups, seed=3)
    assert chosen.height
    for without in "abc":
        upset = [
            f.with_columns(top1=pl.col("severity") % 2) if k == without else f
            for k, f in zip("abc", frames, strict=True)
        ]
        mine = (pl.col("model") == without) | (pl.col("other") == without)
        assert cross_fit(pool, upset, groups, seed=3)[1].filter(mine).equals(chosen.filter(mine))
    for split in halves["split"].unique():
        scores = halves.filter((pl.col("split") == split) & ~pl.col("chooses"))["corruption"]
        upset = [
            f.with_columns(
                top1=pl.when(pl.col("corruption").is_in(scores.implode()))
                .then(pl.col("severity") % 2)
                .otherwise("top1")
            )
            for f in frames
        ]
        here = pl.col("split") == split
        assert cross_fit(pool, upset, groups, seed=3)[1].filter(here).equals(chosen.filter(here))


def test_the_halves_split_every_group():
    run = synthetic_run(6, ("a", "b"), CORRUPTIONS)
    vectors = embed(run.samples["sample_id"].to_list(), np.ones((6, 2)), np.ones((6, 2)))
    groups = {"one": CORRUPTIONS[:2], "two": CORRUPTIONS[2:]}
    frames = list(run.predictions.values())
    halves, _ = cross_fit(Pool.of(run.samples, vectors), frames, groups)
    for members in groups.values():
        parts = halves.filter(pl.col("corruption").is_in(members)).group_by("split")
        for (_,), part in parts:
            assert abs(2 * part["chooses"].sum() - part.height) <= 1
    sizes = halves.group_by("split").agg(pl.col("chooses").sum())["chooses"]
    assert (abs(2 * sizes.cast(pl.Int64) - len(CORRUPTIONS)) <= 1).all()
    assert halves.group_by("split", maintain_order=True).agg("chooses")["chooses"].n_unique() > 1


def test_without_another_selector_there_is_no_cross_fit():
    run = synthetic_run(6, ("a",))
    vectors = embed(run.samples["sample_id"].to_list(), np.ones((6, 2)), np.ones((6, 2)))
    _, chosen = cross_fit(
        Pool.of(run.samples, vectors), [run.predictions["a"]], {"all": CORRUPTIONS}
    )
    assert chosen.is_empty()


def test_order_of_files_and_rows_changes_nothing():
    run = synthetic_run(30)
    frames = [run.predictions["alpha"], run.predictions["beta"]]
    vectors = embed(
        run.samples["sample_id"].to_list(), *np.random.default_rng(0).normal(size=(2, 30, 4))
    )
    once = choose(run, frames, vectors)
    shuffled = [frame.sample(fraction=1, shuffle=True, seed=3) for frame in reversed(frames)]
    pool = Pool.of(run.samples.reverse(), vectors.reverse())
    again = select(pool, shuffled, Rule("raw", 0.1, stratify=None)).samples
    assert once.equals(again)


def test_blocks_of_the_walk_join_up():
    """More samples than one block, all pictures and texts near: only the first is kept."""
    run = synthetic_run(700, ("a", "b"), CORRUPTIONS[:2], (1, 5))
    vectors = embed(run.samples["sample_id"].to_list(), np.ones((700, 8)), np.ones((700, 8)))
    found = choose(run, [run.predictions["a"]], vectors, severities=(1, 5))
    assert found["kept"].sum() == 1
    first = found.filter("kept")["sample_id"].item()
    near = found.filter(pl.col("rank") > 1)
    assert near.height > 256
    assert near["reason"].unique().to_list() == [f"near_duplicate_of:{first}"]


def test_equal_vectors_are_near_at_a_limit_of_one():
    """The rounding of a sum of products must not tell a sample from its copy."""
    run = synthetic_run(60)
    rows = np.repeat(np.random.default_rng(0).normal(size=(2, 30, 384)), 2, axis=1)
    vectors = embed(run.samples["sample_id"].to_list(), *rows)
    frame = run.predictions["alpha"].with_columns(top1=pl.col("severity") % 2)
    found = choose(run, [frame], vectors, image_cosine_limit=1.0, text_cosine_limit=1.0)
    assert found["kept"].sum() == 30


def test_control_depends_on_the_seed_alone():
    run = synthetic_run(60)
    vectors = embed(
        run.samples["sample_id"].to_list(), *np.random.default_rng(0).normal(size=(2, 60, 4))
    )
    one, same, other = (
        choose(run, [run.predictions["alpha"]], vectors, cap=20, seed=seed) for seed in (1, 1, 2)
    )
    assert one.equals(same)
    assert one["control"].sum() == one["kept"].sum() == 20
    assert not one["control"].equals(other["control"])


def test_input_that_does_not_fit_is_refused():
    run = synthetic_run(6)
    frame = run.predictions["alpha"]
    vectors = embed(run.samples["sample_id"].to_list(), np.ones((6, 2)), np.ones((6, 2)))
    with pytest.raises(BadInput, match="occurs twice"):
        trajectories([frame, frame], (1, 2, 3, 4, 5))
    with pytest.raises(BadInput, match="no sample of the pool"):
        select(Pool.of(run.samples[1:], vectors), [frame])
    with pytest.raises(BadInput, match="has none"):
        Pool.of(run.samples, vectors[1:])
    with pytest.raises(BadInput, match="unit vector"):
        Pool.of(run.samples, vectors.with_columns(pl.col("text") * 2))


def test_a_place_that_nobody_can_take_is_said():
    """One sample moves, and the only place falls to the benchmark with more samples."""
    found = pl.DataFrame({"normalised_impurity": [0.9, 0.0, 0.0]})
    assert "`select.stratify`" in _why_empty(found, Rule())


@pytest.mark.parametrize(
    ("failing", "says"),
    [(0.0, r"no sample has an impurity above 0\.99 \(largest: 0\.\d{4}\)"), (1.0, "status")],
)
def test_an_empty_benchmark_is_refused_with_its_reason(tmp_path, failing, says):
    run = synthetic_run(6, ("a",), failing={"a": failing})
    vectors = embed(run.samples["sample_id"].to_list(), np.ones((6, 2)), np.ones((6, 2)))
    tables.SAMPLES.write(run.samples, tmp_path / "samples.parquet")
    tables.PREDICTIONS.write(run.predictions["a"], tmp_path / "predictions.parquet")
    tables.EMBEDDINGS.write(vectors, tmp_path / "embeddings.parquet")
    given = [f"--{name}={tmp_path / name}.parquet" for name in ("samples", "predictions")]
    given += [f"--embeddings={tmp_path}/embeddings.parquet", f"--out={tmp_path}/out.parquet"]
    given += [f"--{name}={tmp_path}/{name}.parquet" for name in ("quotas", "halves", "cross-fit")]
    outcome = CliRunner().invoke(app, ["build", *given, "--impurity-above", "0.99"])
    assert isinstance(outcome.exception, BadInput)
    assert re.search(says, str(outcome.exception))
    assert not (tmp_path / "out.parquet").exists()


def test_quantiles_of_pairs():
    image = np.eye(3)[[0, 0, 1]]
    text = np.eye(3)[[0, 1, 1]]
    found = cosine_quantiles(image, text, (0.0, 0.5, 1.0))
    assert found["image"].tolist() == found["text"].tolist() == [0, 0, 1]
    assert found["both"].tolist() == [0, 0, 0]
