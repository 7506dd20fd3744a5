"""The tokenizer of the reference models: one token per word, and one per label of an option.

Its vocabulary is the grammar's words, the numbers 0 to 99 and the special tokens.
"""

import re
import string

from tokenizers import AddedToken, Regex, Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordLevel
from transformers import PreTrainedTokenizerFast

from benchc.world.questions import PLURALS, TEMPLATES
from benchc.world.scene import COLOURS, KINDS, PATTERNS, WORDS

PAD, UNKNOWN, START, END = "<pad>", "<unk>", "<bos>", "<eos>"
PICTURE = {
    "llava": "<image>",
    "qwen2vl": "<|image_pad|>",
    "paligemma": "<image>",
    "idefics3": "<image>",
}
"""The token of one piece of the picture, by architecture."""
_SPECIAL = (
    PAD, UNKNOWN, START, END, "<image>", "<|image_pad|>", "<|video_pad|>", "<|vision_start|>",
    "<|vision_end|>", "<fake_token_around_image>", "<global-img>", "<end_of_utterance>",
)  # fmt: skip


def build_tokenizer() -> PreTrainedTokenizerFast:
    """Return the tokenizer: lower case, punctuation apart, full stops dropped, padding left.

    A capital letter that stands alone is an option's label and has a token of its own, apart
    from the article "a"; anything else is lower-cased first.
    """
    words = dict.fromkeys([*_SPECIAL, *string.ascii_uppercase, *_vocabulary()])
    tokenizer = Tokenizer(WordLevel({w: i for i, w in enumerate(words)}, unk_token=UNKNOWN))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Lowercase(), normalizers.Replace(Regex(r"[.\"']"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()]
    )
    tokenizer.add_tokens(
        [AddedToken(c, single_word=True, normalized=False) for c in string.ascii_uppercase]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        unk_token=UNKNOWN,
        bos_token=START,
        eos_token=END,
        additional_special_tokens=list(_SPECIAL[4:]),
        padding_side="left",
        clean_up_tokenization_spaces=False,
    )


def token_id(tokenizer: PreTrainedTokenizerFast, token: str) -> int:
    """Return the id of one token of the vocabulary."""
    found: int = tokenizer.get_vocab()[token]
    return found


def token_ids(tokenizer: PreTrainedTokenizerFast, texts: list[str]) -> list[list[int]]:
    """Return the ids of texts, without special tokens added and without padding."""
    found: list[list[int]] = tokenizer(texts, add_special_tokens=False)["input_ids"]
    return found


def _vocabulary() -> list[str]:
    """Return every word of the grammar, of the pictures and of the numbers, in a fixed order."""
    ways = " ".join(way for _, ways in TEMPLATES.values() for way in ways)
    written = re.findall(r"[a-z]+|[?,:]", re.sub(r"{\w+}", "", ways).lower())
    loose = ("a", "answer", ":", "and", "of", "picture", "word", "number", "yes", "no", "to",
             "left", "right", "upper", "lower", "top", "bottom", "above", "below", "larger",
             "smaller")  # fmt: skip
    numbers = [str(n) for n in range(100)]
    return [
        *loose, *written, *KINDS, *PLURALS.values(), *COLOURS, *PATTERNS, *WORDS, *numbers
    ]  # fmt: skip
