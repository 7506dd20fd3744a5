"""Tiny random checkpoints of LLaVA's kind: a tower, a projector, a language model."""

import transformers as tf
from family_parts import CHATML, GLM_PREFIX, MISTRAL, SIDE, TOWER, VICUNA, Built, text, tokenizer


def llava() -> Built:
    names = tokenizer("pieces")
    config = tf.LlavaConfig(
        vision_config=tf.CLIPVisionConfig(**TOWER, projection_dim=32),
        text_config=tf.LlamaConfig(**text(names)),
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
        chat_template=VICUNA,
    )
    return tf.LlavaForConditionalGeneration(config), processor


def llava_next() -> Built:
    names = tokenizer("pieces")
    grids = [[SIDE, 2 * SIDE], [2 * SIDE, SIDE], [2 * SIDE, 2 * SIDE]]
    config = tf.LlavaNextConfig(
        vision_config=tf.CLIPVisionConfig(**TOWER, projection_dim=32),
        text_config=tf.MistralConfig(**text(names)),
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
        chat_template=MISTRAL.replace("IMAGE", "<image>"),
    )
    return tf.LlavaNextForConditionalGeneration(config), processor


def llava_onevision() -> Built:
    names = tokenizer("bytes", bos="")
    grids = [[SIDE, SIDE], [SIDE, 2 * SIDE], [2 * SIDE, SIDE], [2 * SIDE, 2 * SIDE]]
    config = tf.LlavaOnevisionConfig(
        vision_config=tf.SiglipVisionConfig(**TOWER, vision_use_head=False),
        text_config=tf.Qwen2Config(**text(names)),
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
        chat_template=CHATML.replace("IMAGE", "<image>\n"),
    )
    return tf.LlavaOnevisionForConditionalGeneration(config), processor


def vipllava() -> Built:
    names = tokenizer("pieces")
    config = tf.VipLlavaConfig(
        vision_config=tf.CLIPVisionConfig(**TOWER, projection_dim=32),
        text_config=tf.LlamaConfig(**text(names)),
        image_token_index=names.convert_tokens_to_ids("<image>"),
        image_seq_length=16,
        vision_feature_layer=[-1, -2],
    )
    size = {"shortest_edge": SIDE}
    processor = tf.LlavaProcessor(
        tf.CLIPImageProcessor(size=size, crop_size={"height": SIDE, "width": SIDE}),
        names,
        patch_size=14,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=VICUNA,
    )
    return tf.VipLlavaForConditionalGeneration(config), processor


def internvl() -> Built:
    names = tokenizer(
        "bytes",
        bos="",
        prefix=GLM_PREFIX,
        start_image_token="<img>",
        end_image_token="</img>",
        context_image_token="<IMG_CONTEXT>",
        video_token="<video>",
    )
    config = tf.InternVLConfig(
        vision_config={**TOWER, "image_size": [SIDE, SIDE], "patch_size": [14, 14]},
        text_config=tf.Qwen2Config(**text(names)),
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
        chat_template="".join(GLM_PREFIX) + CHATML.replace("IMAGE", "<IMG_CONTEXT>\n"),
    )
    return tf.InternVLForConditionalGeneration(config), processor
