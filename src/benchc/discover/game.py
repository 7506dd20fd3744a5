"""Sets up a game: loads the players, makes the pictures ready, measures on held-out pictures."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch

from benchc.config.discovery import WAYS, Discover, Questioner
from benchc.config.models import OpenAIModel, TransformersModel
from benchc.corrupt import CLEAN
from benchc.discover.drawn import DrawnVerifier
from benchc.discover.embedding import Embedder
from benchc.discover.pictures import folder_pictures, pictures, refuse_unreadable
from benchc.discover.play import Outcome, play
from benchc.discover.players import Answerer, Picture, Verifier
from benchc.discover.speech import ModelAnswerer, ModelQuestioner
from benchc.discover.ways import Examples, Game
from benchc.discover.work import REQUESTS
from benchc.errors import BadInput
from benchc.keyed import digest
from benchc.models.checkpoint import device, load_model
from benchc.models.encode import Encoder

LEAST_RIGHT = 0.2
"""Share of plain questions that a model which can answer in words gets right."""


def prepare(
    settings: Discover,
    model: TransformersModel | OpenAIModel,
    folder: Path,
    seed: int,
    corruption: str = CLEAN,
    severity: int = 0,
    reference_side: int | None = None,
    way: str | None = None,
) -> Game:
    """Return a game with the base questioner.

    Args:
        settings: The section `discover` of the config.
        model: The model under test.
        folder: Where the training keeps its files; it exists.
        seed: Seed of the run.
        corruption: What is done to every picture.
        severity: Severity of the corruption; 0 for clean pictures.
        reference_side: See `benchc.corrupt.condition`.
        way: The way to ask, which says what pictures it cannot do without; None for all of them.

    Raises:
        BadInput: a checkpoint does not load, a picture cannot be read, or there are too few.
    """
    counts = {
        "held_out": settings.held_out,
        "validation": settings.validation,
        "training": settings.training,
    }
    shown = (seed, corruption, severity, reference_side)
    if settings.images is None:
        sets = {
            split: list(pictures(split.replace("_", "-"), count, *shown))
            for split, count in counts.items()
        }
    else:
        sets = folder_pictures(Path(settings.images), counts, *shown, needed=_needed(way))
        _say_fewer(sets, counts)
        refuse_unreadable(Path(settings.images), [p.key for split in sets.values() for p in split])
    return Game(
        questioner=load_questioner(settings.questioner, seed),
        answerer=load_answerer(settings, model),
        verifier=load_verifier(settings, folder),
        embedder=Embedder(settings.embedder),
        training=sets["training"],
        validation=sets["validation"],
        held_out=sets["held_out"],
        settings=settings,
        folder=folder,
        seed=seed,
    )


def _needed(way: str | None) -> tuple[str, ...]:
    """Return the sets of pictures that a way cannot do without."""
    learns, reinforced = (True, True) if way is None else (WAYS[way].learns, WAYS[way].reinforced)
    return ("held_out", *["validation"] * reinforced, *["training"] * learns)


def _say_fewer(sets: Mapping[str, Sequence[Picture]], counts: Mapping[str, int]) -> None:
    """Say which sets got fewer pictures than their settings ask for."""
    for split, count in counts.items():
        if len(sets[split]) < count:
            print(
                f"discover.{split}: {len(sets[split])} of {count} pictures, for there are no more",
                file=sys.stderr,
            )


def load_questioner(settings: Questioner, seed: int) -> ModelQuestioner:
    """Return the base questioner, with a new LoRA adapter where the settings ask for one.

    Args:
        settings: The questioner's settings.
        seed: Seed of the adapter's weights.
    """
    base = TransformersModel(path=settings.path, dtype=settings.dtype)
    encoder = Encoder(base)
    model = load_model(base).to(device("auto", 0))
    if settings.lora_rank is not None:
        from peft import LoraConfig, get_peft_model

        config = LoraConfig(r=settings.lora_rank, target_modules="all-linear")
        torch.manual_seed(seed)
        model = get_peft_model(model, config)
    return ModelQuestioner(model, encoder, settings)


def load_answerer(settings: Discover, model: TransformersModel | OpenAIModel) -> Answerer:
    """Return the model under test, ready to answer in words."""
    if isinstance(model, OpenAIModel):
        from benchc.discover.served import Chat, ServedAnswerer

        chat = Chat(model, settings.answer_tokens, extra_body=model.extra_body)
        return ServedAnswerer(chat, settings.answer_prompt)
    encoder = Encoder(model)
    return ModelAnswerer(
        load_model(model).to(device(model.device, 0)),
        encoder,
        settings.answer_prompt,
        settings.answer_tokens,
    )


def refuse_mute(game: Game, key: str) -> None:
    """Refuse a model that cannot answer in words: all would count as its failures.

    The base asks about validation pictures; a model that can answer gets `LEAST_RIGHT` of the
    valid questions right. Photographs may be harder than that, so nothing is asked about them.

    Args:
        game: A game with the base questioner.
        key: Key of the model under test.

    Raises:
        BadInput: it gets fewer right.
    """
    if game.settings.images is not None:
        return
    asked = game.questioner.ask(game.validation, [()] * len(game.validation), game.seed)
    outcomes = play(game.validation, asked, game.answerer, game.verifier)
    valid = [o for o in outcomes if o.judgement.valid]
    right = sum(o.correct is True for o in valid)
    if right < LEAST_RIGHT * len(valid):
        raise BadInput(
            f"model {key} answers {right} of {len(valid)} plain questions right in words, for "
            f"instance {valid[0].answer!r} to {valid[0].asked.text!r}: it cannot answer in words, "
            "so there is nothing to discover; take it out of `discover.full` and `discover.brief`"
        )


def load_verifier(settings: Discover, folder: Path) -> Verifier:
    """Return the drawn world's verifier, or the one behind a server that the settings name.

    Args:
        settings: The section `discover` of the config.
        folder: Where the count of requests is kept.
    """
    if settings.verifier is None:
        return DrawnVerifier()
    from benchc.discover.served import ServedVerifier

    return ServedVerifier(settings.verifier, folder / REQUESTS)


def held_out_outcomes(game: Game, examples: Examples) -> list[Outcome]:
    """Return the results of one sequence about each held-out picture."""
    shown = [examples[i % len(examples)] if examples else () for i in range(len(game.held_out))]
    draw = int.from_bytes(digest("discover", "held-out", game.seed)[:4], "little")
    asked = game.questioner.ask(game.held_out, shown, draw)
    return play(game.held_out, asked, game.answerer, game.verifier)
