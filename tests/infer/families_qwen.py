"""Tiny random checkpoints of Qwen's families."""

import transformers as tf
from family_parts import QWEN, Built, qwen_ids, qwen_pictures, sections, text, tokenizer


def qwen2_vl() -> Built:
    names = tokenizer("bytes", bos="")
    config = tf.Qwen2VLConfig(
        text_config=text(names, rope_parameters=sections([2, 1, 1])),
        vision_config={"depth": 2, "embed_dim": 32, "hidden_size": 32, "num_heads": 4},
        **qwen_ids(names),
    )
    pictures = qwen_pictures(14)
    processor = tf.Qwen2VLProcessor(
        tf.Qwen2VLImageProcessor(**pictures),
        names,
        tf.Qwen2VLVideoProcessor(**pictures),
        chat_template=QWEN,
    )
    return tf.Qwen2VLForConditionalGeneration(config), processor


def qwen2_5_vl() -> Built:
    names = tokenizer("bytes", bos="")
    config = tf.Qwen2_5_VLConfig(
        text_config=text(names, rope_parameters=sections([2, 1, 1])),
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 48,
            "out_hidden_size": 32,
            "num_heads": 4,
            "window_size": 56,
            "fullatt_block_indexes": [1],
        },
        **qwen_ids(names),
    )
    pictures = qwen_pictures(14)
    processor = tf.Qwen2_5_VLProcessor(
        tf.Qwen2VLImageProcessor(**pictures),
        names,
        tf.Qwen2VLVideoProcessor(**pictures),
        chat_template=QWEN,
    )
    return tf.Qwen2_5_VLForConditionalGeneration(config), processor


def qwen3_vl() -> Built:
    names = tokenizer("bytes", bos="")
    config = tf.Qwen3VLConfig(
        text_config=text(names, head_dim=8, rope_parameters=sections([2, 1, 1])),
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 48,
            "out_hidden_size": 32,
            "num_heads": 4,
            "num_position_embeddings": 64,
            "deepstack_visual_indexes": [0, 1],
        },
        **qwen_ids(names),
    )
    pictures = qwen_pictures(16)
    processor = tf.Qwen3VLProcessor(
        tf.Qwen2VLImageProcessor(**pictures),
        names,
        tf.Qwen3VLVideoProcessor(**pictures),
        chat_template=QWEN,
    )
    return tf.Qwen3VLForConditionalGeneration(config), processor


def qwen3_5() -> Built:
    names = tokenizer("bytes", bos="")
    rope = {**sections([2, 1, 1]), "partial_rotary_factor": 1.0}
    config = tf.Qwen3_5Config(
        text_config=text(
            names,
            head_dim=8,
            rope_parameters=rope,
            layer_types=["linear_attention", "full_attention"],
            linear_key_head_dim=8,
            linear_value_head_dim=8,
            linear_num_key_heads=2,
            linear_num_value_heads=4,
        ),
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 48,
            "out_hidden_size": 32,
            "num_heads": 4,
            "num_position_embeddings": 64,
        },
        **qwen_ids(names),
    )
    pictures = qwen_pictures(16)
    processor = tf.Qwen3VLProcessor(
        tf.Qwen2VLImageProcessor(**pictures),
        names,
        tf.Qwen3VLVideoProcessor(**pictures),
        chat_template=QWEN,
    )
    return tf.Qwen3_5ForConditionalGeneration(config), processor
