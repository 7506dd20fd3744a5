"""Times every corruption against imagecorruptions-imaug 1.1.5 and against two limits.

Never uses more than one thread; CPU time, so that neighbours on the machine count little.

Run: python benchmarks/corrupt.py [WIDTHxHEIGHT ...]
     python benchmarks/corrupt.py memory [WIDTHxHEIGHT]   peak memory, a fresh process a cell
     python benchmarks/corrupt.py severity PICTURE ...    distortion by severity
"""

import contextlib
import io
import math
import statistics
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from time import process_time

import cv2
import numpy as np

from benchc.corrupt import CORRUPTIONS, SEVERITIES, corrupt
from benchc.corrupt.measure import against
from benchc.corrupt.selftest import synthetic_picture
from benchc.pictures.decode import decode_stored
from benchc.pictures.pixels import Pixels, encode, pixel_hash

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
        stability(picture)


def stability(picture: Pixels) -> None:
    """Print what byte stability costs: ours beside the plain float way with the same library."""
    height, width = picture.shape[:2]
    rng = np.random.default_rng(1)
    y, x = np.ogrid[-8:9, -8:9]
    disc = (x * x + y * y <= 64).astype(np.float32)
    disc /= disc.sum()
    steps = np.indices((height, width), dtype=np.float32)

    def noise() -> object:
        drawn = rng.standard_normal(picture.shape, dtype=np.float32)
        return np.clip(picture + 46 * drawn + 0.5, 0, 255).astype(np.uint8)

    def zoom() -> object:
        total = 2 * picture.astype(np.float32)
        for factor in range(102, 122, 2):
            tall, wide = height * 100 // factor, width * 100 // factor
            top, left = (height - tall) // 2, (width - wide) // 2
            part = picture[top : top + tall, left : left + wide]
            total += cv2.resize(part, (width, height))
        return cv2.convertScaleAbs(total, alpha=1 / 12)

    def elastic() -> object:
        drawn = rng.random((2, height, width), dtype=np.float32) - 0.5
        sigma = 0.01 * width, 0.01 * height
        fields = [cv2.GaussianBlur(d, (0, 0), sigma[0], sigmaY=sigma[1]) for d in drawn]
        return cv2.remap(picture, steps[1] + fields[1], steps[0] + fields[0], cv2.INTER_LINEAR)

    for name, severity, plain in (
        ("gaussian_noise", 3, noise),
        ("defocus_blur", 4, lambda: cv2.filter2D(picture, -1, disc)),
        ("zoom_blur", 3, zoom),
        ("elastic_transform", 3, elastic),
    ):
        ours = milliseconds(lambda n=name, s=severity: corrupt(picture, n, s, seed=1, image_id="a"))
        print(f"stable {name:18} {ours:7.2f} ms, plain floats {milliseconds(plain):7.2f} ms")


def limits(picture: Pixels) -> None:
    """Print what any implementation pays: moving the pixels, and storing them."""
    out = np.empty_like(picture)
    coded = encode(picture)
    for label, work in (
        ("one read and write", lambda: np.copyto(out, picture)),
        ("SHA-256 of the pixels", lambda: pixel_hash(picture)),
        ("PNG encode", lambda: encode(picture)),
        ("PNG decode", lambda: decode_stored(coded)),
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


def memory(size: str) -> None:
    print(f"peak memory beyond the input at {size}, in pictures, severity 1 and 5")
    for name in CORRUPTIONS:
        cells = [
            subprocess.run(
                [sys.executable, __file__, "cell", size, name, severity],
                capture_output=True,
                text=True,
                check=True,
            ).stdout.strip()
            for severity in "15"
        ]
        print(f"{name:18} {'  '.join(cells)}", flush=True)


def cell(size: str, name: str, severity: int) -> None:
    """Print the growth of this process's peak resident size over one call (Linux)."""
    cv2.setNumThreads(1)
    width, height = map(int, size.split("x"))
    corrupt(np.zeros((64, 64, 3), np.uint8), name, severity, seed=1, image_id="a")
    picture = synthetic_picture(64, 64)
    picture = np.tile(picture, (height // 64 + 1, width // 64 + 1, 1))[:height, :width].copy()
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    corrupt(picture, name, severity, seed=1, image_id="a")
    print(f"{(_status('VmHWM') - before) / picture.nbytes:.1f}")


def _status(key: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))


def severity(paths: list[str]) -> None:
    """Print mean absolute difference and SSIM by severity, over four draws a picture."""
    files = [cv2.cvtColor(cv2.imread(path), cv2.COLOR_BGR2RGB) for path in paths]
    pictures = [cv2.resize(f, (320, 240), interpolation=cv2.INTER_AREA) for f in files]
    for name in CORRUPTIONS:
        found = np.array(
            [
                [
                    against(picture)(corrupt(picture, name, s, seed=draw, image_id=str(i)))
                    for s in SEVERITIES
                ]
                for i, picture in enumerate(pictures)
                for draw in range(4)
            ]
        ).mean(axis=0)
        differences = " / ".join(f"{value:.1f}" for value in found[:, 0])
        print(f"| {name} | {differences} | {' / '.join(f'{v:.2f}' for v in found[:, 1])} |")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["memory", *size]:
            memory(size[0] if size else "4000x3000")
        case ["cell", size, name, level]:
            cell(size, name, int(level))
        case ["severity", *paths]:
            severity(paths)
        case sizes:
            main(sizes or list(SIZES))
