"""A run asks each question once, keeps what it has, and a faultless model has nothing to lose."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchc.corrupt.stage import render_corruption
from benchc.diagnose.shifts import shifts
from benchc.errors import BadInput
from benchc.infer import run
from benchc.infer.scores import Score
from benchc.infer.settings import Model
from benchc.pixels import encode, pixel_hash
from benchc.tables import CORRUPTED, IMAGES, SAMPLES

SEED = 1
CORRUPTIONS = ("contrast", "gaussian_noise")
SETTINGS = Model(path="stub")


class Stub:
    """Puts a weight on each option; counts what it was asked."""

    def __init__(self, answers: dict[str, int], poison: str | None = None):
        self.answers = answers
        self.poison = poison
        self.asked = 0

    def score(self, questions):
        self.asked += len(questions)
        scores = []
        for question in questions:
            logits = np.zeros(len(question.options))
            logits[self.answers[question.question]] = 10
            if question.question == self.poison:
                logits[:] = np.nan
            scores.append(Score(tuple(logits), 0.9))
        return scores


@pytest.fixture(scope="module")
def world():
    random = np.random.default_rng(3)
    pictures = [random.integers(0, 256, (24 + i, 40, 3), dtype=np.uint8) for i in range(5)]
    ids = [pixel_hash(picture) for picture in pictures]
    images = IMAGES.from_rows(
        {"image_id": key, "width": 40, "height": p.shape[0], "bytes": encode(p, "png")}
        for key, p in zip(ids, pictures, strict=True)
    )
    samples = SAMPLES.from_rows(
        {
            "sample_id": f"b/{i}",
            "benchmark": "b",
            "category": "",
            "question": f"question {i}",
            "options": [f"o{k}" for k in range(2 + i % 3)],
            "answer": i % 2,
            "image_id": ids[i // 2],
            "source_ref": str(i),
        }
        for i in range(10)
    )
    corrupted = pl.concat(
        render_corruption(images, name, [1, 5], seed=SEED, reference_side=None)
        for name in CORRUPTIONS
    )
    return samples, images, corrupted


def predict(world, stub: Stub, chunks: Path, key: str = "k", samples: pl.DataFrame | None = None):
    pool, images, corrupted = world
    asked = pool if samples is None else samples
    rendering = run.Rendering(SEED, None, run.expected_hashes(corrupted))
    return run.predict(
        "stub", SETTINGS, stub, asked, images, rendering, run.conditions(corrupted), key, chunks
    )


@pytest.fixture
def right(world):
    return dict(world[0].select("question", "answer").iter_rows())


def test_a_model_that_is_always_right_is_never_shifted(world, right, tmp_path):
    frame = predict(world, Stub(right), tmp_path)
    assert frame.height == 10 * (1 + 1 + 2 * 2)
    found = shifts(frame, world[0])
    assert found.height == 10 * 2 * 2
    assert found["correct"].to_list() == [1] * found.height
    assert found["misalignment_shift"].to_list() == [0.0] * found.height
    assert found["ras"].to_list() == [0.0] * found.height


def test_logits_that_are_no_numbers_are_rows_with_a_status(world, right, tmp_path):
    frame = predict(world, Stub(right, poison="question 5"), tmp_path)
    bad = frame.filter(pl.col("sample_id") == "b/5")
    assert set(bad["status"]) == {"nonfinite_logits"}
    assert bad["p"].null_count() == bad.height
    assert set(frame.filter(pl.col("sample_id") != "b/5")["status"]) == {"ok"}
    assert shifts(frame, world[0]).filter(pl.col("sample_id") == "b/5")["ras"].null_count() == 4


def test_a_finished_chunk_is_not_computed_again(world, right, tmp_path):
    first, second = Stub(right), Stub(right)
    whole = predict(world, first, tmp_path)
    assert first.asked == whole.height
    lost = sorted(tmp_path.glob("*.parquet"))[0]
    missing = pl.read_parquet(lost).height
    lost.unlink()
    assert predict(world, second, tmp_path).equals(whole)
    assert second.asked == missing


def test_another_model_key_computes_everything(world, right, tmp_path):
    predict(world, Stub(right), tmp_path)
    again = Stub(right)
    predict(world, again, tmp_path, key="other")
    assert again.asked == 60


def test_a_sample_that_leaves_touches_its_own_chunk_alone(world, right, tmp_path):
    predict(world, Stub(right), tmp_path)
    fewer = Stub(right)
    predict(world, fewer, tmp_path, samples=world[0].filter(pl.col("sample_id") != "b/0"))
    left = world[0].row(0, named=True)
    same = world[0].filter(pl.col("image_id").str.head(8).str.to_integer(base=16) % run._BLOCKS
                           == int(left["image_id"][:8], 16) % run._BLOCKS)  # fmt: skip
    assert fewer.asked == (same.height - 1) * 6


def test_pixels_that_differ_from_the_table_stop_the_run(world, right, tmp_path):
    samples, images, corrupted = world
    rendering = run.Rendering(SEED + 1, None, run.expected_hashes(corrupted))
    with pytest.raises(BadInput, match="differs from the table"):
        run.predict(
            "stub", SETTINGS, Stub(right), samples, images, rendering, run.conditions(corrupted),
            "k", tmp_path,
        )  # fmt: skip


def test_a_torn_chunk_is_named(world, right, tmp_path):
    predict(world, Stub(right), tmp_path)
    torn = sorted(tmp_path.glob("*.parquet"))[0]
    torn.write_bytes(torn.read_bytes()[:40])
    with pytest.raises(BadInput, match=torn.name):
        predict(world, Stub(right), tmp_path)


@pytest.mark.parametrize("store", ["png", "webp"])
def test_stored_pictures_give_the_same_predictions(world, tmp_path, store, monkeypatch):
    samples, images, corrupted = world
    paths = {}
    for name in CORRUPTIONS:
        paths[name] = tmp_path / f"{name}.parquet"
        kept = render_corruption(images, name, [1, 5], seed=SEED, reference_side=None, store=store)
        CORRUPTED.write(kept, paths[name])
    assert run.stored_tables(paths.values()) == paths
    rendering = run.Rendering(SEED, None, run.expected_hashes(corrupted), paths)
    monkeypatch.setattr(run, "corrupt", lambda *_, **__: pytest.fail("rendered again"))
    backend = Looks()
    stored = run.predict(
        "stub", SETTINGS, backend, samples, images, rendering, run.conditions(corrupted),
        "k", tmp_path / "stored",
    )  # fmt: skip
    monkeypatch.undo()
    assert stored.equals(predict(world, Looks(), tmp_path / "rendered"))


class Looks:
    """Answers by what it sees, so that another picture gives another answer."""

    def score(self, questions):
        return [
            Score(tuple(float(q.image[k::7].mean()) / 9 for k in range(len(q.options))), None)
            for q in questions
        ]
