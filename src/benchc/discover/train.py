"""GRPO through TRL: our reward, our failure memory, their trainer.

Never changes the answerer, and never counts a failure of the verifier as a reward.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from safetensors import SafetensorError, safe_open
from transformers import PrinterCallback, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from benchc.config.discovery import Questioner, Reinforce
from benchc.discover.diverged import StopDiverged
from benchc.discover.embedding import Embedder
from benchc.discover.memory import FailureMemory
from benchc.discover.play import Outcome, play
from benchc.discover.players import Answerer, Picture, Verifier
from benchc.discover.reward import (
    lexical_diversity,
    opening,
    question_reward,
    semantic_diversity,
    sequence_reward,
)
from benchc.discover.rows import lazy_rows
from benchc.discover.speech import ModelQuestioner
from benchc.errors import BadInput
from benchc.errors.outward import json_text
from benchc.models.checkpoint import has_bfloat16
from benchc.tables import renamed_into_place

MEMORY, LOG, BEST = "failure_memory.npy", "log.jsonl", "best"
LOGGED = (
    "reward", "fdr", "validity", "semantic", "lexical", "unjudged", "truncated", "entropy", "kl",
    "loss", "grad_norm", "frac_reward_zero_std",
)  # fmt: skip
"""What the log keeps of a step: nothing that depends on the machine's speed."""


@dataclass
class Reward:
    """The reward of a batch of sequences; also the record of every question it has judged.

    Attributes:
        answerer: The model under test.
        verifier: Judges questions and answers.
        embedder: Embeds questions.
        memory: Known failures, as they stood at the start of the step.
        split: Turns a sequence's text into questions; told whether the sequence came to its end.
        pictures: Pictures by key.
        end_ids: Token ids that end a sequence.
        settings: The reward's settings.
        counts: For each primitive in the last batch: asked, valid and failed.
    """

    answerer: Answerer
    verifier: Verifier
    embedder: Embedder
    memory: FailureMemory
    split: Callable[[str, bool], list[str]]
    pictures: dict[str, Picture]
    end_ids: frozenset[int]
    settings: Reinforce
    counts: dict[str, list[int]] = field(default_factory=dict)
    __name__ = "discovery"

    def __call__(
        self,
        completions: Sequence[Any],
        completion_ids: Sequence[Sequence[int]],
        picture: Sequence[str],
        log_metric: Callable[[str, float], None],
        **_: Any,
    ) -> list[float | None]:
        """Return one reward per sequence, as `GRPOTrainer` asks for them."""
        texts = [c if isinstance(c, str) else c[-1]["content"] for c in completions]
        texts = [t if isinstance(t, str) else t[-1]["text"] for t in texts]
        ended = [bool(ids) and ids[-1] in self.end_ids for ids in completion_ids]
        sequences = [self.split(text, end) for text, end in zip(texts, ended, strict=True)]
        shown = [self.pictures[key] for key in picture]
        outcomes = play(shown, sequences, self.answerer, self.verifier)
        rewards, terms = self.score(outcomes)
        failures = [o.asked.text for o in outcomes if o.failed]
        self.memory.add(self.embedder.embed(failures))
        self.counts = primitive_counts(outcomes)
        for name, value in {**terms, **tally(outcomes)}.items():
            log_metric(name, value)
        log_metric("truncated", 1 - float(np.mean(ended)))
        numbers = np.array([o.asked.sequence for o in outcomes])
        return sequence_reward(rewards, numbers, len(sequences))

    def score(self, outcomes: Sequence[Outcome]) -> tuple[np.ndarray, dict[str, float]]:
        """Return each question's reward, NaN where the verifier failed, and the mean terms."""
        texts = [o.asked.text for o in outcomes]
        numbers = np.array([o.asked.sequence for o in outcomes])
        valid = np.array([o.judgement.valid for o in outcomes])
        correct = np.array([o.correct is True for o in outcomes])
        semantic = semantic_diversity(self.embedder.embed(texts), numbers, self.memory.embeddings)
        lexical = lexical_diversity([opening(text) for text in texts])
        diversity = semantic * lexical if self.settings.diversity else np.ones(len(texts))
        rewards = question_reward(diversity, valid, correct, self.settings.penalty)
        rewards[~np.array([o.judged for o in outcomes])] = np.nan
        return rewards, {"semantic": float(semantic.mean()), "lexical": float(lexical.mean())}


def tally(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Return the share of valid questions and of failures among the judged, and of the unjudged."""
    judged = [o for o in outcomes if o.judged]
    count = max(1, len(judged))
    return {
        "validity": sum(o.judgement.valid for o in judged) / count,
        "fdr": sum(o.failed for o in judged) / count,
        "unjudged": 1 - len(judged) / max(1, len(outcomes)),
    }


def primitive_counts(outcomes: Sequence[Outcome]) -> dict[str, list[int]]:
    """Return for each primitive how many questions take it, are valid, and found a failure."""
    counts: dict[str, list[int]] = {}
    for outcome in outcomes:
        seen = (1, int(outcome.judgement.valid), int(outcome.failed))
        for name in outcome.judgement.primitives:
            counts[name] = [a + b for a, b in zip(counts.get(name, (0, 0, 0)), seen, strict=True)]
    return dict(sorted(counts.items()))


class Collapsed(BadInput):
    """Every group's rewards have been equal for so long that nothing is left to learn from."""


class Watch(TrainerCallback):
    """Keeps the log, the memory of each checkpoint and the best model; stops a collapsed run."""

    def __init__(
        self,
        reward: Reward,
        folder: Path,
        validate: Callable[[], float],
        save: Callable[[Path], None],
        settings: Reinforce,
    ):
        self.reward = reward
        self.folder = folder
        self.validate = validate
        self.save = save
        self.settings = settings
        self.flat = 0
        self.best = -1.0
        self.validated = 0

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Measure the held-out failure discovery rate now and then; keep the best model."""
        if state.global_step % (self.settings.validate_every * self.settings.iterations) == 0:
            self._validate(state.global_step)

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Measure the last step too."""
        if state.global_step > self.validated:
            self._validate(state.global_step)

    def on_log(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Append a row to the log; stop where all rewards have been equal for long."""
        logs: dict[str, Any] = given["logs"]
        if "reward" not in logs:
            return
        kept = {name: logs[name] for name in LOGGED if name in logs}
        self._append({"step": state.global_step, **kept, "primitives": self.reward.counts})
        self.flat = self.flat + 1 if logs.get("frac_reward_zero_std", 0) >= 1 else 0
        if self.flat >= self.settings.patience:
            control.should_training_stop = True

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Store the memory beside the checkpoint."""
        place = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        with renamed_into_place(place / MEMORY) as temporary, temporary.open("wb") as file:
            np.save(file, self.reward.memory.embeddings)

    def go_back_to(self, step: int) -> None:
        """Forget what the log says of later steps."""
        rows = [row for row in read_log(self.folder) if row["step"] <= step]
        with renamed_into_place(self.folder / LOG) as temporary:
            temporary.write_text("".join(json.dumps(row) + "\n" for row in rows))
        self.best = max((row.get("held_out_fdr", -1.0) for row in rows), default=-1.0)
        self.validated = max((row["step"] for row in rows if "held_out_fdr" in row), default=0)
        for row in rows:
            if "reward" in row:
                self.flat = self.flat + 1 if row["frac_reward_zero_std"] >= 1 else 0

    def _validate(self, step: int) -> None:
        rate = self.validate()
        self.validated = step
        self._append({"step": step, "held_out_fdr": rate})
        if rate > self.best:
            self.best = rate
            self.save(self.folder / BEST)

    def _append(self, row: dict[str, Any]) -> None:
        with (self.folder / LOG).open("a") as file:
            file.write(json_text(row) + "\n")


def grpo_config(
    folder: Path, settings: Reinforce, questioner: Questioner, steps: int, seed: int
) -> GRPOConfig:
    """Return TRL's settings, each that decides a result set here and not by its default."""
    total = settings.pictures * settings.group
    per_forward = settings.per_forward or total
    return GRPOConfig(
        output_dir=str(folder),
        max_steps=steps * settings.iterations,
        per_device_train_batch_size=per_forward,
        num_generations=settings.group,
        gradient_accumulation_steps=total // per_forward,
        steps_per_generation=total // per_forward,
        num_iterations=settings.iterations,
        max_completion_length=questioner.max_tokens,
        temperature=questioner.temperature,
        top_p=1.0,
        top_k=0,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="constant_with_warmup",
        warmup_steps=settings.warmup,
        max_grad_norm=1.0,
        weight_decay=0.0,
        adam_beta2=0.99,
        beta=settings.kl,
        epsilon=0.2,
        loss_type="dapo",
        scale_rewards="group",
        mask_truncated_completions=False,
        use_cpu=not torch.cuda.is_available(),
        bf16=has_bfloat16(),
        # Not a number would be shown as the mean of the steps before it.
        logging_nan_inf_filter=False,
        seed=seed,
        data_seed=seed,
        save_steps=settings.checkpoint_every * settings.iterations,
        save_total_limit=2,
        logging_steps=1,
        report_to=[],
        disable_tqdm=True,
        remove_unused_columns=False,
    )


def reinforce(
    questioner: ModelQuestioner,
    pictures: Sequence[Picture],
    reward: Reward,
    validate: Callable[[], float],
    folder: Path,
    settings: Reinforce,
    steps: int,
    seed: int,
) -> None:
    """Train a questioner in place; go on from the newest checkpoint in `folder`, if any.

    Args:
        questioner: The model that learns.
        pictures: Training pictures.
        reward: Judges sequences.
        validate: Returns the failure discovery rate on held-out pictures.
        folder: Holds checkpoints, `log.jsonl` and the best model.
        settings: How to train.
        steps: Rounds of asking; each is followed by `settings.iterations` updates.
        seed: Seed of sampling and order.

    Raises:
        Collapsed: all rewards were equal for `settings.patience` steps.
        Diverged: a loss, a gradient or a weight is not finite.
    """
    folder.mkdir(parents=True, exist_ok=True)
    chat = [{"role": "user", "content": questioner.prompt()}]
    rows = lazy_rows(
        len(pictures),
        lambda i: {
            "picture": pictures[i].key,
            "image": Image.fromarray(pictures[i].load()),
            "prompt": chat,
        },
    )
    checkpoint = newest_checkpoint(folder)
    if checkpoint is not None:
        questioner.go_on_from(checkpoint)
    watch = Watch(reward, folder, validate, questioner.save, settings)
    stop = StopDiverged(folder, "discover.reinforce.learning_rate", questioner.can_speak)
    trainer = GRPOTrainer(
        model=questioner.model,
        reward_funcs=[reward],
        args=grpo_config(folder, settings, questioner.settings, steps, seed),
        train_dataset=rows,
        processing_class=questioner.encoder.processor,
        callbacks=[stop, watch],
    )
    # It prints each row of the log, which `log.jsonl` keeps.
    trainer.remove_callback(PrinterCallback)
    if checkpoint is None:
        (folder / LOG).unlink(missing_ok=True)
    else:
        reward.memory.embeddings = np.load(checkpoint / MEMORY)
        watch.go_back_to(int(checkpoint.name.rpartition("-")[2]))
    trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
    if watch.flat >= settings.patience:
        raise Collapsed(
            f"{folder}: every group's rewards were equal for {watch.flat} steps; nothing is left "
            "to learn from. Raise `discover.reinforce.group` or lower `learning_rate`"
        )


def newest_checkpoint(folder: Path) -> Path | None:
    """Return the newest whole checkpoint of a training whose weights are finite, or None."""
    found = [p for p in folder.glob("checkpoint-*") if (p / MEMORY).is_file()]
    newest_first = sorted(found, key=lambda p: int(p.name.rpartition("-")[2]), reverse=True)
    return next((p for p in newest_first if _holds_finite_weights(p)), None)


def _holds_finite_weights(checkpoint: Path) -> bool:
    """Say whether a checkpoint can be read, and all its numbers are finite."""
    try:
        for file in checkpoint.glob("*.safetensors"):
            with safe_open(file, "pt") as weights:
                names = weights.keys()
                if not all(bool(weights.get_tensor(n).isfinite().all()) for n in names):
                    return False
    except (OSError, SafetensorError):
        return False
    return True


def load_best(questioner: ModelQuestioner, folder: Path) -> None:
    """Go on with the checkpoint that found most failures on held-out pictures."""
    questioner.load(folder / BEST)


def read_log(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of a training's log; none where there is no log.

    A last row that was being written when the power or the disk gave out is dropped.

    Raises:
        BadInput: another row is damaged.
    """
    path = folder / LOG
    lines = path.read_bytes().splitlines() if path.is_file() else []
    rows = []
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if isinstance(row, dict) and "step" in row:
            rows.append(row)
        elif number < len(lines):
            raise BadInput(
                f"{path}, line {number}: this row of the training's log is damaged; delete the "
                "folder, and the training starts anew"
            )
    return rows
