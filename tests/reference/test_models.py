from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForImageTextToText, AutoProcessor

from benchc.keyed import generator
from benchc.reference.lessons import (
    FIELDS,
    SHORT,
    collate,
    describe,
    matching_lessons,
    opening,
    photograph,
    shorten,
    write_lessons,
)
from benchc.reference.measure import encode, option_probabilities, score
from benchc.reference.models import KEYS, PIECES, build, prompt
from benchc.reference.plans import Plan
from benchc.reference.store import save_model
from benchc.reference.teach import Describer, features, hidden, train
from benchc.reference.tokens import UNKNOWN, build_tokenizer, token_id, token_ids
from benchc.world.samples import draw_pool, training_samples

STORED = Path(__file__).parents[2] / "reference"
FLOOR = {"llava": 0.65, "qwen2vl": 0.85, "paligemma": 0.65, "idefics3": 0.65}


@pytest.fixture(scope="module")
def pool():
    return list(draw_pool(120, 77))


@pytest.fixture(autouse=True)
def _one_thread():
    torch.set_num_threads(1)


def test_labels_are_one_token_in_context_and_apart_from_the_article():
    tokenizer = build_tokenizer()
    (ids,) = token_ids(tokenizer, ["Is it a star?\nA. a red star\nB. Bus\nanswer"])
    tokens = tokenizer.convert_ids_to_tokens(ids)
    assert tokens == ["is", UNKNOWN, "a", "star", "?", "A", "a", "red", "star", "B", "bus",
                      "answer"]  # fmt: skip
    for i in range(26):
        (after,) = token_ids(tokenizer, [f"answer {chr(65 + i)}"])
        assert after[1:] == [token_id(tokenizer, chr(65 + i))]


def test_the_grammar_is_in_the_vocabulary(pool):
    tokenizer = build_tokenizer()
    unknown = token_id(tokenizer, UNKNOWN)
    texts = [prompt(s.question, s.options) for s in pool]
    assert all(unknown not in ids for ids in token_ids(tokenizer, texts))


@pytest.mark.parametrize("key", KEYS)
def test_training_sees_what_the_processor_makes(key, pool):
    torch.manual_seed(0)
    architecture = build(key)
    architecture.model.eval()
    few = pool[:6]
    inputs = encode(architecture.processor, few, [prompt(s.question, s.options) for s in few])
    texts = [prompt(s.question, s.options) + "\nanswer" for s in few]
    start = opening(architecture)
    ours = [start + ids for ids in token_ids(architecture.tokenizer, texts)]
    rows = zip(inputs["input_ids"], inputs["attention_mask"], strict=True)
    assert [ids[mask.bool()].tolist() for ids, mask in rows] == ours
    assert max(map(len, ours)) <= 80

    pixels = photograph([s.scene for s in few])
    for name, value in architecture.picture(pixels).items():
        torch.testing.assert_close(value, inputs[name])
    with torch.inference_mode():
        whole = architecture.model(**inputs).logits[:, -1]
        seen = features(architecture, pixels)
        assert seen.shape[1] == PIECES
        states = hidden(architecture, inputs["input_ids"], inputs["attention_mask"], seen)
        parts = architecture.model.lm_head(states[:, -1])
    torch.testing.assert_close(whole, parts, atol=1e-5, rtol=1e-4)


def test_lessons_point_at_the_right_tokens():
    architecture = build("llava")
    samples = list(training_samples(20, 3))
    scenes, lessons = write_lessons(samples, architecture, 0.25, generator("test"))
    assert len(scenes) == 20
    tokenizer = architecture.tokenizer
    for sample, lesson in zip(samples, lessons, strict=True):
        said = tokenizer.convert_ids_to_tokens([token for _, token in lesson.words])
        right = sample.options[sample.answer]
        if lesson.letter < 0:
            assert " ".join(said) == f"{right} <eos>"
        else:
            assert said == right.split()[:1]
            assert [right for _, right in lesson.marks].index(1) == sample.answer
            ends = tokenizer.convert_ids_to_tokens([lesson.ids[i] for i, _ in lesson.marks])
            assert ends == [option.split()[-1] for option in sample.options]
    batch = collate(lessons + matching_lessons(architecture, 5, generator("test")), 0)
    assert (batch.ids[batch.mask == 0] == 0).all()


@pytest.mark.parametrize("key", KEYS)
def test_no_word_of_an_answer_is_seen_before_it_is_said(key):
    torch.manual_seed(0)
    architecture = build(key)
    architecture.model.eval()
    samples = list(training_samples(3, 3))
    _, lessons = write_lessons(samples, architecture, 1.0, generator("test"))
    pad = architecture.tokenizer.pad_token_id
    batch = collate(lessons, pad)
    seen = torch.randn(
        len(lessons), PIECES, architecture.model.config.get_text_config().hidden_size
    )
    changed = torch.where(batch.spoken == 1, pad + 1, batch.ids)
    with torch.inference_mode():
        one, other = (
            hidden(architecture, ids, batch.mask, seen, batch.spoken)
            for ids in (batch.ids, changed)
        )
    unsaid = batch.spoken == 0
    assert not unsaid.all()
    torch.testing.assert_close(one[unsaid], other[unsaid])
    assert not torch.allclose(one[~unsaid], other[~unsaid])


def test_descriptions_say_what_is_where(pool):
    scene = pool[0].scene
    table = describe([scene])[0]
    assert (table > 0).any(-1).sum() == len(scene.shapes) + len(scene.signs)
    assert (table <= torch.tensor([len(values) for _, values in FIELDS])).all()
    tables = describe([sample.scene for sample in pool])
    cells = shorten(tables, generator("test"))
    assert cells.shape == (len(pool), SHORT)
    kept = tables.gather(1, cells[..., None].expand(-1, -1, len(FIELDS)))
    assert (kept.sum(1) == tables.sum(1)).all()
    architecture = build("llava")
    describer = Describer(architecture.model.get_input_embeddings(), architecture.tokenizer)
    assert describer(table[None]).shape == (1, PIECES, describer.width)


@pytest.mark.parametrize("key", KEYS)
def test_a_stored_model_gives_what_the_trained_one_gave(key, pool, tmp_path):
    torch.manual_seed(0)
    architecture = build(key)
    architecture.model.eval()
    save_model(architecture, tmp_path, [{"stage": "none", "step": 0}], "card")
    before = option_probabilities(architecture.model, architecture.processor, pool[:12])
    loaded = AutoModelForImageTextToText.from_pretrained(tmp_path, dtype="float32").eval()
    after = option_probabilities(loaded, AutoProcessor.from_pretrained(tmp_path), pool[:12])
    for a, b in zip(before, after, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


def test_all_stages_of_training_run():
    lines: list[str] = []
    plan = Plan(matching=2, listing=2, language=2, vision=2, joint=2, scenes=24)
    trained = train(
        "qwen2vl", 0, plan, lambda architecture, describer: {"probe": 1.0}, lines.append
    )
    stages = dict.fromkeys(row["stage"] for row in trained.log)
    assert list(stages) == ["matching", "listing", "language", "vision", "joint"]
    assert all(np.isfinite(row["loss"]) for row in trained.log)
    assert len(lines) == len(trained.log) + 1


def test_a_stage_left_out_stays_out_of_a_shorter_plan_and_of_the_card():
    plan = Plan(matching=150, listing=1000, language=10, vision=1, joint=0, scenes=12_000)
    short = plan.scaled(0.01)
    assert short == Plan(matching=2, listing=10, language=2, vision=2, joint=0, scenes=120)
    assert "10 steps of questions about lists" in short.told()
    assert "pictures" not in short.told()


@pytest.mark.parametrize("key", KEYS)
def test_a_stored_checkpoint_answers(key, pool):
    folder = STORED / key
    assert sum(f.stat().st_size for f in folder.iterdir()) < 10e6
    model = AutoModelForImageTextToText.from_pretrained(folder, dtype="float32").eval()
    probabilities = option_probabilities(model, AutoProcessor.from_pretrained(folder), pool)
    assert all(np.isfinite(p).all() for p in probabilities)
    scores = score(probabilities, pool)
    assert scores["accuracy"] > FLOOR[key]
    assert scores["entropy"] > 0.02
    assert np.mean([p.max() for p in probabilities]) < 0.995


def test_the_stored_clip_pairs_pictures_and_captions():
    import open_clip

    from benchc.reference.clip import recall

    name = f"local-dir:{STORED / 'clip'}"
    model, _ = open_clip.create_model_from_pretrained(name)
    model.eval()
    assert open_clip.get_tokenizer(name)("a red star").shape == (1, 64)
    assert recall(model, 64)["image_to_text_recall1"] > 0.5


@pytest.mark.parametrize("key", ["llava", "qwen2vl", "idefics3"])
def test_a_stored_model_is_scored_by_text(pool, key):
    """Its vocabulary holds the words of the drawn world, and few others."""
    from benchc.config.models import TransformersModel
    from benchc.models.scores import Question
    from benchc.models.transformers_backend import TransformersBackend
    from benchc.world.picture import draw

    settings = TransformersModel(path=str(STORED / key), scoring="text", instruction="")
    asked = [Question(draw(s.scene), s.question, tuple(s.options)) for s in pool[:24]]
    scores = TransformersBackend(settings).score(asked)
    assert {score.status for score in scores} == {"ok"}
    chosen = [int(np.argmax(score.logits)) for score in scores]
    assert np.mean([c == s.answer for c, s in zip(chosen, pool[:24], strict=True)]) > 0.5
