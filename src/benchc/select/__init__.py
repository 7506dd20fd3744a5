"""Which samples make the benchmark: sensitive to corruption, and unlike one another.

Never runs a model or an encoder: it reads predictions and embeddings.
"""

from benchc.select.impurity import impurity
from benchc.select.selection import select

__all__ = ["impurity", "select"]
