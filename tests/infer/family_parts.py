"""What the tiny checkpoints share: tokenizers, chat templates, sizes.

Never learns from more than a few lines: a byte-level or a SentencePiece kind of tokenizer of a few
hundred tokens.
"""

from collections.abc import Sequence
from typing import Any

import transformers as tf
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

Built = tuple[tf.PreTrainedModel, tf.ProcessorMixin]

SIDE = 56
_CORPUS = [
    "what colour is the large striped circle left of the small solid square ?",
    "Answer with the option's letter from the given choices directly.",
    "A. red\nB. blue\nC. green\nD. two\nE. circle\nuser assistant model User Assistant ASSISTANT:",
    " ".join(" ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
] * 9
_SPECIALS = """<pad> <unk> <s> </s> <image> <video> <|image_pad|> <|video_pad|> <|vision_start|>
<|vision_end|> <|im_start|> <|im_end|> <img> </img> <IMG_CONTEXT> <fake_token_around_image>
<global-img> <end_of_utterance> <start_of_turn> <end_of_turn> <start_of_image> <end_of_image>
<image_soft_token> <|image|> <|python_tag|> <|begin_of_text|> <|start_header_id|>
<|end_header_id|> <|eot_id|> [IMG] [IMG_BREAK] [IMG_END] [INST] [/INST]
<|START_OF_IMG|> <|END_OF_IMG|> <|IMG_PATCH|> <|IMG_LINE_BREAK|> <image_placeholder>
[gMASK] <sop>""".split()  # noqa: SIM905


def tokenizer(
    kind: str, bos: str = "<s>", prefix: Sequence[str] | None = None, **tokens: str
) -> tf.PreTrainedTokenizerFast:
    """Return a small BPE tokenizer that writes `prefix` in front of every text by itself.

    Args:
        kind: `bytes` (GPT-2's kind: a space belongs to the word behind it) or `pieces`
            (SentencePiece's kind: likewise, written with U+2581).
        bos: The token that begins a text, or nothing.
        prefix: What it writes; `bos` by default.
        tokens: Names of further special tokens that a processor asks its tokenizer for.
    """
    made = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=kind == "pieces"))
    if kind == "bytes":
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        made.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
    else:
        made.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split("\n", "isolated"),
                pre_tokenizers.Metaspace(prepend_scheme="never"),
            ]
        )
        made.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.Fuse()])
        alphabet = [*map(chr, range(33, 127)), "▁", "\n"]
    trainer = trainers.BpeTrainer(
        vocab_size=len(_SPECIALS) + len(alphabet) + 120,
        special_tokens=_SPECIALS,
        initial_alphabet=alphabet,
        show_progress=False,
    )
    made.train_from_iterator(_CORPUS, trainer)
    found = tf.PreTrainedTokenizerFast(
        tokenizer_object=made,
        pad_token="<pad>",
        unk_token="<unk>",
        bos_token=bos or None,
        eos_token="</s>",
        extra_special_tokens=tokens,
        clean_up_tokenization_spaces=False,
    )
    found.add_special_tokens({"additional_special_tokens": _SPECIALS[4:]})
    before = ([bos] if bos else []) if prefix is None else list(prefix)
    found.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single=[*before, "$A"],
        special_tokens=[(token, found.convert_tokens_to_ids(token)) for token in before],
    )
    return found


def text(names: tf.PreTrainedTokenizerFast, **more: Any) -> dict[str, Any]:
    """Return the settings that the language parts share."""
    return {
        "vocab_size": len(names),
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 4096,
        "pad_token_id": names.pad_token_id,
        "bos_token_id": names.bos_token_id,
        "eos_token_id": names.eos_token_id,
        "initializer_range": 0.2,
        **more,
    }


TOWER = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "image_size": SIDE,
    "patch_size": 14,
}

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% for c in m.content %}{% if c.type == 'image' %}IMAGE{% else %}{{ c.text }}{% endif %}"
    "{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
GLM_PREFIX = ("[gMASK]", "<sop>")
VICUNA = (
    "{{ bos_token }}{% for m in messages %}{{ 'USER: ' if m.role == 'user' else 'ASSISTANT: ' }}"
    "{% for c in m.content %}{% if c.type == 'image' %}<image>\n{% else %}{{ c.text }} {% endif %}"
    "{% endfor %}{% endfor %}{% if add_generation_prompt %}ASSISTANT:{% endif %}"
)
MISTRAL = (
    "{% for m in messages %}{% if m.role == 'user' %}[INST] "
    "{% for c in m.content %}{% if c.type == 'image' %}IMAGE\n{% else %}{{ c.text }}{% endif %}"
    "{% endfor %} [/INST]{% else %} {{ m.content[0].text }}</s>{% endif %}{% endfor %}"
)
IDEFICS = (
    "<|im_start|>{% for m in messages %}{{ m.role | capitalize }}:"
    "{% for c in m.content %}{% if c.type == 'image' %}<image>{% else %} {{ c.text }}{% endif %}"
    "{% endfor %}<end_of_utterance>\n{% endfor %}"
    "{% if add_generation_prompt %}Assistant:{% endif %}"
)
GEMMA = (
    "{{ bos_token }}{% for m in messages %}<start_of_turn>"
    "{{ 'model' if m.role == 'assistant' else m.role }}\n"
    "{% for c in m.content %}{% if c.type == 'image' %}<start_of_image>"
    "{% else %}{{ c.text }}{% endif %}{% endfor %}<end_of_turn>\n{% endfor %}"
    "{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
LLAMA = (
    "{{ bos_token }}{% for m in messages %}"
    "<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n"
    "{% for c in m.content %}{% if c.type == 'image' %}<|image|>{% else %}{{ c.text }}{% endif %}"
    "{% endfor %}<|eot_id|>{% endfor %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
)
QWEN = CHATML.replace("IMAGE", "<|vision_start|><|image_pad|><|vision_end|>")


def qwen_ids(names: tf.PreTrainedTokenizerFast) -> dict[str, int]:
    tokens = {
        "image_token_id": "<|image_pad|>",
        "video_token_id": "<|video_pad|>",
        "vision_start_token_id": "<|vision_start|>",
        "vision_end_token_id": "<|vision_end|>",
    }
    return {name: names.convert_tokens_to_ids(token) for name, token in tokens.items()}


def qwen_pictures(patch: int) -> dict[str, Any]:
    limits = {"shortest_edge": 4 * (2 * patch) ** 2, "longest_edge": 24 * (2 * patch) ** 2}
    return {"patch_size": patch, "merge_size": 2, "size": limits}


def sections(sizes: list[int]) -> dict[str, Any]:
    return {"rope_type": "default", "rope_theta": 10_000.0, "mrope_section": sizes}
