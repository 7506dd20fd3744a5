"""Selection against a brute-force oracle that shares no code with it."""

import re
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import CORRUPTIONS, synthetic_run
from typer.testing import CliRunner

from benchc import tables
from benchc.errors import BadInput
from benchc.select import impurity, select
from benchc.select.command import app
from benchc.select.diversity import cosine_quantiles


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


def oracle_select(samples, frames, embeddings, above, limits, cap, severities):
    values = oracle_impurity(frames, severities)
    mean = {s: float(sum(v) / len(v)) if v else None for s, v in values.items()}
    vectors = {r["sample_id"]: (r["image"], r["text"]) for r in embeddings.iter_rows(named=True)}

    def cosine(a, b):
        return sum(x * y for x, y in zip(a, b, strict=True)) + 1e-9

    reasons, accepted = {}, []
    for sample in samples["sample_id"]:
        if mean.get(sample) is None:
            reasons[sample] = "incomplete"
        elif not mean[sample] > above:
            reasons[sample] = "impurity_not_above"
    left = sorted(
        (s for s in samples["sample_id"] if s not in reasons), key=lambda s: (-mean[s], s)
    )
    for sample in left:
        if cap is not None and len(accepted) >= cap:
            reasons[sample] = "cap"
            continue
        near = [
            other
            for other in accepted
            if all(cosine(vectors[sample][i], vectors[other][i]) >= limits[i] for i in (0, 1))
        ]
        reasons[sample] = f"near_duplicate_of:{near[0]}" if near else "accepted"
        if not near:
            accepted.append(sample)
    return reasons, left


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 14),
    severities=st.sampled_from([(1, 2, 3, 4, 5), (3,), (1, 5)]),
    failing=st.sampled_from([0.0, 0.1, 0.6]),
    above=st.sampled_from([0.0, 0.1, 0.3, 0.9]),
    limit=st.sampled_from([0.5, 0.95, 1.0]),
    cap=st.sampled_from([None, 1, 3]),
)
def test_selection_equals_the_oracle(seed, n, severities, failing, above, limit, cap):
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
    options = {"impurity_above": above, "cap": cap, "severities": severities, "seed": seed}
    found = select(
        run.samples, frames, vectors, image_cosine_limit=limit, text_cosine_limit=limit, **options
    )
    reasons, order = oracle_select(
        run.samples, frames, vectors, above, (limit, limit), cap, severities
    )
    assert dict(zip(found["sample_id"], found["reason"], strict=True)) == reasons
    walked = found.filter(pl.col("rank").is_not_null()).sort("rank")
    assert walked["sample_id"].to_list() == order[: walked.height]
    assert walked["rank"].to_list() == list(range(1, walked.height + 1))
    assert found["kept"].sum() == found["control"].sum()
    assert (found.filter("control")["trajectories"] > 0).all()
    means = oracle_impurity(frames, severities)
    for row in found.iter_rows(named=True):
        mine = means.get(row["sample_id"], [])
        assert row["trajectories"] == len(mine)
        assert row["impurity"] == (float(sum(mine) / len(mine)) if mine else None)
        assert (row["rank"] is None) == (
            row["reason"] in ("incomplete", "impurity_not_above", "cap")
        )


def test_order_of_files_and_rows_changes_nothing():
    run = synthetic_run(30)
    frames = [run.predictions["alpha"], run.predictions["beta"]]
    vectors = embed(
        run.samples["sample_id"].to_list(), *np.random.default_rng(0).normal(size=(2, 30, 4))
    )
    once = select(run.samples, frames, vectors)
    shuffled = [frame.sample(fraction=1, shuffle=True, seed=3) for frame in reversed(frames)]
    again = select(run.samples.reverse(), shuffled, vectors.reverse())
    assert once.equals(again)


def test_blocks_of_the_walk_join_up():
    """More samples than one block, all pictures and texts near: only the first is kept."""
    run = synthetic_run(700, ("a", "b"), CORRUPTIONS[:2], (1, 5))
    vectors = embed(run.samples["sample_id"].to_list(), np.ones((700, 8)), np.ones((700, 8)))
    found = select(run.samples, [run.predictions["a"]], vectors, severities=(1, 5))
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
    found = select(run.samples, [frame], vectors, image_cosine_limit=1.0, text_cosine_limit=1.0)
    assert found["kept"].sum() == 30


def test_control_depends_on_the_seed_alone():
    run = synthetic_run(60)
    vectors = embed(
        run.samples["sample_id"].to_list(), *np.random.default_rng(0).normal(size=(2, 60, 4))
    )
    one, same, other = (
        select(run.samples, [run.predictions["alpha"]], vectors, cap=20, seed=seed)
        for seed in (1, 1, 2)
    )
    assert one.equals(same)
    assert one["control"].sum() == one["kept"].sum() == 20
    assert not one["control"].equals(other["control"])


def test_input_that_does_not_fit_is_refused():
    run = synthetic_run(6)
    frame = run.predictions["alpha"]
    vectors = embed(run.samples["sample_id"].to_list(), np.ones((6, 2)), np.ones((6, 2)))
    with pytest.raises(BadInput, match="occurs twice"):
        impurity([frame, frame], (1, 2, 3, 4, 5))
    with pytest.raises(BadInput, match="no sample of the pool"):
        select(run.samples[1:], [frame], vectors)
    with pytest.raises(BadInput, match="has none"):
        select(run.samples, [frame], vectors[1:])
    with pytest.raises(BadInput, match="unit vector"):
        select(run.samples, [frame], vectors.with_columns(pl.col("text") * 2))


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
