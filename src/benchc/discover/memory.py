"""The newest failures' embeddings, against which new questions are compared.

Never holds more than its size.
"""

from __future__ import annotations

import numpy as np


class FailureMemory:
    """A first-in, first-out store of unit vectors."""

    def __init__(self, size: int, width: int):
        """Start empty.

        Args:
            size: Failures held.
            width: Components of an embedding.
        """
        self.size = size
        self.embeddings = np.zeros((0, width))

    def add(self, embeddings: np.ndarray) -> None:
        """Remember failures in order, shape (failures, width); the oldest are forgotten."""
        known = np.concatenate([self.embeddings, embeddings])
        self.embeddings = known[max(0, len(known) - self.size) :]
