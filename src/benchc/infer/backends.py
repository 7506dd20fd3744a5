"""What runs a model: which module it is, and what its predictions depend on.

Never imports a backend before it is asked for: they are heavy.
"""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from benchc import fingerprint
from benchc.infer.settings import Model

if TYPE_CHECKING:
    from benchc.infer.scores import Backend


@dataclass(frozen=True)
class Kind:
    """One kind of backend.

    Attributes:
        module: Has `load(settings, threads, shard) -> Backend`.
        libraries: Packages whose versions can change a prediction.
    """

    module: str
    libraries: tuple[str, ...]


KINDS = {
    "transformers": Kind(
        "benchc.infer.transformers_backend",
        ("torch", "torchvision", "transformers", "tokenizers", "pillow", "numpy"),
    ),
    "openai": Kind("benchc.infer.openai_backend", ()),
}


def load(settings: Model, threads: int = 1, shard: int = 0) -> Backend:
    """Return the model, ready to be asked.

    Args:
        settings: Which model, and how it is asked.
        threads: CPU threads of its forward pass.
        shard: 0-based; of several jobs on one machine each takes a GPU of its own by it.

    Raises:
        BadInput: it is not there, or cannot be asked as the settings say.
    """
    module = importlib.import_module(KINDS[settings.backend].module)
    backend: Backend = module.load(settings, threads, shard)
    return backend


def libraries(settings: Model) -> dict[str, str]:
    """Return the versions of the libraries that a model's predictions depend on."""
    return {name: version(name) for name in KINDS[settings.backend].libraries}


def model_key(settings: Model, threads: int, hashes: Path | None = None) -> str:
    """Return what could change a prediction besides the question and the picture, as one string.

    Args:
        settings: Which model, and how it is asked.
        threads: CPU threads of its forward pass.
        hashes: See `fingerprint.of_files`.
    """
    parts: dict[str, object] = {
        "settings": settings.result_settings(),
        "code": fingerprint.of_code(
            KINDS[settings.backend].module,
            "benchc.infer.scores",
            "benchc.infer.prompt",
            ignoring=fingerprint.SETTINGS,
        ),
        "libraries": libraries(settings),
        "threads": threads,
        "checkpoint": fingerprint.of_files(settings.checkpoint_files(Path()), hashes),
    }
    return json.dumps(parts, sort_keys=True)
