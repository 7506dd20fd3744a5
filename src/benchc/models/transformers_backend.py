"""Any checkpoint that `AutoModelForImageTextToText` and `AutoProcessor` load, from a folder or hub.

Never truncates a prompt, and never reads a number from a prompt that it could not make in full.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import torch
from transformers.utils.logging import disable_progress_bar

from benchc.config.models import TransformersModel
from benchc.errors import BadInput
from benchc.models import checkpoint
from benchc.models.choices import Batch, ChoiceEncoder, Item, extended
from benchc.models.encode import Prompt, placed, what_it_lacks
from benchc.models.scores import Explanation, Question, Score
from benchc.models.template import first_line

_CPU_BATCH = 64
_LARGEST_BATCH = 256
_TOP = 10


def load(settings: TransformersModel, threads: int, shard: int) -> "TransformersBackend":
    """Return the model with its processor; see `TransformersBackend`."""
    return TransformersBackend(settings, threads, shard)


class TransformersBackend:
    """One model in memory, asked batch by batch, the next batch prepared during this one."""

    def __init__(self, settings: TransformersModel, threads: int = 1, shard: int = 0):
        """Load weights and processor, and ask once on trial.

        Raises:
            BadInput: the checkpoint is missing or has no chat template, or cannot be scored as
                the settings say.
        """
        disable_progress_bar()
        self.settings = settings
        self.device = checkpoint.device(settings.device, shard)
        if self.device == "cpu":
            torch.set_num_threads(threads)
        self.encoder = ChoiceEncoder(settings)
        self.batch_size = None if settings.batch_size == "auto" else settings.batch_size
        # One thread: a tokenizer cannot be used by two at a time.
        self._preparing = ThreadPoolExecutor(1)
        self.model = checkpoint.load_model(settings).to(self.device)
        self._accepted = checkpoint.accepted(self.model)
        self.encoder.context = checkpoint.context_length(self.model.config)
        self._refuse_what_cannot_run()
        if settings.scoring == "text":
            self._refuse_a_prompt_that_sees_ahead()

    def score(self, questions: Sequence[Question]) -> list[Score]:
        """Return one score a question; see `Backend`."""
        items = self.encoder.items(questions)
        if self.batch_size is None:
            self.batch_size = self._find_batch_size(items)
        scores = {
            (item.place, item.option): score
            for batch in self._prepared(items)
            for item, score in self._run(batch)
        }
        return [
            self._assembled(place, question, scores) for place, question in enumerate(questions)
        ]

    def explain(self, question: Question) -> Explanation:
        """Return how a question is asked and what would come next; see `Backend`."""
        if self.encoder.is_reserved(question):
            raise BadInput(f"question {question.question!r} holds a token of the model's own")
        inputs = self.encoder.encode([Item(0, question)])
        ids = inputs["input_ids"][0].tolist()
        last_id = ids[-1]
        p = self._logits(inputs, keep=1)[0, -1].double().softmax(-1)
        top = p.topk(_TOP)
        tokenizer = self.encoder.processor.tokenizer
        return Explanation(
            self.encoder.rendered(question),
            len(ids),
            tuple(
                f"{tokenizer.convert_ids_to_tokens(option)} {option}"
                for option in self.encoder.option_tokens(question, last_id)
            ),
            tuple(
                (tokenizer.decode([token]), value)
                for token, value in zip(top.indices.tolist(), top.values.tolist(), strict=True)
            ),
            tuple(zip(tokenizer.convert_ids_to_tokens(ids), ids, strict=True)),
        )

    def ran_on(self) -> dict[str, object]:
        """Return the device, precision and smallest batch of the last `score`."""
        return {
            "device": self._device_name(),
            "dtype": self.settings.dtype,
            "attention": self.settings.attention,
            "batch_size": self.batch_size,
            "threads": torch.get_num_threads(),
        }

    def _device_name(self) -> str:
        return "cpu" if self.device == "cpu" else torch.cuda.get_device_name(self.device)

    def facts(self) -> dict[str, object]:
        """Return what could change a prediction and is not in the config: for the run record."""
        return {
            "model_class": type(self.model).__name__,
            "processor_class": type(self.encoder.processor).__name__,
            "image_processor_class": type(self.encoder.processor.image_processor).__name__,
            "image_processor": self.encoder.processor.image_processor.to_dict(),
            "chat_template": self.encoder.processor.chat_template,
            "option_tokens": self.encoder.letters,
            "trial_prompt_tokens": len(self.encoder.trial),
            "processor_errors": dict(self.encoder.processor_errors),
            "parameters": sum(p.numel() for p in self.model.parameters()),
        }

    def _prepared(self, items: Sequence[Item]) -> Iterator[Batch]:
        """Yield batches; each is prepared while the caller runs the one before it."""
        start = 0
        coming: Future[Batch] | None = None
        while start < len(items):
            size = self.batch_size or _CPU_BATCH
            following = self._preparing.submit(self.encoder.prepare, items[start : start + size])
            start += size
            if coming is not None:
                yield coming.result()
            coming = following
        if coming is not None:
            yield coming.result()

    def _assembled(
        self, place: int, question: Question, found: Mapping[tuple[int, int | None], Score]
    ) -> Score:
        """Return a question's score from those of its items."""
        if self.encoder.is_reserved(question):
            return Score(None, None, "reserved_token")
        if self.settings.scoring == "letter":
            return found[place, None]
        parts = [found[place, option] for option in range(len(question.options))]
        refused = next((part for part in parts if part.logits is None), None)
        return refused or Score(tuple(p.logits[0] for p in parts if p.logits), None)

    def _run(self, batch: Batch) -> list[tuple[Item, Score]]:
        """Return the scores of a batch; one that does not fit into memory is run in halves."""
        done = [(item, Score(None, None, status)) for item, status in batch.refused]
        if not batch.items:
            return done
        try:
            scores = self._read(batch)
        except torch.OutOfMemoryError:
            scores = None  # what the failed pass held is given back only outside of `except`
        if scores is not None:
            return [*done, *zip(batch.items, scores, strict=True)]
        self._free()
        if len(batch.items) == 1:
            return [*done, (batch.items[0], Score(None, None, "out_of_memory"))]
        half = (len(batch.items) + 1) // 2
        self.batch_size = min(self.batch_size or half, half)
        for piece in (batch.items[:half], batch.items[half:]):
            done += self._run(self._preparing.submit(self.encoder.prepare, piece).result())
        return done

    def _read(self, batch: Batch) -> list[Score]:
        if self.settings.scoring == "letter":
            return self._read_letters(batch)
        return self._read_texts(batch)

    def _read_letters(self, batch: Batch) -> list[Score]:
        logits = self._logits(batch.inputs, keep=1)[:, -1].double()
        whole = logits.logsumexp(-1)
        scores = []
        for row, ids in enumerate(batch.targets):
            chosen = logits[row, ids]
            mass = float((chosen.logsumexp(-1) - whole[row]).exp())
            scores.append(Score(tuple(chosen.tolist()), mass))
        return scores

    def _read_texts(self, batch: Batch) -> list[Score]:
        """Score each option by the summed log-probability of its tokens behind the prompt."""
        logits = self._logits(batch.inputs, keep=max(map(len, batch.targets)) + 1)
        scores = []
        for row, ids in enumerate(batch.targets):
            steps = logits[row, : len(ids)].double()
            taken = steps.gather(1, torch.tensor(ids, device=steps.device)[:, None])[:, 0]
            scores.append(Score((float((taken - steps.logsumexp(-1)).sum()),), None))
        return scores

    @torch.inference_mode()
    def _logits(self, inputs: Prompt, keep: int) -> torch.Tensor:
        """Return float32 logits of the last `keep` positions: batch x keep x vocabulary."""
        asked = {"logits_to_keep": keep, "use_cache": False}
        given = {name: value for name, value in asked.items() if name in self._accepted}
        logits: torch.Tensor = self.model(**placed(inputs, self.model), **given).logits
        return logits[:, -keep:].float()

    def _find_batch_size(self, items: Sequence[Item]) -> int:
        """Return the largest power of two of the heaviest item that fits on the device."""
        if self.device == "cpu" or not items:
            return _CPU_BATCH
        return self._largest_that_fits(items)

    def _largest_that_fits(self, items: Sequence[Item]) -> int:
        heaviest = max(items, key=lambda item: item.question.image.size)
        longest = max(items, key=lambda item: len(self.encoder.rendered(item.question)))
        trial = Item(0, Question(heaviest.question.image, longest.question.question,
                                  longest.question.options), longest.option)  # fmt: skip
        size = 1
        while size < _LARGEST_BATCH and self._fits(self.encoder.prepare([trial] * (2 * size))):
            size *= 2
        return size

    def _fits(self, batch: Batch) -> bool:
        try:
            if batch.items:
                self._read(batch)
        except torch.OutOfMemoryError:
            return False
        finally:
            self._free()
        return True

    def _free(self) -> None:
        if self.device != "cpu":
            torch.cuda.empty_cache()

    def _refuse_what_cannot_run(self) -> None:
        """Run a trial question: what a processor makes need not fit its model."""
        context, length = self.encoder.context, len(self.encoder.trial)
        if context is not None and length > context:
            raise BadInput(
                f"model {self.settings.weights}: a plain question about a picture of 224 x 224 is "
                f"{length:,} tokens, and its config.json allows {context:,}; the sizes in its "
                "processor_config.json cut pictures into too many pieces"
            )
        try:
            self._logits(self.encoder.encode([self.encoder.trial_item()]), keep=1)
        except torch.OutOfMemoryError:
            return  # each question that does not fit gets a status
        except Exception as error:
            # Which errors a model raises for what it cannot take depends on its family.
            raise BadInput(
                f"model {self.settings.weights}: it fails on a plain question: {first_line(error)}"
                + what_it_lacks(self.encoder.processor)
            ) from error

    def _refuse_a_prompt_that_sees_ahead(self) -> None:
        """Text behind a prompt must not change how the prompt is read, or an option sees itself."""
        inputs = self.encoder.encode([self.encoder.trial_item()])
        alone = self._logits(inputs, keep=1)[:, -1]
        last_id = inputs["input_ids"][:, -1].tolist()
        followed = self._logits(extended(inputs, [last_id * 4]), keep=5)[:, 0]
        if not torch.allclose(alone, followed, rtol=0.02, atol=0.02):
            raise BadInput(
                f"model {self.settings.weights}: {self.model.config.model_type} reads its prompt "
                "in both directions, so an option would see itself; use `scoring: letter`"
            )
