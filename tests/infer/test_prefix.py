"""A prefix stands in front of a prompt once, and nothing behind it: in the ids that run."""

import shutil

import numpy as np
import pytest
import torch
from asked import questions
from families import FAMILIES, load
from family_parts import GLM_PREFIX
from tokenizers import processors

from benchc.config.discovery import Imitate, Questioner, Reinforce
from benchc.config.models import TransformersModel
from benchc.discover.imitate import imitate
from benchc.discover.memory import FailureMemory
from benchc.discover.play import play
from benchc.discover.players import Judgement, Picture, Unanswered
from benchc.discover.speech import ModelAnswerer, ModelQuestioner
from benchc.discover.train import reinforce
from benchc.errors import BadInput
from benchc.models import prefix
from benchc.models.checkpoint import load_model
from benchc.models.choices import Item
from benchc.models.encode import Encoder

GREY = np.full((224, 224, 3), 128, dtype=np.uint8)
PICTURES = [Picture(str(n), lambda n=n: np.full((224, 224, 3), 40 * n, np.uint8)) for n in (1, 2)]


def of_prefix(names, prefix):
    return [name for name in names if name in prefix]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_prefix_runs_once_in_scoring(backend_of, family):
    encoder = backend_of(family).encoder
    tokenizer = encoder.processor.tokenizer
    ids = encoder.encode([Item(0, questions(1)[0])])["input_ids"][0].tolist()
    names = tokenizer.convert_ids_to_tokens(ids)
    prefix = GLM_PREFIX if family == "internvl" else (tokenizer.bos_token,)
    if prefix[0] is None:
        return
    # SmolVLM begins each turn with the token that begins its texts.
    assert of_prefix(names, prefix) == list(prefix)
    if family != "paligemma":
        assert names[: len(prefix)] == list(prefix)


class Listening:
    """A model that writes nothing, and keeps the ids that it was given."""

    def __init__(self, model):
        self.model = model
        self.seen = []

    def __getattr__(self, name):
        return getattr(self.model, name)

    def generate(self, **inputs):
        masks = inputs["attention_mask"].bool()
        self.seen += [
            row[mask].tolist() for row, mask in zip(inputs["input_ids"], masks, strict=True)
        ]
        return torch.cat([inputs["input_ids"], inputs["input_ids"][:, :1]], dim=1)


@pytest.mark.parametrize("family", ["llava", "gemma3", "mllama", "deepseek_vl", "internvl"])
def test_a_prefix_runs_once_in_generation(checkpoint_of, family):
    settings = TransformersModel(path=str(checkpoint_of(family)))
    model, encoder = Listening(load_model(settings)), Encoder(settings)
    prefix = GLM_PREFIX if family == "internvl" else (encoder.processor.tokenizer.bos_token,)
    ModelAnswerer(model, encoder, "answerer_drawn", 6).answer(PICTURES, ["what ?", "which one ?"])
    asking = Questioner(path=str(checkpoint_of(family)))
    ModelQuestioner(model, encoder, asking).ask(PICTURES, [(), ()], 1)
    assert len(model.seen) == 4
    for ids in model.seen:
        names = encoder.processor.tokenizer.convert_ids_to_tokens(ids)
        assert of_prefix(names, prefix) == list(prefix)
        assert names[: len(prefix)] == list(prefix)


TRAINED = {
    "the template writes it": (("<s>",), True),
    "the tokenizer alone writes it": (("<s>",), False),
    "GLM's, the template writes it": (GLM_PREFIX, True),
    "GLM's, the tokenizer alone writes it": (GLM_PREFIX, False),
}


@pytest.fixture
def questioner(checkpoint_of, tmp_path, request):
    """A questioner whose tokenizer writes a prefix by itself, and the prefix."""
    prefix, in_template = TRAINED[request.param]
    folder = write(checkpoint_of("qwen2_vl"), tmp_path / "checkpoint", before=prefix)
    if in_template:
        template = folder / "chat_template.jinja"
        template.write_text("".join(prefix) + template.read_text())
    settings = TransformersModel(path=str(folder))
    asking = Questioner(path=str(folder), max_tokens=4)
    return ModelQuestioner(load_model(settings), Encoder(settings), asking), prefix


def write(checkpoint, folder, before=(), behind=()):
    """A copy of a checkpoint whose tokenizer writes tokens around every text."""
    shutil.copytree(checkpoint, folder)
    encoder = Encoder(TransformersModel(path=str(checkpoint)))
    tokenizer = encoder.processor.tokenizer
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single=[*before, "$A", *behind],
        special_tokens=[(t, tokenizer.convert_tokens_to_ids(t)) for t in (*before, *behind)],
    )
    tokenizer.save_pretrained(folder)
    return folder


def listen(model):
    """What a model's forward passes over whole prompts are given, without padding."""
    seen, padding = [], model.config.text_config.pad_token_id

    def hear(_, arguments, inputs):
        rows = inputs["input_ids"].tolist()
        seen.extend([t for t in row if t != padding] for row in rows if len(row) > 1)

    model.register_forward_pre_hook(hear, with_kwargs=True)
    return seen


def expected(questioner, prefix):
    encoder = questioner.encoder
    inputs = encoder.tensors([encoder.chat(questioner.prompt())], [GREY])
    ids = inputs["input_ids"][0].tolist()
    names = encoder.processor.tokenizer.convert_ids_to_tokens(ids)
    assert names[: len(prefix)] == list(prefix)
    assert of_prefix(names, prefix) == list(prefix)
    return ids


class Reward:
    """Any reward: what is asked counts here, not what is learnt."""

    __name__ = "any"

    def __init__(self):
        self.counts = {}
        self.memory = FailureMemory(1, 1)

    def __call__(self, completions, **_):
        return [float(n % 2) for n in range(len(completions))]


@pytest.mark.parametrize("questioner", TRAINED, indirect=True)
def test_trainers_run_the_ids_of_the_encoder(questioner, tmp_path):
    questioner, prefix = questioner
    ids = expected(questioner, prefix)
    seen = listen(questioner.model)
    options = Reinforce(pictures=1, group=2, iterations=1, kl=0)
    reinforce(questioner, PICTURES, Reward(), lambda: 0.0, tmp_path / "rl", options, 1, 1)
    reinforced = len(seen)
    imitate(questioner, [(PICTURES[0], ["what ?", "which ?"])], tmp_path / "sft", Imitate(), 1)
    assert len(seen) > reinforced >= 2 * 2
    assert all(row[: len(ids)] == ids for row in seen)


@pytest.mark.parametrize("scoring", ["letter", "text"])
@pytest.mark.parametrize("before", [(), ("<s>",), GLM_PREFIX])
def test_what_a_tokenizer_writes_behind_a_prompt_is_taken_off(
    backend_of, checkpoint_of, tmp_path, scoring, before
):
    folder = write(checkpoint_of("qwen2_vl"), tmp_path / "both", before, behind=("</s>",))
    plain = write(checkpoint_of("qwen2_vl"), tmp_path / "front", before)
    asked = questions(3)
    scores, right = (load(f, "qwen2_vl", scoring=scoring).score(asked) for f in (folder, plain))
    assert scores == right
    assert {score.status for score in scores} == {"ok"}


class SlowTokenizer:
    """A tokenizer whose way of writing cannot be set."""

    is_fast = False
    all_special_ids = (7, 8)
    bos_token_id = 7

    def __init__(self, before=(), behind=()):
        self.added_tokens_decoder = {}
        self.before, self.behind = list(before), list(behind)

    def __call__(self, text, add_special_tokens=True):
        words = [ord(c) for c in text]
        return {"input_ids": [*self.before, *words, *self.behind] if add_special_tokens else words}

    def decode(self, ids):
        return chr(ids[0])

    def convert_ids_to_tokens(self, ids):
        return [f"<{i}>" for i in ids]


def test_a_slow_tokenizer_that_writes_behind_is_refused_with_the_way_out():
    with pytest.raises(BadInput, match=r"writes <8> around every text.*`add_eos_token` to false"):
        prefix.write_only(SlowTokenizer(behind=[8]), ())


def test_a_prefix_that_stays_twice_is_refused_with_its_ids():
    slow = SlowTokenizer(before=[7])
    with pytest.raises(BadInput, match=r"begin with a token twice: \['<7>', '<7>', '<97>'\]"):
        prefix.check_ids([7, 7, 97], [7, 97], slow, prefix.added_by(slow))


def test_what_a_processor_writes_behind_is_refused():
    with pytest.raises(BadInput, match="writes <8> behind the prompt"):
        prefix.check_ids([97, 8], [97], SlowTokenizer(), prefix.Added())


@pytest.mark.parametrize(
    ("written", "needed"),
    [
        ([97], (7, 8)),
        ([7, 8, 97], ()),
        ([ord("\n"), 7, 8, 97], ()),
        ([8, 97], ()),
        ([97, 7, 8], (7, 8)),
    ],
)
def test_a_prefix_is_needed_where_the_template_has_written_none_of_it(written, needed):
    added = prefix.Added((7, 8))
    assert prefix.needed(added, written, SlowTokenizer()) == needed


# Questions that cannot be put to a model under test.


def test_a_question_that_cannot_be_asked_is_a_status_and_the_others_are_answered(checkpoint_of):
    settings = TransformersModel(path=str(checkpoint_of("qwen2_vl")))
    model, encoder = load_model(settings), Encoder(settings)
    thin = Picture("thin", lambda: np.zeros((2, 900, 3), np.uint8))
    asked = [
        (PICTURES[0], "what does <image> mean ?"),
        (PICTURES[0], "what ?"),
        (PICTURES[1], "<|im_end|> which one ?"),
        (thin, "which one ?"),
        (PICTURES[1], "word " * 5000),
    ]
    pictures, texts = zip(*asked, strict=True)
    answers = ModelAnswerer(model, encoder, "answerer_drawn", 2).answer(pictures, texts)
    reserved = Unanswered("reserved_token")
    assert isinstance(answers[1], str)
    assert [answers[i] for i in (0, 2)] == [reserved, reserved]
    assert answers[3:] == [Unanswered("processor_error"), Unanswered("too_long")]


def test_a_question_with_a_reserved_token_is_no_failure_of_the_model(checkpoint_of):
    settings = TransformersModel(path=str(checkpoint_of("qwen2_vl")))
    answerer = ModelAnswerer(load_model(settings), Encoder(settings), "answerer_drawn", 2)
    outcomes = play(PICTURES[:1], [["what is <image> ?", "what ?"]], answerer, Granting())
    assert [o.judgement.failure for o in outcomes] == ["reserved_token", None]
    assert [o.failed for o in outcomes] == [False, True]
    assert [o.judged for o in outcomes] == [False, True]


class Granting:
    """Grants every question, and finds every answer wrong."""

    def judge(self, pictures, questions):
        return [Judgement(True, True, True, True, "yes") for _ in questions]

    def compare(self, asked, truths, answers):
        return [False for _ in answers]


def test_an_example_with_a_reserved_token_is_not_shown(checkpoint_of):
    folder = str(checkpoint_of("qwen2_vl"))
    encoder = Encoder(TransformersModel(path=folder))
    questioner = ModelQuestioner(None, encoder, Questioner(path=folder))
    prompt = questioner.prompt(["what is <image> ?", "which is red ?"])
    assert "<image>" not in prompt
    assert "which is red ?" in prompt
