"""Unpack an archive beside itself.

Never writes outside its folder, and never more than the disk holds.
"""

import lzma
import tarfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath, PureWindowsPath

from benchc.errors import BadInput
from benchc.fetch.address import need_space

ENDINGS = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
_PIECE = 1 << 20
_DAMAGED = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    RuntimeError,
    EOFError,
)


def unpack(archive: Path) -> None:
    """Unpack a .zip or .tar file, compressed or not, into the folder it lies in.

    Raises:
        BadInput: it is damaged or encrypted, names a place outside the folder, holds a link or a
            device, or is larger than the free disk.
    """
    try:
        if archive.suffix.lower() == ".zip":
            with zipfile.ZipFile(archive) as opened:
                infos = opened.infolist()
                _check(archive, [(info.filename, info.file_size) for info in infos])
                opened.extractall(archive.parent)
        else:
            with tarfile.open(archive) as tar:
                members = tar.getmembers()
                # The checksum of a compressed stream stands behind all members and would go unread.
                while tar.fileobj is not None and tar.fileobj.read(_PIECE):
                    pass
                _check(archive, [(member.name, member.size) for member in members])
                for member in members:
                    if not (member.isfile() or member.isdir()):
                        raise tarfile.TarError(f"{member.name!r} is a link or a device")
                tar.extractall(archive.parent)
    except (*_DAMAGED, OSError) as error:
        reason = " ".join(str(error).split())
        raise BadInput(f"{archive}: cannot be unpacked ({reason})") from None


def _check(archive: Path, members: list[tuple[str, int]]) -> None:
    """Refuse members, each a name and a size in bytes, that lead out or do not fit."""
    for name, _ in members:
        path = PurePosixPath(name.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or PureWindowsPath(name).drive:
            raise BadInput(f"{archive}: its member {name!r} lies outside its folder")
    need_space(archive.parent, sum(size for _, size in members))
