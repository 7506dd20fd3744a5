"""From multiple-choice questions to the tensors of one forward pass, and the tokens to be read."""

import contextlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from benchc.config.models import TransformersModel
from benchc.errors import BadInput
from benchc.models import template
from benchc.models.encode import Encoder, Prompt, PromptError
from benchc.models.option_tokens import Continuations
from benchc.models.prompt import letter_prompt, option_labels, text_prompt
from benchc.models.scores import Question


@dataclass(frozen=True)
class Item:
    """One row of a batch: a question, and the option behind it where texts are scored.

    `place` is the question's place among those asked together.
    """

    place: int
    question: Question
    option: int | None = None


@dataclass(frozen=True)
class Batch:
    """Items ready for the forward pass, and why others are not among them.

    `targets` are token ids: one per option for letters, one per step for texts.
    """

    items: list[Item]
    inputs: Prompt
    targets: list[list[int]]
    refused: list[tuple[Item, str]]


class ChoiceEncoder(Encoder):
    """A model's encoder, asked question by question.

    Attributes:
        letters: The token of each letter behind a plain question, where it is one token.
        processor_errors: What the processor said of pictures that it could not cut.
    """

    def __init__(self, settings: TransformersModel):
        """Load the processor, and ask once on trial.

        Raises:
            BadInput: see `Encoder`; or no option can be read behind the prompts as the settings
                say.
        """
        super().__init__(settings)
        self.continuations = Continuations(
            self.processor.tokenizer, template.reply_leads(self.processor, settings.prompt_style)
        )
        self.letters: dict[str, dict[str, int | str]] = {}
        self.processor_errors: Counter[str] = Counter()
        self._rendered: dict[tuple[str, tuple[str, ...]], str] = {}
        # A small vocabulary may lack the trial's words and hold those of every real option.
        if settings.scoring == "letter":
            self._refuse_letters_that_cannot_be_read()

    def rendered(self, question: Question) -> str:
        """Return the prompt as the model's own chat template writes it."""
        key = (question.question, question.options)
        if key not in self._rendered:
            instruction = self.settings.instruction
            if self.settings.scoring == "letter":
                words = letter_prompt(question.question, question.options, instruction)
            else:
                words = text_prompt(question.question, instruction)
            self._rendered[key] = self.chat(words)
        return self._rendered[key]

    def items(self, questions: Sequence[Question]) -> list[Item]:
        """Return what has to be run for some questions; those with reserved tokens are left out."""
        askable = [(i, q) for i, q in enumerate(questions) if not self.is_reserved(q)]
        if self.settings.scoring == "letter":
            return [Item(i, question) for i, question in askable]
        return [Item(i, q, option) for i, q in askable for option in range(len(q.options))]

    def is_reserved(self, question: Question) -> bool:
        """Say whether a question's words hold what the processor takes for more than words."""
        return self.holds_reserved("\n".join([question.question, *question.options]))

    def prepare(self, items: Sequence[Item]) -> Batch:
        """Return the items as tensors; those that cannot be asked are set aside with a status."""
        kept, inputs, refused = self._encode_or_refuse(items)
        if not kept:
            return Batch([], {}, [], refused)
        targets = [
            self._target(item, last_id)
            for item, last_id in zip(kept, inputs["input_ids"][:, -1].tolist(), strict=True)
        ]
        lengths = inputs["attention_mask"].sum(1).tolist()
        if self.settings.scoring == "text":
            lengths = [n + len(t or ()) for n, t in zip(lengths, targets, strict=True)]
        unfit = {row: "unreadable_option" for row, target in enumerate(targets) if target is None}
        if self.context is not None:
            unfit |= {row: "too_long" for row, n in enumerate(lengths) if n > self.context}
        if unfit:
            return self._without(unfit, kept, refused)
        found = [target for target in targets if target is not None]
        if self.settings.scoring == "text":
            inputs = extended(inputs, found)
        return Batch(kept, inputs, found, refused)

    def _target(self, item: Item, last_id: int) -> list[int] | None:
        """Return the tokens to read for an item; None where no position holds the choice."""
        try:
            tokens = self.option_tokens(item.question, last_id)
        except BadInput:
            return None
        return [ids[0] for ids in tokens] if item.option is None else tokens[item.option]

    def _without(
        self, rows: dict[int, str], items: list[Item], refused: list[tuple[Item, str]]
    ) -> Batch:
        """Prepare again without some rows: no padding may come from a prompt that is not asked."""
        rest = self.prepare([item for row, item in enumerate(items) if row not in rows])
        more = [(items[row], status) for row, status in rows.items()]
        return Batch(rest.items, rest.inputs, rest.targets, [*refused, *more, *rest.refused])

    def _encode_or_refuse(
        self, items: Sequence[Item]
    ) -> tuple[list[Item], Prompt, list[tuple[Item, str]]]:
        if not items:
            return [], {}, []
        try:
            return list(items), self.encode(items), []
        except PromptError as error:
            if len(items) == 1:
                self.processor_errors[str(error)] += 1
                return [], {}, [(items[0], "processor_error")]
        singly = [self._encode_or_refuse([item]) for item in items]
        kept = [item for some, _, _ in singly for item in some]
        inputs = self.encode(kept) if kept else {}
        return kept, inputs, [pair for _, _, some in singly for pair in some]

    def encode(self, items: Sequence[Item]) -> Prompt:
        """Return prompts and pictures as the model's inputs; see `Encoder.tensors`."""
        prompts = [self.rendered(item.question) for item in items]
        return self.tensors(prompts, [item.question.image for item in items])

    def option_tokens(self, question: Question, last_id: int) -> list[list[int]]:
        """Return the tokens of each option behind the prompt; for letters one each.

        Raises:
            BadInput: see `Continuations`.
        """
        prompt = self.rendered(question)
        if self.settings.scoring == "text":
            return [self.continuations.ids(prompt, last_id, text) for text in question.options]
        labels = option_labels(len(question.options))
        return [[token] for token in self.continuations.letters(prompt, last_id, labels)]

    def _refuse_letters_that_cannot_be_read(self) -> None:
        """Read the letters of one trial question, before the weights are loaded."""
        question = self.trial_item().question
        last_id = self.trial[-1]
        try:
            self.option_tokens(question, last_id)
        except BadInput as error:
            raise BadInput(f"model {self.settings.weights}: {error}") from None
        self.letters = self._letters(self.rendered(question), last_id)

    def _letters(self, prompt: str, last_id: int) -> dict[str, dict[str, int | str]]:
        found: dict[str, dict[str, int | str]] = {}
        for label in option_labels(26):
            with contextlib.suppress(BadInput):
                token = self.continuations.letters(prompt, last_id, [label])[0]
                name = self.processor.tokenizer.convert_ids_to_tokens(token)
                found[label] = {"id": token, "token": name}
        return found

    def trial_item(self) -> Item:
        """Return a plain question about a grey picture."""
        grey = np.full((224, 224, 3), 128, dtype=np.uint8)
        question = Question(grey, "What is this?", ("red", "blue", "green", "two"))
        return Item(0, question, None if self.settings.scoring == "letter" else 0)


def extended(inputs: Prompt, tokens: Sequence[Sequence[int]]) -> Prompt:
    """Append each row's tokens; the padding behind a shorter one is masked, and causally unseen."""
    longest = max(map(len, tokens))
    added = torch.zeros(len(tokens), longest, dtype=torch.long)
    seen = torch.zeros(len(tokens), longest, dtype=torch.long)
    for row, ids in enumerate(tokens):
        added[row, : len(ids)] = torch.tensor(ids)
        seen[row, : len(ids)] = 1
    behind = {
        "input_ids": added,
        "attention_mask": seen,
        "token_type_ids": torch.zeros_like(added),
        "mm_token_type_ids": torch.zeros_like(added),
    }
    if "cross_attention_mask" in inputs:
        # What follows the picture sees the tiles that the prompt's end sees.
        behind["cross_attention_mask"] = inputs["cross_attention_mask"][:, -1:].expand(
            -1, longest, *inputs["cross_attention_mask"].shape[2:]
        )
    return {
        name: torch.cat([value, behind[name]], dim=1) if name in behind else value
        for name, value in inputs.items()
    }
