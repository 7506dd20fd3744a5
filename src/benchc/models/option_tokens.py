"""Which token stands for an option, found in the rendered prompt and nowhere else.

Never encodes a bare letter: ` A`, `A` and a metaspace `A` are different tokens, and which one the
model would emit depends on how its prompt ends.
"""

from collections.abc import Sequence
from typing import Any

from benchc.errors import BadInput

# Far more characters than any tokenizer joins into one token.
_TAIL = 96


class Continuations:
    """Token ids that continue a prompt, for one tokenizer; remembers what it has found."""

    def __init__(self, tokenizer: Any, leads: Sequence[str] = ("", " ")):
        """Take a tokenizer and what may stand between prompt and reply.

        Args:
            tokenizer: The model's own.
            leads: White space to try, in order: that of the chat template where it shows it.
        """
        self.tokenizer = tokenizer
        self.leads = leads
        self._known: dict[tuple[str, int, str], list[int]] = {}

    def ids(self, prompt: str, last_id: int, text: str) -> list[int]:
        """Return the ids that `text` adds when it is written right behind the prompt.

        Args:
            prompt: The rendered prompt.
            last_id: The last token the processor made of it.
            text: A label or an option's text.

        Raises:
            BadInput: the tokenizer merges the text into the prompt's last token, so that no
                position holds the model's choice, or does not know a character of it.
        """
        key = (prompt[-_TAIL:], last_id, text)
        if key not in self._known:
            found = self._find(*key)
            if self.tokenizer.unk_token_id in found:
                raise BadInput(f"the tokenizer does not know every character of {text!r}")
            self._known[key] = found
        return self._known[key]

    def letters(self, prompt: str, last_id: int, labels: Sequence[str]) -> list[int]:
        """Return one token id a label.

        Raises:
            BadInput: a label is not exactly one known token behind this prompt, or two labels
                share a token.
        """
        found = {label: self.ids(prompt, last_id, label) for label in labels}
        for label, ids in found.items():
            if len(ids) != 1:
                pieces = self.tokenizer.convert_ids_to_tokens(ids)
                raise BadInput(
                    f"option label {label!r} is {pieces} behind this prompt, not one token; "
                    "score this model with `scoring: text`"
                )
        ids = [ids[0] for ids in found.values()]
        if len(set(ids)) < len(ids):
            raise BadInput(
                f"option labels {list(labels)} share tokens behind this prompt; "
                "score this model with `scoring: text`"
            )
        return ids

    def _find(self, tail: str, last_id: int, text: str) -> list[int]:
        # Some processors end every prompt in a line break of their own.
        ends = [end for end in ("", "\n") if self._encode(tail + end)[-1:] == [last_id]]
        for lead in self.leads:
            for end in ends:
                before = self._encode(tail + end)
                after = self._encode(tail + end + lead + text)
                if after[: len(before)] == before and len(after) > len(before):
                    return after[len(before) :]
        raise BadInput(
            f"{text!r} melts into the end of the prompt (...{tail[-24:]!r}); "
            "give the model a chat template that ends in a token of its own"
        )

    def _encode(self, text: str) -> list[int]:
        return self.tokenizer(text, add_special_tokens=False)["input_ids"]
