"""Unpack an archive beside itself.

Never writes outside its folder, and never more than the disk holds.
"""

import shutil
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

from benchc.errors import BadInput
from benchc.fetch.address import need_space

ENDINGS = tuple(
    sorted(ending for _, endings, _ in shutil.get_unpack_formats() for ending in endings)
)


def unpack(archive: Path) -> None:
    """Unpack a .zip or .tar file, compressed or not, into the folder it lies in.

    Raises:
        BadInput: it is damaged or encrypted, names a place outside the folder, holds a link or a
            device that leads out, or is larger than the free disk.
    """
    try:
        members = _members(archive)
        for name, _ in members:
            path = PurePosixPath(name.replace("\\", "/"))
            if path.is_absolute() or ".." in path.parts or ":" in path.parts[0]:
                raise BadInput(f"{archive}: its member {name!r} lies outside its folder")
        need_space(archive.parent, sum(size for _, size in members))
        shutil.unpack_archive(archive, archive.parent, filter="data")
    except (zipfile.BadZipFile, tarfile.TarError, RuntimeError, EOFError, OSError) as error:
        raise BadInput(f"{archive}: cannot be unpacked ({error})") from None


def _members(archive: Path) -> list[tuple[str, int]]:
    """Return name and unpacked size in bytes of each member."""
    if archive.suffix.lower() == ".zip":
        with zipfile.ZipFile(archive) as opened:
            return [(info.filename, info.file_size) for info in opened.infolist()]
    with tarfile.open(archive) as tar:
        return [(member.name, member.size) for member in tar]
