"""The one place where coded pictures become pixels: foreign files, and those of our own coding.

Foreign files are decoded by one policy (docs/pictures.md): a file that is broken, cut short, too
large or of unknown scale is refused.
"""

import io
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import cv2
import numpy as np
from PIL import Image, ImageFile, UnidentifiedImageError

from benchc.errors import BadInput
from benchc.pictures.jpeg import Jpeg, read_markers
from benchc.pictures.pixels import Pixels
from benchc.pictures.png import refuse_missing_rows

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "AVIF", "TIFF", "BMP", "JPEG2000")
MAX_PIXELS = 64_000_000
MAX_BYTES = 512 * 1024 * 1024

_PNG_END = b"IEND\xaeB`\x82"
_ORIENTATION = 0x0112
_UPRIGHT: dict[int, Callable[[Pixels], Pixels]] = {
    2: lambda rgb: rgb[:, ::-1],
    3: lambda rgb: rgb[::-1, ::-1],
    4: lambda rgb: rgb[::-1],
    5: lambda rgb: rgb.transpose(1, 0, 2),
    6: lambda rgb: np.rot90(rgb, -1),
    7: lambda rgb: np.rot90(rgb.transpose(1, 0, 2), 2),
    8: lambda rgb: np.rot90(rgb),
}
_STRIP = 1 << 20
"""Pixels that are converted at once."""


class OddPicture(UserWarning):
    """Said of a picture that is whole and yet not as its format asks for."""


def decode_picture(data: bytes | Path) -> Pixels:
    """Return the picture as a model should see it.

    Args:
        data: The encoded file, or its path. The content decides the format, never the name.

    Returns:
        uint8 (height, width, 3), RGB, 0 to 255, upright, over white, first frame; writable.

    Raises:
        BadInput: No such file, not a picture in one of `FORMATS`, over `MAX_PIXELS`, cut short,
            broken, or of 32-bit pixels. One line that does not name the file.

    Warns:
        OddPicture: What is odd about the file and takes nothing from the picture.
    """
    if isinstance(data, Path):
        data = _read(data)
    with _strict() as said:
        rgb = _decoded(data)
    for text in dict.fromkeys(str(warning.message).strip() for warning in said):
        warnings.warn(" ".join(text.split()), OddPicture, stacklevel=2)
    return rgb


def _decoded(data: bytes) -> Pixels:
    try:
        image = Image.open(io.BytesIO(data), formats=FORMATS)
    except UnidentifiedImageError:
        raise BadInput(f"not a picture that can be read; known are {', '.join(FORMATS)}") from None
    except Image.DecompressionBombError:
        raise BadInput(_too_large()) from None
    except Exception as error:  # decoders meet hostile bytes with exceptions of every kind
        raise BadInput(f"the picture is broken ({_first_line(error)})") from None
    with image:
        width, height = image.size
        if width < 1 or height < 1:
            raise BadInput(f"the picture is {width}x{height}: it has no pixels")
        if width * height > MAX_PIXELS:
            raise BadInput(_too_large(f" ({width}x{height})"))
        try:
            return _whole(image, data)
        except BadInput:
            raise
        except Exception as error:
            raise BadInput(f"the picture is cut short or broken ({_first_line(error)})") from None


def decode_stored(data: bytes, *, grey: bool = False) -> Pixels:
    """Return the pixels of a picture that this package coded itself.

    Args:
        data: What `benchc.pictures.pixels.encode` wrote, or a JPEG of OpenCV's.
        grey: Whether a picture of one channel is wanted.

    Returns:
        uint8 (height, width, 3) RGB, or (height, width) where `grey`.

    Raises:
        ValueError: if the bytes are not a readable picture.
    """
    way = cv2.IMREAD_GRAYSCALE if grey else cv2.IMREAD_COLOR
    try:
        found = cv2.imdecode(np.frombuffer(data, np.uint8), way)
    except cv2.error:
        found = None
    if found is None:
        raise ValueError(f"{len(data)} bytes that are not a readable picture")
    return np.asarray(found if grey else cv2.cvtColor(found, cv2.COLOR_BGR2RGB), dtype=np.uint8)


def _read(path: Path) -> bytes:
    try:
        if not path.is_file():
            raise BadInput("no such file" if not path.exists() else "not a file")
        if path.stat().st_size > MAX_BYTES:
            raise BadInput(f"the file is larger than {MAX_BYTES // 2**20} MiB")
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"the file cannot be read ({error.strerror})") from None


@contextmanager
def _strict() -> Iterator[list[warnings.WarningMessage]]:
    """Refuse cut files whatever other code has set; give what is said of an odd picture."""
    tolerant = ImageFile.LOAD_TRUNCATED_IMAGES
    ImageFile.LOAD_TRUNCATED_IMAGES = False
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", UserWarning)
            yield said
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = tolerant


def _whole(image: Image.Image, data: bytes) -> Pixels:
    """Return the pixels of an open image, once it is sure that none of them is missing."""
    jpeg = read_markers(data) if image.format in ("JPEG", "MPO") else None
    if image.format == "TIFF":
        _refuse_missing_strips(image)
    image.load()
    if image.format == "PNG":
        if _PNG_END not in data:
            raise BadInput("the picture is cut short (its end is missing)")
        refuse_missing_rows(data)
    orientation = _orientation(image)
    rgb = np.empty((image.height, image.width, 3), dtype=np.uint8)
    for rows, strip in _strips(image):
        rgb[rows] = strip
    # Its memory is worth as much as the picture's.
    image.close()
    if jpeg is not None:
        _refuse_hole(rgb, jpeg)
    return _turned(rgb, orientation)


def _refuse_missing_strips(image: Image.Image) -> None:
    held = sum(
        (right - left) * (low - top) for _, (left, top, right, low), *_ in vars(image)["tile"]
    )
    if held < image.width * image.height:
        raise BadInput("the picture is cut short (rows are missing)")


def _refuse_hole(rgb: Pixels, jpeg: Jpeg) -> None:
    """Compare a JPEG with what it would be if more data followed: whole, it has no use for them."""
    for odd in jpeg.odd:
        warnings.warn(odd, OddPicture, stacklevel=2)
    if jpeg.probed is None:
        return
    with Image.open(io.BytesIO(jpeg.probed), formats=("JPEG",)) as probed:
        if any(not np.array_equal(rgb[rows], strip) for rows, strip in _strips(probed)):
            raise BadInput("the picture has a hole, or its end is missing")


def _strips(image: Image.Image) -> Iterator[tuple[slice, Pixels]]:
    """Yield rows of an image and their pixels, uint8 (height, width, 3) RGB.

    A large picture takes several times its own memory where it is converted as a whole.
    """
    transparent = image.has_transparency_data
    step = max(1, _STRIP // image.width)
    for top in range(0, image.height, step):
        rows = slice(top, min(top + step, image.height))
        part = image.crop((0, top, image.width, rows.stop))
        yield rows, _to_rgb(part, transparent)


def _orientation(image: Image.Image) -> int:
    """Return the orientation that EXIF or XMP states; unreadable metadata states none."""
    try:
        orientation = image.getexif().get(_ORIENTATION)
    except Exception:
        return 1
    return orientation if isinstance(orientation, int) else 1


def _turned(rgb: Pixels, orientation: int) -> Pixels:
    """Return a picture upright, given what its file says of it."""
    turn = _UPRIGHT.get(orientation)
    return rgb if turn is None else np.ascontiguousarray(turn(rgb))


def _to_rgb(image: Image.Image, transparent: bool) -> Pixels:
    """Return uint8 (height, width, 3) for an image of any mode that has 8 or 16 bit pixels."""
    if image.mode.startswith("I;16"):
        return _grey16_to_rgb(image)
    if image.mode in ("I", "F"):
        raise BadInput("the picture has 32-bit pixels of unknown scale; save it with 8 or 16 bits")
    if transparent:
        return _over_white(np.asarray(image.convert("RGBA")))
    return np.asarray(image.convert("RGB"))


def _grey16_to_rgb(image: Image.Image) -> Pixels:
    values = np.asarray(image).astype(np.uint32)
    grey = ((values + 128) // 257).astype(np.uint8)
    transparent = image.info.get("transparency")
    if isinstance(transparent, int):
        grey[values == transparent] = 255
    return np.repeat(grey[:, :, None], 3, axis=2)


def _over_white(rgba: np.ndarray) -> np.ndarray:
    """Composite uint8 (height, width, 4) over white, rounded to the nearest level."""
    alpha = rgba[:, :, 3:].astype(np.uint16)
    rgb = rgba[:, :, :3].astype(np.uint16)
    return ((rgb * alpha + 255 * (255 - alpha) + 127) // 255).astype(np.uint8)


def _too_large(size: str = "") -> str:
    return f"the picture is too large{size}: the limit is {MAX_PIXELS:,} pixels"


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__
