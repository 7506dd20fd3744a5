"""Losses of digital handling: elastic transform, pixelate, JPEG compression."""

from math import exp, sqrt

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from benchc.corrupt.draws import bits16, strips
from benchc.pictures.decode import decode_stored
from benchc.pictures.pixels import Array, Pixels


def elastic_transform(
    image: Pixels, alpha: float, source: np.random.Philox, scale: float
) -> Pixels:
    """Displace each pixel by a smooth random field, bilinear, border reflected.

    Uniform noise of +-0.005 H is blurred by sigma = (0.01 H, 0.01 W), cut at 3 sigma, and
    multiplied by alpha; both axes use the height, as the convention does.

    Source: imagecorruptions (Michaelis et al. 2019), its re-parametrised elastic transform.
    """
    height, width = image.shape[:2]
    out = np.empty_like(image)
    dy = _field(source, height, width, alpha * scale)
    dx = _field(source, height, width, alpha * scale)
    columns = (np.arange(width, dtype=np.int32) << 5)[None]
    for rows in strips(height, width, 1 << 16):
        lines = (np.arange(rows.start, rows.stop, dtype=np.int32) << 5)[:, None]
        x, y = _displacement(*dx, rows) + columns, _displacement(*dy, rows) + lines
        whole = cv2.merge([(x >> 5).astype(np.int16), (y >> 5).astype(np.int16)])
        part = (((y & 31) << 5) | (x & 31)).astype(np.uint16)
        cv2.remap(image, whole, part, cv2.INTER_LINEAR, out[rows], cv2.BORDER_REFLECT)
    return out


def pixelate(image: Pixels, share: float, source: None, scale: float) -> Pixels:
    """Shrink to a share of each side by box averages and grow back by nearest neighbour.

    Source: Hendrycks & Dietterich 2019, ImageNet-C.
    """
    height, width = image.shape[:2]
    tenths = round(100 * share)
    small = (max(1, width * tenths // 100), max(1, height * tenths // 100))
    picture = Image.fromarray(image).resize(small, Image.Resampling.BOX)
    return np.array(picture.resize((width, height), Image.Resampling.NEAREST))


def jpeg_compression(image: Pixels, quality: int, source: None, scale: float) -> Pixels:
    """Compress as baseline JPEG with 4:2:0 chroma and decode again.

    Source: Hendrycks & Dietterich 2019, ImageNet-C.
    """
    grey = image.ndim == 2
    given = image if grey else cv2.cvtColor(image, cv2.COLOR_RGB2BGR)
    _, data = cv2.imencode(".jpg", given, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return decode_stored(data.tobytes(), grey=grey)


def _field(source: np.random.Philox, height: int, width: int, alpha: float) -> tuple[Array, int]:
    """One axis of displacement: smooth field, uint16 (height, width), and gain to 1/32 pixel.

    Where sigma is 4 pixels or more the noise is drawn on a coarser grid, on which sigma is
    still 2 or more, and enlarged: the same spectrum and variance for a fraction of the work.
    """
    sigma_y, sigma_x = 0.01 * height, 0.01 * width
    down, right = max(1, int(sigma_y / 2)), max(1, int(sigma_x / 2))
    tall, wide = -(-height // down) + 1, -(-width // right) + 1
    field: Array = bits16(source, tall * wide).reshape(tall, wide)
    sizes = [2 * int(3 * s + 0.5) + 1 for s in (sigma_x / right, sigma_y / down)]
    if max(sizes) > 1:
        field = cv2.GaussianBlur(
            field,
            sizes,
            sigma_x / right,
            sigmaY=sigma_y / down,
            borderType=cv2.BORDER_REFLECT,
        )
    loss = 1.0
    if down > 1 or right > 1:
        size = (wide * right, tall * down)
        field = cv2.resize(field, size, interpolation=cv2.INTER_LINEAR_EXACT)
        for sigma, step in ((sigma_y, down), (sigma_x, right)):
            loss *= step * (_kept(sigma / step) if step > 1 else 1.0)
    field = field[down // 2 :, right // 2 :][:height, :width]
    gain = round(2 * 0.005 * height * alpha * 32 * 256 / sqrt(loss))
    return field, gain


def _displacement(field: Array, gain: int, rows: slice) -> NDArray[np.int32]:
    """Displacement of some rows in 1/32 pixel, int32."""
    centred = field[rows].astype(np.int64)
    centred -= 32768
    centred *= gain
    centred += 1 << 23
    centred >>= 24
    return centred.astype(np.int32)


def _kept(sigma: float) -> float:
    """Share of variance that linear interpolation leaves of noise blurred by sigma."""
    return (2 + exp(-1 / (4 * sigma * sigma))) / 3
