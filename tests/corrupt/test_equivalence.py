"""Against imagecorruptions-imaug 1.1.5: pixels where it is deterministic, statistics where not.

The peer's float output is rounded here; its own truncation darkens everything by half a level.
"""

import warnings

import cv2
import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import map_coordinates

from benchc.corrupt import CORRUPTIONS, SEVERITIES, corrupt
from benchc.corrupt.exact import direction
from benchc.corrupt.line import streak

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    peer = pytest.importorskip("imagecorruptions.corruptions")

# Largest mean absolute difference (grey levels) and smallest PSNR (dB), by severity where
# the convention's own defect is what differs.
PIXELS = {
    "gaussian_blur": [(0.15, 58)] * 5,
    "pixelate": [(0, 99)] * 5,
    "jpeg_compression": [(0, 99)] * 5,
    "brightness": [(0.15, 57)] * 5,
    "contrast": [(0.001, 99)] * 5,
    "saturate": [(0.1, 60)] * 5,
    # Severities 4 and 5: the peer's kernel sums to 1.013 and 1.011.
    "defocus_blur": [(0.01, 90)] * 3 + [(2.5, 40)] * 2,
}

# Relative difference of mean and deviation of (corrupted - clean), dB in five bands of its
# spectrum, difference of the correlation between red and green; over 12 draws.
STATISTICS = {
    "gaussian_noise": (0.02, 1, 0.02),
    "shot_noise": (0.02, 1, 0.02),
    "impulse_noise": (0.02, 1, 0.02),
    "speckle_noise": (0.02, 1, 0.02),
    "snow": (0.12, 2.5, 0.06),
    "frost": (0.35, 5, 0.08),
    "fog": (0.15, 3, 0.05),
    "spatter": (0.25, 3, 0.05),
    "elastic_transform": (0.05, 1.5, 0.02),
}
BANDS = [(0.004, 0.02), (0.02, 0.06), (0.06, 0.15), (0.15, 0.3), (0.3, 0.5)]


def theirs(picture, name, severity):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = getattr(peer, name)(Image.fromarray(picture), severity)
    return np.clip(np.rint(np.asarray(out, dtype=np.float64)), 0, 255)


def ours(picture, name, severity, image_id="a"):
    return corrupt(picture, name, severity, seed=1, image_id=image_id).astype(np.float64)


def psnr(difference):
    return 10 * np.log10(65025 / max((difference**2).mean(), 1e-9))


@pytest.mark.parametrize("name", PIXELS)
@pytest.mark.parametrize("severity", SEVERITIES)
def test_pixels(photos, name, severity):
    largest, smallest = PIXELS[name][severity - 1]
    for picture in photos[:3]:
        difference = ours(picture, name, severity) - theirs(picture, name, severity)
        if name == "saturate":
            # Grey pixels stay grey here and turn red there.
            difference = difference[picture.max(axis=2) > picture.min(axis=2)]
        assert np.abs(difference).mean() <= largest
        assert psnr(difference) >= smallest


@pytest.mark.parametrize("severity", SEVERITIES)
def test_zoom_is_centred_where_the_peer_is_not(photos, severity):
    """Against exact centred enlargements; the peer is 0.3 to 0.7 pixels off."""
    picture = photos[0]
    height, width = picture.shape[:2]
    first, step, count = CORRUPTIONS["zoom_blur"].constants[severity - 1]
    total = 2.0 * picture
    for factor in range(first + step, first + step * count, step):
        y, x = (
            (np.arange(side) + 0.5 - side / 2) * 100 / factor + side / 2 - 0.5
            for side in (height, width)
        )
        grid = np.meshgrid(y, x, indexing="ij")
        for channel in range(3):
            plane = picture[..., channel].astype(float)
            total[..., channel] += map_coordinates(plane, grid, order=1, mode="nearest")
    exact = total / (count + 1)
    difference = ours(picture, "zoom_blur", severity) - exact
    assert np.abs(difference).mean() < 1
    assert psnr(difference) > 46
    assert psnr(theirs(picture, "zoom_blur", severity) - exact) < 40


@pytest.mark.parametrize("severity", SEVERITIES)
def test_motion_pixels_once_the_peers_shift_is_undone(photos, severity):
    """Taps are rounded to whole pixels around another centre, which shows most on short lines."""
    largest, smallest = (4, 33) if severity <= 2 else (2.5, 38)
    radius, sigma = CORRUPTIONS["motion_blur"].constants[severity - 1]
    for step in (20, 100, 512, 600, 900):
        angle = np.deg2rad(-45 + 90 * (step + 0.5) / 1024)
        weights = np.exp(-(np.arange(2 * radius + 1) ** 2) / (2 * sigma**2))
        along = (weights * np.arange(2 * radius + 1)).sum() / weights.sum()
        other = peer._motion_blur(photos[0], radius, sigma, np.rad2deg(angle)).astype(np.float32)
        move = np.float32([[1, 0, along * np.cos(angle)], [0, 1, along * np.sin(angle)]])
        moved = cv2.warpAffine(other, move, (320, 240), flags=cv2.INTER_CUBIC)
        one = streak(photos[0], radius, sigma, direction(step, -45)).astype(float)
        difference = (one - moved)[40:-40, 40:-40]
        assert np.abs(difference).mean() < largest
        assert psnr(difference) > smallest


@pytest.mark.parametrize("severity", SEVERITIES)
def test_glass_is_as_strong_as_the_peers(photos, severity):
    """Deviation within a fifth; no shift, where the peer's copies move content."""
    one, other = (
        np.sqrt(
            np.mean([(use(picture, "glass_blur", severity) - picture) ** 2 for picture in photos])
        )
        for use in (ours, theirs)
    )
    assert one == pytest.approx(other, rel=0.2)


@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("severity", [1, 3, 5])
def test_statistics(photos, name, severity):
    relative, decibels, correlation = STATISTICS[name]
    measured = []
    for use in (ours, theirs):
        np.random.seed(severity)
        found = []
        for draw in range(12):
            picture = photos[draw % 3]
            key = (f"equivalence {draw}",) if use is ours else ()
            found.append(statistics(use(picture, name, severity, *key) - picture))
        measured.append(np.mean(found, axis=0))
    one, other = measured
    size = np.hypot(other[0], other[1])
    assert abs(one[0] - other[0]) < relative * size + 0.2
    assert one[1] == pytest.approx(other[1], rel=relative)
    assert np.abs(10 * np.log10(one[3:] / other[3:])).max() < decibels
    assert abs(one[2] - other[2]) < correlation


def statistics(difference):
    """Mean, deviation, correlation of red and green, power in five bands of frequency."""
    grey = difference.mean(axis=2)
    power = np.abs(np.fft.fft2(grey - grey.mean())) ** 2
    radius = np.hypot(*np.meshgrid(*(np.fft.fftfreq(n) for n in grey.shape[::-1])))
    bands = [power[(radius >= low) & (radius < high)].mean() for low, high in BANDS]
    red, green = difference[..., 0].ravel(), difference[..., 1].ravel()
    return difference.mean(), difference.std(), np.corrcoef(red, green)[0, 1], *bands
