"""A photograph of a discovery is what the pool would make of the same file, corrupted or not."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from benchc.config.sources import FolderSource
from benchc.corrupt import condition
from benchc.discover.pictures import folder_pictures, loader, pictures, refuse_unreadable
from benchc.errors import BadInput
from benchc.pictures.decode import decode_picture, decode_stored
from benchc.pictures.folder import ENDINGS
from benchc.pictures.pixels import pixel_hash
from benchc.pool.build import build_source

CASES = Path(__file__).parents[3] / "shared" / "cases" / "images"
SHAPE = (40, 60)


def coded(image, ending, **options):
    file = io.BytesIO()
    image.save(file, ending, **options)
    return file.getvalue()


def odd_pictures():
    """Return pictures in the shapes in which loaders differ, by name."""
    rng = np.random.default_rng(3)
    rgb = Image.fromarray(rng.integers(0, 256, (*SHAPE, 3)).astype(np.uint8))
    clear = rgb.copy()
    clear.putalpha(0)
    palette = rgb.quantize(16)
    exif = Image.Exif()
    exif[0x0112] = 6
    deep = Image.fromarray(np.linspace(0, 65535, 2400).astype(np.uint16).reshape(SHAPE))
    return {
        "16-bit.png": coded(deep, "PNG"),
        "16-bit.tif": coded(deep, "TIFF"),
        "alpha.png": coded(clear, "PNG"),
        "alpha.webp": coded(clear, "WEBP", lossless=True),
        "grey-alpha.png": coded(clear.convert("LA"), "PNG"),
        "palette.png": coded(palette, "PNG", transparency=0),
        "turned.jpg": coded(rgb, "JPEG", exif=exif),
        "cmyk.jpg": coded(rgb.convert("CMYK"), "JPEG"),
        "grey.jpeg": coded(rgb.convert("L"), "JPEG"),
        "bilevel.png": coded(rgb.convert("1"), "PNG"),
        "moving.gif": coded(rgb, "GIF", save_all=True, append_images=[rgb.rotate(90)]),
        "named-otherwise.png": coded(rgb, "JPEG"),
        "dots.bmp": coded(rgb, "BMP"),
    }


def in_pool(folder):
    """Return the pixels that the pool stores of each picture in a folder, or None, by name."""
    names = sorted(path.name for path in folder.iterdir())
    rows = [
        {"id": name, "image": name, "question": "What?", "options": ["a", "b"], "answer": "A"}
        for name in names
    ]
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    pool = build_source("p", FolderSource(kind="folder", path=folder, on_bad_row="reject"))
    shown = pool.samples.join(pool.images, on="image_id")
    # Equal pictures are one sample.
    same = {row["source_ref"]: row["detail"] for row in pool.rejected.iter_rows(named=True)
            if row["reason"] == "duplicate"}  # fmt: skip
    stored = {row["source_ref"]: decode_stored(row["bytes"]) for row in shown.to_dicts()}
    stored |= {name: stored[of.rpartition("/")[2]] for name, of in same.items()}
    return {name: stored.get(name) for name in names}


def compare(folder):
    """Check that each picture of a folder is the same here and in the pool; return how many are."""
    expected = in_pool(folder)
    load = loader(folder, 1)
    agreed = 0
    for name, pixels in expected.items():
        if pixels is None:
            with pytest.raises(BadInput, match=name):
                refuse_unreadable(folder, [name])
            continue
        found = load(name, "clean", 0, None)
        np.testing.assert_array_equal(found, pixels, err_msg=name)
        agreed += 1
    return agreed


def test_odd_pictures_are_what_the_pool_makes_of_them(tmp_path):
    for name, data in odd_pictures().items():
        (tmp_path / name).write_bytes(data)
    assert compare(tmp_path) == len(odd_pictures())


@pytest.mark.skipif(not CASES.is_dir(), reason=f"no odd pictures in {CASES}")
def test_all_handed_pictures_are_what_the_pool_makes_of_them(tmp_path):
    files = [path for path in CASES.iterdir() if path.suffix != ".tsv"]
    for path in files:
        (tmp_path / path.name).write_bytes(path.read_bytes())
        assert path.suffix.lower() in ENDINGS
    assert compare(tmp_path) >= 20


def test_every_picture_of_a_folder_is_dealt(tmp_path):
    for name, data in odd_pictures().items():
        (tmp_path / name).write_bytes(data)
    count = len(odd_pictures())
    sets = folder_pictures(tmp_path, {"a": 5, "b": count - 5}, seed=1)
    dealt = sorted(picture.key for split in sets.values() for picture in split)
    assert dealt == sorted(odd_pictures())


@pytest.mark.parametrize("side", [None, 20, 224])
@pytest.mark.parametrize("name", ["defocus_blur", "gaussian_noise", "frost"])
def test_a_corrupted_picture_is_the_one_of_the_run(tmp_path, name, side):
    rng = np.random.default_rng(0)
    Image.fromarray(rng.integers(0, 256, (90, 70, 3)).astype(np.uint8)).save(tmp_path / "a.png")
    clean = decode_picture(tmp_path / "a.png")
    wanted = condition(clean, name, 3, seed=1, image_id=pixel_hash(clean), reference_side=side)
    (picture,) = folder_pictures(tmp_path, {"a": 1}, 1, name, 3, side)["a"]
    np.testing.assert_array_equal(picture.load(), wanted)
    np.testing.assert_array_equal(loader(tmp_path, 1)("a.png", name, 3, side), wanted)


def test_the_reference_side_reaches_drawn_pictures():
    (clean,) = pictures("test", 1, 1)
    shown = {
        side: next(pictures("test", 1, 1, "defocus_blur", 3, side)).load().tobytes()
        for side in (None, 224, 56)
    }
    assert shown[None] == shown[224] != shown[56]
    assert clean.load().shape == (224, 224, 3)


def test_a_link_out_of_the_folder_is_refused(tmp_path):
    outside, folder = tmp_path / "outside.png", tmp_path / "folder"
    folder.mkdir()
    Image.new("RGB", (4, 4)).save(outside)
    (folder / "link.png").symlink_to(outside)
    with pytest.raises(BadInput, match=r"link.png.*link that leads out"):
        folder_pictures(folder, {"a": 1}, 1)
    with pytest.raises(BadInput, match=r"link.png.*link that leads out"):
        loader(folder, 1)("link.png", "clean", 0, None)
