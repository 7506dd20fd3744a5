"""What `corrupt` promises of any corruption: shapes, refusals, purity, keys."""

import re
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchc.corrupt import CORRUPTIONS, GROUPS, SEVERITIES, corrupt
from benchc.corrupt.selftest import synthetic_picture
from benchc.pictures.pixels import pixel_hash

RANDOM = [c.name for c in CORRUPTIONS.values() if c.random]
SIZES = [(1, 1), (1, 7), (7, 1), (2, 2), (4, 1), (1, 4), (31, 33), (32, 200), (97, 131), (257, 100)]


def draw(picture, name, severity=3, seed=1, image_id="a", **more):
    return corrupt(picture, name, severity, seed=seed, image_id=image_id, **more)


def test_every_corruption_is_in_one_group_and_has_a_constant_for_each_severity():
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(CORRUPTIONS)
    assert all(len(c.constants) == len(SEVERITIES) for c in CORRUPTIONS.values())


def test_the_page_on_corruptions_lists_every_constant():
    page = (Path(__file__).parents[2] / "docs/corruptions.md").read_text(encoding="utf-8")
    constants = page.partition("## Constants")[2].partition("\n## ")[0]
    names = re.findall(r"^\| (\w+) \|", constants, re.MULTILINE)
    assert sorted(names[1:]) == sorted(CORRUPTIONS)


@pytest.mark.parametrize("size", SIZES)
def test_every_size_keeps_its_shape(size, capfd):
    rng = np.random.default_rng(0)
    for shape in (size, (*size, 3)):
        picture = rng.integers(0, 256, shape, dtype=np.uint8)
        before = picture.copy()
        picture.flags.writeable = False
        for name in CORRUPTIONS:
            for severity in SEVERITIES:
                for side in (None, 30):
                    with warnings.catch_warnings():
                        warnings.simplefilter("error")
                        out = draw(picture, name, severity, reference_side=side)
                    assert out.shape == shape
                    assert out.dtype == np.uint8
                    assert out.flags.c_contiguous
                    assert not np.shares_memory(out, picture)
        assert (picture == before).all()
    assert capfd.readouterr() == ("", "")


def test_full_hd_keeps_its_shape():
    picture = synthetic_picture(1080, 1920)
    for name in CORRUPTIONS:
        assert draw(picture, name, 5).shape == (1080, 1920, 3)


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_non_contiguous_pictures(name):
    wide = synthetic_picture(40, 120)
    turned, cut = wide[::-1, ::-2], wide.transpose(1, 0, 2)
    for view in (turned, cut):
        assert (draw(view, name) == draw(view.copy(), name)).all()


def test_severity_0_is_a_copy():
    picture = synthetic_picture(9, 9)
    out = draw(picture, "fog", 0)
    assert (out == picture).all()
    assert not np.shares_memory(out, picture)


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"image": np.zeros((4, 4, 3))}, ValueError, "float64.*expected uint8"),
        ({"image": np.zeros((4, 4, 3), np.uint16)}, ValueError, "uint16.*expected uint8"),
        ({"image": np.zeros((4, 4), bool)}, ValueError, "bool.*expected uint8"),
        ({"image": np.zeros((4, 4, 4), np.uint8)}, ValueError, "alpha"),
        ({"image": np.zeros((4, 4, 2), np.uint8)}, ValueError, "alpha"),
        ({"image": np.zeros((4, 4, 1), np.uint8)}, ValueError, r"\(4, 4, 1\)"),
        ({"image": np.zeros((4,), np.uint8)}, ValueError, r"\(4,\)"),
        ({"image": np.zeros((0, 4, 3), np.uint8)}, ValueError, "empty"),
        ({"image": [[1, 2]]}, TypeError, "list"),
        ({"name": "gausian_noise"}, ValueError, "did you mean 'gaussian_noise'"),
        ({"name": "zzzzz"}, ValueError, "expected one of gaussian_noise"),
        ({"severity": 6}, ValueError, "severity 6: expected .* 0 to 5"),
        ({"severity": -1}, ValueError, "severity -1"),
        ({"severity": 2.0}, TypeError, "severity 2.0"),
        ({"severity": True}, TypeError, "severity True"),
        ({"severity": "3"}, TypeError, "severity '3'"),
        ({"seed": 1.5}, TypeError, "seed 1.5"),
        ({"image_id": 3}, TypeError, "image_id 3"),
        ({"reference_side": 0}, ValueError, "reference_side 0"),
        ({"reference_side": 2.5}, TypeError, "reference_side 2.5"),
    ],
)
def test_refusals_are_one_clear_line(change, error, says):
    given = {"image": np.zeros((4, 4, 3), np.uint8), "name": "fog", "severity": 1}
    given |= {"seed": 1, "image_id": "a"} | change
    with pytest.raises(error, match=says) as caught:
        corrupt(**given)
    assert "\n" not in str(caught.value)


def test_keys_decide_and_nothing_else_does():
    picture = synthetic_picture(33, 47)
    calls = [(name, severity) for name in CORRUPTIONS for severity in SEVERITIES]
    first = [pixel_hash(draw(picture, *call)) for call in calls]
    np.random.seed(7)
    assert [pixel_hash(draw(picture, *call)) for call in calls[::-1]] == first[::-1]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda call: pixel_hash(draw(picture, *call)), calls)) == first


@pytest.mark.parametrize("name", RANDOM)
def test_other_keys_draw_other_noise(name):
    picture = np.full((64, 64, 3), 130, np.uint8)
    picture[::3, ::2] = 20
    one = draw(picture, name, 3)
    assert (one != draw(picture, name, 3, image_id="b")).any()
    assert (one != draw(picture, name, 3, seed=2)).any()


@pytest.mark.parametrize("name", ["gaussian_noise", "shot_noise", "impulse_noise"])
def test_severities_draw_other_noise(name):
    """Severity is part of the key: where one severity is dark, another is not."""
    flat = np.full((128, 128, 3), 128, np.uint8)
    low, high = (draw(flat, name, s).astype(float) - 128 for s in (4, 5))
    assert abs(np.corrcoef(low.ravel(), high.ravel())[0, 1]) < 0.03


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_grey_pictures_stay_grey_when_given_as_rgb(name):
    """Where nothing is drawn per channel, a grey array and the same as RGB agree."""
    grey = synthetic_picture(40, 56)[..., 0]
    colour = np.repeat(grey[..., None], 3, axis=2)
    one, three = draw(grey, name), draw(colour, name).astype(int)
    if name in GROUPS["noise"] or name in ("frost", "spatter"):
        return
    assert np.abs(three - one[..., None]).max() <= 1


@settings(max_examples=60)
@given(
    picture=arrays(np.uint8, st.tuples(st.integers(1, 24), st.integers(1, 24), st.just(3))),
    name=st.sampled_from(list(CORRUPTIONS)),
    severity=st.sampled_from(SEVERITIES),
    side=st.sampled_from([None, 5, 224]),
)
def test_any_picture_comes_back_the_same_twice(picture, name, severity, side):
    one = draw(picture, name, severity, reference_side=side)
    assert one.shape == picture.shape
    assert (one == draw(picture, name, severity, reference_side=side)).all()
