"""The file that a row of a source names as its picture."""

from pathlib import Path

from benchc.errors import BadInput
from benchc.pictures.folder import inside
from benchc.pool.rows import Reason, Unusable


def named_picture(folder: Path, name: str) -> Path:
    """Return the file that a question names as its picture.

    Raises:
        Unusable: it is not inside the folder, or there is no such file.
    """
    try:
        return inside(folder, name)
    except BadInput as error:
        raise Unusable(Reason.NO_IMAGE, str(error)) from None
