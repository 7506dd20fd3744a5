import contextlib
import csv
import io
import re
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFile

from benchc.errors import BadInput
from benchc.pictures import decode as pictures
from benchc.pictures.decode import decode_picture

CASES = Path(__file__).parents[2].parent / "shared" / "cases" / "images"
MANIFEST = CASES / "MANIFEST.tsv"

needs_cases = pytest.mark.skipif(not MANIFEST.exists(), reason="no folder of odd image files here")


def manifest() -> list[dict]:
    if not MANIFEST.exists():
        return []
    with MANIFEST.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


# What the manifest's prose says, as numbers: size (width, height), mean level, tolerance.
DECODED: dict[str, tuple[tuple[int, int], tuple[float, ...] | None, float]] = {
    "cmyk_adobe.jpg": ((100, 100), (30, 5, 7), 1),
    "rgb_sample_ref.jpg": ((100, 100), (28, 5, 4), 1),
    "lab_color.tif": ((128, 128), (89, 80, 95), 1),
    "gray16_interlaced.png": ((32, 32), (143.9,) * 3, 0.5),
    "gray16_small_values.tif": ((200, 200), (0.5,) * 3, 0.01),
    "rgb16.tiff": ((157, 151), (150, 116, 66), 1),
    "rgba_transparent.png": ((200, 150), (211, 203, 204), 1),
    "palette_alpha.png": ((162, 150), (190, 189, 172), 1),
    "gray_alpha.png": ((128, 128), (241,) * 3, 1),
    "bilevel_1bit.png": ((10, 10), (127.5,) * 3, 0.01),
    "gray.jpg": ((128, 128), None, 0),
    "exif_orientation_6.jpg": ((128, 128), None, 0),
    "hopper_ref.jpg": ((128, 128), None, 0),
    "exif_orientation_8_2x1.jpg": ((1, 2), None, 0),
    "xmp_orientation_3.png": ((10, 10), None, 0),
    "one_pixel.png": ((1, 1), (128,) * 3, 0.01),
    "animated.webp": ((200, 200), (242,) * 3, 1),
    "animated.apng": ((100, 100), (236, 237, 234), 1),
    "bad_mpo.jpg": ((640, 480), None, 0),
    "junk_before_data.jpg": ((1024, 768), (117, 116, 117), 1),
    "progressive.jpg": ((650, 470), None, 0),
    "photo.avif": ((128, 128), (90, 80, 96), 1),
    "large_2400x2000.png": ((2400, 2000), (233, 215, 234), 1),
}
REFUSED = {
    "truncated.jpg": "cut short",
    "truncated_iend.png": "cut short",
    "truncated_header.jpg": "cut short|broken",
    "broken_data_stream.png": "broken",
    "bomb_65535x66601.gif": "too large: the limit is 64,000,000 pixels",
    "text_chunk_bomb.png": "broken",
    "zero_width.gif": "not a picture|no pixels",
}


@needs_cases
def test_every_file_of_the_manifest_has_an_outcome():
    names = {row["file"] for row in manifest()}
    assert names == DECODED.keys() | REFUSED.keys()
    for row in manifest():
        assert row["expected"].startswith("DECODE" if row["file"] in DECODED else "REJECT")


@pytest.mark.parametrize("row", manifest(), ids=lambda row: row["file"])
def test_case(row):
    path = CASES / row["file"]
    start = time.perf_counter()
    if row["file"] in REFUSED:
        with pytest.raises(BadInput, match=REFUSED[row["file"]]) as refusal:
            decode_picture(path)
        assert "\n" not in str(refusal.value)
        assert time.perf_counter() - start < 1
        return
    rgb = decode_picture(path)
    assert time.perf_counter() - start < 1
    (width, height), mean, tolerance = DECODED[row["file"]]
    assert rgb.dtype == np.uint8
    assert rgb.shape == (height, width, 3)
    assert rgb.flags.c_contiguous
    assert rgb.flags.writeable
    if mean is not None:
        assert rgb.mean((0, 1)) == pytest.approx(mean, abs=tolerance)
    np.testing.assert_array_equal(rgb, decode_picture(path.read_bytes()))


@needs_cases
def test_exif_orientation_is_applied():
    turned = decode_picture(CASES / "exif_orientation_6.jpg")
    upright = decode_picture(CASES / "hopper_ref.jpg")
    difference = np.abs(turned.astype(int) - upright).mean()
    assert difference < np.abs(np.rot90(turned).astype(int) - upright).mean() / 8
    assert turned[:64, :64].mean((0, 1)) == pytest.approx((94, 73, 81), abs=2)


@needs_cases
def test_xmp_orientation_is_applied():
    with Image.open(CASES / "xmp_orientation_3.png") as stored:
        assert stored.getexif()[0x0112] == 3
        white = Image.new("RGBA", stored.size, "white")
        expected = np.asarray(Image.alpha_composite(white, stored).convert("RGB"))[::-1, ::-1]
    actual = decode_picture(CASES / "xmp_orientation_3.png").astype(int)
    assert np.abs(actual - expected).max() <= 1


@needs_cases
def test_bilevel_and_grey_have_equal_channels():
    for name in ("bilevel_1bit.png", "gray.jpg"):
        rgb = decode_picture(CASES / name)
        assert (rgb == rgb[:, :, :1]).all()
    assert set(np.unique(decode_picture(CASES / "bilevel_1bit.png"))) == {0, 255}


def encoded(image: Image.Image, format: str = "PNG", **options) -> bytes:
    file = io.BytesIO()
    image.save(file, format, **options)
    return file.getvalue()


@pytest.mark.parametrize("orientation", range(1, 9))
def test_all_eight_orientations(orientation):
    picture = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3) * 10
    exif = Image.Exif()
    exif[0x0112] = orientation
    decoded = decode_picture(encoded(Image.fromarray(picture), exif=exif))
    expected = {
        1: picture,
        2: picture[:, ::-1],
        3: picture[::-1, ::-1],
        4: picture[::-1],
        5: picture.transpose(1, 0, 2),
        6: np.rot90(picture, -1),
        7: np.rot90(picture, 2).transpose(1, 0, 2),
        8: np.rot90(picture, 1),
    }[orientation]
    np.testing.assert_array_equal(decoded, expected)


def test_16_bit_grey_is_rounded_to_the_nearest_of_257_steps():
    values = np.array([[0, 1, 128, 129, 257, 65406, 65407, 65535]], dtype=np.uint16)
    for format in ("PNG", "TIFF"):
        grey = decode_picture(encoded(Image.fromarray(values), format))[:, :, 0]
        np.testing.assert_array_equal(grey, np.rint(values / 257))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "PA", "RGB", "RGBA", "CMYK", "YCbCr", "LAB"])
def test_every_mode_gives_rgb(mode):
    grey = Image.new("RGB", (5, 4), (200, 200, 200))
    image = Image.new("LAB", (5, 4), (200, 128, 128)) if mode == "LAB" else grey.convert(mode)
    format = "TIFF" if mode in ("CMYK", "YCbCr", "LAB", "PA") else "PNG"
    assert decode_picture(encoded(image, format)).shape == (4, 5, 3)


def test_alpha_is_composited_over_white_and_rounded():
    rgba = np.zeros((1, 256, 4), dtype=np.uint8)
    rgba[0, :, 3] = np.arange(256)
    rgba[0, :, 0] = 100
    decoded = decode_picture(encoded(Image.fromarray(rgba)))[0]
    alpha = np.arange(256) / 255
    np.testing.assert_array_equal(decoded[:, 0], np.rint(100 * alpha + 255 * (1 - alpha)))
    np.testing.assert_array_equal(decoded[:, 1], np.rint(255 * (1 - alpha)))


def test_transparent_colour_of_an_rgb_png_is_white():
    image = Image.new("RGB", (2, 1), (9, 8, 7))
    image.putpixel((1, 0), (1, 2, 3))
    decoded = decode_picture(encoded(image, transparency=(1, 2, 3)))
    assert decoded.tolist() == [[[9, 8, 7], [255, 255, 255]]]


def test_32_bit_pixels_are_refused():
    for dtype in (np.float32, np.int32):
        with pytest.raises(BadInput, match="32-bit"):
            decode_picture(encoded(Image.fromarray(np.ones((2, 2), dtype)), "TIFF"))


def test_too_many_pixels_are_refused_before_they_are_decoded(monkeypatch):
    data = encoded(Image.new("L", (101, 100)))
    monkeypatch.setattr(pictures, "MAX_PIXELS", 10_000)
    monkeypatch.setattr(ImageFile.ImageFile, "load", lambda self: pytest.fail("decoded"))
    with pytest.raises(BadInput, match=r"101x100.*10,000 pixels"):
        decode_picture(data)


def test_tolerance_set_elsewhere_does_not_let_cut_files_in(monkeypatch):
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    for format in ("PNG", "JPEG", "WEBP", "TIFF"):
        data = encoded(Image.fromarray(noise), format)
        decode_picture(data)
        with pytest.raises(BadInput):
            decode_picture(data[: len(data) // 2])
    assert ImageFile.LOAD_TRUNCATED_IMAGES


def test_missing_and_odd_files_are_refused(tmp_path):
    with pytest.raises(BadInput, match="no such file"):
        decode_picture(tmp_path / "none.png")
    with pytest.raises(BadInput, match="not a file"):
        decode_picture(tmp_path)
    for data in (b"", b"hello", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n"):
        with pytest.raises(BadInput, match="not a picture") as refusal:
            decode_picture(data)
        assert re.fullmatch(r"[^\n]+", str(refusal.value))


@needs_cases
def test_no_mutation_of_bytes_gets_past_as_anything_but_a_picture_or_a_refusal():
    rng = np.random.default_rng(7)
    for name in ("gray.jpg", "palette_alpha.png", "animated.webp", "photo.avif", "zero_width.gif"):
        original = np.frombuffer((CASES / name).read_bytes(), dtype=np.uint8)
        for _ in range(20):
            data = original.copy()
            data[rng.integers(0, len(data), 8)] = rng.integers(0, 256, 8)
            with contextlib.suppress(BadInput):
                assert decode_picture(data.tobytes()).dtype == np.uint8


def test_a_png_cut_by_any_number_of_bytes_is_refused():
    data = encoded(Image.new("RGB", (4, 3), (1, 2, 3)))
    for cut in range(1, len(data)):
        with pytest.raises(BadInput):
            decode_picture(data[:-cut])
