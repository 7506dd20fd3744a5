"""The folder in which one game keeps what a killed training goes on from.

Never lets one game go on from another's checkpoints, and removes no file of anybody else.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchc.tables import renamed_into_place

GAME, REQUESTS = "game.json", "requests"
"""What the folder is of; one byte for each request to the verifier."""
UNFINISHED = (GAME, REQUESTS, "checkpoint-*", "warm", "sft", "README.md")
"""What only a game that goes on needs, and the card that the trainer writes of itself."""
RESULTS = ("best", "log.jsonl")
"""What a finished game leaves: the trained questioner and its log."""


def claim(folder: Path, game: Mapping[str, Any]) -> None:
    """Make a game's folder ready; begin anew unless it holds the same game, not finished.

    Args:
        folder: Where the game keeps its files.
        game: All that its result depends on, as JSON holds it.
    """
    record = folder / GAME
    text = json.dumps(game, sort_keys=True)
    if not record.is_file() or record.read_text(encoding="utf-8") != text:
        _remove(folder, *UNFINISHED, *RESULTS)
        with renamed_into_place(record) as temporary:
            temporary.write_text(text, encoding="utf-8")


def finish(folder: Path) -> None:
    """Remove what only a game that goes on would need."""
    _remove(folder, *UNFINISHED)


def _remove(folder: Path, *names: str) -> None:
    for name in names:
        for path in folder.glob(name):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
