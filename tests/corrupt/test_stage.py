"""The stage, its measures, the pixel functions and the commands."""

import cv2
import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from benchc import tables
from benchc.corrupt import corrupt
from benchc.corrupt.command import app
from benchc.corrupt.gallery import contact_sheet
from benchc.corrupt.measure import against
from benchc.corrupt.selftest import synthetic_picture
from benchc.corrupt.stage import SCHEMA, render_corruption
from benchc.errors import BadInput
from benchc.pictures.decode import decode_stored
from benchc.pictures.pixels import encode, pixel_hash


@pytest.fixture
def images():
    pictures = [synthetic_picture(40, 60), synthetic_picture(5, 9), synthetic_picture(33, 20)]
    rows = [(pixel_hash(p), p.shape[1], p.shape[0], encode(p)) for p in pictures]
    return pl.DataFrame(rows, schema=["image_id", "width", "height", "bytes"], orient="row")


@pytest.mark.parametrize("format", ["png", "webp"])
@pytest.mark.parametrize("size", [(1, 1), (1, 9), (40, 33)])
def test_coding_is_lossless(format, size):
    picture = np.random.default_rng(0).integers(0, 256, (*size, 3), dtype=np.uint8)
    assert (decode_stored(encode(picture, format)) == picture).all()


def test_hash_tells_shapes_and_channels_apart():
    picture = synthetic_picture(4, 6)
    assert pixel_hash(picture) == pixel_hash(picture[:, ::-1][:, ::-1])
    assert (
        len({pixel_hash(p) for p in (picture, picture.reshape(6, 4, 3), picture[..., ::-1])}) == 3
    )


@pytest.mark.parametrize(
    "bad", [np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3)), np.zeros((0, 4, 3), np.uint8), [1]]
)
def test_pixels_refuse_what_is_no_rgb(bad):
    for use in (pixel_hash, encode):
        with pytest.raises(ValueError, match="expected"):
            use(bad)


def test_decode_and_encode_refuse_clearly():
    for data in (b"", b"no picture", encode(synthetic_picture(9, 9))[:40]):
        with pytest.raises(ValueError, match="not a readable picture"):
            decode_stored(data)
    with pytest.raises(ValueError, match="expected 'png' or 'webp'"):
        encode(synthetic_picture(2, 2), "jpeg")
    with pytest.raises(ValueError, match="does not fit"):
        encode(np.zeros((1, 16_400, 3), np.uint8), "webp")


def test_rows_are_recipes_with_hashes(images):
    frame = render_corruption(images, "fog", [1, 3], seed=7)
    assert frame.schema == SCHEMA
    assert frame["severity"].to_list() == [1, 3] * 3
    assert frame["bytes"].null_count() == frame.height
    assert frame["ssim"].is_null().to_list() == [False, False, True, True, False, False]
    for row, clean in zip(frame.iter_rows(named=True), np.repeat(images["bytes"], 2), strict=True):
        clean = decode_stored(clean)
        again = corrupt(clean, "fog", row["severity"], seed=7, image_id=row["image_id"])
        assert pixel_hash(again) == row["pixels_sha256"]
        exact = np.abs(again.astype(float) - clean).mean()
        assert row["mean_absolute_difference"] == pytest.approx(exact)


def test_workers_order_and_batch_make_no_difference(images):
    one = render_corruption(images, "snow", seed=1)
    assert render_corruption(images, "snow", seed=1, workers=3).equals(one)
    reverse = render_corruption(images[::-1], "snow", seed=1)
    assert reverse.sort("image_id", "severity").equals(one.sort("image_id", "severity"))
    alone = render_corruption(images[1:2], "snow", seed=1)
    assert alone.equals(one.filter(pl.col("image_id") == images["image_id"][1]))


@pytest.mark.parametrize("store", ["png", "webp"])
def test_stored_pictures_are_the_rendered_ones(images, store):
    plain = render_corruption(images, "gaussian_noise", seed=1)
    kept = render_corruption(images, "gaussian_noise", seed=1, store=store)
    assert kept.drop("bytes").equals(plain.drop("bytes"))
    assert [pixel_hash(decode_stored(b)) for b in kept["bytes"]] == plain["pixels_sha256"].to_list()


def test_stage_names_the_bad_picture(images):
    torn = images.with_columns(bytes=pl.lit(b"torn"))
    with pytest.raises(BadInput, match=r"image [0-9a-f]{64}: .*not a readable picture"):
        render_corruption(torn, "fog", seed=1)
    with pytest.raises(BadInput, match="its row states 61 x 40"):
        render_corruption(images[:1].with_columns(width=pl.lit(61)), "fog", seed=1)
    with pytest.raises(ValueError, match="store 'jpeg'"):
        render_corruption(images, "fog", seed=1, store="jpeg")


def test_ssim_is_that_of_skimage():
    from skimage.metrics import structural_similarity

    clean = synthetic_picture(64, 90)
    noisy = corrupt(clean, "motion_blur", 2, seed=1, image_id="a")
    luma = [cv2.cvtColor(p, cv2.COLOR_RGB2GRAY) for p in (clean, noisy)]
    theirs = structural_similarity(*luma, use_sample_covariance=False, data_range=255)
    difference, ours = against(clean)(noisy)
    assert ours == pytest.approx(theirs, abs=1e-6)
    assert difference == pytest.approx(np.abs(clean.astype(float) - noisy).mean())
    assert against(clean)(clean) == (0, 1)
    assert against(clean[:6])(noisy[:6])[1] is None


def test_commands(images, tmp_path):
    run = CliRunner().invoke
    table, out = tmp_path / "images.parquet", tmp_path / "fog.parquet"
    tables.IMAGES.write(images.with_columns(note=pl.lit(None, pl.String())), table)
    call = ["render", "fog", "--images", str(table), "--out", str(out), "--seed", "1"]
    done = run(app, [*call, "--severity", "2", "--severity", "4"], catch_exceptions=False)
    assert done.exit_code == 0
    assert tables.CORRUPTED.read(out)["severity"].unique().sort().to_list() == [2, 4]
    with pytest.raises(BadInput, match="did you mean 'fog'"):
        run(app, ["render", "fogg", *call[2:]], catch_exceptions=False)
    with pytest.raises(BadInput, match="severity 9"):
        run(app, [*call, "--severity", "9"], catch_exceptions=False)
    listed = run(app, ["list"], catch_exceptions=False).stdout
    assert "gaussian_noise" in listed
    assert "0.08" in listed
    assert "the same bytes" in run(app, ["selftest"], catch_exceptions=False).stdout
    picture, sheet = tmp_path / "p.png", tmp_path / "sheet.png"
    picture.write_bytes(encode(synthetic_picture(30, 40)))
    run(app, ["gallery", str(picture), "--out", str(sheet), "--side", "24"], catch_exceptions=False)
    assert (
        decode_stored(sheet.read_bytes()).shape
        == contact_sheet(synthetic_picture(30, 40), 24).shape
    )
    with pytest.raises(BadInput, match="nowhere"):
        run(app, ["gallery", "nowhere.png", "--out", str(sheet)], catch_exceptions=False)
