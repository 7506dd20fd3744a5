"""What each kind of corruption must leave alone, and what its numbers must come to."""

import numpy as np
import pytest

from benchc import keyed
from benchc.config.corruptions import CORRUPTIONS
from benchc.corrupt import SEVERITIES, corrupt
from benchc.corrupt.blur import swap_pixels
from benchc.corrupt.exact import direction
from benchc.corrupt.line import streak
from benchc.corrupt.selftest import synthetic_picture

BLURS = ("defocus_blur", "glass_blur", "motion_blur", "zoom_blur", "gaussian_blur")
VGA = (480, 640, 3)


def draw(picture, name, severity, image_id="a", **more):
    return corrupt(picture, name, severity, seed=1, image_id=image_id, **more)


@pytest.mark.parametrize("name", [*BLURS, "pixelate", "elastic_transform", "contrast", "saturate"])
@pytest.mark.parametrize("side", [None, 24])
def test_flat_stays_flat(name, side):
    for value in (0, 128, 255):
        flat = np.full((97, 131, 3), value, np.uint8)
        for severity in SEVERITIES:
            assert (draw(flat, name, severity, reference_side=side) == value).all()


def test_flat_stays_flat_within_jpeg_steps():
    """The codec's own quantisation: black comes back as 2 at quality 18."""
    for value in (0, 128, 255):
        out = draw(np.full((97, 131, 3), value, np.uint8), "jpeg_compression", 2)
        assert out.min() == out.max()
        assert abs(int(out[0, 0, 0]) - value) <= 2


@pytest.mark.parametrize("name", BLURS)
@pytest.mark.parametrize("severity", SEVERITIES)
def test_a_white_dot_stays_in_place(name, severity):
    dot = np.zeros((241, 321), np.uint8)
    dot[115:126, 155:166] = 255
    shifts = []
    for image_id in "abcdefgh" if CORRUPTIONS[name].random else "a":
        out = draw(dot, name, severity, image_id).astype(float)
        y, x = np.mgrid[:241, :321]
        shifts.append([(out * y).sum() / out.sum() - 120, (out * x).sum() / out.sum() - 160])
    # Swaps move single pixels by several, so that a small dot's mean is itself random.
    assert np.abs(np.mean(shifts, axis=0)).max() < (0.6 if name == "glass_blur" else 0.15)


@pytest.mark.parametrize("reach", [1, 2, 3, 4])
@pytest.mark.parametrize("shape", [(64, 64), (5, 40), (1, 9), (3, 3)])
def test_glass_permutes_pixels(reach, shape):
    labels = np.arange(np.prod(shape)).reshape(shape)
    coded = np.stack([labels & 255, labels >> 8, labels * 0 + 7], axis=-1).astype(np.uint8)
    out = swap_pixels(coded, reach, 2, keyed.philox("t", reach))
    found = out[..., 0].astype(int) + out[..., 1].astype(int) * 256
    assert sorted(found.ravel()) == sorted(labels.ravel())
    y, x = np.divmod(found, shape[1])
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    assert abs((y - rows).mean()) < 0.2
    assert abs((x - columns).mean()) < 0.2
    if min(shape) > 2:
        assert (found != labels).any()


@pytest.mark.parametrize("severity", SEVERITIES)
def test_noise_has_the_stated_mean_and_variance(severity):
    """Within 4 standard errors of the formula, for values far from the ends."""
    count = np.prod(VGA)
    sigma = 255 * CORRUPTIONS["gaussian_noise"].constants[severity - 1]
    if sigma < 35:
        noise = draw(np.full(VGA, 128, np.uint8), "gaussian_noise", severity).astype(float) - 128
        assert abs(noise.mean()) < 4 * sigma / count**0.5
        assert abs(noise.var() / sigma**2 - 1) < 4 * (2 / count) ** 0.5 + 1 / (12 * sigma**2)
    photons = CORRUPTIONS["shot_noise"].constants[severity - 1]
    value = 51
    shot = draw(np.full(VGA, value, np.uint8), "shot_noise", severity).astype(float)
    mean = value / 255 * photons
    k = np.arange(200)
    logs = k * np.log(mean) - mean - np.cumsum(np.log(np.maximum(k, 1)))
    chance, level = np.exp(logs), np.minimum(k / photons, 1) * 255
    expected = (chance * level).sum()
    spread = (chance * (level - expected) ** 2).sum() ** 0.5
    # 12 bits of quantile: a step of 255 / photons may be off by 1/8192 each.
    assert abs(shot.mean() - expected) < 4 * spread / count**0.5 + 0.25
    assert abs(shot.std() / spread - 1) < 0.006
    share = CORRUPTIONS["impulse_noise"].constants[severity - 1]
    hit = draw(np.full(VGA, 128, np.uint8), "impulse_noise", severity)
    for end in (0, 255):
        error = (share / 2 * (1 - share / 2) / count) ** 0.5
        assert abs((hit == end).mean() - share / 2) < 4 * error + 1e-5
    sigma = CORRUPTIONS["speckle_noise"].constants[severity - 1]
    speckle = draw(np.full(VGA, 60, np.uint8), "speckle_noise", severity).astype(float)
    if sigma < 0.25:
        assert abs(speckle.mean() - 60) < 4 * 60 * sigma / count**0.5
        assert abs(speckle.std() / (60 * sigma) - 1) < 0.005


def test_noise_never_wraps_around():
    for value in (0, 255):
        for name in ("gaussian_noise", "speckle_noise"):
            out = draw(np.full((64, 64, 3), value, np.uint8), name, 1)
            assert abs(out.astype(int) - value).max() < 160


def test_channels_are_independent_under_noise():
    out = draw(np.full(VGA, 128, np.uint8), "gaussian_noise", 3).astype(float)
    assert abs(np.corrcoef(out[..., 0].ravel(), out[..., 1].ravel())[0, 1]) < 0.01


@pytest.mark.parametrize("name", ["shot_noise", "speckle_noise", "fog", "contrast", "saturate"])
def test_black_stays_black(name):
    """The convention's own: documented no-ops, without NaN."""
    black = np.zeros((20, 30, 3), np.uint8)
    for severity in SEVERITIES:
        assert not draw(black, name, severity).any()


def test_saturate_leaves_grey_alone():
    grey = np.repeat(synthetic_picture(20, 256)[..., :1], 3, axis=2)
    for severity in SEVERITIES:
        assert (draw(grey, "saturate", severity) == grey).all()


def test_elastic_displaces_both_axes_alike_on_any_shape():
    """On 64 x 512 the two axes move by the same number of pixels."""
    ramp = np.arange(512) % 256
    across = np.broadcast_to(ramp, (64, 512)).astype(np.uint8)
    moved = draw(across, "elastic_transform", 3).astype(int) - across
    dx = moved[5:-5, 20:200].std()
    tall = np.broadcast_to(np.arange(64)[:, None] * 3, (64, 512)).astype(np.uint8)
    dy = (draw(tall, "elastic_transform", 3, "b").astype(int) - tall)[12:-12].std() / 3
    assert dx == pytest.approx(dy, rel=0.25)


def test_an_empty_spatter_layer_changes_nothing():
    picture = synthetic_picture(8, 8)
    unchanged = [(draw(picture, "spatter", 1, str(i)) == picture).all() for i in range(40)]
    assert any(unchanged)


def test_small_pictures_survive_the_worst(photos):
    """A 32 x 32 photograph at severity 5 still resembles itself where kernels are scaled."""
    small = photos[0][::7, ::9][:32, :32].copy()
    for name in BLURS:
        out = draw(small, name, 5, reference_side=224)
        assert np.corrcoef(out.ravel(), small.ravel())[0, 1] > 0.5


def test_size_aware_mode_means_the_same_at_any_size(photos):
    """A blur at 4 times the size, reduced, is the blur at the small size."""
    import cv2

    small = cv2.resize(photos[1], (80, 60), interpolation=cv2.INTER_AREA)
    large = cv2.resize(small, (320, 240), interpolation=cv2.INTER_CUBIC)
    for name in ("defocus_blur", "gaussian_blur"):
        one = draw(small, name, 3, reference_side=60).astype(float)
        four = cv2.resize(
            draw(large, name, 3, reference_side=60), (80, 60), interpolation=cv2.INTER_AREA
        )
        plain = cv2.resize(draw(large, name, 3), (80, 60), interpolation=cv2.INTER_AREA)
        assert np.abs(one - four).mean() < 3
        assert np.abs(one - plain).mean() > 2 * np.abs(one - four).mean()


@pytest.mark.parametrize(
    ("severity", "mean", "most"),
    [(1, 0.11, 0.18), (2, 0.18, 0.34), (3, 0.07, 0.20), (4, 0.04, 0.25), (5, 0.12, 0.45)],
)
def test_motion_moves_a_picture_by_the_rounding_of_its_taps_alone(severity, mean, most):
    """How far edges across both axes move, in pixels, over all directions."""
    radius, sigma = CORRUPTIONS["motion_blur"].constants[severity - 1]
    side = 4 * radius + 5
    shifts = []
    for step in range(1024):
        towards = direction(step, -45)
        moved = []
        for half in (np.s_[:, side // 2 :], np.s_[side // 2 :]):
            plane = np.zeros((side, side), np.uint8)
            plane[half] = 255
            smeared = streak(plane, radius, sigma, towards)
            moved.append((plane.astype(float) - smeared).sum() / 255 / side)
        shifts.append(np.hypot(*moved))
    assert np.mean(shifts) == pytest.approx(mean, abs=0.01)
    assert np.max(shifts) == pytest.approx(most, abs=0.01)
