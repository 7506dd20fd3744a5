import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from benchc.config.discovery import Discover
from benchc.config.models import TransformersModel
from benchc.discover.diverged import Diverged, StopDiverged
from benchc.discover.embedding import Embedder
from benchc.discover.game import held_out_outcomes, prepare
from benchc.discover.imitate import failure_sequences, imitate
from benchc.discover.memory import FailureMemory
from benchc.discover.play import Outcome, play
from benchc.discover.players import AskedQuestion, Judgement, Picture
from benchc.discover.train import LOG, Collapsed, Reward, newest_checkpoint, read_log, reinforce
from benchc.discover.ways import learn
from benchc.errors import BadInput
from benchc.models.checkpoint import has_bfloat16

STORED = Path(__file__).parents[2] / "reference"
LLAVA = TransformersModel(path=str(STORED / "llava"))
NOTHING = Picture("p", lambda: None)  # type: ignore[return-value]


def settings(**changes):
    values = {
        "budget": 96,
        "held_out": 3,
        "validation": 2,
        "training": 6,
        "rounds": 2,
        "warm_start": 0.5,
        "questioner": {"path": str(STORED / "questioner")},
        "reinforce": {
            "pictures": 2,
            "group": 6,
            "iterations": 1,
            "warmup": 0,
            "learning_rate": 1e-2,
            "validate_every": 1,
            "checkpoint_every": 1,
        },
    }
    values["reinforce"] |= changes.pop("reinforce", {})
    values |= changes
    return Discover.model_validate(values)


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    torch.set_num_threads(1)


class Oracle:
    """Says of each question what a table of texts says: valid, right answer, verifier at fault."""

    valid = Judgement(True, True, True, True, "yes")
    invalid = Judgement(True, True, False, True, None)
    silent = Judgement(False, False, False, False, None, failure="no answer")

    def judge(self, pictures, questions):
        kinds = {"v": self.valid, "i": self.invalid, "s": self.silent, "c": self.valid}
        return [kinds[question[0]] for question in questions]

    def compare(self, asked, truths, answers):
        return [
            None if text[0] == "c" else answer == truth
            for (_, text), truth, answer in zip(asked, truths, answers, strict=True)
        ]


class Parrot:
    """Answers yes where the question says so; counts what it was asked."""

    asked = 0

    def answer(self, pictures, questions):
        self.asked += len(questions)
        return ["yes" if "right" in question else "no" for question in questions]


def test_one_round_of_play():
    parrot = Parrot()
    sequences = [["v right", "v wrong", "i"], ["s", "", "c right"]]
    outcomes = play([NOTHING, NOTHING], sequences, parrot, Oracle())
    assert [o.asked.sequence for o in outcomes] == [0, 0, 0, 1, 1, 1]
    assert [o.failed for o in outcomes] == [False, True, False, False, False, False]
    assert [o.correct for o in outcomes] == [True, False, None, None, None, None]
    assert [o.judged for o in outcomes] == [True, True, True, False, True, False]
    assert parrot.asked == 3


def reward_of(texts, **changes):
    embedder = Embedder()
    reward = Reward(
        answerer=Parrot(), verifier=Oracle(), embedder=embedder,
        memory=FailureMemory(8, embedder.width), split=lambda text, ended: text.split("|"),
        pictures={"p": NOTHING}, end_ids=frozenset({9}), settings=settings(**changes).reinforce,
    )  # fmt: skip
    seen = {}
    rewards = reward(
        completions=texts,
        completion_ids=[[9]] * len(texts),
        picture=["p"] * len(texts),
        log_metric=seen.__setitem__,
    )
    return rewards, seen, reward


def test_the_reward_of_a_batch():
    rewards, seen, reward = reward_of(["v wrong", "v right it is", "i", "s"])
    assert rewards[0] > 0
    assert rewards[1:] == [0, pytest.approx(-0.5), None]
    assert seen["unjudged"] == 0.25
    assert seen["fdr"] == pytest.approx(1 / 3)
    assert len(reward.memory.embeddings) == 1


def test_a_policy_with_one_question_earns_nothing():
    rewards, seen, _ = reward_of(["v wrong"] * 8)
    assert rewards == [0] * 8
    assert seen["lexical"] == 0
    without = {"reinforce": {"diversity": False}}
    assert reward_of(["v wrong"] * 8, **without)[0] == [1] * 8


def test_failures_are_learnt_in_whole_sequences_each_once():
    judgement = Judgement(True, True, True, True, "yes")

    def outcome(text, picture, correct=False):
        return Outcome(AskedQuestion(picture, 0, 0, text), judgement, "no", correct)

    other = Picture("q", lambda: None)  # type: ignore[return-value]
    outcomes = [outcome(t, NOTHING) for t in "aabcde"] + [outcome(t, other) for t in "ab"]
    outcomes.append(outcome("x", other, correct=True))
    found = failure_sequences(outcomes, 2, 1)
    assert sorted(len(texts) for _, texts in found) == [2, 2, 2]
    assert len({text for picture, texts in found if picture is NOTHING for text in texts}) == 4


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Ways that between them use every kind of learning, on a budget of two steps.

    A warm start needs four failures about one picture, which so few questions may not bring.
    """
    found = {}
    for way, budget in (("conme", 96), ("rl", 96), ("sft_rl", 480)):
        game = prepare(settings(budget=budget), LLAVA, tmp_path_factory.mktemp(way), 1)
        found[way] = (game, held_out_outcomes(game, learn(way, game)))
    return found


def test_every_way_ends_with_the_same_number_of_questions(played):
    assert {len(outcomes) for _, outcomes in played.values()} == {3 * 4}


def test_the_log_says_what_was_learnt(played):
    rows = read_log(played["rl"][0].folder)
    steps = [row for row in rows if "reward" in row]
    assert [row["step"] for row in steps] == [1, 2]
    assert {"fdr", "validity", "semantic", "lexical", "frac_reward_zero_std"} <= set(steps[0])
    assert sum("held_out_fdr" in row for row in rows) == 2


def test_a_resumed_training_has_the_log_of_an_unbroken_one(played, tmp_path):
    whole = played["rl"][0].folder
    shutil.copytree(whole, tmp_path / "cut", ignore=shutil.ignore_patterns("checkpoint-2"))
    game = prepare(settings(), LLAVA, tmp_path / "cut", 1)
    learn("rl", game)
    assert read_log(tmp_path / "cut") == read_log(whole)
    kl = [row["kl"] for row in read_log(whole) if "kl" in row]
    assert kl[0] < 1e-6 < 1e-2 < kl[1]


@pytest.mark.parametrize("torn", ['{"step": 9, "rew', '{"step": 9', "\0\0\0\0", "12", '{"a": 1}\n'])
def test_a_torn_last_row_of_the_log_is_dropped(tmp_path, torn):
    (tmp_path / LOG).write_text('{"step": 1, "reward": 0.5}\n' + torn)
    assert read_log(tmp_path) == [{"step": 1, "reward": 0.5}]
    (tmp_path / LOG).write_bytes(b'{"step": 1}\n{"step": 2, "held\xc3')
    assert read_log(tmp_path) == [{"step": 1}]


def test_a_damaged_row_in_the_middle_of_the_log_is_named(tmp_path):
    (tmp_path / LOG).write_text('{"step": 1}\n{"st\n{"step": 2}\n')
    with pytest.raises(BadInput, match="line 2: this row of the training's log is damaged"):
        read_log(tmp_path)


def poisoned(checkpoint, value):
    file = checkpoint / "model.safetensors"
    weights = load_file(file)
    next(iter(weights.values())).view(-1)[-1] = value
    save_file(weights, file, metadata={"format": "pt"})


@pytest.mark.parametrize("damage", ["nan", "inf", "torn"])
def test_a_training_goes_on_from_the_last_good_checkpoint(played, tmp_path, damage):
    whole = played["rl"][0].folder
    shutil.copytree(whole, tmp_path / "cut")
    last = tmp_path / "cut/checkpoint-2"
    if damage == "torn":
        file = last / "model.safetensors"
        file.write_bytes(file.read_bytes()[:1000])
    else:
        poisoned(last, float(damage))
    assert newest_checkpoint(tmp_path / "cut").name == "checkpoint-1"
    with (tmp_path / "cut" / LOG).open("a") as log:
        log.write('{"step": 9, "rew')
    learn("rl", prepare(settings(), LLAVA, tmp_path / "cut", 1))
    assert read_log(tmp_path / "cut") == read_log(whole)
    assert newest_checkpoint(tmp_path / "cut").name == "checkpoint-2"


@pytest.mark.parametrize("rate", [1e6, 1e30])
def test_a_training_that_diverges_stops_and_saves_nothing_of_it(tmp_path, rate):
    lost = settings(reinforce={"learning_rate": rate})
    for _ in range(2):
        game = prepare(lost, LLAVA, tmp_path, 1)
        with pytest.raises(Diverged, match=r"diverged in step 1 .*reinforce.learning_rate"):
            learn("rl", game)
        assert not list(tmp_path.glob("checkpoint-*"))
        assert not (tmp_path / "best").exists()


def test_fine_tuning_that_diverges_stops_too(tmp_path):
    game = prepare(settings(), LLAVA, tmp_path, 1)
    lost = game.settings.imitate.model_copy(update={"learning_rate": 1e30})
    texts = ["How many stars are there?"] * 4
    with pytest.raises(Diverged, match=r"imitate.learning_rate"):
        imitate(game.questioner, [(game.training[0], texts)], tmp_path, lost, 1)


@pytest.mark.parametrize(
    ("there", "computes", "expected"),
    [(False, True, False), (True, True, True), (True, False, False)],
)
def test_bfloat16_is_asked_of_the_device(monkeypatch, there, computes, expected):
    """A GPU that only emulates it says so where emulation counts, and trains without it."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: there)
    monkeypatch.setattr(
        torch.cuda,
        "is_bf16_supported",
        lambda including_emulation=True: including_emulation or computes,
    )
    assert has_bfloat16() is expected


@pytest.mark.parametrize("name", ["loss", "grad_norm"])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_loss_or_a_gradient_that_is_no_number_stops_a_training(tmp_path, name, value):
    stop = StopDiverged(tmp_path, "learning_rate", lambda: True)
    stop.on_log(None, SimpleNamespace(global_step=3), None, logs={name: 1.0})
    with pytest.raises(Diverged, match=f"in step 3 .{name} is {value}"):
        stop.on_log(None, SimpleNamespace(global_step=3), None, logs={name: value})


def test_a_questioner_of_damaged_weights_is_refused_in_one_line(tmp_path):
    game = prepare(settings(), LLAVA, tmp_path, 1)
    with torch.no_grad():
        next(game.questioner.model.parameters()).fill_(float("nan"))
    with pytest.raises(BadInput, match="no finite probability"):
        game.questioner.ask(game.training[:1], [()], 1)


def test_equal_rewards_end_the_training_with_a_message(tmp_path):
    game = prepare(settings(), LLAVA, tmp_path, 1)
    before = {k: v.clone() for k, v in game.questioner.model.state_dict().items()}
    embedder = game.embedder
    options = settings(
        reinforce={"pictures": 1, "group": 2, "patience": 2, "penalty": 0, "kl": 0}
    ).reinforce
    reward = Reward(
        answerer=game.answerer, verifier=NeverValid(), embedder=embedder,
        memory=FailureMemory(4, embedder.width), split=game.questioner.split,
        pictures={p.key: p for p in game.training}, end_ids=game.questioner.end_ids,
        settings=options,
    )  # fmt: skip
    with pytest.raises(Collapsed, match="equal for 2 steps"):
        reinforce(
            game.questioner, game.training, reward, lambda: 0.0, tmp_path, options, 9, 1
        )  # fmt: skip
    after = game.questioner.model.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_the_negative_control_may_collapse_and_is_measured_all_the_same(tmp_path):
    game = prepare(settings(reinforce={"patience": 1, "penalty": 0}), LLAVA, tmp_path, 1)
    game.verifier = NeverValid()
    assert learn("rl_no_diversity", game) == []
    assert (tmp_path / "best").is_dir()
    with pytest.raises(Collapsed):
        learn("rl", game)


class NeverValid(Oracle):
    """Grants nothing."""

    def judge(self, pictures, questions):
        return [self.invalid for _ in questions]


def test_a_budget_that_makes_no_step_is_refused():
    with pytest.raises(ValueError, match="make no step of RL"):
        settings(budget=40)
    with pytest.raises(ValueError, match="greater than or equal to 1"):
        settings(budget=0)


def test_embeddings_do_not_depend_on_the_batch():
    texts = ["How many stars are there?", "Which is larger, the solid red star or the circle?"]
    embedder = Embedder()
    both = embedder.embed(texts)
    np.testing.assert_allclose(np.linalg.norm(both, axis=1), 1, atol=1e-6)
    alone = [Embedder().embed([text])[0] for text in texts]
    np.testing.assert_array_equal(alone, both)
    assert embedder.embed([]).shape == (0, embedder.width)
