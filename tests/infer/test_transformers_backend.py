"""The backend reads the right tokens, whatever shares the batch, and refuses what it cannot ask."""

import dataclasses

import numpy as np
import pytest
import torch
from scipy.special import logsumexp, softmax

from benchc.errors import BadInput
from benchc.infer.option_tokens import Continuations
from benchc.infer.scores import Question
from benchc.infer.settings import Model
from benchc.infer.transformers_backend import TransformersBackend

WORDS = "what colour is the large striped circle left of the small solid square".split()  # noqa: SIM905


def questions(count: int, seed: int = 0) -> list[Question]:
    random = np.random.default_rng(seed)
    made = []
    for i in range(count):
        options = tuple(random.choice(["red", "blue", "green", "two", "circle"], 2 + i % 5))
        text = " ".join(WORDS[: 3 + i % 10]) + " ?"
        picture = random.integers(0, 256, (60 + 40 * (i % 3), 224, 3), dtype=np.uint8)
        made.append(Question(picture, text, options))
    return made


def test_a_batch_equals_its_items_alone(backend):
    asked = questions(8)
    together = backend.score(asked)
    alone = [backend.score([question])[0] for question in asked]
    for one, other in zip(together, alone, strict=True):
        assert one.status == other.status == "ok"
        np.testing.assert_allclose(softmax(one.logits), softmax(other.logits), atol=1e-5)
        assert one.option_mass == pytest.approx(other.option_mass, abs=1e-5)


def test_padding_on_the_wrong_side_would_be_seen(backend):
    """The check above can fail: without the mask the same batch gives other answers."""
    asked = questions(8)
    right = backend.score(asked)
    encode = backend._encode

    def unmasked(batch):
        inputs = encode(batch)
        inputs["attention_mask"] = torch.ones_like(inputs["attention_mask"])
        return inputs

    backend._encode = unmasked
    try:
        wrong = backend.score(asked)
    finally:
        del backend._encode
    apart = [
        np.abs(softmax(a.logits) - softmax(b.logits)).max()
        for a, b in zip(right, wrong, strict=True)
    ]
    assert max(apart) > 1e-5


def test_logits_are_those_of_the_next_token(backend):
    """An independent reading: the whole forward pass, unpadded, in the plainest way."""
    question = questions(3)[2]
    text = backend.rendered(question)
    bos = backend.processor.tokenizer.bos_token
    inputs = backend.processor(
        text=[text],
        images=[[question.image]],
        return_tensors="pt",
        add_special_tokens=not text.startswith(bos),
    )
    inputs.pop("labels", None)
    with torch.inference_mode():
        logits = backend.model(**inputs).logits[0, -1].double().numpy()
    vocabulary = backend.processor.tokenizer.get_vocab()
    ids = [vocabulary[letter] for letter in "ABCDEF"[: len(question.options)]]
    score = backend.score([question])[0]
    np.testing.assert_allclose(score.logits, logits[ids], atol=1e-5)
    assert score.option_mass == pytest.approx(
        np.exp(logsumexp(logits[ids]) - logsumexp(logits)), abs=1e-6
    )


def test_text_scoring_sums_the_log_probabilities_of_the_option(backend, checkpoint):
    if backend.model.config.model_type == "paligemma":
        with pytest.raises(BadInput, match="both directions"):
            TransformersBackend(Model(path=str(checkpoint), scoring="text"))
        return
    settings = backend.settings.model_copy(update={"scoring": "text"})
    backend.settings, before = settings, backend.settings
    backend._rendered.clear()
    try:
        question = dataclasses.replace(questions(1)[0], options=("red circle", "blue"))
        score = backend.score([question])[0]
        prompt = backend.rendered(question)
        tokenizer = backend.processor.tokenizer
        reading = []
        for option in question.options:
            inputs = backend.processor(
                text=[f"{prompt} {option}"], images=[[question.image]], return_tensors="pt",
                add_special_tokens=not prompt.startswith(tokenizer.bos_token),
            )  # fmt: skip
            inputs.pop("labels", None)
            count = len(tokenizer(option, add_special_tokens=False)["input_ids"])
            with torch.inference_mode():
                steps = backend.model(**inputs).logits[0].double().log_softmax(-1)
            ids = inputs["input_ids"][0]
            reading.append(sum(float(steps[-k - 1, ids[-k]]) for k in range(1, count + 1)))
        np.testing.assert_allclose(score.logits, reading, atol=1e-4)
        assert score.option_mass is None
    finally:
        backend.settings = before
        backend._rendered.clear()


def test_up_to_26_options(backend):
    question = dataclasses.replace(questions(1)[0], options=tuple(["red"] * 26))
    assert len(backend.score([question])[0].logits) == 26


def test_a_reserved_token_in_a_question_is_a_status(backend):
    image_token = backend.processor.image_token
    asked = [
        dataclasses.replace(questions(1)[0], question=f"what does {image_token} mean ?"),
        questions(1)[0],
        dataclasses.replace(questions(1)[0], options=("red", image_token)),
    ]
    assert [s.status for s in backend.score(asked)] == ["reserved_token", "ok", "reserved_token"]


def test_a_prompt_longer_than_the_context_is_a_status(backend):
    context = backend.context
    backend.context = 12
    try:
        assert [s.status for s in backend.score(questions(2))] == ["too_long", "too_long"]
    finally:
        backend.context = context


def test_a_checkpoint_without_a_template_is_refused_before_its_weights_load(checkpoint, tmp_path):
    for file in checkpoint.iterdir():
        if file.suffix in (".json",) and file.name != "generation_config.json":
            (tmp_path / file.name).write_bytes(file.read_bytes())
    with pytest.raises(BadInput, match="no chat template"):
        TransformersBackend(Model(path=str(tmp_path)))


def test_a_missing_checkpoint_is_refused(tmp_path):
    with pytest.raises(BadInput, match=r"no config\.json"):
        TransformersBackend(Model(path=str(tmp_path)))


def test_a_model_that_was_never_downloaded_is_refused_without_the_network():
    with pytest.raises(BadInput, match="does not load"):
        TransformersBackend(Model(hub_id="nobody/nothing", revision="0" * 40))


def test_a_label_of_two_tokens_is_refused(backend):
    class Pieces:
        unk_token_id = None

        def __call__(self, text, add_special_tokens):
            return {"input_ids": [ord(c) for c in text.replace("A", "ab")]}

        def convert_ids_to_tokens(self, ids):
            return [chr(i) for i in ids]

    with pytest.raises(BadInput, match="not one known token"):
        Continuations(Pieces()).letters("answer:", ord(":"), ["A", "B"])


def test_a_letter_that_melts_into_the_prompt_takes_the_space_before_it():
    class Words:
        unk_token_id = 0

        def __call__(self, text, add_special_tokens):
            known = {"answer": 1, "A": 2, "B": 3}
            return {"input_ids": [known.get(word, 0) for word in text.split()]}

        def convert_ids_to_tokens(self, ids):
            return list(map(str, ids))

    found = Continuations(Words()).letters("the answer", 1, ["A", "B"])
    assert found == [2, 3]
