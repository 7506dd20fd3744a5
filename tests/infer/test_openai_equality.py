"""A reference model gives the same probabilities behind a server as in this process."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from protocol_server import Script, picture, serving, words
from scipy.special import softmax
from transformers import AutoModelForImageTextToText, AutoProcessor

from benchc.config.models import OpenAIModel, TransformersModel
from benchc.corrupt import corrupt
from benchc.models.openai_backend import OpenAIBackend
from benchc.models.scores import Question
from benchc.models.transformers_backend import TransformersBackend
from benchc.world.samples import draw, draw_pool

REFERENCE = Path(__file__).parents[2] / "reference"


class Served:
    """A checkpoint as a server runs it: the plainest forward pass, one request at a time."""

    def __init__(self, folder: Path):
        self.processor = AutoProcessor.from_pretrained(folder)
        self.model = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32).eval()

    @torch.inference_mode()
    def tokens(self, body: dict) -> list[tuple[str, float]]:
        """Return the `top_logprobs` likeliest next tokens of a request."""
        content = [{"type": "image"}, {"type": "text", "text": words(body)}]
        inputs = self.processor(
            text=[
                self.processor.apply_chat_template(
                    [{"role": "user", "content": content}], add_generation_prompt=True
                )
            ],
            images=[Image.fromarray(picture(body))],
            return_tensors="pt",
            add_special_tokens=False,
        )
        top = self.model(**inputs).logits[0, -1].double().log_softmax(-1).topk(body["top_logprobs"])
        texts = [self.processor.tokenizer.decode([i]) for i in top.indices.tolist()]
        return list(zip(texts, top.values.tolist(), strict=True))


@pytest.fixture(scope="module")
def questions():
    """Drawn questions, every other picture under heavy noise."""
    asked = []
    for i, sample in enumerate(draw_pool(12, seed=3)):
        image = draw(sample.scene)
        if i % 2:
            image = corrupt(image, "gaussian_noise", 5, seed=1, image_id=str(i))
        asked.append(Question(image, sample.question, tuple(sample.options)))
    return asked


@pytest.mark.parametrize("name", ["llava", "qwen2vl"])
def test_a_served_model_equals_the_same_model_here(name, questions):
    folder = REFERENCE / name
    here = TransformersBackend(TransformersModel(path=str(folder), instruction="")).score(questions)
    with serving(Script(Served(folder).tokens)) as url:
        common = {"backend": "openai", "url": url, "model": name, "instruction": ""}
        # The vocabulary is small enough to be returned whole.
        there = OpenAIBackend(OpenAIModel(**common, top_logprobs=250)).score(questions)
        few = OpenAIBackend(OpenAIModel(**common, top_logprobs=4)).score(questions)
    for one, other, partial in zip(here, there, few, strict=True):
        assert one.status == other.status == "ok"
        np.testing.assert_allclose(softmax(other.logits), softmax(one.logits), atol=1e-5)
        assert other.option_mass == pytest.approx(one.option_mass, abs=1e-5)
        if partial.status == "ok":
            np.testing.assert_allclose(partial.logits, other.logits, atol=1e-5)
        else:
            assert partial.status == "missing_option"
            assert (np.array(partial.logits) >= np.array(other.logits) - 1e-5).all()
    assert {score.status for score in few} == {"ok", "missing_option"}
