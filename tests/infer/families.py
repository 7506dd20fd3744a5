"""Tiny random checkpoints of the families that users bring, each with tokenizer and chat template.

Never downloads: architecture from a config of two narrow layers, a byte-level or a SentencePiece
tokenizer of a few hundred tokens, and a template of the family's shape.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers as tf
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

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
<|end_header_id|> <|eot_id|> [IMG] [IMG_BREAK] [IMG_END] [INST] [/INST]""".split()  # noqa: SIM905

Built = tuple[tf.PreTrainedModel, tf.ProcessorMixin]


def tokenizer(kind: str, bos: str = "<s>", **tokens: str) -> tf.PreTrainedTokenizerFast:
    """Return a small BPE tokenizer that writes no special tokens of its own but `bos`.

    Args:
        kind: `bytes` (GPT-2's kind: a space belongs to the word behind it) or `pieces`
            (SentencePiece's kind: likewise, written with U+2581).
        bos: The token in front of every text, or nothing.
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
    return found


def _text(names: tf.PreTrainedTokenizerFast, **more: Any) -> dict[str, Any]:
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


_TOWER = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "image_size": SIDE,
    "patch_size": 14,
}

_CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% for c in m.content %}{% if c.type == 'image' %}IMAGE{% else %}{{ c.text }}{% endif %}"
    "{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_VICUNA = (
    "{{ bos_token }}{% for m in messages %}{{ 'USER: ' if m.role == 'user' else 'ASSISTANT: ' }}"
    "{% for c in m.content %}{% if c.type == 'image' %}<image>\n{% else %}{{ c.text }} {% endif %}"
    "{% endfor %}{% endfor %}{% if add_generation_prompt %}ASSISTANT:{% endif %}"
)
_MISTRAL = (
    "{% for m in messages %}{% if m.role == 'user' %}[INST] "
    "{% for c in m.content %}{% if c.type == 'image' %}IMAGE\n{% else %}{{ c.text }}{% endif %}"
    "{% endfor %} [/INST]{% else %} {{ m.content[0].text }}</s>{% endif %}{% endfor %}"
)
_IDEFICS = (
    "<|im_start|>{% for m in messages %}{{ m.role | capitalize }}:"
    "{% for c in m.content %}{% if c.type == 'image' %}<image>{% else %} {{ c.text }}{% endif %}"
    "{% endfor %}<end_of_utterance>\n{% endfor %}"
    "{% if add_generation_prompt %}Assistant:{% endif %}"
)
_GEMMA = (
    "{{ bos_token }}{% for m in messages %}<start_of_turn>"
    "{{ 'model' if m.role == 'assistant' else m.role }}\n"
    "{% for c in m.content %}{% if c.type == 'image' %}<start_of_image>"
    "{% else %}{{ c.text }}{% endif %}{% endfor %}<end_of_turn>\n{% endfor %}"
    "{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
_LLAMA = (
    "{{ bos_token }}{% for m in messages %}"
    "<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n"
    "{% for c in m.content %}{% if c.type == 'image' %}<|image|>{% else %}{{ c.text }}{% endif %}"
    "{% endfor %}<|eot_id|>{% endfor %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
)
_QWEN = _CHATML.replace("IMAGE", "<|vision_start|><|image_pad|><|vision_end|>")


def _qwen_ids(names: tf.PreTrainedTokenizerFast) -> dict[str, int]:
    tokens = {
        "image_token_id": "<|image_pad|>",
        "video_token_id": "<|video_pad|>",
        "vision_start_token_id": "<|vision_start|>",
        "vision_end_token_id": "<|vision_end|>",
    }
    return {name: names.convert_tokens_to_ids(token) for name, token in tokens.items()}


def _qwen_pictures(patch: int) -> dict[str, Any]:
    limits = {"shortest_edge": 4 * (2 * patch) ** 2, "longest_edge": 24 * (2 * patch) ** 2}
    return {"patch_size": patch, "merge_size": 2, "size": limits}


def _sections(sizes: list[int]) -> dict[str, Any]:
    return {"rope_type": "default", "rope_theta": 10_000.0, "mrope_section": sizes}


def qwen2_vl() -> Built:
    names = tokenizer("bytes", bos="")
    config = tf.Qwen2VLConfig(
        text_config=_text(names, rope_parameters=_sections([2, 1, 1])),
        vision_config={"depth": 2, "embed_dim": 32, "hidden_size": 32, "num_heads": 4},
        **_qwen_ids(names),
    )
    pictures = _qwen_pictures(14)
    processor = tf.Qwen2VLProcessor(
        tf.Qwen2VLImageProcessor(**pictures),
        names,
        tf.Qwen2VLVideoProcessor(**pictures),
        chat_template=_QWEN,
    )
    return tf.Qwen2VLForConditionalGeneration(config), processor


def qwen2_5_vl() -> Built:
    names = tokenizer("bytes", bos="")
    config = tf.Qwen2_5_VLConfig(
        text_config=_text(names, rope_parameters=_sections([2, 1, 1])),
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 48,
            "out_hidden_size": 32,
            "num_heads": 4,
            "window_size": 56,
            "fullatt_block_indexes": [1],
        },
        **_qwen_ids(names),
    )
    pictures = _qwen_pictures(14)
    processor = tf.Qwen2_5_VLProcessor(
        tf.Qwen2VLImageProcessor(**pictures),
        names,
        tf.Qwen2VLVideoProcessor(**pictures),
        chat_template=_QWEN,
    )
    return tf.Qwen2_5_VLForConditionalGeneration(config), processor


def qwen3_vl() -> Built:
    names = tokenizer("bytes", bos="")
    config = tf.Qwen3VLConfig(
        text_config=_text(names, head_dim=8, rope_parameters=_sections([2, 1, 1])),
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 48,
            "out_hidden_size": 32,
            "num_heads": 4,
            "num_position_embeddings": 64,
            "deepstack_visual_indexes": [0, 1],
        },
        **_qwen_ids(names),
    )
    pictures = _qwen_pictures(16)
    processor = tf.Qwen3VLProcessor(
        tf.Qwen2VLImageProcessor(**pictures),
        names,
        tf.Qwen3VLVideoProcessor(**pictures),
        chat_template=_QWEN,
    )
    return tf.Qwen3VLForConditionalGeneration(config), processor


def internvl() -> Built:
    names = tokenizer(
        "bytes",
        bos="",
        start_image_token="<img>",
        end_image_token="</img>",
        context_image_token="<IMG_CONTEXT>",
        video_token="<video>",
    )
    config = tf.InternVLConfig(
        vision_config={**_TOWER, "image_size": [SIDE, SIDE], "patch_size": [14, 14]},
        text_config=tf.Qwen2Config(**_text(names)),
        image_token_id=names.convert_tokens_to_ids("<IMG_CONTEXT>"),
        image_seq_length=4,
        tie_word_embeddings=False,
    )
    size = {"height": SIDE, "width": SIDE}
    processor = tf.InternVLProcessor(
        tf.GotOcr2ImageProcessor(size=size, crop_to_patches=True, max_patches=4),
        names,
        tf.InternVLVideoProcessor(size=size),
        image_seq_length=4,
        chat_template=_CHATML.replace("IMAGE", "<IMG_CONTEXT>\n"),
    )
    return tf.InternVLForConditionalGeneration(config), processor


def llava() -> Built:
    names = tokenizer("pieces")
    config = tf.LlavaConfig(
        vision_config=tf.CLIPVisionConfig(**_TOWER, projection_dim=32),
        text_config=tf.LlamaConfig(**_text(names)),
        image_token_index=names.convert_tokens_to_ids("<image>"),
        image_seq_length=16,
    )
    size = {"shortest_edge": SIDE}
    processor = tf.LlavaProcessor(
        tf.CLIPImageProcessor(size=size, crop_size={"height": SIDE, "width": SIDE}),
        names,
        patch_size=14,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=_VICUNA,
    )
    return tf.LlavaForConditionalGeneration(config), processor


def llava_next() -> Built:
    names = tokenizer("pieces")
    grids = [[SIDE, 2 * SIDE], [2 * SIDE, SIDE], [2 * SIDE, 2 * SIDE]]
    config = tf.LlavaNextConfig(
        vision_config=tf.CLIPVisionConfig(**_TOWER, projection_dim=32),
        text_config=tf.MistralConfig(**_text(names)),
        image_token_index=names.convert_tokens_to_ids("<image>"),
        image_grid_pinpoints=grids,
        image_seq_length=16,
    )
    processor = tf.LlavaNextProcessor(
        tf.LlavaNextImageProcessor(
            size={"shortest_edge": SIDE},
            crop_size={"height": SIDE, "width": SIDE},
            image_grid_pinpoints=grids,
        ),
        names,
        patch_size=14,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=_MISTRAL.replace("IMAGE", "<image>"),
    )
    return tf.LlavaNextForConditionalGeneration(config), processor


def llava_onevision() -> Built:
    names = tokenizer("bytes", bos="")
    grids = [[SIDE, SIDE], [SIDE, 2 * SIDE], [2 * SIDE, SIDE], [2 * SIDE, 2 * SIDE]]
    config = tf.LlavaOnevisionConfig(
        vision_config=tf.SiglipVisionConfig(**_TOWER, vision_use_head=False),
        text_config=tf.Qwen2Config(**_text(names)),
        image_token_index=names.convert_tokens_to_ids("<image>"),
        video_token_index=names.convert_tokens_to_ids("<video>"),
        image_grid_pinpoints=grids,
        vision_aspect_ratio="anyres_max_9",
    )
    size = {"height": SIDE, "width": SIDE}
    processor = tf.LlavaOnevisionProcessor(
        tf.LlavaOnevisionImageProcessor(size=size, image_grid_pinpoints=grids),
        names,
        tf.LlavaOnevisionVideoProcessor(size=size),
        num_image_tokens=16,
        vision_feature_select_strategy="full",
        chat_template=_CHATML.replace("IMAGE", "<image>\n"),
    )
    return tf.LlavaOnevisionForConditionalGeneration(config), processor


def idefics2() -> Built:
    names = tokenizer("pieces")
    config = tf.Idefics2Config(
        vision_config=dict(_TOWER),
        perceiver_config={
            "hidden_size": 32,
            "resampler_n_latents": 4,
            "resampler_depth": 1,
            "resampler_n_heads": 4,
            "resampler_head_dim": 8,
            "num_key_value_heads": 2,
        },
        text_config=tf.MistralConfig(**_text(names)),
        image_token_id=names.convert_tokens_to_ids("<image>"),
    )
    processor = tf.Idefics2Processor(
        tf.Idefics2ImageProcessor(
            size={"longest_edge": SIDE, "shortest_edge": 28}, do_image_splitting=False
        ),
        names,
        image_seq_len=4,
        chat_template=_IDEFICS.replace("<|im_start|>", ""),
    )
    return tf.Idefics2ForConditionalGeneration(config), processor


def _split_pictures() -> dict[str, Any]:
    """Return how Idefics3 and SmolVLM cut a large picture into tiles."""
    return {
        "size": {"longest_edge": 2 * SIDE},
        "max_image_size": {"longest_edge": SIDE},
        "do_image_splitting": True,
    }


def idefics3() -> Built:
    names = tokenizer("bytes", bos="<|begin_of_text|>")
    config = tf.Idefics3Config(
        vision_config=dict(_TOWER),
        text_config=tf.LlamaConfig(**_text(names)),
        image_token_id=names.convert_tokens_to_ids("<image>"),
        scale_factor=2,
    )
    processor = tf.Idefics3Processor(
        tf.Idefics3ImageProcessor(**_split_pictures()),
        names,
        image_seq_len=4,
        chat_template=_IDEFICS.replace("<|im_start|>", "<|begin_of_text|>"),
    )
    return tf.Idefics3ForConditionalGeneration(config), processor


def smolvlm() -> Built:
    names = tokenizer("bytes", bos="<|im_start|>")
    config = tf.SmolVLMConfig(
        vision_config=dict(_TOWER),
        text_config=tf.LlamaConfig(**_text(names)),
        image_token_id=names.convert_tokens_to_ids("<image>"),
        scale_factor=2,
    )
    processor = tf.SmolVLMProcessor(
        tf.SmolVLMImageProcessor(**_split_pictures()),
        names,
        tf.SmolVLMVideoProcessor(
            size={"longest_edge": SIDE}, max_image_size={"longest_edge": SIDE}
        ),
        image_seq_len=4,
        chat_template=_IDEFICS,
    )
    return tf.SmolVLMForConditionalGeneration(config), processor


def paligemma() -> Built:
    names = tokenizer("pieces")
    config = tf.PaliGemmaConfig(
        vision_config=tf.SiglipVisionConfig(**_TOWER, vision_use_head=False),
        text_config=tf.GemmaConfig(**_text(names, head_dim=8)),
        image_token_index=names.convert_tokens_to_ids("<image>"),
        projection_dim=32,
        hidden_size=32,
    )
    pictures = tf.SiglipImageProcessor(size={"height": SIDE, "width": SIDE})
    setattr(pictures, "image_seq_length", 16)  # noqa: B010 - the processor asks for it
    processor = tf.PaliGemmaProcessor(pictures, names)
    model = tf.PaliGemmaForConditionalGeneration(config)
    model.resize_token_embeddings(len(names))
    return model, processor


def gemma3() -> Built:
    names = tokenizer(
        "pieces",
        image_token="<image_soft_token>",
        boi_token="<start_of_image>",
        eoi_token="<end_of_image>",
    )
    config = tf.Gemma3Config(
        vision_config=tf.SiglipVisionConfig(**_TOWER, vision_use_head=False),
        text_config=tf.Gemma3TextConfig(**_text(names, head_dim=8, sliding_window=32)),
        mm_tokens_per_image=4,
        boi_token_index=names.convert_tokens_to_ids("<start_of_image>"),
        eoi_token_index=names.convert_tokens_to_ids("<end_of_image>"),
        image_token_index=names.convert_tokens_to_ids("<image_soft_token>"),
    )
    processor = tf.Gemma3Processor(
        tf.Gemma3ImageProcessor(size={"height": SIDE, "width": SIDE}),
        names,
        image_seq_length=4,
        chat_template=_GEMMA,
    )
    model = tf.Gemma3ForConditionalGeneration(config)
    for name, parameter in model.named_parameters():
        if "mm_input_projection_weight" in name:
            torch.nn.init.normal_(parameter, std=0.2)  # it starts at zero: no picture would be seen
    return model, processor


def mllama() -> Built:
    names = tokenizer("bytes", bos="<|begin_of_text|>")
    config = tf.MllamaConfig(
        vision_config={
            "hidden_size": 32,
            "intermediate_size": 48,
            "num_hidden_layers": 2,
            "num_global_layers": 1,
            "attention_heads": 4,
            "image_size": SIDE,
            "patch_size": 14,
            "vision_output_dim": 64,
            "intermediate_layers_indices": [1],
            "max_num_tiles": 4,
            "supported_aspect_ratios": [
                [1, 1], [1, 2], [1, 3], [1, 4], [2, 1], [2, 2], [3, 1], [4, 1]
            ],
        },
        text_config=_text(
            names,
            num_hidden_layers=3,
            cross_attention_layers=[1],
            rope_parameters={"rope_type": "default", "rope_theta": 10_000.0},
        ),
        image_token_index=names.convert_tokens_to_ids("<|image|>"),
    )  # fmt: skip
    processor = tf.MllamaProcessor(
        tf.MllamaImageProcessor(size={"height": SIDE, "width": SIDE}, max_image_tiles=4),
        names,
        chat_template=_LLAMA,
    )
    model = tf.MllamaForConditionalGeneration(config)
    for name, parameter in model.named_parameters():
        if "attn_gate" in name or "mlp_gate" in name or name.endswith("gate"):
            torch.nn.init.constant_(parameter, 0.5)  # they start closed: no picture would be seen
    return model, processor


#: What a checkpoint of each family needs besides its folder.
FAMILIES: dict[str, tuple[Callable[[], Built], dict[str, Any]]] = {
    "qwen2_vl": (qwen2_vl, {}),
    "qwen2_5_vl": (qwen2_5_vl, {}),
    "qwen3_vl": (qwen3_vl, {}),
    "internvl": (internvl, {}),
    "llava": (llava, {}),
    "llava_next": (llava_next, {}),
    "llava_onevision": (llava_onevision, {}),
    "idefics2": (idefics2, {}),
    "idefics3": (idefics3, {}),
    "smolvlm": (smolvlm, {}),
    "paligemma": (paligemma, {"prompt_style": "plain"}),
    "gemma3": (gemma3, {}),
    "mllama": (mllama, {}),
}


def save(family: str, folder: Path) -> Path:
    """Write the checkpoint of a family, weights from a fixed seed, as a user would have it."""
    torch.manual_seed(0)
    model, processor = FAMILIES[family][0]()
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder
