"""Teaches a reference model to ask random valid questions about a picture, four per sequence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F
from transformers import AutoModelForImageTextToText, AutoProcessor

from benchc.keyed import digest, generator
from benchc.reference.lessons import Batch, Lesson, opening, photograph
from benchc.reference.models import PREFIX, Architecture
from benchc.reference.teach import Trained, endless_batches, features, head_of, hidden, run_stage
from benchc.reference.tokens import END, PAD, token_id, token_ids
from benchc.world.questions import TEMPLATES, draw_query, evaluate, parse, phrase
from benchc.world.scene import Scene, sample_scene

QUESTIONS = 4
"""Questions in one sequence."""
ASK, LIKE = "ask", "like"
"""The word that ends a prompt, and the word before example questions; neither is in the grammar."""
STEPS, SCENES = 600, 16_000
"""The plan of the stored checkpoint."""
_BATCH = 64
_TEMPLATE = """\
{%- for message in messages -%}
{%- if message['role'] == 'assistant' -%}{{ 'ASK ' }}{%- endif -%}
{%- if message['content'] is string -%}{{ message['content'] }}{%- else -%}
{%- for part in message['content'] -%}
{%- if part['type'] == 'image' -%}PICTURE{%- else -%}{{ part['text'] }}{%- endif -%}
{%- endfor -%}
{%- endif -%}
{{ 'END' if message['role'] == 'assistant' else '\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ 'ASK' }}{%- endif -%}"""
_CATEGORIES = tuple(TEMPLATES)


def start_from(folder: Path) -> Architecture:
    """Return a stored reference model made ready to ask: two more words, another template.

    Args:
        folder: A checkpoint as `benchc reference train` writes it; the folder's name is its key.
    """
    processor = AutoProcessor.from_pretrained(folder)
    model = AutoModelForImageTextToText.from_pretrained(folder, dtype="float32")
    processor.tokenizer.add_tokens([ASK, LIKE])
    torch.manual_seed(0)
    model.resize_token_embeddings(len(processor.tokenizer), mean_resizing=False)
    picture = PREFIX[folder.name]
    processor.chat_template = (
        _TEMPLATE.replace("PICTURE", f"{{{{ '{picture}' }}}}")
        .replace("ASK", ASK)
        .replace("END", END)
    )
    return Architecture(folder.name, model, processor)


def validity(architecture: Architecture, n_pictures: int) -> float:
    """Return the share of valid questions among those asked about held-out pictures."""
    scenes = [sample_scene("questioner", "held-out", number) for number in range(n_pictures)]
    ids = opening(architecture) + token_ids(architecture.tokenizer, [ASK])[0]
    prompt = torch.tensor(ids).repeat(n_pictures, 1)
    torch.manual_seed(0)
    with torch.inference_mode():
        written = architecture.model.generate(  # type: ignore[operator]
            **architecture.inputs(prompt, torch.ones_like(prompt)),
            **architecture.picture(photograph(scenes)),
            max_new_tokens=72, do_sample=True, top_k=0)  # fmt: skip
    texts = architecture.tokenizer.batch_decode(written[:, len(ids) :], skip_special_tokens=True)
    valid = [
        is_valid(f"{question}?", scene)
        for text, scene in zip(texts, scenes, strict=True)
        for question in text.split("?")[:QUESTIONS]
    ]
    return sum(valid) / (QUESTIONS * n_pictures)


def is_valid(question: str, scene: Scene) -> bool:
    """Tell whether a question as the tokenizer writes it has one right answer for a scene."""
    text = question.strip().replace(" ?", "?").replace(" ,", ",")
    query = parse(text[:1].upper() + text[1:])
    return query is not None and evaluate(query, scene) is not None


def random_questions(
    scene: Scene, rng: np.random.Generator, categories: tuple[str, ...] = ()
) -> list[tuple[str, str]]:
    """Return up to `QUESTIONS` valid questions of different categories, each with its category.

    Args:
        scene: What is asked about.
        rng: Chooses categories, slots and phrasing.
        categories: The categories to ask for, in this order; all in random order by default.
    """
    found: list[tuple[str, str]] = []
    for category in categories or rng.permutation(_CATEGORIES):
        for _ in range(4):
            query = draw_query(str(category), scene, rng)
            if evaluate(query, scene) is not None:
                found.append((str(category), phrase(query, rng)))
                break
        if len(found) == QUESTIONS:
            break
    return found


def asking_lessons(
    architecture: Architecture, n_scenes: int, seed: int
) -> tuple[list[Scene], list[Lesson]]:
    """Return scenes with one lesson each; half of the prompts show questions to be like.

    The examples ask about another scene, are of the categories of the questions to write, and
    come in another order.
    """
    tokenizer, start = architecture.tokenizer, opening(architecture)
    scenes = [sample_scene("questioner", seed, number) for number in range(n_scenes)]
    prompts, targets = [], []
    for number, scene in enumerate(scenes):
        rng = generator("reference", "asking", seed, number)
        asked = random_questions(scene, rng)
        examples: list[tuple[str, str]] = []
        if rng.random() < 0.5:
            wanted = tuple(rng.permutation([category for category, _ in asked]))
            examples = random_questions(scenes[number - 1], rng, wanted)
        shown = " ".join(text for _, text in examples)
        prompts.append(f"{LIKE} {shown} {ASK}" if examples else ASK)
        targets.append(" ".join(text for _, text in asked))
    lessons = []
    for number, (before, after) in enumerate(
        zip(token_ids(tokenizer, prompts), token_ids(tokenizer, targets), strict=True)
    ):
        ids, following = start + before, [*after, tokenizer.eos_token_id]
        words = [(len(ids) - 1 + i, token) for i, token in enumerate(following)]
        lessons.append(Lesson(ids + after, number, words, -1, 0, [], []))
    return scenes, lessons


def teach_to_ask(
    folder: Path,
    seed: int,
    steps: int,
    n_scenes: int,
    report: Callable[[str], None],
) -> Trained:
    """Teach the stored model in `folder` to write random valid questions about a picture.

    Args:
        folder: The checkpoint to start from.
        seed: Seed of scenes, questions and order.
        steps: Batches of 64 lessons.
        n_scenes: Drawn scenes, one lesson each.
        report: Called with a line of progress.
    """
    trained = Trained(start_from(folder))
    architecture = trained.architecture
    torch.manual_seed(int.from_bytes(digest("reference", "asking", seed)[:7], "little"))
    scenes, lessons = asking_lessons(architecture, n_scenes, seed)
    report(f"{folder.name}: {len(lessons)} lessons in asking")
    pictures = photograph(scenes)
    rng = generator("reference", "asking", "order", seed)
    batches = endless_batches(lessons, token_id(architecture.tokenizer, PAD), rng, _BATCH)

    def asking() -> torch.Tensor:
        batch = next(batches)
        return asking_loss(architecture, batch, pictures[batch.scenes])

    run_stage(
        "asking", steps, list(architecture.model.parameters()), 0.01, 1e-3, asking, trained,
        dict, report)  # fmt: skip
    return trained


def asking_loss(architecture: Architecture, batch: Batch, pictures: torch.Tensor) -> torch.Tensor:
    """Return the mean cross-entropy of the questions' tokens.

    Args:
        architecture: The model that learns.
        batch: Prompts with the tokens that should follow.
        pictures: Their pictures, uint8 of shape (batch, 3, SIDE, SIDE).
    """
    seen = features(architecture, pictures)
    states = hidden(architecture, batch.ids, batch.mask, seen, batch.spoken)
    rows, positions, following = batch.words
    return F.cross_entropy(head_of(architecture)(states[rows, positions]), following)
