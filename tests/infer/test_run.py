"""A run asks each question once, keeps what it has, and a faultless model has nothing to lose."""

import errno
import multiprocessing
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchc.corrupt.stage import render_corruption
from benchc.diagnose.shifts import shifts
from benchc.errors import BadInput
from benchc.infer import asked, rendering, run
from benchc.infer.scores import Score
from benchc.infer.settings import TransformersModel
from benchc.pixels import encode, pixel_hash
from benchc.tables import CORRUPTED, IMAGES, SAMPLES

SEED = 1
CORRUPTIONS = ("contrast", "gaussian_noise")
SETTINGS = TransformersModel(path="stub")


class Stub:
    """Puts a weight on each option; counts what it was asked."""

    def __init__(self, answers: dict[str, int], poison: str | None = None, batch_size: int = 4):
        self.answers = answers
        self.poison = poison
        self.batch_size = batch_size
        self.asked = 0

    def ran_on(self):
        return {"device": "none", "batch_size": self.batch_size}

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


def questions(world, samples: pl.DataFrame | None = None, seed=SEED, stored=()) -> asked.Asked:
    pool, images, corrupted = world
    made = rendering.Rendering(
        seed, None, asked.expected_hashes(corrupted), asked.stored_tables(stored)
    )
    return asked.Asked(
        pool if samples is None else samples, images, made, asked.conditions(corrupted)
    )


def answers(world, stub, part: run.Part, key: str = "k", workers: int = 0, **what) -> run.Answers:
    asked_ = questions(world, **what)
    with rendering.renderers(workers) as submit:
        return run.predict("stub", SETTINGS, stub, asked_, key, part, submit)


def predict(world, stub, chunks: Path, **what) -> pl.DataFrame:
    return answers(world, stub, run.Part(chunks), **what).predictions


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
    bucket = pl.col("image_id").str.head(8).str.to_integer(base=16) % run._FEWEST_BLOCKS
    same = world[0].filter(bucket == int(left["image_id"][:8], 16) % run._FEWEST_BLOCKS)
    assert fewer.asked == (same.height - 1) * 6


@pytest.mark.parametrize("workers", [0, 1])
def test_pixels_that_differ_from_the_table_stop_the_run(world, right, tmp_path, workers):
    with pytest.raises(BadInput, match="differs from the table"):
        predict(world, Stub(right), tmp_path, seed=SEED + 1, workers=workers)


def test_workers_change_no_prediction(world, tmp_path):
    alone = predict(world, Looks(), tmp_path / "alone")
    assert predict(world, Looks(), tmp_path / "helped", workers=2).equals(alone)


def test_a_worker_that_dies_ends_the_run_in_one_line_and_keeps_what_is_done(world, tmp_path):
    class Kills(Looks):
        def score(self, questions):
            for process in multiprocessing.active_children():
                process.kill()
                process.join()
            return super().score(questions)

    with pytest.raises(BadInput, match=r"renders pictures died.*infer\.workers") as caught:
        predict(world, Kills(), tmp_path, workers=1)
    assert "\n" not in str(caught.value)
    assert len(list(tmp_path.glob("*.parquet"))) == 1


@pytest.mark.parametrize(
    "missing",
    [
        ("multiprocessing.synchronize.SemLock.__init__", errno.EROFS),  # no /dev/shm
        ("multiprocessing.util.spawnv_passfds", errno.EAGAIN),  # too many processes
    ],
)
def test_workers_that_cannot_start_are_one_line(monkeypatch, missing):
    place, number = missing

    def fails(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(place, fails)
    with (
        pytest.raises(BadInput, match=rf"{os.strerror(number)}.*`infer\.workers` to 0"),
        rendering.renderers(1),
    ):
        pass


@pytest.mark.parametrize(
    "damage", [lambda data: data[:40], lambda data: b"", lambda data: data[4:]]
)
def test_a_damaged_chunk_is_named_and_computed_again(world, right, tmp_path, damage, capfd):
    whole = predict(world, Stub(right), tmp_path)
    torn = sorted(tmp_path.glob("*.parquet"))[0]
    lost = pl.read_parquet(torn).height
    torn.write_bytes(damage(torn.read_bytes()))
    again = Stub(right)
    assert predict(world, again, tmp_path).equals(whole)
    assert again.asked == lost
    said = [line for line in capfd.readouterr().err.splitlines() if torn.name in line]
    assert len(said) == 1
    assert "computing a damaged chunk again" in said[0]


@pytest.mark.parametrize("shards", [2, 3])
def test_shards_share_the_chunks_and_make_the_whole(world, right, tmp_path, shards):
    whole = answers(world, Stub(right), run.Part(tmp_path / "one"))
    stubs = [Stub(right) for _ in range(shards)]
    parts = [
        answers(world, stub, run.Part(tmp_path / "many", shard, shards))
        for shard, stub in enumerate(stubs)
    ]
    together = run.merged(parts)
    assert together.ran_on == whole.ran_on
    assert together.predictions.equals(whole.predictions)
    assert sum(stub.asked for stub in stubs) == whole.predictions.height
    assert all(stub.asked < whole.predictions.height for stub in stubs)
    names = [{path.name for path in (tmp_path / folder).iterdir()} for folder in ("one", "many")]
    assert names[0] == names[1]
    another = Stub(right)
    answers(world, another, run.Part(tmp_path / "many"))
    assert another.asked == 0


def test_predictions_that_were_not_made_alike_are_counted_apart(world, right, tmp_path):
    whole = answers(world, Stub(right), run.Part(tmp_path))
    assert whole.ran_on == [{"device": "none", "batch_size": 4, "predictions": 60}]
    lost = sorted(tmp_path.glob("*.parquet"))[0]
    count = pl.read_parquet(lost).height
    lost.unlink()
    mixed = answers(world, Stub(right, batch_size=2), run.Part(tmp_path))
    assert {kind["batch_size"]: kind["predictions"] for kind in mixed.ran_on} == {
        2: count,
        4: 60 - count,
    }


def test_many_pixels_make_more_chunks_by_powers_of_two(world, monkeypatch):
    questions_ = questions(world)
    assert run._block_count(questions_) == 8
    monkeypatch.setattr(run, "_BLOCK_BYTES", 2**10)
    pixels = int((world[1]["width"] * world[1]["height"]).sum())
    count = run._block_count(questions_)
    assert count & (count - 1) == 0
    assert pixels * 3 * 2 <= count * 2**10 < 2 * pixels * 3 * 2


@pytest.mark.parametrize("store", ["png", "webp"])
def test_stored_pictures_give_the_same_predictions(world, tmp_path, store, monkeypatch):
    images = world[1]
    paths = {}
    for name in CORRUPTIONS:
        paths[name] = tmp_path / "run[1]" / f"{name}.parquet"
        kept = render_corruption(images, name, [1, 5], seed=SEED, reference_side=None, store=store)
        CORRUPTED.write(kept, paths[name])
    assert asked.stored_tables(paths.values()) == paths
    monkeypatch.setattr(rendering, "corrupt", lambda *_, **__: pytest.fail("rendered again"))
    stored = predict(world, Looks(), tmp_path / "stored", stored=paths.values())
    monkeypatch.undo()
    assert stored.equals(predict(world, Looks(), tmp_path / "rendered"))


class Looks:
    """Answers by what it sees, so that another picture gives another answer."""

    def ran_on(self):
        return {}

    def score(self, questions):
        return [
            Score(tuple(float(q.image[k::7].mean()) / 9 for k in range(len(q.options))), None)
            for q in questions
        ]
