"""One GPU for one command, on a machine that has several.

Where no GPU is free, the emptiest is shared.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

from benchc.tables.locks import lock

_taken: list[IO[bytes]] = []


@dataclass(frozen=True)
class Gpu:
    """One GPU of this machine.

    Attributes:
        index: Its number, from 0.
        uuid: Its name, the same in every process.
        free: Free memory, MiB.
    """

    index: int
    uuid: str
    free: int


@cache
def any_here() -> bool:
    """Return whether a driver of NVIDIA or AMD shows a GPU here; asking torch takes seconds."""
    return Path("/dev/kfd").exists() or any(Path("/dev").glob("nvidia[0-9]*"))


def take_one() -> None:
    """Let this process see one GPU alone, which no other process has taken, until it ends.

    Call it before CUDA starts. Where there are fewer than two to choose from, or no
    `nvidia-smi` that lists them, nothing changes.
    """
    gpus = visible(_listed(), os.environ.get("CUDA_VISIBLE_DEVICES"))
    if len(gpus) > 1:
        folder = Path(tempfile.gettempdir()) / f"benchc-gpus-{os.getuid()}"
        os.environ["CUDA_VISIBLE_DEVICES"] = claim(gpus, folder).uuid


def visible(gpus: Iterable[Gpu], names: str | None) -> list[Gpu]:
    """Return the GPUs that a value of CUDA_VISIBLE_DEVICES lets a process see.

    Args:
        gpus: Those of the machine.
        names: Numbers or beginnings of UUIDs, by commas; None for all.
    """
    if names is None:
        return list(gpus)
    wanted = [name.strip() for name in names.split(",")]
    return [
        gpu
        for gpu in gpus
        if str(gpu.index) in wanted or any(n and gpu.uuid.startswith(n) for n in wanted)
    ]


def claim(gpus: Iterable[Gpu], folder: Path) -> Gpu:
    """Return the GPU with the most free memory that no other process holds, and hold it.

    A lock of the operating system ends with its process, however that ends.

    Args:
        gpus: Those to choose from, one at least.
        folder: Where the locks lie; the same for all who share these GPUs.
    """
    emptiest_first = sorted(gpus, key=lambda gpu: (-gpu.free, gpu.index))
    for gpu in emptiest_first:
        # On a disk that knows no locks nobody holds one.
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            handle = (folder / gpu.uuid).open("ab")
            if lock(handle):
                _taken.append(handle)
                return gpu
            handle.close()
    return emptiest_first[0]


def _listed() -> list[Gpu]:
    query = ["nvidia-smi", "--query-gpu=index,uuid,memory.free", "--format=csv,noheader,nounits"]
    try:
        said = subprocess.run(query, capture_output=True, text=True, check=True).stdout
        rows = [line.split(", ") for line in said.splitlines()]
        return [Gpu(int(index), uuid, int(free)) for index, uuid, free in rows]
    except (OSError, subprocess.CalledProcessError, ValueError):
        return []
