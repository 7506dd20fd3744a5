"""A picture of which something is missing is refused; what harms nothing is kept, and noted."""

import io
import itertools
import json
import struct
import subprocess
import sys
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from benchc.config.sources import FolderSource
from benchc.errors import BadInput
from benchc.pictures.decode import OddPicture, decode_picture
from benchc.pool.build import build_source

CASES = Path(__file__).parents[3] / "shared" / "cases"


def scene(height=96, width=128):
    """Return a picture with smooth and busy parts."""
    y, x = np.mgrid[:height, :width]
    noise = np.random.default_rng(1).integers(0, 60, (height, width))
    planes = (x * 255 // width, y * 255 // height, (x // 8 + y // 8) % 2 * 120 + noise)
    return Image.fromarray(np.stack(planes, axis=-1).astype(np.uint8))


def coded(format, image=None, **options):
    file = io.BytesIO()
    (image or scene()).save(file, format, **options)
    return file.getvalue()


JPEGS = {
    "baseline": {},
    "colour not thinned": {"subsampling": 0},
    "optimised": {"optimize": True},
    "progressive": {"progressive": True},
    "restarts by rows": {"restart_marker_rows": 1},
    "restarts by blocks": {"restart_marker_blocks": 3},
    "progressive restarts": {"progressive": True, "restart_marker_rows": 1},
    "good": {"quality": 98},
    "poor": {"quality": 10},
}
kinds = pytest.mark.parametrize("kind", JPEGS)


def whole(kind, grey=False):
    return coded("JPEG", scene().convert("L") if grey else None, **JPEGS[kind])


@kinds
@pytest.mark.parametrize("grey", [False, True])
def test_a_whole_jpeg_is_decoded_without_a_word(kind, grey):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rgb = decode_picture(whole(kind, grey))
    expected = np.array(Image.open(io.BytesIO(whole(kind, grey))).convert("RGB"))
    np.testing.assert_array_equal(rgb, expected)


@kinds
def test_a_jpeg_with_a_hole_is_refused(kind):
    data = whole(kind)
    first = data.index(b"\xff\xda") + 14
    draw = np.random.default_rng(0)
    accepted = 0
    for _ in range(40):
        size = int(draw.integers(1, len(data) // 3))
        start = int(draw.integers(first, len(data) - size - 3))
        try:
            rgb = decode_picture(data[:start] + data[start + size :])
        except BadInput:
            continue
        accepted += 1
        # Now and then what is left makes up for the blocks that are lost.
        assert rgb.shape == (96, 128, 3)
    assert accepted <= 6


@kinds
def test_a_jpeg_that_ends_early_is_refused_even_where_it_has_an_end(kind):
    data = whole(kind)
    for cut in (3, 20, len(data) // 2):
        for end in (b"", b"\xff\xd9"):
            with pytest.raises(BadInput, match=r"cut short|hole|missing|broken"):
                decode_picture(data[:-cut] + end)


def restarts(data):
    return [i for i in range(len(data) - 1) if data[i] == 0xFF and 0xD0 <= data[i + 1] <= 0xD7]


@pytest.mark.parametrize("kind", ["restarts by rows", "restarts by blocks"])
@pytest.mark.parametrize("lost", [1, 3, 8])
def test_a_lost_restart_interval_is_refused(kind, lost):
    data = whole(kind)
    marks = restarts(data)
    if len(marks) <= lost + 1:
        pytest.skip("too few intervals")
    with pytest.raises(BadInput, match="restart markers are missing"):
        decode_picture(data[: marks[1]] + data[marks[1 + lost] :])


def test_a_progressive_jpeg_that_lacks_scans_is_refused():
    data = whole("progressive")
    scans = [i for i in range(len(data) - 1) if data[i : i + 2] == b"\xff\xda"]
    for last in range(1, len(scans)):
        with pytest.raises(BadInput, match=r"scans are missing|bytes can hold"):
            decode_picture(data[: scans[last]] + b"\xff\xd9")


@pytest.mark.parametrize("kind", ["baseline", "progressive"])
def test_a_jpeg_that_claims_more_than_its_bytes_can_hold_is_refused_at_once(kind):
    data = bytearray(coded("JPEG", Image.new("RGB", (8, 8)), **JPEGS[kind]))
    frame = data.index(b"\xff\xc2" if kind == "progressive" else b"\xff\xc0")
    data[frame + 5 : frame + 9] = struct.pack(">HH", 7999, 8000)
    with pytest.raises(BadInput, match="8000x7999 pixels, more than its"):
        decode_picture(bytes(data))


def test_a_large_jpeg_of_one_colour_is_whole():
    grey = Image.new("RGB", (2000, 1500), (120, 130, 140))
    for options in JPEGS.values():
        assert decode_picture(coded("JPEG", grey, **options)).shape == (1500, 2000, 3)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda data: data[:20] + b"\x00\x13" + data[20:], "extraneous bytes"),
        (lambda data: data[:20] + b"\x00" * 40 + data[20:], "extraneous bytes"),
    ],
)
def test_what_harms_nothing_is_accepted_and_noted_in_the_row(tmp_path, spoil, said):
    (tmp_path / "a.jpg").write_bytes(spoil(whole("baseline")))
    row = {"image": "a.jpg", "question": "What?", "options": ["x", "y"], "answer": "A"}
    (tmp_path / "questions.jsonl").write_text(json.dumps(row))
    pool = build_source("s", FolderSource(kind="folder", path=tmp_path))
    assert said in pool.images["note"][0]
    expected = np.array(Image.open(io.BytesIO(whole("baseline"))))
    np.testing.assert_array_equal(decode_picture(whole("baseline")), expected)


def test_bytes_behind_the_end_are_no_matter():
    data = whole("baseline")
    np.testing.assert_array_equal(decode_picture(data + b"thumbnail" * 9), decode_picture(data))


@pytest.mark.skipif(not CASES.is_dir(), reason=f"no odd pictures in {CASES}")
@pytest.mark.parametrize("name", ["bad_mpo.jpg", "junk_before_data.jpg"])
def test_the_two_handed_pictures_that_libjpeg_warns_of_are_noted(name):
    with pytest.warns(OddPicture):
        decode_picture(CASES / "images" / name)


def png(width, height, rows, interlaced=False, depth=8):
    def chunk(kind, body):
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    head = struct.pack(">IIBBBBB", width, height, depth, 2, 0, 0, interlaced)
    raw = (b"\0" + b"\x55" * (width * 3 * depth // 8)) * rows
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw))
            + chunk(b"IEND", b""))  # fmt: skip


@pytest.mark.parametrize("rows", [0, 1, 10, 63])
@pytest.mark.parametrize("depth", [8, 16])
def test_a_png_that_lacks_rows_is_refused(rows, depth):
    assert decode_picture(png(64, 64, 64, depth=depth)).shape == (64, 64, 3)
    with pytest.raises(BadInput, match="cut short"):
        decode_picture(png(64, 64, rows, depth=depth))


def test_whole_pngs_of_every_kind_are_whole():
    for mode, (width, height) in itertools.product(
        ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"), ((1, 1), (7, 5), (64, 33))
    ):
        image = scene(height, width)
        image = image.convert("L").convert("I;16") if mode == "I;16" else image.convert(mode)
        assert decode_picture(coded("PNG", image)).shape == (height, width, 3)


@pytest.mark.parametrize("compression", [None, "tiff_lzw", "tiff_deflate", "packbits", "jpeg"])
def test_a_tiff_that_lacks_rows_is_refused(compression):
    options = {"compression": compression} if compression else {}
    data = coded("TIFF", scene(10, 64), **options)
    assert decode_picture(data).shape == (10, 64, 3)
    for kind in (3, 4):
        entry = struct.pack("<HHII", 257, kind, 1, 10)
        data = data.replace(entry, struct.pack("<HHII", 257, kind, 1, 64))
    with pytest.raises(BadInput, match="cut short"):
        decode_picture(data)


@pytest.mark.parametrize("format", ["GIF", "BMP", "WEBP", "AVIF", "JPEG2000", "PNG", "TIFF"])
def test_a_hole_that_a_format_shows_is_refused(format):
    data = coded(format)
    middle = len(data) // 2
    with pytest.raises(BadInput):
        decode_picture(data[:middle] + data[middle + 200 :])


CODE = """
import re, sys
from PIL import Image
from benchc.pictures.decode import decode_picture
data = open(sys.argv[1], "rb").read()
rgb = decode_picture(data)
assert rgb.shape[2] == 3
# Not of getrusage: that remembers the process that this one was forked from.
print(int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024)
"""


@pytest.mark.parametrize(
    ("mode", "format"), [("RGBA", "PNG"), ("RGB", "JPEG"), ("P", "PNG"), ("LA", "PNG")]
)
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc to read memory from")
def test_the_largest_picture_takes_less_than_a_gigabyte(tmp_path, mode, format):
    image = Image.new("RGB", (8000, 8000), (9, 200, 30)).convert(mode)
    exif = Image.Exif()
    exif[0x0112] = 6
    image.save(tmp_path / "a", format, exif=exif)
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(tmp_path / "a")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) < 1000
