"""Four small models of four architectures of the transformers library, and their processors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from transformers import (
    CLIPImageProcessor,
    CLIPVisionConfig,
    GemmaConfig,
    Idefics3Config,
    Idefics3ForConditionalGeneration,
    Idefics3ImageProcessor,
    Idefics3Processor,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    PaliGemmaConfig,
    PaliGemmaForConditionalGeneration,
    PaliGemmaProcessor,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    ProcessorMixin,
    Qwen2VLConfig,
    Qwen2VLForConditionalGeneration,
    Qwen2VLImageProcessor,
    Qwen2VLProcessor,
    Qwen2VLVideoProcessor,
    SiglipImageProcessor,
    SiglipVisionConfig,
)

from benchc.reference.tokens import END, PAD, PICTURE, START, build_tokenizer, token_id
from benchc.world.scene import GRID

KEYS = ("llava", "qwen2vl", "paligemma", "idefics3")
SIDE = 96
"""Width and height in pixels to which every image processor brings a picture."""
PIECES = GRID * GRID
"""Picture tokens in a prompt."""

PREFIX = {
    "llava": START + "<image>",
    "qwen2vl": START + "<|vision_start|><|image_pad|><|vision_end|>",
    "paligemma": "<image>",
    "idefics3": START + "<image>",
}
_WIDTH = {"llava": 96, "qwen2vl": 96, "paligemma": 96, "idefics3": 96}
_LAYERS = {"llava": 4, "qwen2vl": 4, "paligemma": 4, "idefics3": 4}
_TEMPLATE = """\
{%- for message in messages -%}
{%- if message['content'] is string -%}{{ message['content'] + '\\n' }}{%- else -%}
{%- for part in message['content'] -%}
{%- if part['type'] == 'image' -%}PICTURE{%- else -%}{{ part['text'] + '\\n' }}{%- endif -%}
{%- endfor -%}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ 'answer' }}{%- endif -%}"""
_PIXELS: dict[str, Any] = {
    "do_rescale": True,
    "do_normalize": True,
    "image_mean": [0.5, 0.5, 0.5],
    "image_std": [0.5, 0.5, 0.5],
    "resample": 2,
}


@dataclass(frozen=True)
class Architecture:
    """An untrained model with its processor.

    Attributes:
        key: One of `KEYS`.
        model: The model, float32 on the CPU.
        processor: Its processor with a chat template; ready to be saved.
    """

    key: str
    model: PreTrainedModel
    processor: ProcessorMixin

    @property
    def tokenizer(self) -> PreTrainedTokenizerFast:
        """The tokenizer inside the processor."""
        tokenizer: PreTrainedTokenizerFast = self.processor.tokenizer
        return tokenizer

    def inputs(
        self, ids: torch.Tensor, mask: torch.Tensor, spoken: torch.Tensor | None = None
    ) -> dict[str, torch.Tensor]:
        """Return the text part of a forward call.

        Args:
            ids: Token ids, int64 of shape (batch, positions), padded on the left.
            mask: One where a token is, int64 of the same shape.
            spoken: One where a token is the model's own answer, int64 of the same shape; none are
                if left out. PaliGemma reads all others in both directions.
        """
        call = {"input_ids": ids, "attention_mask": mask}
        if self.key == "qwen2vl":
            call["mm_token_type_ids"] = (ids == self.model.config.image_token_id).long()
        if self.key == "paligemma":
            call["token_type_ids"] = torch.zeros_like(ids) if spoken is None else spoken
        return call

    def picture(self, pixels: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return the picture part of a forward call, equal to what the processor makes.

        Args:
            pixels: Pictures already brought to `SIDE`, uint8 of shape (batch, 3, SIDE, SIDE).
        """
        values = pixels.float() / 127.5 - 1
        if self.key == "idefics3":
            return {"pixel_values": values[:, None]}
        if self.key != "qwen2vl":
            return {"pixel_values": values}
        batch, cut = len(values), SIDE // GRID
        patches = values.reshape(batch, 3, GRID, cut, GRID, cut).permute(0, 2, 4, 1, 3, 5)
        flat = patches.unsqueeze(4).expand(-1, -1, -1, -1, 2, -1, -1).reshape(batch * PIECES, -1)
        grid = torch.tensor([[1, GRID, GRID]]).repeat(batch, 1)
        return {"pixel_values": flat, "image_grid_thw": grid}


def build(key: str) -> Architecture:
    """Return the untrained model of a key; its weights follow torch's global seed."""
    tokenizer = build_tokenizer()
    model, processor = _BUILDERS[key](tokenizer)
    model.config.pad_token_id = tokenizer.pad_token_id
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    return Architecture(key, model, processor)


def prompt(question: str, options: list[str]) -> str:
    """Return the user's text: the question, then one labelled line per option, if any."""
    lines = [f"{chr(65 + i)}. {option}" for i, option in enumerate(options)]
    return "\n".join([question, *lines])


def template(key: str) -> str:
    """Return the chat template of an architecture: picture, text, then the word "answer"."""
    return _TEMPLATE.replace("PICTURE", "{{ '" + PREFIX[key] + "' }}")


def _text(key: str, tokenizer: PreTrainedTokenizerFast, **more: Any) -> dict[str, Any]:
    """Return the settings that the four language parts share."""
    width = _WIDTH[key]
    return {
        "vocab_size": len(tokenizer),
        "hidden_size": width,
        "intermediate_size": width * 5 // 2,
        "num_hidden_layers": _LAYERS[key],
        "num_attention_heads": 3,
        "num_key_value_heads": 3,
        "max_position_embeddings": 256,
        "tie_word_embeddings": True,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10_000.0},
        "pad_token_id": token_id(tokenizer, PAD),
        "bos_token_id": token_id(tokenizer, START),
        "eos_token_id": token_id(tokenizer, END),
        **more,
    }


def _llava(tokenizer: PreTrainedTokenizerFast) -> tuple[PreTrainedModel, ProcessorMixin]:
    """LLaVA: a CLIP tower with patches of one cell, two-layer projector, Llama."""
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(
            hidden_size=128, intermediate_size=320, num_hidden_layers=4, num_attention_heads=4,
            image_size=SIDE, patch_size=SIDE // GRID, projection_dim=128),
        text_config=LlamaConfig(**_text("llava", tokenizer)),
        image_token_index=token_id(tokenizer, PICTURE["llava"]),
        vision_feature_layer=-1,
        image_seq_length=PIECES,
        tie_word_embeddings=True,
    )  # fmt: skip
    images = CLIPImageProcessor(
        do_center_crop=False, size={"height": SIDE, "width": SIDE}, **_PIXELS
    )
    processor = LlavaProcessor(
        images, tokenizer, patch_size=SIDE // GRID, vision_feature_select_strategy="default",
        num_additional_image_tokens=1, chat_template=template("llava"))  # fmt: skip
    return LlavaForConditionalGeneration(config), processor


def _qwen2vl(tokenizer: PreTrainedTokenizerFast) -> tuple[PreTrainedModel, ProcessorMixin]:
    """Qwen2-VL: patches of one cell, a two-layer merger, positions in two dimensions."""
    text = _text("qwen2vl", tokenizer)
    text["rope_parameters"] = {
        "rope_type": "default", "rope_theta": 10_000.0, "mrope_section": [6, 5, 5]}  # fmt: skip
    config = Qwen2VLConfig(
        text_config=text,
        vision_config={
            "depth": 4, "embed_dim": 128, "hidden_size": _WIDTH["qwen2vl"], "mlp_ratio": 2,
            "num_heads": 4, "patch_size": SIDE // GRID, "spatial_merge_size": 1,
            "temporal_patch_size": 2},
        image_token_id=token_id(tokenizer, "<|image_pad|>"),
        tie_word_embeddings=True,
        video_token_id=token_id(tokenizer, "<|video_pad|>"),
        vision_start_token_id=token_id(tokenizer, "<|vision_start|>"),
        vision_end_token_id=token_id(tokenizer, "<|vision_end|>"),
    )  # fmt: skip
    size = {"shortest_edge": SIDE * SIDE // 2, "longest_edge": SIDE * SIDE + SIDE}
    settings = {"patch_size": SIDE // GRID, "merge_size": 1, "size": size, **_PIXELS}
    processor = Qwen2VLProcessor(
        Qwen2VLImageProcessor(**settings), tokenizer, Qwen2VLVideoProcessor(**settings),
        chat_template=template("qwen2vl"))  # fmt: skip
    return Qwen2VLForConditionalGeneration(config), processor


def _paligemma(tokenizer: PreTrainedTokenizerFast) -> tuple[PreTrainedModel, ProcessorMixin]:
    """PaliGemma: a SigLIP tower with patches of one cell, linear projector, Gemma as prefix."""
    width = _WIDTH["paligemma"]
    config = PaliGemmaConfig(
        vision_config=SiglipVisionConfig(
            hidden_size=128, intermediate_size=320, num_hidden_layers=4, num_attention_heads=4,
            image_size=SIDE, patch_size=SIDE // GRID, vision_use_head=False),
        text_config=GemmaConfig(**_text("paligemma", tokenizer, head_dim=width // 3)),
        image_token_index=token_id(tokenizer, "<image>"),
        projection_dim=width,
        hidden_size=width,
        vocab_size=len(tokenizer),
    )  # fmt: skip
    images = SiglipImageProcessor(size={"height": SIDE, "width": SIDE}, **_PIXELS)
    setattr(images, "image_seq_length", PIECES)  # noqa: B010 - PaliGemma's processor asks for it
    processor = PaliGemmaProcessor(images, tokenizer, chat_template=template("paligemma"))
    return PaliGemmaForConditionalGeneration(config), processor


def _idefics3(tokenizer: PreTrainedTokenizerFast) -> tuple[PreTrainedModel, ProcessorMixin]:
    """Idefics3: four patches per cell, shuffled into one token by a linear connector, Llama."""
    config = Idefics3Config(
        vision_config={
            "hidden_size": 80, "intermediate_size": 160, "num_hidden_layers": 3,
            "num_attention_heads": 4, "image_size": SIDE, "patch_size": SIDE // GRID // 2},
        text_config=LlamaConfig(**_text("idefics3", tokenizer)),
        image_token_id=token_id(tokenizer, "<image>"),
        scale_factor=2,
        tie_word_embeddings=True,
    )  # fmt: skip
    edge = {"longest_edge": SIDE}
    images = Idefics3ImageProcessor(
        size=edge, max_image_size=edge, do_image_splitting=False, **_PIXELS
    )
    processor = Idefics3Processor(
        images, tokenizer, image_seq_len=PIECES, chat_template=template("idefics3")
    )
    return Idefics3ForConditionalGeneration(config), processor


_BUILDERS = {
    "llava": _llava,
    "qwen2vl": _qwen2vl,
    "paligemma": _paligemma,
    "idefics3": _idefics3,
}
