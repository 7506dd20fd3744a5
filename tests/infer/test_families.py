"""Every family: loaded, asked, its options found, and a batch equal to its items alone."""

import dataclasses

import numpy as np
import pytest
import torch
from asked import difference, questions
from families import FAMILIES
from PIL import Image

from benchc.errors import BadInput
from benchc.models.choices import Item


@pytest.fixture(params=FAMILIES)
def family(request):
    return request.param


@pytest.fixture
def asked_letters(backend_of, family):
    return backend_of(family)


def test_a_batch_equals_its_items_alone(asked_letters):
    asked = questions(8)
    together = asked_letters.score(asked)
    alone = [asked_letters.score([question])[0] for question in asked]
    assert {score.status for score in together} == {"ok"}
    assert difference(together, alone) < 1e-5
    masses = [[score.option_mass for score in scores] for scores in (together, alone)]
    np.testing.assert_allclose(*masses, atol=1e-5)


def test_another_picture_gives_another_answer(asked_letters):
    """The checks of a batch mean nothing for a model that does not look."""
    question = questions(1)[0]
    other = dataclasses.replace(question, image=255 - question.image)
    assert difference(asked_letters.score([question]), asked_letters.score([other])) > 1e-4


def test_nothing_of_a_prompt_is_cut(asked_letters):
    encoder = asked_letters.encoder
    question = dataclasses.replace(questions(1)[0], question="first " + "word " * 300 + "last")
    ids = encoder.encode([Item(0, question)])["input_ids"][0]
    whole = encoder.processor.tokenizer.decode(ids)
    assert "first word" in whole
    assert "word last" in whole
    assert ids.tolist().count(encoder.processor.tokenizer.bos_token_id) <= 1


def test_every_option_is_one_token_of_its_letter(asked_letters):
    encoder = asked_letters.encoder
    question = dataclasses.replace(questions(1)[0], options=tuple(["red"] * 26))
    inputs = encoder.encode([Item(0, question)])
    found = encoder.option_tokens(question, int(inputs["input_ids"][0, -1]))
    letters = [encoder.processor.tokenizer.decode(ids).strip() for ids in found]
    assert "".join(letters) == "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    assert len(asked_letters.score([question])[0].logits) == 26


def test_texts_in_a_batch_equal_texts_alone(backend_of, family):
    if family == "paligemma":
        with pytest.raises(BadInput, match="both directions"):
            backend_of(family, scoring="text")
        return
    backend = backend_of(family, scoring="text")
    asked = questions(5)
    together = backend.score(asked)
    alone = [backend.score([question])[0] for question in asked]
    assert difference(together, alone) < 1e-5
    np.testing.assert_allclose(
        np.concatenate([s.logits for s in together]),
        np.concatenate([s.logits for s in alone]),
        atol=1e-4,
    )
    assert together[0].option_mass is None


def test_a_text_is_worth_the_log_probabilities_of_its_tokens(backend_of, family):
    """An independent reading: prompt and option as one text, unpadded, in one plain pass."""
    if family == "paligemma":
        pytest.skip("texts are refused for it")
    backend = backend_of(family, scoring="text")
    encoder = backend.encoder
    question = dataclasses.replace(questions(1)[0], options=("large circle", "blue"))
    picture = Image.fromarray(question.image)
    score = backend.score([question])[0]
    prompt = encoder.rendered(question)
    tokenizer = encoder.processor.tokenizer
    reading = []
    for option in question.options:
        lead = encoder.continuations.leads[0]
        ids = tokenizer(prompt + lead + option, add_special_tokens=False)["input_ids"]
        count = len(ids) - len(tokenizer(prompt, add_special_tokens=False)["input_ids"])
        inputs = encoder.processor(
            text=[prompt + lead + option],
            images=[[picture]],
            return_tensors="pt",
            add_special_tokens=not prompt.startswith(tokenizer.bos_token or "\0"),
        )
        with torch.inference_mode():
            steps = backend.model(**inputs).logits[0].double().log_softmax(-1)
        reading.append(sum(float(steps[-k - 1, ids[-k]]) for k in range(1, count + 1)))
    np.testing.assert_allclose(score.logits, reading, atol=1e-4)
