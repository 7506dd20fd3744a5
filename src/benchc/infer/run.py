"""Run one model over samples and conditions, asking nothing that is kept from an earlier run."""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl
from tqdm import tqdm

from benchc.config.models import BACKENDS, Model
from benchc.errors import BadInput
from benchc.infer import looks
from benchc.infer.journal import Journal, Kept, Origin, Where
from benchc.infer.price import price
from benchc.infer.questionnaire import Questionnaire
from benchc.infer.rendering import Pictures, Submit, rendered_here
from benchc.infer.tasks import Task, Unit, tasks_of
from benchc.models.scores import (
    PASSING,
    Backend,
    OneByOne,
    Question,
    Score,
    most_seen,
    prediction_columns,
)
from benchc.tables import PREDICTIONS

EARLY = 100
"""Answers of which one at least must be usable, and half not failed, for a run to go on."""


@dataclass(frozen=True)
class Part:
    """Which share of the questions to ask, and where answers are kept.

    Attributes:
        answers: Folder of the journals of one model.
        shard: 0-based share to ask.
        shards: How many shares there are; what is asked together is the same for any number.
    """

    answers: Path
    shard: int = 0
    shards: int = 1


@dataclass(frozen=True)
class Answers:
    """What a model said.

    Attributes:
        predictions: `predictions` rows.
        ran_on: What they were computed on, each kind with its number of `predictions`.
        to_ask_again: Rows that failed for a passing reason, not yet too often.
        reasons: Why rows are not `ok`, with their numbers.
        facts: What the backend says for the run record.
        looks: Whether the model looks at its pictures.
    """

    predictions: pl.DataFrame
    ran_on: list[dict[str, object]]
    to_ask_again: int
    reasons: dict[str, int]
    facts: dict[str, object]
    looks: looks.Looks


def predict(
    key: str,
    settings: Model,
    load: Callable[[], tuple[Backend, looks.Trial]],
    asked: Questionnaire,
    model_key: str,
    part: Part,
    submit: Submit = rendered_here,
) -> Answers:
    """Return the predictions of one model for every sample under every condition of its share.

    Args:
        key: The model's key in the config.
        settings: How it is asked.
        load: Returns the loaded model and what its trial found; called where there is something
            to ask.
        asked: Questions, pictures, conditions.
        model_key: Everything about the model that could change its logits, as one string.
        part: Which share, and where answers are kept.
        submit: Renders pictures ahead of the model; see `renderers`.

    Raises:
        BadInput: rendered pixels differ from those of the corrupt stage, or too little of what the
            model says is usable.
    """
    tasks = tasks_of(
        asked, model_key, BACKENDS[settings.backend].one_by_one, part.shard, part.shards
    )
    units = {unit.name for task in tasks for unit in task.units}
    journal = Journal(key, part.answers, f"{part.shard}-of-{part.shards}", units)
    watch = _Watch(key, [kept.score for task in tasks for kept in _known(task, journal)])
    waiting = [task for task in tasks if task.open(journal)]
    total = sum(map(len, tasks))
    with tqdm(total=total, desc=key, unit="answer", disable=None, mininterval=2) as bar:
        bar.update(total - sum(len(task.open(journal)) for task in waiting))
        if waiting:
            watch.refuse_useless()
            if BACKENDS[settings.backend].one_by_one:
                ahead = (unit.rows[place] for task in waiting for unit, place in task.open(journal))
                bar.write(price(key, ahead, settings.instruction), file=sys.stderr)
            asking = _Asking(*load(), journal, watch, bar.update)
            for task, pictures in _rendered_ahead(waiting, asked, journal, submit):
                asking.ask(task, pictures)
            asking.finish()
    if part.shards == 1:
        watch.refuse_useless(at_the_end=True)
    return _gathered(key, settings, tasks, journal)


def merged(parts: Sequence[pl.DataFrame], ran_on: Iterable[dict[str, object]]) -> tuple[
    pl.DataFrame, list[dict[str, object]]
]:  # fmt: skip
    """Return the predictions of all shards of a model as one table, and what they ran on."""
    counts: Counter[str] = Counter()
    for kind in ran_on:
        alone = {name: value for name, value in kind.items() if name != "predictions"}
        counts[json.dumps(alone, sort_keys=True)] += int(str(kind["predictions"]))
    return PREDICTIONS.conform(pl.concat(parts)), _kinds(counts)


def _known(task: Task, journal: Journal) -> Iterator[Kept]:
    for unit in task.units:
        yield from journal.find(unit.name) or ()


@dataclass
class _Watch:
    """Ends a run of which nothing comes."""

    key: str
    scores: list[Score]
    failed: int = 0
    asked: int = 0

    def see(self, score: Score) -> None:
        """Count an answer.

        Raises:
            BadInput: none of the first hundred is usable, or more than half failed.
        """
        self.scores.append(score)
        self.asked += 1
        self.failed += score.status in PASSING
        self.refuse_useless()
        if self.asked >= EARLY and 2 * self.failed > self.asked:
            raise BadInput(
                f"{self.key}: {self.failed} of {self.asked} questions failed, which is more than "
                f"half: {most_seen(self.scores)}. What was answered is kept: run it again to go on"
            )

    def refuse_useless(self, at_the_end: bool = False) -> None:
        """Refuse answers of which none is usable, if there are enough to tell.

        Raises:
            BadInput: see above.
        """
        enough = len(self.scores) >= EARLY or (at_the_end and self.scores)
        if enough and all(score.status != "ok" for score in self.scores):
            raise BadInput(
                f"{self.key}: no answer is usable: {most_seen(self.scores)} "
                f"(`benchc infer status {self.key}` shows all reasons)"
            )


@dataclass
class _Asking:
    """Asks one model, and keeps what it says."""

    backend: Backend
    trial: looks.Trial
    journal: Journal
    watch: _Watch
    say: Callable[[int], object]
    failures: dict[str, tuple[Unit, Where, list[Kept]]] = field(default_factory=dict)

    def ask(self, task: Task, pictures: Pictures) -> None:
        """Ask what is open of a task."""
        places = task.open(self.journal)
        questions = [
            Question(
                pictures[str(unit.rows[place]["image_id"]), task.severity],
                str(unit.rows[place]["question"]),
                tuple(unit.rows[place]["options"]),  # type: ignore[arg-type]
            )
            for unit, place in places
        ]
        if isinstance(self.backend, OneByOne):
            self.backend.score_each(
                questions,
                lambda number, score: self._keep(task, places[number][0], {0: score}),
            )
            return
        (unit,) = task.units
        if self.journal.find(unit.name) is None:
            self._keep(task, unit, dict(enumerate(self.backend.score(questions))))
            return
        # What failed in its batch is asked alone: the rest of the batch is kept as it was.
        for (_, place), question in zip(places, questions, strict=True):
            self._keep(task, unit, {place: self.backend.score([question])[0]})

    def _keep(self, task: Task, unit: Unit, scores: Mapping[int, Score]) -> None:
        known = self.journal.find(unit.name) or ()
        made = self.journal.origin(self._origin())
        answers = [
            Kept(scores[place], made, known[place].tries if known else 0)
            if place in scores
            else known[place]
            for place in range(len(unit.rows))
        ]
        failed = any(score.status in PASSING for score in scores.values())
        if failed:
            before = self.failures.get(unit.name)
            counted = [
                replace(answer, tries=answer.tries + 1)
                if place in scores and answer.score.status in PASSING
                else (before[2][place] if before and place not in scores else answer)
                for place, answer in enumerate(answers)
            ]
            self.failures[unit.name] = (unit, task.where(unit), counted)
        if len(answers) > 1 or not failed:
            self.journal.keep(unit.name, task.where(unit), answers)
        for score in scores.values():
            self.watch.see(score)
        self.say(len(scores))

    def finish(self) -> None:
        """Count the tries of what failed: only in a run that came to its end."""
        for unit, where, answers in self.failures.values():
            self.journal.keep(unit.name, where, answers)
        self.journal.origin(self._origin())

    def _origin(self) -> Origin:
        trial = {"between": self.trial.between, "repeat": self.trial.repeat}
        facts = {"facts": self.backend.facts(), "trial": trial}
        return Origin(_as_json(self.backend.ran_on()), _as_json(facts))


def _as_json(value: dict[str, object]) -> dict[str, object]:
    return dict(json.loads(json.dumps(value)))


def _rendered_ahead(
    tasks: Sequence[Task], asked: Questionnaire, journal: Journal, submit: Submit
) -> Iterator[tuple[Task, Pictures]]:
    """Yield tasks with their pictures; those of the next are rendered meanwhile, no more."""
    encoded = dict(asked.images.select("image_id", "bytes").iter_rows())
    before: tuple[Task, Callable[[], Pictures]] | None = None
    for task in tasks:
        shown = {str(unit.rows[place]["image_id"]) for unit, place in task.open(journal)}
        clean = {image_id: encoded[image_id] for image_id in sorted(shown)}
        recipes = asked.rendering.recipes(task.corruption, (task.severity,), clean)
        following = (task, submit(recipes))
        if before is not None:
            yield before[0], before[1]()
        before = following
    if before is not None:
        yield before[0], before[1]()


def _gathered(key: str, settings: Model, tasks: Sequence[Task], journal: Journal) -> Answers:
    frames = [PREDICTIONS.empty()]
    made: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    open_rows = 0
    for task in tasks:
        rows: list[dict[str, object]] = []
        for unit in task.units:
            known = journal.find(unit.name)
            assert known is not None
            for row, kept in zip(unit.rows, known, strict=True):
                made[kept.made] += 1
                reasons.update(kept.score.reasons)
                open_rows += not kept.is_final
                rows.append(
                    {
                        "model": key,
                        "sample_id": row["sample_id"],
                        "corruption": task.corruption,
                        "severity": task.severity,
                        "scoring": settings.scoring,
                        "temperature": settings.temperature,
                        **prediction_columns(kept.score, settings.temperature),
                    }
                )
        frames.append(PREDICTIONS.from_rows(rows))
    origins = [(journal.origins.get(name, Origin({}, {})), n) for name, n in sorted(made.items())]
    ran_on: Counter[str] = Counter()
    for origin, count in origins:
        ran_on[json.dumps(origin.ran_on, sort_keys=True)] += count
    facts = origins[-1][0].facts if origins else {}
    trial = looks.Trial(**facts.get("trial", {"between": None, "repeat": None}))
    predictions = PREDICTIONS.conform(pl.concat(frames))
    return Answers(
        predictions,
        _kinds(ran_on),
        open_rows,
        dict(reasons),
        facts.get("facts", {}),
        looks.measured(predictions, trial),
    )


def _kinds(counts: Mapping[str, int]) -> list[dict[str, object]]:
    return [{**json.loads(ran_on), "predictions": n} for ran_on, n in sorted(counts.items())]
