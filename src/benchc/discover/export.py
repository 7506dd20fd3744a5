"""Writes failures as a fine-tuning set: the way from a diagnosis to a repair."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from benchc.discover.pictures import CONDITION, Load
from benchc.errors import BadInput
from benchc.pictures.pixels import encode
from benchc.tables import renamed_into_place, write_text


def export_failures(asked: pl.DataFrame, load: Load, folder: Path) -> int:
    """Write `train.jsonl` and the pictures it names; return the number of conversations.

    Every line is {"images": [path], "messages": [user, assistant]}; each question about a picture
    stands there once, however many models or ways failed it.

    Args:
        asked: `discover_asked`.
        load: Returns the picture of a key under a condition.
        folder: Where to; paths in the lines count from there.

    Raises:
        BadInput: there is no failure.
    """
    failed = asked.filter("failed").unique(
        [*CONDITION, "question"], keep="first", maintain_order=True
    )
    if failed.is_empty():
        raise BadInput("no failure among the questions; nothing to export")
    lines = []
    written = set()
    for row in failed.sort("picture", "corruption", "severity", "question").iter_rows(named=True):
        name = f"images/{row['corruption']}-{row['severity']}/{row['picture']}.png"
        if name not in written:
            written.add(name)
            picture = load(*(row[part] for part in CONDITION))
            with renamed_into_place(folder / name) as temporary:
                temporary.write_bytes(encode(picture))
        user = [{"type": "image"}, {"type": "text", "text": row["question"]}]
        answer = [{"type": "text", "text": row["truth"]}]
        messages = [{"role": "user", "content": user}, {"role": "assistant", "content": answer}]
        lines.append(json.dumps({"images": [name], "messages": messages}, ensure_ascii=False))
    write_text(folder / "train.jsonl", "\n".join(lines) + "\n")
    return len(lines)
