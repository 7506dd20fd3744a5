"""Times every corruption against imagecorruptions-imaug 1.1.5 and against two limits.

Never uses more than one thread; CPU time, so that neighbours on the machine count little.

Run: python benchmarks/corrupt.py [WIDTHxHEIGHT ...]
"""

import contextlib
import io
import math
import statistics
import sys
import warnings
from collections.abc import Callable
from time import process_time

import cv2
import numpy as np

from benchc.corrupt import CORRUPTIONS, SEVERITIES, corrupt
from benchc.corrupt.selftest import synthetic_picture
from benchc.pixels import Pixels, decode, encode, pixel_hash

SIZES = ("224x224", "640x480", "1280x960", "1920x1080")
REPEATS = 7
BUDGET = 0.5
"""Seconds after which a cell is not repeated any more."""


def main(sizes: list[str]) -> None:
    cv2.setNumThreads(1)
    warnings.filterwarnings("ignore")
    with contextlib.redirect_stdout(io.StringIO()):
        from imagecorruptions import corrupt as peer
    for size in sizes:
        width, height = map(int, size.split("x"))
        picture = scene(height, width)
        print(f"\n== {width} x {height}, CPU ms per picture: ours / peer, by severity ==")
        ours_all, peers_all, ratios, worst = 0.0, 0.0, [], (0.0, "")
        for name in CORRUPTIONS:
            cells = []
            for severity in SEVERITIES:
                ours = milliseconds(
                    lambda n=name, s=severity, p=picture: corrupt(p, n, s, seed=1, image_id="a")
                )
                theirs = milliseconds(
                    lambda n=name, s=severity, p=picture: peer(p, corruption_name=n, severity=s)
                )
                cells.append((ours, theirs))
                worst = max(worst, (ours / theirs, f"{name} {severity}"))
            ours_mean = statistics.fmean(c[0] for c in cells)
            peer_mean = statistics.fmean(c[1] for c in cells)
            ratio = math.exp(statistics.fmean(math.log(c[1] / c[0]) for c in cells))
            ours_all += ours_mean * len(cells)
            peers_all += peer_mean * len(cells)
            ratios.append(ratio)
            shown = "  ".join(f"{ours:6.2f}/{theirs:7.1f}" for ours, theirs in cells)
            print(f"{name:18} {shown}   mean {ours_mean:7.2f}/{peer_mean:7.1f}  {ratio:6.1f}x")
        geometric = math.exp(statistics.fmean(map(math.log, ratios)))
        print(
            f"geometric mean {geometric:.1f}x   total {ours_all:.0f} ms / {peers_all:.0f} ms = "
            f"{peers_all / ours_all:.1f}x   worst cell {worst[0]:.2f} of the peer ({worst[1]})"
        )
        limits(picture)


def limits(picture: Pixels) -> None:
    """Print what any implementation pays: moving the pixels, and storing them."""
    out = np.empty_like(picture)
    coded = encode(picture)
    for label, work in (
        ("one read and write", lambda: np.copyto(out, picture)),
        ("SHA-256 of the pixels", lambda: pixel_hash(picture)),
        ("PNG encode", lambda: encode(picture)),
        ("PNG decode", lambda: decode(coded)),
    ):
        print(f"limit: {label:22} {milliseconds(work):8.3f} ms")


def milliseconds(work: Callable[[], object]) -> float:
    """Least CPU time of a call after one to warm up: neighbours only ever add to it."""
    with contextlib.redirect_stdout(io.StringIO()):
        work()
        times: list[float] = []
        while len(times) < REPEATS and sum(times) < BUDGET:
            start = process_time()
            work()
            times.append(process_time() - start)
    return 1000 * min(times)


def scene(height: int, width: int) -> Pixels:
    """A soft picture with edges and some grain: a JPEG or PNG of it is no extreme."""
    noise = np.random.default_rng(1).integers(0, 256, (height, width, 3), dtype=np.uint8)
    soft = cv2.GaussianBlur(noise, (0, 0), 6)
    soft = cv2.convertScaleAbs(soft, alpha=6, beta=-640)
    mixed = cv2.addWeighted(soft, 0.7, synthetic_picture(height, width), 0.2, 0)
    return cv2.addWeighted(mixed, 1, noise, 0.05, 0)


if __name__ == "__main__":
    main(sys.argv[1:] or list(SIZES))
