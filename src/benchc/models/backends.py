"""What runs a model: which module it is, and what its predictions depend on.

Backends are heavy, and imported when they are asked for.
"""

from __future__ import annotations

import importlib
import json
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from benchc.config.models import BACKENDS, Model
from benchc.running import closure, fingerprint

if TYPE_CHECKING:
    from benchc.models.scores import Backend


def load(settings: Model, threads: int = 1, shard: int = 0) -> Backend:
    """Return the model, ready to be asked.

    Args:
        settings: Which model, and how it is asked.
        threads: CPU threads of its forward pass.
        shard: 0-based; of several jobs on one machine each takes a GPU of its own by it.

    Raises:
        BadInput: it is not there, or cannot be asked as the settings say.
    """
    module = importlib.import_module(BACKENDS[settings.backend].module)
    backend: Backend = module.load(settings, threads, shard)
    return backend


def libraries(settings: Model) -> dict[str, str]:
    """Return the versions of the libraries that a model's predictions depend on."""
    return {name: version(name) for name in BACKENDS[settings.backend].libraries}


def model_key(settings: Model, threads: int, hashes: Path | None = None) -> str:
    """Return what could change logits besides the question and the picture, as one string.

    The temperature is no part of it: logits are kept, and it divides them later.

    Args:
        settings: Which model, and how it is asked.
        threads: CPU threads of its forward pass.
        hashes: See `fingerprint.of_files`.
    """
    parts: dict[str, object] = {
        "settings": {k: v for k, v in settings.result_settings().items() if k != "temperature"},
        "code": closure.fingerprint(
            BACKENDS[settings.backend].module, "benchc.models.scores", "benchc.models.prompt"
        ),
        "libraries": libraries(settings),
        "threads": threads,
        "checkpoint": fingerprint.of_files(settings.checkpoint_files(Path()), hashes),
    }
    return json.dumps(parts, sort_keys=True)
