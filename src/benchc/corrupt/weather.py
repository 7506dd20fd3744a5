"""Weather on the lens and in the air: snow, fog, spatter. (Frost has its own module.)

Every layer is drawn from keyed bits, at the picture's own size.
"""

from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from benchc.corrupt.draws import bits16, strips, uniform
from benchc.corrupt.exact import STEPS, direction, normal_table
from benchc.corrupt.line import streak
from benchc.pictures.pixels import Array, Pixels

UNIT = 16384
"""Fixed-point unit of random fields; OFFSET keeps every draw above 0 in 16 bits."""
OFFSET = 20480


def snow(
    image: Pixels,
    constants: tuple[float, float, float, float, int, int, float],
    source: np.random.Philox,
    scale: float,
) -> Pixels:
    """Whiten the picture and add streaked flakes, together with the same turned by 180 degrees.

    Args:
        image: uint8 (height, width, 3) or (height, width).
        constants: mean and deviation of the field, its enlargement, the threshold of a flake,
            radius and sigma of the streak, share of the picture that is kept.
        source: random bits.
        scale: factor on enlargement, radius and sigma.

    Source: Hendrycks & Dietterich 2019, ImageNet-C.
    """
    mean, deviation, zoom, threshold, radius, sigma, keep = constants
    height, width = image.shape[:2]
    small = [max(1, -int(-side // (zoom * scale))) for side in (height, width)]
    coarse = _normal_field(source, (small[0], small[1]), mean, deviation)
    field: Array = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_LINEAR_EXACT)
    flakes: Array = _grey_levels(threshold, ceiling=True).take(np.asarray(field, dtype=np.uint16))
    towards = direction(uniform(source, STEPS), -135)
    flakes = streak(flakes, max(1, round(radius * scale)), sigma * scale, towards)
    kept, white = _whitening(round(100 * keep))
    out = np.empty_like(image)
    turned = cv2.rotate(flakes, cv2.ROTATE_180)
    for rows in strips(height, image[0].size):
        x = image[rows]
        grey: Array = x if x.ndim == 2 else cv2.cvtColor(x, cv2.COLOR_RGB2GRAY)
        pale: Array = _like(cv2.LUT(grey, white), x)
        pale = cv2.convertScaleAbs(cv2.add(cv2.LUT(x, kept), pale), alpha=1 / 128)
        layer = _like(cv2.add(flakes[rows], turned[rows]), x)
        cv2.add(cv2.max(x, pale), layer, dst=out[rows])
    return out


def fog(
    image: Pixels, constants: tuple[float, float], source: np.random.Philox, scale: float
) -> Pixels:
    """Add plasma and dim back to the picture's maximum, (x + c plasma) max / (max + c).

    Args:
        image: uint8 (height, width, 3) or (height, width).
        constants: c, strength of the fog, and the decay of its amplitude from level to level.
        source: random bits.
        scale: unused, the map grows with the picture.

    Source: Hendrycks & Dietterich 2019, ImageNet-C.
    """
    strength, decay = round(10 * constants[0]), round(10 * constants[1])
    most = int(image.max())
    height, width = image.shape[:2]
    plasma, top = _plasma(source, height, width, decay)
    whole = 10 * most + 255 * strength
    levels = np.arange(256, dtype=np.int64) * (128 * 10 * most)
    kept = ((2 * levels + whole) // (2 * whole)).astype(np.uint16)
    # plasma / top * strength * max / (max + strength), in 1/128 grey level.
    gain = np.uint32((128 * 255 * strength * most << 16) // (whole * top))
    out = np.empty_like(image)
    for rows in strips(height, image[0].size):
        layer = (plasma[rows].astype(np.uint32) * gain >> 16).astype(np.uint16)
        total = cv2.add(cv2.LUT(image[rows], kept), _like(layer, image))
        cv2.convertScaleAbs(total, dst=out[rows], alpha=1 / 128)
    return out


def spatter(
    image: Pixels,
    constants: tuple[float, float, float, float, float, int],
    source: np.random.Philox,
    scale: float,
) -> Pixels:
    """Splash drops of water, or at severities 4 and 5 mud.

    Args:
        image: uint8 (height, width, 3) or (height, width).
        constants: mean and deviation of the field, sigma of its blur, threshold of a drop,
            strength of water or sigma of mud's edge, 1 for mud.
        source: random bits.
        scale: factor on both sigmas.

    Source: ImageNet-C, extra (validation) corruptions.
    """
    mean, deviation, sigma, threshold, strength, mud = constants
    field = _normal_field(source, image.shape[:2], mean, deviation)
    field = _blur16(field, sigma * scale)
    if mud:
        return _mud(image, field, threshold, strength * scale)
    return _water(image, _grey_levels(threshold, ceiling=False).take(field), strength)


def _water(image: Pixels, liquid: Pixels, strength: float) -> Pixels:
    edges = cv2.bitwise_not(cv2.Canny(liquid, 50, 150))
    depth: Array = cv2.boxFilter(_distance(edges), cv2.CV_16U, (3, 3), normalize=False)
    depth = (depth // 9).astype(np.uint8)
    depth = cv2.equalizeHist(depth)
    emboss = np.array([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]], dtype=np.float32)
    depth = cv2.blur(cv2.filter2D(depth, cv2.CV_8U, emboss), (3, 3))
    shine = cv2.multiply(liquid, depth, dtype=cv2.CV_16U)
    most = int(shine.max())
    if most == 0:
        return image.copy()
    # Pale turquoise.
    red = cv2.convertScaleAbs(shine, alpha=strength * 175 / most)
    green = cv2.convertScaleAbs(shine, alpha=strength * 238 / most)
    layer: Array = cv2.merge([red, green, green])
    if image.ndim == 2:
        layer = cv2.cvtColor(layer, cv2.COLOR_RGB2GRAY)
    return np.asarray(cv2.add(image, layer), dtype=np.uint8)


def _distance(free: Array) -> Array:
    """Distance to the nearest 0 of a mask of 255, at most 20, uint8.

    Diamonds and squares take turns, two to one, so that circles come out as octagons.
    """
    cross = cv2.getStructuringElement(cv2.MORPH_CROSS, (3, 3))
    square = np.ones((3, 3), dtype=np.uint8)
    far = np.zeros(free.shape, dtype=np.uint8)
    for step in range(20):
        far += free & 1
        free = cv2.erode(free, square if step % 3 == 1 else cross)
    return far


def _mud(image: Pixels, field: NDArray[np.uint16], threshold: float, sigma: float) -> Pixels:
    least = round(100 * threshold) * UNIT // 100 + OFFSET
    mask = (field > least).astype(np.uint16)
    mask <<= 15
    cover = _blur16(mask, sigma)
    cover += 64
    cover >>= 7
    cover[cover < 205] = 0
    brown = np.array([63, 42, 20], dtype=np.uint16)
    if image.ndim == 2:
        brown = np.array([45], dtype=np.uint16)
    out = np.empty_like(image)
    for rows in strips(image.shape[0], image[0].size):
        part = cover[rows]
        mixed = image[rows].astype(np.uint16)
        mixed *= _like(256 - part, image)
        paint = [part * shade + np.uint16(128) for shade in brown]
        mixed += cv2.merge(paint) if image.ndim == 3 else paint[0]
        mixed >>= 8
        out[rows] = mixed
    return out


def _normal_field(
    source: np.random.Philox, shape: tuple[int, int], mean: float, deviation: float
) -> NDArray[np.uint16]:
    """Draw N(mean, deviation) as UNIT (value) + OFFSET, uint16 of `shape`."""
    table = _field_table(round(100 * mean), round(100 * deviation))
    field = np.empty(shape, dtype=np.uint16)
    for rows in strips(*shape):
        part = field[rows]
        part[...] = table.take(bits16(source, part.size)).reshape(part.shape)
    return field


@cache
def _field_table(mean: int, deviation: int) -> NDArray[np.uint16]:
    drawn = normal_table(deviation, UNIT).astype(np.int32)
    return (drawn + (mean * UNIT + 50) // 100 + OFFSET).astype(np.uint16)


@cache
def _grey_levels(threshold: float, ceiling: bool) -> Pixels:
    """Grey level of each field value: 0 below the threshold, rounded (snow) or cut (spatter)."""
    value = np.arange(65536, dtype=np.int64) - OFFSET
    level = np.clip((value * 255 + (UNIT // 2 if ceiling else 0)) // UNIT, 0, 255)
    return np.where(value * 100 < round(100 * threshold) * UNIT, 0, level).astype(np.uint8)


@cache
def _whitening(hundredths: int) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """By level, in 1/128: keep x, and (1 - keep) (1.5 x + 127.5)."""
    level = np.arange(256, dtype=np.int64)
    kept = (128 * hundredths * level + 50) // 100
    white = (64 * (100 - hundredths) * (3 * level + 255) + 50) // 100
    return kept.astype(np.uint16), white.astype(np.uint16)


def _plasma(
    source: np.random.Philox, height: int, width: int, decay: int
) -> tuple[NDArray[np.int32], int]:
    """Diamond-square plasma, int32 (height, width) from 0 up to the returned top (16 bits).

    The map is a periodic square of a power of two; the range is that of its first 256 x 256
    points, and from there on only what the picture needs is refined.
    """
    side = 1 << (max(height, width) - 1).bit_length()
    field, size, level = np.zeros((1, 1), dtype=np.int32), 1, 0
    while size < min(side, 256):
        field = _refine(field, source, (100**level << 15) // decay ** (2 * level))
        size, level = 2 * size, level + 1
    low, high = int(field.min()), int(field.max())
    if size < side:
        # One point of margin: what a refinement gets wrong at the border is cut off.
        needed = [-(-length * size // side) + 3 for length in (height, width)]
        field = field[np.ix_(*(np.arange(-1, n - 1) % size for n in needed))]
        while size < side:
            field = _refine(field, source, (100**level << 15) // decay ** (2 * level))
            size, level = 2 * size, level + 1
            needed = [-(-length * size // side) + 3 for length in (height, width)]
            field = field[1 : 1 + needed[0], 1 : 1 + needed[1]]
        field = field[1:, 1:]
    field = field[:height, :width] - low
    shift = max(0, (high - low).bit_length() - 16)
    top = max(1, (high - low) >> shift)
    return np.clip(field >> shift, 0, top), top


def _refine(
    field: NDArray[np.int32], source: np.random.Philox, amplitude: int
) -> NDArray[np.int32]:
    """Double a periodic map: centres of squares, then of diamonds, each mean plus noise."""
    height, width = field.shape
    out = np.empty((2 * height, 2 * width), dtype=np.int32)
    across = field + np.roll(field, -1, 1)
    down = field + np.roll(field, -1, 0)
    centre = _mean_plus_noise(across + np.roll(across, -1, 0), source, amplitude)
    out[::2, ::2] = field
    out[1::2, 1::2] = centre
    across += centre
    across += np.roll(centre, 1, 0)
    out[::2, 1::2] = _mean_plus_noise(across, source, amplitude)
    down += centre
    down += np.roll(centre, 1, 1)
    out[1::2, ::2] = _mean_plus_noise(down, source, amplitude)
    return out


def _mean_plus_noise(
    four: NDArray[np.int32], source: np.random.Philox, amplitude: int
) -> NDArray[np.int32]:
    four += 2
    four >>= 2
    if amplitude:
        noise = bits16(source, four.size).astype(np.int32).reshape(four.shape)
        noise -= 32768
        noise *= amplitude
        noise >>= 15
        four += noise
    return four


def _blur16(field: NDArray[np.uint16], sigma: float) -> NDArray[np.uint16]:
    """Gaussian cut at four sigma, border replicated, exact to 16 bits."""
    size = 2 * int(4 * sigma + 0.5) + 1
    blurred = cv2.GaussianBlur(field, (size, size), sigma, borderType=cv2.BORDER_REPLICATE)
    return np.asarray(blurred, dtype=np.uint16)


def _like(layer: Array, image: Pixels) -> Array:
    """Repeat one channel for a colour picture."""
    return layer if image.ndim == 2 else cv2.cvtColor(layer, cv2.COLOR_GRAY2RGB)
