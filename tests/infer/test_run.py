"""A run asks each question once, keeps what it has, and a faultless model has nothing to lose."""

import errno
import json
import multiprocessing
import os
import zlib
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchc.config.models import OpenAIModel, TransformersModel
from benchc.corrupt import BLANK, CLEAN
from benchc.corrupt.condition import condition
from benchc.corrupt.stage import render_corruption
from benchc.diagnose.shifts import diagnose
from benchc.errors import BadInput
from benchc.infer import questionnaire, rendering, run, status, tasks
from benchc.infer.journal import forget_failures, listed
from benchc.infer.looks import Trial
from benchc.models import backends
from benchc.models.scores import Score
from benchc.pictures.pixels import encode, pixel_hash
from benchc.tables import CORRUPTED, IMAGES, SAMPLES

SEED = 1
CORRUPTIONS = ("contrast", "gaussian_noise")
SETTINGS = TransformersModel(path="stub")
SEEN = Trial(1.0, 0.0)


class Stub:
    """Puts a weight on each option; counts what it was asked."""

    def __init__(self, answers: dict[str, int], poison: str | None = None, batch_size: int = 4):
        self.answers = answers
        self.poison = poison
        self.batch_size = batch_size
        self.asked = 0

    def ran_on(self):
        return {"device": "none", "batch_size": self.batch_size}

    def facts(self):
        return {}

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


def questions(
    world, samples: pl.DataFrame | None = None, seed=SEED, stored=()
) -> questionnaire.Questionnaire:
    pool, images, corrupted = world
    made = rendering.Rendering(
        seed, None, questionnaire.expected_hashes(corrupted), questionnaire.stored_tables(stored)
    )
    return questionnaire.Questionnaire(
        pool if samples is None else samples, images, made, questionnaire.conditions(corrupted)
    )


def answers(world, stub, part: run.Part, key: str = "k", workers: int = 0, **what) -> run.Answers:
    asked_ = questions(world, **what)
    with rendering.renderers(workers) as submit:
        return run.predict("stub", SETTINGS, lambda: (stub, SEEN), asked_, key, part, submit)


def predict(world, stub, chunks: Path, **what) -> pl.DataFrame:
    return answers(world, stub, run.Part(chunks), **what).predictions


def units(folder: Path) -> list[str]:
    """Return the lines of a folder's journals that hold answers."""
    lines = [line for path in sorted(folder.glob("*.jsonl")) for line in path.open()]
    return [line for line in lines if '"unit"' in line]


def lose(folder: Path, damage=lambda line: "") -> int:
    """Damage the last line of answers; return how many it held."""
    (path,) = folder.glob("*.jsonl")
    lines = path.read_text().splitlines(keepends=True)
    last = max(i for i, line in enumerate(lines) if '"unit"' in line)
    lost = len(json.loads(lines[last][9:])["answers"])
    lines[last] = damage(lines[last])
    path.write_text("".join(lines))
    return lost


@pytest.fixture
def small_blocks(monkeypatch):
    """Make blocks of a few pictures, as a pool of thousands has them."""
    monkeypatch.setattr(tasks, "_BLOCK_SAMPLES", 4)


@pytest.fixture
def right(world):
    return dict(world[0].select("question", "answer").iter_rows())


def test_a_model_that_is_always_right_is_never_shifted(world, right, tmp_path):
    frame = predict(world, Stub(right), tmp_path)
    assert frame.height == 10 * (1 + 1 + 2 * 2)
    found = diagnose(frame, world[0]).shifts
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
    assert (
        diagnose(frame, world[0]).shifts.filter(pl.col("sample_id") == "b/5")["ras"].null_count()
        == 4
    )


def test_what_is_kept_is_not_asked_again_nor_is_the_model_loaded(world, right, tmp_path):
    first, second = Stub(right), Stub(right)
    whole = predict(world, first, tmp_path)
    assert first.asked == whole.height
    missing = lose(tmp_path)
    assert predict(world, second, tmp_path).equals(whole)
    assert second.asked == missing
    again = run.predict(
        "stub", SETTINGS, lambda: pytest.fail("loaded"), questions(world), "k", run.Part(tmp_path)
    )
    assert again.predictions.equals(whole)


def test_another_model_key_computes_everything(world, right, tmp_path):
    predict(world, Stub(right), tmp_path)
    again = Stub(right)
    predict(world, again, tmp_path, key="other")
    assert again.asked == 60


class Neighbours(Stub):
    """Says what shares its batch, as the last digits of a real model do."""

    def score(self, questions):
        names = "".join(question.question for question in questions)
        return [
            Score((*score.logits[:-1], score.logits[-1] + zlib.crc32(names.encode()) / 1e12), 0.9)
            for score in super().score(questions)
        ]


@pytest.mark.parametrize("change", ["a sample", "a severity", "a corruption"])
@pytest.mark.parametrize("first", ["less", "more"])
def test_an_extended_run_equals_a_fresh_one_to_the_byte(
    world, right, tmp_path, small_blocks, change, first
):
    """However a run came about, what is asked together is the same."""
    less = {
        "a sample": (world[0].filter(pl.col("sample_id") != "b/4"), *world[1:]),
        "a severity": (*world[:2], world[2].filter(pl.col("severity") == 1)),
        "a corruption": (*world[:2], world[2].filter(pl.col("corruption") == "contrast")),
    }[change]
    before, after = (less, world) if first == "less" else (world, less)
    predict(before, Neighbours(right), tmp_path / "grown")
    again = Neighbours(right)
    grown = predict(after, again, tmp_path / "grown")
    fresh = Neighbours(right)
    assert grown.equals(predict(after, fresh, tmp_path / "fresh"))
    assert again.asked < fresh.asked
    if change != "a sample":
        assert again.asked == max(0, after[2].height - before[2].height) * 2


def test_blocks_are_small_and_hold_all_of_a_picture(world, monkeypatch, small_blocks):
    blocks = list(tasks.blocks_of(questions(world)))
    assert len(blocks) > 1
    assert all(len(block) <= 4 for block in blocks)
    shown = [{row["image_id"] for row in block} for block in blocks]
    assert sum(map(len, shown)) == len(set().union(*shown)) == 5
    monkeypatch.setattr(tasks, "_BLOCK_SAMPLES", 128)
    assert len(list(tasks.blocks_of(questions(world)))) == 1
    monkeypatch.setattr(tasks, "_BLOCK_BYTES", 1)
    assert len(list(tasks.blocks_of(questions(world)))) == 5


def test_another_temperature_asks_nothing(world, right, tmp_path):
    sharp = predict(world, Stub(right), tmp_path)
    flat = run.predict(
        "stub", SETTINGS.model_copy(update={"temperature": 4.0}), lambda: pytest.fail("loaded"),
        questions(world), "k", run.Part(tmp_path),
    )  # fmt: skip
    assert flat.predictions["logits"].equals(sharp["logits"])
    assert (flat.predictions["p"].list.max() < sharp["p"].list.max()).all()
    one, other = (
        backends.model_key(OpenAIModel(backend="openai", url="http://a", model="m", **more), 1)
        for more in ({}, {"temperature": 4.0})
    )
    assert one == other


class Failing(Stub):
    """Has no memory for some questions when they are asked for the first times."""

    def __init__(self, answers, question, times):
        super().__init__(answers)
        self.question, self.times = question, times

    def score(self, questions):
        scores = super().score(questions)
        for place, question in enumerate(questions):
            if question.question == self.question and self.times:
                self.times -= 1
                scores[place] = Score(None, None, "out_of_memory", ("have no memory",))
        return scores


def test_what_failed_for_the_moment_is_asked_again_alone_and_three_times(world, right, tmp_path):
    whole = predict(world, Stub(right), tmp_path / "whole")
    failing = Failing(right, "question 3", times=6)
    first = answers(world, failing, run.Part(tmp_path / "parted"))
    assert (failing.asked, first.to_ask_again, first.reasons) == (60, 6, {"have no memory": 6})
    again = Failing(right, "question 3", times=2)
    second = answers(world, again, run.Part(tmp_path / "parted"))
    assert (again.asked, second.to_ask_again) == (6, 2)
    for tried in (2, 0):
        hopeless = Failing(right, "question 3", times=99)
        last = answers(world, hopeless, run.Part(tmp_path / "parted"))
        assert hopeless.asked == tried
    assert last.to_ask_again == 0
    more = Stub(right)
    assert answers(world, more, run.Part(tmp_path / "parted")).to_ask_again == 0
    assert more.asked == 0
    assert forget_failures("stub", tmp_path / "parted") == 2
    final = answers(world, more, run.Part(tmp_path / "parted"))
    assert more.asked == 2
    assert final.predictions.equals(whole)


def test_a_run_of_which_nothing_comes_ends_early_with_the_reason(world, right, tmp_path):
    class Mute(Stub):
        def score(self, questions):
            self.asked += len(questions)
            return [Score(None, None, "too_long", ("are too long",)) for _ in questions]

    with pytest.raises(BadInput, match="no answer is usable: 60 of 60 are too long"):
        predict(world, Mute(right), tmp_path / "short")
    many = pl.concat(world[0].with_columns(pl.col("sample_id") + f"-{i}") for i in range(20))
    mute = Mute(right)
    with pytest.raises(BadInput, match=r"no answer is usable: .* are too long"):
        predict(world, mute, tmp_path / "long", samples=many)
    assert run.EARLY <= mute.asked < run.EARLY + len(many)
    assert "too_long" in status.shown("stub", tmp_path / "long")


def test_a_run_most_of_which_fails_ends_and_counts_no_try(world, right, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "EARLY", 20)
    failing = Failing({**right}, "question 3", times=0)
    failing.score = lambda questions: [  # type: ignore[method-assign]
        Score(None, None, "server_error", ("have server_error (HTTP 500: oops)",))
        if int(q.question[-1]) % 3 else Score((1.0,) * len(q.options), 0.9)
        for q in questions
    ]  # fmt: skip
    for _ in range(5):
        with pytest.raises(BadInput, match=r"questions failed, which is more than half.*HTTP 500"):
            predict(world, failing, tmp_path)
    assert {kept.tries for _, kept in listed("stub", tmp_path)} == {0}


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
    assert len(units(tmp_path)) == 1


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
    "damage",
    [
        lambda line: line[:40],
        lambda line: line[:-1].replace("out_of", "out-of") + "x\n",
        lambda line: line[4:],
        lambda line: line.replace("10.0", "11.0", 1),
        lambda line: "\x00" * 40 + "\n",
    ],
)
def test_a_damaged_line_is_named_and_asked_again(world, right, tmp_path, damage, capfd):
    whole = predict(world, Stub(right), tmp_path)
    lost = lose(tmp_path, damage)
    again = Stub(right)
    assert predict(world, again, tmp_path).equals(whole)
    assert again.asked == lost
    said = [line for line in capfd.readouterr().err.splitlines() if "damaged lines" in line]
    assert len(said) == 1
    assert predict(world, again, tmp_path).equals(whole)
    assert again.asked == lost


@pytest.mark.parametrize("shards", [2, 3])
def test_shards_share_the_chunks_and_make_the_whole(world, right, tmp_path, shards):
    whole = answers(world, Stub(right), run.Part(tmp_path / "one"))
    stubs = [Stub(right) for _ in range(shards)]
    parts = [
        answers(world, stub, run.Part(tmp_path / "many", shard, shards))
        for shard, stub in enumerate(stubs)
    ]
    together, ran_on = run.merged(
        [part.predictions for part in parts], [kind for part in parts for kind in part.ran_on]
    )
    assert ran_on == whole.ran_on
    assert together.equals(whole.predictions)
    assert sum(stub.asked for stub in stubs) == whole.predictions.height
    assert all(stub.asked < whole.predictions.height for stub in stubs)
    assert sorted(units(tmp_path / "one")) == sorted(units(tmp_path / "many"))
    another = Stub(right)
    answers(world, another, run.Part(tmp_path / "many"))
    assert another.asked == 0


def test_predictions_that_were_not_made_alike_are_counted_apart(world, right, tmp_path):
    whole = answers(world, Stub(right), run.Part(tmp_path))
    assert whole.ran_on == [{"device": "none", "batch_size": 4, "predictions": 60}]
    count = lose(tmp_path)
    mixed = answers(world, Stub(right, batch_size=2), run.Part(tmp_path))
    assert {kind["batch_size"]: kind["predictions"] for kind in mixed.ran_on} == {
        2: count,
        4: 60 - count,
    }


@pytest.mark.parametrize("store", ["png", "webp"])
def test_stored_pictures_give_the_same_predictions(world, tmp_path, store, monkeypatch):
    images = world[1]
    paths = {}
    for name in CORRUPTIONS:
        paths[name] = tmp_path / "run[1]" / f"{name}.parquet"
        kept = render_corruption(images, name, [1, 5], seed=SEED, reference_side=None, store=store)
        CORRUPTED.write(kept, paths[name])
    assert questionnaire.stored_tables(paths.values()) == paths

    def plain_only(picture, corruption, severity, **how):
        assert corruption in (CLEAN, BLANK), "rendered again"
        return condition(picture, corruption, severity, **how)

    monkeypatch.setattr(rendering, "condition", plain_only)
    stored = predict(world, Looks(), tmp_path / "stored", stored=paths.values())
    monkeypatch.undo()
    assert stored.equals(predict(world, Looks(), tmp_path / "rendered"))


class Looks:
    """Answers by what it sees, so that another picture gives another answer."""

    def ran_on(self):
        return {}

    def facts(self):
        return {}

    def score(self, questions):
        return [
            Score(tuple(float(q.image[k::7].mean()) / 9 for k in range(len(q.options))), None)
            for q in questions
        ]
