"""Time the corrupt stage, and stored pictures against pictures rendered again.

    python benchmarks/render_stage.py [--pictures 24] [--side 640]

Prints, in one run: renders per second of the stage on one and two processes, how that compares with
its limit (render and hash, nothing else), and what inference pays for a picture that is rendered
again, read back as PNG, or read back as lossless WebP.
"""

import argparse
import time
from concurrent.futures import ProcessPoolExecutor

import cv2
import numpy as np
import polars as pl

from benchc.corrupt import CORRUPTIONS, corrupt
from benchc.corrupt.stage import render_corruption
from benchc.pictures.decode import decode_stored
from benchc.pictures.pixels import encode, pixel_hash
from benchc.tables import IMAGES

SEVERITIES = (1, 2, 3, 4, 5)


def pictures(count: int, side: int) -> pl.DataFrame:
    """Return made-up photographs, 4:3, `side` pixels wide: smooth shapes with fine grain."""
    random = np.random.default_rng(1)
    rows = []
    for _ in range(count):
        coarse = random.integers(0, 256, (12, 16, 3), dtype=np.uint8)
        smooth = cv2.resize(coarse, (side, side * 3 // 4), interpolation=cv2.INTER_CUBIC)
        grain = random.integers(-6, 7, smooth.shape)
        picture = np.clip(smooth.astype(int) + grain, 0, 255).astype(np.uint8)
        rows.append(
            {
                "image_id": pixel_hash(picture),
                "width": picture.shape[1],
                "height": picture.shape[0],
                "bytes": encode(picture, "png"),
            }
        )
    return IMAGES.from_rows(rows)


def stage(task: tuple[str, pl.DataFrame]) -> int:
    """Render one corruption as the workflow does; return how many pictures came out."""
    name, images = task
    cv2.setNumThreads(1)
    return render_corruption(images, name, SEVERITIES, seed=1, reference_side=None).height


def limit(images: pl.DataFrame) -> float:
    """Return the seconds that rendering and hashing alone take, everything else left out."""
    clean = {i: decode_stored(data) for i, data in images.select("image_id", "bytes").iter_rows()}
    start = time.perf_counter()
    for name in CORRUPTIONS:
        for image_id, picture in clean.items():
            for severity in SEVERITIES:
                pixel_hash(corrupt(picture, name, severity, seed=1, image_id=image_id))
    return time.perf_counter() - start


def again_or_stored(images: pl.DataFrame) -> dict[str, float]:
    """Return milliseconds a picture to have its pixels in inference, hash check included."""
    taken = dict.fromkeys(("rendered again", "stored png", "stored webp"), 0.0)
    count = 0
    for image_id, data in images.select("image_id", "bytes").head(4).iter_rows():
        clean = decode_stored(data)
        for name in CORRUPTIONS:
            for severity in SEVERITIES:
                count += 1
                start = time.perf_counter()
                rendered = corrupt(clean, name, severity, seed=1, image_id=image_id)
                pixel_hash(rendered)
                taken["rendered again"] += time.perf_counter() - start
                for form in ("png", "webp"):
                    kept = encode(rendered, form)
                    start = time.perf_counter()
                    pixel_hash(decode_stored(kept))
                    taken[f"stored {form}"] += time.perf_counter() - start
    return {name: 1000 * seconds / count for name, seconds in taken.items()}


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", type=int, default=24)
    parser.add_argument("--side", type=int, default=640)
    arguments = parser.parse_args()
    cv2.setNumThreads(1)
    images = pictures(arguments.pictures, arguments.side)
    tasks = [(name, images) for name in CORRUPTIONS]
    renders = len(tasks) * images.height * len(SEVERITIES)
    print(
        f"{images.height} pictures {arguments.side} x {arguments.side * 3 // 4}, {renders} renders"
    )
    floor = limit(images)
    print(f"limit (render and hash), one process: {renders / floor:7.0f} renders/s")
    for processes in (1, 2):
        start = time.perf_counter()
        with ProcessPoolExecutor(processes) as pool:
            assert sum(pool.map(stage, tasks)) == renders
        seconds = time.perf_counter() - start
        share = floor / (seconds * processes)
        print(
            f"stage, {processes} process{'es' if processes > 1 else ''}: {renders / seconds:7.0f} "
            f"renders/s, {share:.0%} of the limit a process"
        )
    for name, milliseconds in again_or_stored(images).items():
        print(f"{name:>15}: {milliseconds:6.2f} ms a picture")


if __name__ == "__main__":
    main()
