"""CLIP embeddings of samples, through open_clip.

Weights come from a folder, a file, or what an earlier download left in the cache.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import polars as pl
import torch
from PIL import Image
from tqdm import tqdm

from benchc.config.checked import nearest
from benchc.errors import BadInput
from benchc.infer.questionnaire import asked_images
from benchc.pictures.decode import decode_stored
from benchc.tables import EMBEDDINGS

_ALL_TOKENS = 4096


class Clip:
    """A CLIP model in memory with its own preprocessing and tokenizer."""

    def __init__(self, model: str, pretrained: str | None, threads: int = 1):
        """Load from a folder that holds `open_clip_config.json`, or by architecture and weights.

        Raises:
            BadInput: the folder or architecture is unknown, or its weights are not here.
        """
        torch.set_num_threads(threads)
        here = Path(model).is_dir()
        if not here and model not in open_clip.list_models():
            raise BadInput(
                f"embed.model: {model!r} is neither a folder nor an architecture of open_clip"
                + nearest(model, open_clip.list_models())
            )
        name = f"local-dir:{model}" if here else model
        try:
            self.model, self.preprocess = open_clip.create_model_from_pretrained(
                name, pretrained=pretrained
            )
            self.tokenizer = open_clip.get_tokenizer(name)
        except (RuntimeError, OSError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise BadInput(f"embed.model {model}: {reason}") from error
        self.model.eval()

    @torch.inference_mode()
    def embed_pictures(self, pictures: Sequence[np.ndarray]) -> np.ndarray:
        """Return unit vectors, float64 n x d, of uint8 RGB pictures."""
        batch = torch.stack([self.preprocess(Image.fromarray(p)) for p in pictures])
        return _numpy(self.model.encode_image(batch, normalize=True))

    @torch.inference_mode()
    def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
        """Return unit vectors, float64 n x d; what exceeds the context is cut off."""
        return _numpy(self.model.encode_text(self.tokenizer(list(texts)), normalize=True))

    def count_tokens(self, text: str) -> int:
        """Return how many tokens a text is before it is cut to the context."""
        tokens = self.tokenizer([text], context_length=_ALL_TOKENS)[0]
        return int(np.flatnonzero(tokens.numpy() != tokens.numpy()[-1])[-1]) + 1

    @property
    def context(self) -> int:
        """How many tokens of a text the model reads."""
        return int(self.model.context_length)


def embed_samples(
    clip: Clip, samples: pl.DataFrame, images: pl.DataFrame, batch_size: int = 64
) -> pl.DataFrame:
    """Return the `embeddings` of samples: each picture once, each text with its options.

    Args:
        clip: The model.
        samples: `samples` rows.
        images: `images` rows, those that the samples show among them.
        batch_size: Pictures or texts in one forward pass.

    Raises:
        BadInput: a sample shows a picture that is not in the table.
    """
    texts = ["\n".join([row["question"], *row["options"]]) for row in samples.iter_rows(named=True)]
    shown = asked_images(samples, images)
    ids = shown["image_id"].to_list()
    with tqdm(total=len(ids) + len(texts), desc="embed", unit="item", disable=None) as progress:
        pictures = _batched(
            lambda rows: clip.embed_pictures([decode_stored(data) for data in rows]),
            shown["bytes"].to_list(),
            batch_size,
            progress,
        )
        written = _batched(clip.embed_texts, texts, batch_size, progress)
    by_image = dict(zip(ids, pictures, strict=True))
    counts = [clip.count_tokens(text) for text in texts]
    return EMBEDDINGS.from_rows(
        {
            "sample_id": row["sample_id"],
            "image": by_image[row["image_id"]].tolist(),
            "text": text.tolist(),
            "text_tokens": count,
            "text_truncated": count > clip.context,
        }
        for row, text, count in zip(samples.iter_rows(named=True), written, counts, strict=True)
    )


def _batched(
    embed: Any, items: Sequence[Any], size: int, progress: "tqdm[Any]"
) -> Iterator[np.ndarray]:
    vectors: list[np.ndarray] = []
    for start in range(0, len(items), size):
        batch = items[start : start + size]
        vectors.extend(embed(batch))
        progress.update(len(batch))
    return iter(vectors)


def _numpy(vectors: torch.Tensor) -> np.ndarray:
    values = vectors.double().cpu().numpy()
    return values / np.linalg.norm(values, axis=1, keepdims=True)
