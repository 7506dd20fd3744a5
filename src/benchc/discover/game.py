"""Sets up a game: loads the players, makes the pictures ready, measures on held-out pictures.

Never trains.
"""

from __future__ import annotations

from pathlib import Path

from benchc.discover.drawn import DrawnVerifier
from benchc.discover.embedding import Embedder
from benchc.discover.pictures import pictures
from benchc.discover.play import Outcome, play
from benchc.discover.settings import Discover
from benchc.discover.speech import ModelAnswerer, ModelQuestioner
from benchc.discover.ways import Examples, Game
from benchc.infer.checkpoint import load_model, load_processor
from benchc.infer.settings import TransformersModel
from benchc.keyed import digest


def prepare(
    settings: Discover,
    model: TransformersModel,
    folder: Path,
    seed: int,
    corruption: str | None = None,
    severity: int = 0,
) -> Game:
    """Return a game with the base questioner.

    Args:
        settings: The section `discover` of the config.
        model: The model under test.
        folder: Where the training keeps its files.
        seed: Seed of the run.
        corruption: What is done to every picture, or None.
        severity: Severity of the corruption.

    Raises:
        BadInput: a checkpoint does not load.
    """
    folder.mkdir(parents=True, exist_ok=True)
    base = TransformersModel(path=settings.questioner.path)
    sets = {
        split: list(pictures(split, count, seed, corruption, severity))
        for split, count in (("training", settings.training), ("validation", settings.validation))
    }
    return Game(
        questioner=ModelQuestioner(load_model(base), load_processor(base), settings.questioner),
        answerer=ModelAnswerer(
            load_model(model), load_processor(model), "answerer_drawn", settings.answer_tokens
        ),
        verifier=DrawnVerifier(),
        embedder=Embedder(settings.embedder),
        training=sets["training"],
        validation=sets["validation"],
        held_out=list(pictures("held-out", settings.held_out, seed, corruption, severity)),
        settings=settings,
        folder=folder,
        seed=seed,
    )


def held_out_outcomes(game: Game, examples: Examples) -> list[Outcome]:
    """Return what comes of one sequence about each held-out picture."""
    shown = [examples[i % len(examples)] if examples else () for i in range(len(game.held_out))]
    draw = int.from_bytes(digest("discover", "held-out", game.seed)[:4], "little")
    asked = game.questioner.ask(game.held_out, shown, draw)
    return play(game.held_out, asked, game.answerer, game.verifier)
