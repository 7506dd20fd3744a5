"""The ways to ask, each given the same budget of questions to learn from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name

from tqdm import tqdm

from benchc.config.discovery import WAYS, Discover
from benchc.discover.embedding import Embedder
from benchc.discover.memory import FailureMemory
from benchc.discover.play import Outcome, play
from benchc.discover.players import Answerer, Picture, Verifier
from benchc.discover.speech import ModelQuestioner
from benchc.errors import BadInput
from benchc.keyed import generator


@dataclass
class Game:
    """The players, the pictures and the settings of one training.

    Attributes:
        questioner: The base questioner; a way may train it in place.
        answerer: The model under test.
        verifier: Judges questions and answers.
        embedder: Embeds questions.
        training: Pictures to learn from.
        validation: Held-out pictures that choose the best checkpoint, and nothing else.
        held_out: Pictures of the measures, never seen in training.
        settings: The section `discover` of the config.
        folder: Where a training keeps its checkpoints and its log.
        seed: Seed of all draws.
    """

    questioner: ModelQuestioner
    answerer: Answerer
    verifier: Verifier
    embedder: Embedder
    training: Sequence[Picture]
    validation: Sequence[Picture]
    held_out: Sequence[Picture]
    settings: Discover
    folder: Path
    seed: int

    def explore(
        self, sequences: int, part: str, examples: Callable[[int], Sequence[str]] = lambda _: ()
    ) -> list[Outcome]:
        """Ask `sequences` sequences about training pictures, several in a row about each.

        Args:
            sequences: How many; each costs the questions of one sequence.
            part: Names this part of the budget in the keys of random draws.
            examples: Questions to show for the sequence of a number.
        """
        rng = generator("discover", "explore", part, self.seed)
        group = self.settings.reinforce.group
        order = rng.permutation(len(self.training))
        shown = [self.training[order[i // group % len(order)]] for i in range(sequences)]
        outcomes = []
        chunk = 16 * group
        for start in tqdm(range(0, sequences, chunk), desc=part, disable=None):
            pictures = shown[start : start + chunk]
            given = [examples(start + i) for i in range(len(pictures))]
            asked = self.questioner.ask(pictures, given, int(rng.integers(2**31)))
            outcomes += play(pictures, asked, self.answerer, self.verifier)
        return outcomes


Examples = list[list[str]]
"""Sets of example questions, one of which is shown with a prompt; none where it is empty."""


def learn(way: str, game: Game) -> Examples:
    """Let the questioner learn in a way of `WAYS`; return the examples to show with each prompt."""
    examples: Examples = resolve_name(WAYS[way].learn)(game)
    return examples


def zero_shot(game: Game) -> Examples:
    """The base as it is; it spends nothing."""
    return []


def conme(game: Game) -> Examples:
    """Ask, keep what was answered wrongly, show it with the next prompts, and so on."""
    kept: list[str] = []
    per_round = _sequences(game) // game.settings.rounds
    count = game.settings.questioner.questions
    for number in range(game.settings.rounds):
        part = f"conme-{number}"
        outcomes = game.explore(per_round, part, _shown(kept, count, part, game.seed))
        kept += _failures(outcomes)
    rng = generator("discover", "conme", game.seed)
    return [[kept[i] for i in rng.choice(len(kept), count)] for _ in range(1000)] if kept else []


def fine_tuning(game: Game, sequences: int | None = None) -> Examples:
    """Spend the budget with the base, then learn from all failures at once."""
    learnt = _learn(game, game.explore(sequences or _sequences(game), "sft"))
    _refuse_nothing_learnt(game, learnt)
    return []


def expert_iteration(game: Game) -> Examples:
    """Spend the budget in rounds; after each, learn from the failures it found."""
    learnt = 0
    for number in range(game.settings.rounds):
        part = f"expert-{number}"
        learnt += _learn(game, game.explore(_sequences(game) // game.settings.rounds, part))
    _refuse_nothing_learnt(game, learnt)
    return []


def reinforcement(game: Game, diversity: bool = True, spent: int = 0) -> Examples:
    """Train by GRPO; the best checkpoint by held-out failure discovery rate is the result."""
    from benchc.discover.train import Reward, load_best, reinforce

    settings = game.settings.reinforce.model_copy(update={"diversity": diversity})
    steps = (_sequences(game) - spent) // (settings.pictures * settings.group)
    reward = Reward(
        answerer=game.answerer,
        verifier=game.verifier,
        embedder=game.embedder,
        memory=FailureMemory(settings.memory, game.embedder.width),
        split=game.questioner.split,
        pictures={picture.key: picture for picture in game.training},
        end_ids=game.questioner.end_ids,
        settings=settings,
    )

    def validate() -> float:
        pictures = list(game.validation)
        asked = game.questioner.ask(pictures, [()] * len(pictures), game.seed)
        outcomes = play(pictures, asked, game.answerer, game.verifier)
        return sum(o.failed for o in outcomes) / max(1, sum(o.judged for o in outcomes))

    reinforce(
        game.questioner, game.training, reward, validate, game.folder, settings, steps, game.seed
    )
    load_best(game.questioner, game.folder)
    return []


def warm_start(game: Game) -> Examples:
    """Spend a share of the budget on fine-tuning, the rest on GRPO."""
    first = int(_sequences(game) * game.settings.warm_start)
    if not (game.folder / "warm").is_dir():
        fine_tuning(game, first)
        game.questioner.save(game.folder / "warm")
    game.questioner.load(game.folder / "warm")
    return reinforcement(game, spent=first)


def without_diversity(game: Game) -> Examples:
    """The negative control: GRPO whose reward has no diversity term; a collapse is its result."""
    from benchc.discover.train import Collapsed, load_best

    try:
        return reinforcement(game, diversity=False)
    except Collapsed as collapse:
        print(collapse)
        load_best(game.questioner, game.folder)
        return []


def _sequences(game: Game) -> int:
    """Return the budget in sequences."""
    return game.settings.budget // game.settings.questioner.questions


def _failures(outcomes: Sequence[Outcome]) -> list[str]:
    """Return the questions that were answered wrongly."""
    return [o.asked.text for o in outcomes if o.failed]


def _shown(kept: Sequence[str], count: int, part: str, seed: int) -> Callable[[int], Sequence[str]]:
    """Return what gives each sequence some kept failures as examples."""
    if not kept:
        return lambda _: ()
    rng = generator("discover", "examples", part, seed)
    return lambda _: [kept[i] for i in rng.choice(len(kept), count)]


def _learn(game: Game, outcomes: Sequence[Outcome]) -> int:
    """Fine-tune the questioner on the failures among outcomes; return the sequences learnt from."""
    from benchc.discover.imitate import failure_sequences, imitate

    sequences = failure_sequences(outcomes, game.settings.questioner.questions, game.seed)
    if sequences:
        imitate(game.questioner, sequences, game.folder / "sft", game.settings.imitate, game.seed)
    return len(sequences)


def _refuse_nothing_learnt(game: Game, learnt: int) -> None:
    if not learnt:
        raise BadInput(
            f"discover: too few failures to learn from: none of the pictures has "
            f"{game.settings.questioner.questions} different ones; raise `discover.budget` or "
            "`discover.reinforce.group`"
        )
