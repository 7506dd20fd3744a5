"""One decoder for every picture that enters the pool, with one policy (docs/pictures.md).

Never guesses: a file that is broken, cut short, too large or of unknown scale is refused.
"""

import io
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import numpy as np
from PIL import Image, ImageFile, UnidentifiedImageError

from benchc.errors import BadInput
from benchc.pool.rows import Reason, Unusable

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "AVIF", "TIFF", "BMP", "JPEG2000")
MAX_PIXELS = 64_000_000
MAX_BYTES = 512 * 1024 * 1024

_PNG_END = b"IEND\xaeB`\x82"
_ORIENTATION = 0x0112
_UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def named_picture(folder: Path, name: str) -> Path:
    """Return the file that a question names as its picture.

    Raises:
        Unusable: it is not inside the folder, or there is no such file.
    """
    relative = PurePosixPath(name)
    if relative.is_absolute() or ".." in relative.parts or "\0" in name:
        raise Unusable(
            Reason.NO_IMAGE, f"picture {name[:80]!r} is not inside the folder; put it there"
        )
    # Unlike Path.is_file, it calls a name that no disk can hold, such as base64, no file.
    if not os.path.isfile(folder / name):
        raise Unusable(Reason.NO_IMAGE, f"there is no picture {name[:80]!r} in {folder}")
    return folder / name


def decode_picture(data: bytes | Path) -> np.ndarray:
    """Return the picture as a model should see it.

    Args:
        data: The encoded file, or its path. The content decides the format, never the name.

    Returns:
        uint8 (height, width, 3), RGB, 0 to 255, upright, over white, first frame; writable.

    Raises:
        BadInput: No such file, not a picture in one of `FORMATS`, over `MAX_PIXELS`, cut short,
            broken, or of 32-bit pixels. One line that does not name the file.
    """
    if isinstance(data, Path):
        data = _read(data)
    with _strict():
        try:
            image = Image.open(io.BytesIO(data), formats=FORMATS)
        except UnidentifiedImageError:
            raise BadInput(
                f"not a picture that can be read; known are {', '.join(FORMATS)}"
            ) from None
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
                image.load()
                if image.format == "PNG" and _PNG_END not in data:
                    raise BadInput("the picture is cut short (its end is missing)")
                upright = _turn(image)
                return _to_rgb(upright)
            except BadInput:
                raise
            except Exception as error:
                raise BadInput(
                    f"the picture is cut short or broken ({_first_line(error)})"
                ) from None


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
def _strict() -> Iterator[None]:
    """Refuse cut files whatever other code has set; keep Pillow's warnings off the screen."""
    tolerant = ImageFile.LOAD_TRUNCATED_IMAGES
    ImageFile.LOAD_TRUNCATED_IMAGES = False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = tolerant


def _turn(image: Image.Image) -> Image.Image:
    """Apply the orientation that EXIF or XMP states; unreadable metadata states none."""
    try:
        orientation = image.getexif().get(_ORIENTATION)
    except Exception:
        return image
    method = _UPRIGHT.get(orientation) if isinstance(orientation, int) else None
    return image if method is None else image.transpose(method)


def _to_rgb(image: Image.Image) -> np.ndarray:
    """Return uint8 (height, width, 3) for an image of any mode that has 8 or 16 bit pixels."""
    if image.mode.startswith("I;16"):
        return _grey16_to_rgb(image)
    if image.mode in ("I", "F"):
        raise BadInput("the picture has 32-bit pixels of unknown scale; save it with 8 or 16 bits")
    if image.has_transparency_data:
        return _over_white(np.asarray(image.convert("RGBA")))
    return np.array(image.convert("RGB"))


def _grey16_to_rgb(image: Image.Image) -> np.ndarray:
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
