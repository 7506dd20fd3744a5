"""Which token stands for an option, found in the rendered prompt and nowhere else.

Never encodes a bare letter: ` A`, `A` and a metaspace `A` are different tokens, and which one the
model would emit depends on how its prompt ends.
"""

from collections.abc import Sequence
from typing import Any

from benchc.errors import BadInput

_TAIL = 8


class Continuations:
    """Token ids that continue a prompt, for one tokenizer; remembers what it has found."""

    def __init__(self, tokenizer: Any):
        self.tokenizer = tokenizer
        self._known: dict[tuple[tuple[int, ...], str], list[int]] = {}

    def ids(self, prompt_ids: Sequence[int], text: str) -> list[int]:
        """Return the ids that `text` adds when it is written right behind the prompt.

        Raises:
            BadInput: the tokenizer merges the text into the prompt's last token, so that no
                single position holds the model's choice.
        """
        tail = tuple(prompt_ids[-_TAIL:])
        if (tail, text) not in self._known:
            self._known[tail, text] = self._find(list(tail), text)
        return self._known[tail, text]

    def letters(self, prompt_ids: Sequence[int], labels: Sequence[str]) -> list[int]:
        """Return one token id a label.

        Raises:
            BadInput: a label is not exactly one token behind this prompt, is unknown to the
                tokenizer, or two labels share a token.
        """
        found = {label: self.ids(prompt_ids, label) for label in labels}
        unknown = self.tokenizer.unk_token_id
        for label, ids in found.items():
            if len(ids) != 1 or ids[0] == unknown:
                pieces = self.tokenizer.convert_ids_to_tokens(ids)
                raise BadInput(
                    f"option label {label!r} is {pieces} behind this prompt, not one known token; "
                    "score this model with `scoring: text`"
                )
        ids = [ids[0] for ids in found.values()]
        if len(set(ids)) < len(ids):
            raise BadInput(
                f"option labels {list(labels)} share tokens behind this prompt; "
                "score this model with `scoring: text`"
            )
        return ids

    def _find(self, tail: list[int], text: str) -> list[int]:
        written = self.tokenizer.decode(
            tail, skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
        before = self._encode(written)
        after = self._encode(written + text)
        if after[: len(before)] != before or before[-1] != tail[-1]:
            pieces = self.tokenizer.convert_ids_to_tokens(after[-4:])
            raise BadInput(
                f"{text!r} melts into the end of the prompt ({pieces}); "
                "give the model a chat template that ends in a token of its own"
            )
        return after[len(before) :]

    def _encode(self, text: str) -> list[int]:
        return self.tokenizer(text, add_special_tokens=False)["input_ids"]
