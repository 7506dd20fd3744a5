"""A CLIP encoder with random weights, as the projector file that gives a llama.cpp model eyes."""

from pathlib import Path

import gguf
import numpy as np

HIDDEN = 32
FEED_FORWARD = 64
SIDE = 56
PATCH = 14
LAYERS = 2


def write_projector(path: Path, width: int) -> None:
    """Write the file for a language model whose embeddings are `width` wide."""
    random = np.random.default_rng(0)
    writer = gguf.GGUFWriter(path, "clip")

    def weights(name: str, *shape: int, scale: float = 0.2) -> None:
        writer.add_tensor(name, random.normal(0, scale, shape).astype(np.float32))

    def linear(name: str, outputs: int, inputs: int, scale: float = 0.2) -> None:
        weights(f"{name}.weight", outputs, inputs, scale=scale)
        weights(f"{name}.bias", outputs, scale=scale)

    def norm(name: str) -> None:
        writer.add_tensor(f"{name}.weight", np.ones(HIDDEN, np.float32))
        writer.add_tensor(f"{name}.bias", np.zeros(HIDDEN, np.float32))

    writer.add_bool("clip.has_vision_encoder", True)
    writer.add_string("clip.projector_type", "mlp")
    writer.add_bool("clip.use_gelu", True)
    sizes = {
        "image_size": SIDE, "patch_size": PATCH, "embedding_length": HIDDEN,
        "feed_forward_length": FEED_FORWARD, "projection_dim": HIDDEN, "block_count": LAYERS,
        "attention.head_count": 4,
    }  # fmt: skip
    for name, size in sizes.items():
        writer.add_uint32(f"clip.vision.{name}", size)
    writer.add_float32("clip.vision.attention.layer_norm_epsilon", 1e-5)
    writer.add_array("clip.vision.image_mean", [0.5] * 3)
    writer.add_array("clip.vision.image_std", [0.5] * 3)

    weights("v.class_embd", HIDDEN)
    weights("v.patch_embd.weight", HIDDEN, 3, PATCH, PATCH)
    weights("v.position_embd.weight", (SIDE // PATCH) ** 2 + 1, HIDDEN)
    norm("v.pre_ln")
    norm("v.post_ln")
    for layer in range(LAYERS):
        block = f"v.blk.{layer}"
        norm(f"{block}.ln1")
        norm(f"{block}.ln2")
        for part in ("attn_q", "attn_k", "attn_v", "attn_out"):
            linear(f"{block}.{part}", HIDDEN, HIDDEN)
        linear(f"{block}.ffn_up", FEED_FORWARD, HIDDEN)
        linear(f"{block}.ffn_down", HIDDEN, FEED_FORWARD)
    linear("mm.0", width, HIDDEN)
    # As small as the embeddings of words, or nothing else would be heard.
    linear("mm.2", width, width, scale=0.02)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
