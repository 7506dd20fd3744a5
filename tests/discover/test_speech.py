from pathlib import Path

import pytest
import torch

from benchc.config.discovery import Questioner
from benchc.config.models import TransformersModel
from benchc.discover.drawn import judge
from benchc.discover.pictures import loader, pictures
from benchc.discover.speech import ModelAnswerer, ModelQuestioner, split_questions, tidy
from benchc.models.checkpoint import load_model
from benchc.models.encode import Encoder

STORED = Path(__file__).parents[2] / "reference"
SHOWN = list(pictures("test", 6, 1))


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def questioner():
    base = TransformersModel(path=str(STORED / "questioner"))
    settings = Questioner(path=str(STORED / "questioner"))
    return ModelQuestioner(load_model(base), Encoder(base), settings)


@pytest.fixture(scope="module")
def answerer():
    model = TransformersModel(path=str(STORED / "llava"))
    return ModelAnswerer(load_model(model), Encoder(model), "answerer_drawn", 6)


@pytest.mark.parametrize(
    ("text", "finished", "questions"),
    [
        ("how many stars are there ? which shape is red ?", True,
         ["How many stars are there?", "Which shape is red?"]),
        ("1. How many stars?\n2) Which shape?", True, ["How many stars?", "Which shape?"]),
        ("how many stars ? which sha", False, ["How many stars?", ""]),
        ("how many stars ? which sha", True, ["How many stars?", "Which sha"]),
        ("a? b? c?", True, ["A?", "B?"]),
        ("a? b?", False, ["A?", "B?"]),
        ("", True, ["", ""]),
        (" ? ?", True, ["?", "?"]),
    ],
)  # fmt: skip
def test_a_sequence_is_split_into_exactly_as_many_questions(text, finished, questions):
    assert split_questions(text, finished, 2) == questions


def test_tidying_changes_nothing_twice():
    for text in ("- which shape , the star or the oval ?", "2. A?", "what?"):
        assert tidy(tidy(text)) == tidy(text)


def test_the_base_writes_four_different_questions_and_many_are_valid(questioner):
    shown = SHOWN * 4
    written = questioner.ask(shown, [()] * len(shown), 3)
    assert {len(texts) for texts in written} == {4}
    assert sum(len(set(texts)) for texts in written) > 3.8 * len(shown)
    verdicts = [
        judge(picture.scene, text)
        for picture, texts in zip(shown, written, strict=True)
        for text in texts
    ]
    assert sum(v.grammatical for v in verdicts) > 0.9 * len(verdicts)
    assert sum(v.valid for v in verdicts) > 0.35 * len(verdicts)


def test_asking_is_repeatable_and_leaves_other_draws_alone(questioner):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    first = questioner.ask(SHOWN[:2], [(), ()], 1)
    assert torch.equal(torch.rand(3), expected)
    assert questioner.ask(SHOWN[:2], [(), ()], 1) == first
    assert questioner.ask(SHOWN[:2], [(), ()], 2) != first


def test_examples_turn_the_questions_towards_their_kind(questioner):
    like = ["How many stars are there?", "How many red shapes are there?",
            "How many shapes are striped?", "How many shapes can be seen?"]  # fmt: skip
    shown = SHOWN * 3

    def counting(examples):
        written = questioner.ask(shown, [examples] * len(shown), 1)
        return sum("many" in text or "number of" in text for texts in written for text in texts)

    assert counting(like) > 2 * counting(())


def test_an_answer_does_not_depend_on_what_else_is_asked(answerer):
    questions = ["How many shapes are there?", "Which is larger, the red star or the blue oval?"]
    together = answerer.answer(SHOWN[:1] * 2, questions)
    fresh = ModelAnswerer(answerer.model, answerer.encoder, "answerer_drawn", 6)
    alone = [fresh.answer(SHOWN[:1], [question])[0] for question in questions]
    assert together == alone
    assert all(alone)


def test_a_corrupted_picture_is_the_clean_one_corrupted():
    (clean,) = pictures("test", 1, 1)
    (blurred,) = pictures("test", 1, 1, "defocus_blur", 3)
    assert blurred.scene == clean.scene
    assert blurred.load().tobytes() != clean.load().tobytes()
    again = loader(None, 1)("test/00000", "defocus_blur", 3, None)
    assert (blurred.load() == again).all()
