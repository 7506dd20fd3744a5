"""Draws a scene as a picture, the same bytes every time.

Every pixel follows from the description.
"""

from functools import lru_cache

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFont

from benchc.world.scene import SIDE, Ground, Scene, half_extent, outline

RGB = {
    "red": (205, 36, 40),
    "orange": (243, 132, 24),
    "yellow": (247, 214, 40),
    "green": (38, 150, 66),
    "blue": (34, 92, 204),
    "purple": (126, 50, 158),
    "pink": (245, 140, 186),
    "brown": (118, 72, 40),
}
_FINE = 4
_PALE = (250, 248, 242)


def draw(scene: Scene) -> np.ndarray:
    """Return the picture of a scene: uint8 array of shape (224, 224, 3), RGB, 0 to 255."""
    image = Image.fromarray(_ground(scene.ground))
    for shape in scene.shapes:
        tile = _shape_tile(shape.kind, shape.colour, shape.pattern, shape.radius)
        _paste(image, tile, shape.x, shape.y)
    for sign in scene.signs:
        _paste(image, _sign_tile(sign.text, sign.height, sign.dark), sign.x, sign.y)
    return np.asarray(image)


def _paste(image: Image.Image, tile: Image.Image, x: int, y: int) -> None:
    """Paste a tile with its own transparency, centred at x, y."""
    image.paste(tile, (x - tile.width // 2, y - tile.height // 2), tile)


@lru_cache(maxsize=4096)
def _shape_tile(kind: str, colour: str, pattern: str, radius: int) -> Image.Image:
    """Draw one shape, four times as large and then reduced, as an RGBA tile."""
    half = half_extent(kind, radius) + 1
    rim = tuple(v * 45 // 100 for v in RGB[colour])
    whole = _mask(kind, radius, half, 0)
    inner = _mask(kind, radius, half, 2)
    tile = Image.new("RGB", whole.size, rim)
    tile.paste(RGB[colour], mask=inner)
    if pattern in ("striped", "dotted"):
        tile.paste(_PALE, mask=ImageChops.multiply(inner, _marks(pattern, whole.width)))
    if pattern == "hollow":
        width = max(6, radius * 3 // 10)
        tile.paste(rim, mask=_mask(kind, radius, half, width))
        whole = ImageChops.subtract(whole, _mask(kind, radius, half, width + 1))
    small = tile.reduce(_FINE)
    small.putalpha(whole.reduce(_FINE))
    return small


def _mask(kind: str, radius: int, half: int, inset: int) -> Image.Image:
    """Return the shape's mask, `inset` pixels inside its outline, at the fine scale."""
    mask = Image.new("L", (2 * half * _FINE, 2 * half * _FINE))
    corners = np.rint((outline(kind) * radius + half) * _FINE).astype(int)
    pen = ImageDraw.Draw(mask)
    flat = [(int(x), int(y)) for x, y in corners]
    pen.polygon(flat, fill=255)
    if inset:
        pen.line([*flat, *flat[:2]], fill=0, width=2 * inset * _FINE, joint="curve")
    return mask


@lru_cache(maxsize=256)
def _marks(pattern: str, width: int) -> Image.Image:
    """Return a mask of slanted stripes or of dots at the fine scale."""
    y, x = np.mgrid[:width, :width] // _FINE - width // _FINE // 2
    if pattern == "striped":
        on = (x + y) % 11 < 5
    else:
        on = ((x + 5) % 10 - 5) ** 2 + ((y + 5) % 10 - 5) ** 2 <= 9
    return Image.fromarray((on * 255).astype(np.uint8))


@lru_cache(maxsize=1024)
def _sign_tile(text: str, height: int, dark: bool) -> Image.Image:
    """Print a word or number on a rounded plate as an RGBA tile."""
    font = ImageFont.load_default(height)
    left, top, right, bottom = (int(v) for v in font.getbbox(text.upper()))
    size = (right - left + 12, bottom - top + 12)
    plate, ink = ((34, 40, 52), (246, 246, 240)) if dark else ((252, 251, 246), (24, 26, 32))
    mask = Image.new("L", (size[0] * _FINE, size[1] * _FINE))
    ImageDraw.Draw(mask).rounded_rectangle(
        (0, 0, mask.width - 1, mask.height - 1), radius=5 * _FINE, fill=255
    )
    tile = Image.new("RGB", size, plate)
    ImageDraw.Draw(tile).text((6 - left, 6 - top), text.upper(), font=font, fill=ink)
    tile.putalpha(mask.reduce(_FINE))
    return tile


def _ground(ground: Ground) -> np.ndarray:
    """Return the background: uint8 array of shape (224, 224, 3)."""
    first, second = np.array(ground.first, int), np.array(ground.second, int)
    rng = np.random.Generator(np.random.Philox(key=ground.seed))
    if ground.kind == "flat":
        mix = np.zeros((SIDE, SIDE), np.int64)
    elif ground.kind == "gradient":
        y, x = np.mgrid[:SIDE, :SIDE]
        a, b = rng.integers(0, 256, 2)
        mix = (a * x + b * y) * 256 // ((a + b + 1) * SIDE)
    elif ground.kind == "speckle":
        mix = rng.integers(0, 257, (SIDE // 4, SIDE // 4)).repeat(4, 0).repeat(4, 1)
    else:
        y, x = np.mgrid[:SIDE, :SIDE]
        period = int(rng.integers(14, 29))
        mix = 128 * (x % period < 2) + 128 * (y % period < 2)
    blend = (first * (256 - mix[..., None]) + second * mix[..., None]) // 256
    return blend.astype(np.uint8)
