"""The backend reads the right tokens, whatever shares the batch, and refuses what it cannot ask."""

import dataclasses
import json
import shutil
from pathlib import Path
from string import ascii_uppercase

import numpy as np
import pytest
import torch
from asked import difference, questions
from families import load
from scipy.special import logsumexp

from benchc.config.models import TransformersModel
from benchc.errors import BadInput
from benchc.models.choices import Item
from benchc.models.option_tokens import Continuations
from benchc.models.transformers_backend import TransformersBackend


def test_padding_on_the_wrong_side_would_be_seen(backend, monkeypatch):
    """The check of batches can fail: without the mask the same batch gives other answers."""
    asked = questions(8)
    right = backend.score(asked)
    encode = backend.encoder.encode

    def unmasked(batch):
        inputs = encode(batch)
        return {**inputs, "attention_mask": torch.ones_like(inputs["attention_mask"])}

    monkeypatch.setattr(backend.encoder, "encode", unmasked)
    assert difference(right, backend.score(asked)) > 1e-5


def test_a_processor_that_pads_on_the_right_is_refused(backend, monkeypatch):
    monkeypatch.setattr(backend.encoder.processor.tokenizer, "padding_side", "right")
    with pytest.raises(BadInput, match="pads on the right"):
        backend.score(questions(8))


def test_logits_are_those_of_the_next_token(backend):
    """An independent reading: the whole forward pass, unpadded, in the plainest way."""
    question = questions(3)[2]
    processor = backend.encoder.processor
    inputs = processor(
        text=[backend.encoder.rendered(question)], images=[[question.image]], return_tensors="pt"
    )
    with torch.inference_mode():
        logits = backend.model(**inputs).logits[0, -1].double().numpy()
    vocabulary = processor.tokenizer.get_vocab()
    ids = [vocabulary[letter] for letter in "ABCDEF"[: len(question.options)]]
    score = backend.score([question])[0]
    np.testing.assert_allclose(score.logits, logits[ids], atol=1e-5)
    mass = np.exp(logsumexp(logits[ids]) - logsumexp(logits))
    assert score.option_mass == pytest.approx(mass, abs=1e-6)
    explained = backend.explain(question)
    assert explained.option_tokens[0].startswith("['A']")
    assert explained.next_tokens[0][1] == pytest.approx(
        np.exp(logits.max() - logsumexp(logits)), abs=1e-6
    )


def test_a_reserved_token_in_a_question_is_a_status(backend):
    image_token = backend.encoder.processor.image_token
    plain = questions(1)[0]
    asked = [
        dataclasses.replace(plain, question=f"what does {image_token} mean ?"),
        plain,
        dataclasses.replace(plain, options=("red", image_token)),
    ]
    assert [s.status for s in backend.score(asked)] == ["reserved_token", "ok", "reserved_token"]


def test_a_prompt_longer_than_the_context_is_a_status_and_the_others_are_asked(backend):
    asked = questions(3)
    long = dataclasses.replace(asked[1], question="word " * 5000)
    scores = backend.score([asked[0], long, asked[2]])
    assert [score.status for score in scores] == ["ok", "too_long", "ok"]
    assert difference(scores[::2], backend.score(asked)[::2]) < 1e-5


def test_a_picture_too_thin_for_the_processor_is_a_status_and_the_others_are_asked(backend):
    asked = questions(3)
    thin = dataclasses.replace(asked[1], image=np.zeros((2, 900, 3), dtype=np.uint8))
    scores = backend.score([asked[0], thin, asked[2]])
    assert [score.status for score in scores] == ["ok", "processor_error", "ok"]
    assert difference(scores[::2], backend.score(asked)[::2]) < 1e-5
    assert "aspect ratio" in next(iter(backend.facts()["processor_errors"]))


def test_a_label_that_no_token_holds_is_a_status(backend, monkeypatch):
    letters = backend.encoder.continuations.letters

    def no_fifth(prompt, last_id, labels):
        if "E" in labels:
            raise BadInput("E is two tokens")
        return letters(prompt, last_id, labels)

    monkeypatch.setattr(backend.encoder.continuations, "letters", no_fifth)
    asked = [dataclasses.replace(questions(1)[0], options=("red",) * n) for n in (2, 5, 3)]
    assert [s.status for s in backend.score(asked)] == ["ok", "unreadable_option", "ok"]


class SmallMemory:
    """Wraps a model's forward pass: more than `rows` prompts do not fit."""

    def __init__(self, model, rows):
        self.forward, self.rows, self.seen = model.forward, rows, []

    def __call__(self, *arguments, **named):
        count = len(named["input_ids"])
        self.seen.append(count)
        if count > self.rows:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return self.forward(*arguments, **named)


@pytest.fixture
def small(backend, monkeypatch):
    """The model with room for a few prompts, its batch size put back afterwards."""

    def limit(rows):
        memory = SmallMemory(backend.model, rows)
        monkeypatch.setattr(backend.model, "forward", memory)
        return memory

    monkeypatch.setattr(backend, "batch_size", 8)
    return limit


def test_a_batch_that_does_not_fit_is_halved_for_good(backend, small):
    asked = questions(24)
    before = backend.score(asked)
    memory = small(2)
    assert difference(before, backend.score(asked)) < 1e-5
    assert backend.ran_on()["batch_size"] == 2
    # the batch that was prepared ahead is the last one of the old size
    assert memory.seen.index(2) < 4
    assert 8 not in memory.seen[memory.seen.index(2) + 10 :]


def test_a_prompt_that_does_not_fit_alone_is_a_status(backend, small):
    small(0)
    assert {score.status for score in backend.score(questions(3))} == {"out_of_memory"}


def test_auto_finds_the_largest_batch_that_fits(backend, small):
    items = backend.encoder.items(questions(5))
    memory = small(11)
    assert backend._largest_that_fits(items) == 8
    assert memory.seen == [2, 4, 8, 16]


def test_auto_on_a_cpu_is_a_fixed_size(checkpoint_of):
    backend = load(checkpoint_of("llava"), "llava", batch_size="auto")
    backend.score(questions(2))
    assert backend.ran_on()["batch_size"] == 64


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_is_cast_before_the_softmax(backend_of, dtype):
    half = backend_of("llava", dtype=dtype)
    asked = questions(4)
    scores = half.score(asked)
    assert difference(scores, backend_of("llava").score(asked)) < 0.02
    assert all(0 < score.option_mass < 1 for score in scores)
    grid = torch.tensor(scores[0].logits, dtype=torch.float64)
    assert torch.equal(grid, grid.to(getattr(torch, dtype)).double())


def test_eager_attention_gives_the_same(backend, backend_of):
    asked = questions(6)
    eager = backend_of("qwen2_vl", attention="eager")
    assert difference(eager.score(asked), backend.score(asked)) < 1e-5


def test_what_two_runs_may_differ_in_is_recorded(checkpoint_of):
    backend = load(checkpoint_of("qwen2_vl"), "qwen2_vl")
    facts = backend.facts()
    assert [letter["token"] for letter in facts["option_tokens"].values()] == list(ascii_uppercase)
    assert facts["image_processor"]["patch_size"] == 14
    assert facts["trial_prompt_tokens"] > 24
    backend.score(questions(2))
    assert backend.facts() == facts
    json.dumps(facts), json.dumps(backend.ran_on())


def test_a_pixel_limit_reaches_the_processor(backend):
    question = dataclasses.replace(questions(1)[0], image=np.zeros((500, 500, 3), dtype=np.uint8))
    size = {"shortest_edge": 28 * 28, "longest_edge": 28 * 28 * 6}
    limited = load(backend.settings.path, "qwen2_vl", processor={"size": size})
    grids = [b.encoder.encode([Item(0, question)])["image_grid_thw"] for b in (backend, limited)]
    free, tight = (int(grid.prod()) // 4 for grid in grids)
    assert tight <= 6 < free


def test_a_setting_that_the_processor_does_not_know_is_refused(checkpoint_of):
    with pytest.raises(BadInput, match=r"no setting 'max_pixel'; known: .*size"):
        load(checkpoint_of("qwen2_vl"), "qwen2_vl", processor={"max_pixel": 100})


# Checkpoints that are refused.


@pytest.fixture
def copy(checkpoint_of, tmp_path):
    """A checkpoint that a test may damage."""
    folder = tmp_path / "checkpoint"
    shutil.copytree(checkpoint_of("qwen2_vl"), folder)
    return folder


def refused(folder, says, **settings):
    with pytest.raises(BadInput, match=says):
        TransformersBackend(TransformersModel(path=str(folder), **settings))


def test_a_checkpoint_without_a_template_is_refused_before_its_weights_load(copy):
    (copy / "chat_template.jinja").unlink()
    (copy / "model.safetensors").unlink()
    refused(copy, "no chat template; give a Jinja file")


def test_a_template_file_takes_the_place_of_a_missing_one(copy, backend, tmp_path):
    template = shutil.move(copy / "chat_template.jinja", tmp_path / "mine.jinja")
    mine = load(copy, "qwen2_vl", chat_template=str(template))
    asked = questions(2)
    assert mine.score(asked) == backend.score(asked)


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("{{ messages[0].content + 1 }}", "chat template fails"),
        ("{% if", "chat template fails"),
        ("hello", "drops the question"),
        ("{{ messages[0].content[1].text }} answer:", "drops the question or the picture"),
        ("<|image_pad|>{{ messages[0].content[1].text }}\n<think>\n", "opens a thought, .<think>"),
    ],
)  # fmt: skip
def test_a_template_that_cannot_be_used_is_refused(copy, template, says):
    (copy / "chat_template.jinja").write_text(template)
    (copy / "model.safetensors").unlink()
    refused(copy, says)


def test_thinking_is_switched_off_where_the_template_can(copy):
    template = (copy / "chat_template.jinja").read_text()
    thought = "<think>{% if enable_thinking is false %}</think>{% endif %}"
    (copy / "chat_template.jinja").write_text(
        template.replace("assistant\n", "assistant\n" + thought)
    )
    backend = load(copy, "qwen2_vl")
    assert backend.encoder.rendered(questions(1)[0]).endswith("<think></think>")
    assert backend.score(questions(2))[0].status == "ok"


def test_weights_that_are_in_no_file_are_refused(copy):
    from safetensors.torch import load_file, save_file

    weights = load_file(copy / "model.safetensors")
    weights.pop("lm_head.weight")
    save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    refused(copy, r"no weights for lm_head\.weight")


@pytest.mark.parametrize(
    ("family", "part", "name"),
    [
        ("qwen2_vl", "text_config", "num_hidden_layers"),
        ("qwen2_vl", "vision_config", "depth"),
        ("llava", "text_config", "num_hidden_layers"),
    ],
)
@pytest.mark.parametrize("fewer", [0, 1])
def test_layers_that_the_config_does_not_count_are_refused(
    checkpoint_of, tmp_path, family, part, name, fewer
):
    folder = tmp_path / family
    shutil.copytree(checkpoint_of(family), folder)
    config = json.loads((folder / "config.json").read_text())
    assert config[part][name] > fewer
    config[part][name] = fewer
    config[part].pop("layer_types", None)
    (folder / "config.json").write_text(json.dumps(config))
    refused(folder, r"no layer of the model takes .*; its config.json counts fewer layers")


def test_a_torn_file_of_weights_is_refused(copy):
    weights = copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    refused(copy, "does not load")


class Hostile:
    """Runs code when it is unpickled."""

    def __init__(self, place):
        self.place = place

    def __reduce__(self):
        return (Path.touch, (self.place,))


@pytest.mark.parametrize("as_zip", [True, False])
def test_a_pickle_that_holds_code_is_refused_in_our_own_words(copy, tmp_path, as_zip):
    (copy / "model.safetensors").unlink()
    content = {"lm_head.weight": Hostile(tmp_path / "ran")}
    torch.save(content, copy / "pytorch_model.bin", _use_new_zipfile_serialization=as_zip)
    with pytest.raises(BadInput, match="cannot be read as tensors alone") as caught:
        TransformersBackend(TransformersModel(path=str(copy)))
    assert "weights_only" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "ran").exists()


def test_weights_outside_of_the_folder_are_refused(copy):
    shutil.move(copy / "model.safetensors", copy.parent / "weights.safetensors")
    index = {"metadata": {}, "weight_map": {"lm_head.weight": "../weights.safetensors"}}
    (copy / "model.safetensors.index.json").write_text(json.dumps(index))
    refused(copy, "lies outside of the checkpoint's folder")


@pytest.mark.parametrize("lacking", ["patch_size", "vision_feature_select_strategy"])
def test_what_a_processor_lacks_is_named(checkpoint_of, tmp_path, lacking):
    folder = tmp_path / "checkpoint"
    shutil.copytree(checkpoint_of("llava"), folder)
    config = json.loads((folder / "processor_config.json").read_text())
    del config[lacking]
    (folder / "processor_config.json").write_text(json.dumps(config))
    refused(folder, f"fails on a plain question: .*processor_config.json does not say .*{lacking}")


def test_code_that_a_checkpoint_brings_is_refused(copy):
    config = json.loads((copy / "config.json").read_text())
    config |= {"model_type": "of_their_own", "auto_map": {"AutoConfig": "theirs.Theirs"}}
    (copy / "config.json").write_text(json.dumps(config))
    (copy / "theirs.py").write_text("raise SystemExit('ran foreign code')\n")
    refused(copy, "needs code of its own")


def test_a_missing_checkpoint_is_refused(tmp_path):
    refused(tmp_path, r"no config\.json")


def test_a_model_that_was_never_downloaded_is_refused_without_the_network():
    with pytest.raises(BadInput, match=r"revision 0+ is not in .*`benchc fetch files` fetches it"):
        TransformersBackend(TransformersModel(hub_id="nobody/nothing", revision="0" * 40))


def test_a_label_of_two_tokens_is_refused():
    class Pieces:
        unk_token_id = None

        def __call__(self, text, add_special_tokens):
            return {"input_ids": [ord(c) for c in text.replace("A", "ab")]}

        def convert_ids_to_tokens(self, ids):
            return [chr(i) for i in ids]

    with pytest.raises(BadInput, match="not one token"):
        Continuations(Pieces()).letters("answer:", ord(":"), ["A", "B"])


class Words:
    """A tokenizer of three words; what it does not know is token 0."""

    unk_token_id = 0

    def __call__(self, text, add_special_tokens):
        known = {"answer": 1, "A": 2, "B": 3}
        return {"input_ids": [known.get(word, 0) for word in text.split()]}

    def convert_ids_to_tokens(self, ids):
        return list(map(str, ids))


def test_a_letter_that_melts_into_the_prompt_takes_the_space_before_it():
    assert Continuations(Words()).letters("the answer", 1, ["A", "B"]) == [2, 3]


def test_a_letter_out_of_the_vocabulary_is_refused():
    with pytest.raises(BadInput, match="does not know every character of 'Z'"):
        Continuations(Words()).letters("the answer", 1, ["A", "Z"])


def test_an_option_that_melts_into_the_prompt_is_refused():
    class Whole:
        unk_token_id = None

        def __call__(self, text, add_special_tokens):
            return {"input_ids": [hash(text)]}

    with pytest.raises(BadInput, match="melts into the end of the prompt"):
        Continuations(Whole()).ids("answer:", hash("answer:"), "A")
