"""Tiny random checkpoints of the families that users bring, each with tokenizer and chat template.

Never downloads: an architecture is built from a config of a few narrow layers.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers as tf
from families_llava import internvl, llava, llava_next, llava_onevision, vipllava
from families_qwen import qwen2_5_vl, qwen2_vl, qwen3_5, qwen3_vl
from family_parts import (
    CHATML,
    GEMMA,
    IDEFICS,
    LLAMA,
    MISTRAL,
    SIDE,
    TOWER,
    VICUNA,
    Built,
    text,
    tokenizer,
)

from benchc.config.models import TransformersModel
from benchc.models.transformers_backend import TransformersBackend


def idefics2() -> Built:
    names = tokenizer("pieces")
    config = tf.Idefics2Config(
        vision_config=dict(TOWER),
        perceiver_config={
            "hidden_size": 32,
            "resampler_n_latents": 4,
            "resampler_depth": 1,
            "resampler_n_heads": 4,
            "resampler_head_dim": 8,
            "num_key_value_heads": 2,
        },
        text_config=tf.MistralConfig(**text(names)),
        image_token_id=names.convert_tokens_to_ids("<image>"),
    )
    processor = tf.Idefics2Processor(
        tf.Idefics2ImageProcessor(
            size={"longest_edge": SIDE, "shortest_edge": 28}, do_image_splitting=False
        ),
        names,
        image_seq_len=4,
        chat_template=IDEFICS.replace("<|im_start|>", ""),
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
        vision_config=dict(TOWER),
        text_config=tf.LlamaConfig(**text(names)),
        image_token_id=names.convert_tokens_to_ids("<image>"),
        scale_factor=2,
    )
    processor = tf.Idefics3Processor(
        tf.Idefics3ImageProcessor(**_split_pictures()),
        names,
        image_seq_len=4,
        chat_template=IDEFICS.replace("<|im_start|>", "<|begin_of_text|>"),
    )
    return tf.Idefics3ForConditionalGeneration(config), processor


def smolvlm() -> Built:
    names = tokenizer("bytes", bos="<|im_start|>")
    config = tf.SmolVLMConfig(
        vision_config=dict(TOWER),
        text_config=tf.LlamaConfig(**text(names)),
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
        chat_template=IDEFICS,
    )
    return tf.SmolVLMForConditionalGeneration(config), processor


def paligemma() -> Built:
    names = tokenizer("pieces")
    config = tf.PaliGemmaConfig(
        vision_config=tf.SiglipVisionConfig(**TOWER, vision_use_head=False),
        text_config=tf.GemmaConfig(**text(names, head_dim=8)),
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
        vision_config=tf.SiglipVisionConfig(**TOWER, vision_use_head=False),
        text_config=tf.Gemma3TextConfig(**text(names, head_dim=8, sliding_window=32)),
        mm_tokens_per_image=4,
        boi_token_index=names.convert_tokens_to_ids("<start_of_image>"),
        eoi_token_index=names.convert_tokens_to_ids("<end_of_image>"),
        image_token_index=names.convert_tokens_to_ids("<image_soft_token>"),
    )
    processor = tf.Gemma3Processor(
        tf.Gemma3ImageProcessor(size={"height": SIDE, "width": SIDE}),
        names,
        image_seq_length=4,
        chat_template=GEMMA,
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
        text_config=text(
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
        chat_template=LLAMA,
    )
    model = tf.MllamaForConditionalGeneration(config)
    for name, parameter in model.named_parameters():
        if "attn_gate" in name or "mlp_gate" in name or name.endswith("gate"):
            torch.nn.init.constant_(parameter, 0.5)  # they start closed: no picture would be seen
    return model, processor


def mistral3() -> Built:
    names = tokenizer("pieces")
    config = tf.Mistral3Config(
        vision_config=tf.PixtralVisionConfig(
            **{**TOWER, "image_size": 4 * SIDE, "head_dim": 8},
        ),
        text_config=tf.MistralConfig(**text(names, head_dim=8)),
        image_token_index=names.convert_tokens_to_ids("[IMG]"),
        spatial_merge_size=2,
        tie_word_embeddings=False,
    )
    processor = tf.PixtralProcessor(
        tf.PixtralImageProcessor(size={"longest_edge": 4 * SIDE}, patch_size=14),
        names,
        patch_size=14,
        spatial_merge_size=2,
        chat_template=MISTRAL.replace("IMAGE", "[IMG]"),
    )
    return tf.Mistral3ForConditionalGeneration(config), processor


def aya_vision() -> Built:
    names = tokenizer("bytes")
    config = tf.AyaVisionConfig(
        vision_config=tf.SiglipVisionConfig(**TOWER, vision_use_head=False),
        text_config=tf.Cohere2Config(**text(names)),
        image_token_index=names.convert_tokens_to_ids("<|IMG_PATCH|>"),
        downsample_factor=2,
    )
    size = {"height": SIDE, "width": SIDE}
    processor = tf.AyaVisionProcessor(
        tf.GotOcr2ImageProcessor(size=size, crop_to_patches=True, max_patches=4),
        names,
        patch_size=14,
        img_size=SIDE,
        downsample_factor=2,
        chat_template=CHATML.replace("IMAGE", "<image>"),
    )
    return tf.AyaVisionForConditionalGeneration(config), processor


def deepseek_vl() -> Built:
    names = tokenizer("bytes", image_token="<image_placeholder>")
    config = tf.DeepseekVLConfig(
        vision_config=tf.SiglipVisionConfig(**TOWER, vision_use_head=False),
        text_config=tf.LlamaConfig(**text(names)),
        image_token_id=names.convert_tokens_to_ids("<image_placeholder>"),
    )
    processor = tf.DeepseekVLProcessor(
        tf.DeepseekVLImageProcessor(size={"height": SIDE, "width": SIDE}),
        names,
        num_image_tokens=16,
        chat_template=VICUNA.replace("<image>", "<image_placeholder>"),
    )
    return tf.DeepseekVLForConditionalGeneration(config), processor


#: What a checkpoint of each family needs besides its folder.
FAMILIES: dict[str, tuple[Callable[[], Built], dict[str, Any]]] = {
    "qwen2_vl": (qwen2_vl, {}),
    "qwen2_5_vl": (qwen2_5_vl, {}),
    "qwen3_vl": (qwen3_vl, {}),
    "internvl": (internvl, {}),
    "qwen3_5": (qwen3_5, {}),
    "llava": (llava, {}),
    "llava_next": (llava_next, {}),
    "llava_onevision": (llava_onevision, {}),
    "vipllava": (vipllava, {}),
    "idefics2": (idefics2, {}),
    "idefics3": (idefics3, {}),
    "smolvlm": (smolvlm, {}),
    "paligemma": (paligemma, {"prompt_style": "plain"}),
    "gemma3": (gemma3, {}),
    "mllama": (mllama, {}),
    "mistral3": (mistral3, {}),
    "aya_vision": (aya_vision, {}),
    "deepseek_vl": (deepseek_vl, {}),
}


def save(family: str, folder: Path) -> Path:
    """Write the checkpoint of a family, weights from a fixed seed, as a user would have it."""
    torch.manual_seed(0)
    model, processor = FAMILIES[family][0]()
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def load(folder, family, **settings):
    """Return the backend of a checkpoint that `save` wrote."""
    given = {"path": str(folder), "batch_size": 8, **FAMILIES[family][1], **settings}
    return TransformersBackend(TransformersModel(**given))
