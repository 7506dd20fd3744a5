"""What a tokenizer writes around a text by itself, held against what the template has written.

The ids are compared, not the texts: `<s>`, or GLM's `[gMASK]<sop>`, stand in front of a prompt
once, whoever writes them, and nothing stands behind it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tokenizers.processors import TemplateProcessing

from benchc.errors import BadInput


@dataclass(frozen=True)
class Added:
    """Ids that a tokenizer writes in front of any text, and behind it."""

    before: tuple[int, ...] = ()
    behind: tuple[int, ...] = ()


def added_by(tokenizer: Any) -> Added:
    """Return what a tokenizer writes by itself around a text."""
    bare = tokenizer("x", add_special_tokens=False)["input_ids"]
    whole = tokenizer("x")["input_ids"]
    for start in range(len(whole) - len(bare) + 1):
        if whole[start : start + len(bare)] == bare:
            return Added(tuple(whole[:start]), tuple(whole[start + len(bare) :]))
    return Added()


def head(ids: Sequence[int], tokenizer: Any, further: Sequence[int] = ()) -> list[int]:
    """Return the special tokens at the start of a prompt, white space between them left out.

    Args:
        ids: A prompt without padding.
        tokenizer: The model's own.
        further: Ids that count as special too.
    """
    special = {*tokenizer.added_tokens_decoder, *tokenizer.all_special_ids, *further}
    found = []
    for token in ids:
        if token in special:
            found.append(token)
        elif tokenizer.decode([token]).strip():
            break
    return found


def needed(added: Added, written: Sequence[int], tokenizer: Any) -> tuple[int, ...]:
    """Return what the tokenizer has to write in front of a prompt.

    Args:
        added: What it writes by itself.
        written: Ids of a prompt without it. A template that writes any token of the prefix has
            decided on all of it.
        tokenizer: The model's own.
    """
    begun = head(written, tokenizer, added.before)
    return () if set(added.before) & set(begun) else added.before


def write_only(tokenizer: Any, before: Sequence[int]) -> None:
    """Make a tokenizer write `before` in front of a text and nothing behind it.

    Raises:
        BadInput: it is no fast tokenizer, whose way of writing cannot be set.
    """
    if not tokenizer.is_fast:
        added = [*added_by(tokenizer).before, *added_by(tokenizer).behind]
        names = " and ".join(tokenizer.convert_ids_to_tokens(added))
        raise BadInput(
            f"its tokenizer writes {names} around every text and is no fast one, so that this "
            "cannot be switched off here; set `add_bos_token` and `add_eos_token` to false in its "
            "tokenizer_config.json"
        )
    names = tokenizer.convert_ids_to_tokens(list(before))
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single=[*names, "$A"],
        pair=[*names, "$A", "$B"],
        special_tokens=list(zip(names, before, strict=True)),
    )


def check_ids(ids: Sequence[int], written: Sequence[int], tokenizer: Any, added: Added) -> None:
    """Refuse a prompt that begins or ends otherwise than its text says.

    Args:
        ids: The prompt that will run, without padding.
        written: The ids of the prompt's text by itself.
        tokenizer: The model's own.
        added: What the tokenizer wrote by itself before anything was done about it.

    Raises:
        BadInput: a prefix token stands there twice, or a special token stands behind the text.
    """
    prefix = {*added.before} | {tokenizer.bos_token_id} - {None}
    begun = [token for token in head(ids, tokenizer, added.before) if token in prefix]
    if len(set(begun)) < len(begun):
        names = tokenizer.convert_ids_to_tokens(list(ids[: len(begun) + 1]))
        raise BadInput(
            f"its prompts begin with a token twice: {names} {list(ids[: len(begun) + 1])}; give a "
            "`chat_template` that does not write it"
        )
    special = {*tokenizer.all_special_ids, *added.behind}
    if ids[-1] in special and ids[-1] != written[-1]:
        name = tokenizer.convert_ids_to_tokens([ids[-1]])[0]
        raise BadInput(
            f"its tokenizer writes {name} behind the prompt, where the reply should begin; set "
            "`add_eos_token` to false in its tokenizer_config.json"
        )
