"""Writes failures as a fine-tuning set: the way from a diagnosis to a repair.

Never writes an answer that the verifier did not give.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
from PIL import Image

from benchc.errors import BadInput
from benchc.tables import renamed_into_place


def export_failures(
    asked: pl.DataFrame, load: Callable[[str, str, int], Image.Image], folder: Path
) -> int:
    """Write `train.jsonl` and the pictures it names; return the number of conversations.

    Every line is {"images": [path], "messages": [user, assistant]}; each question about a picture
    stands there once, however many models or ways failed it.

    Args:
        asked: `discover_asked`.
        load: Returns the picture of a key under a corruption at a severity.
        folder: Where to; paths in the lines count from there.

    Raises:
        BadInput: there is no failure.
    """
    failed = asked.filter("failed").unique(
        ["picture", "corruption", "severity", "question"], keep="first", maintain_order=True
    )
    if failed.is_empty():
        raise BadInput("no failure among the questions; nothing to export")
    lines = []
    written = set()
    for row in failed.sort("picture", "corruption", "severity", "question").iter_rows(named=True):
        name = f"images/{row['corruption']}-{row['severity']}/{row['picture']}.png"
        if name not in written:
            written.add(name)
            picture = load(row["picture"], row["corruption"], row["severity"])
            with renamed_into_place(folder / name) as temporary:
                picture.save(temporary, format="PNG")
        user = [{"type": "image"}, {"type": "text", "text": row["question"]}]
        answer = [{"type": "text", "text": row["truth"]}]
        messages = [{"role": "user", "content": user}, {"role": "assistant", "content": answer}]
        lines.append(json.dumps({"images": [name], "messages": messages}, ensure_ascii=False))
    with renamed_into_place(folder / "train.jsonl") as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(lines)
