"""Unpack an archive beside itself: its files and folders, and nothing else that it may hold.

Never writes outside its folder or over what was fetched, and never more than the disk holds.
"""

import lzma
import stat
import tarfile
import unicodedata
import zipfile
import zlib
from collections.abc import Collection, Iterable
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import NamedTuple

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
    ValueError,
    OverflowError,
)


class _Member(NamedTuple):
    """What an archive says of one thing in it; its size in bytes."""

    name: str
    size: int
    is_plain: bool


def unpack(archive: Path, keep: Collection[str] = ()) -> None:
    """Unpack a .zip or .tar file, compressed or not, into the folder it lies in.

    Of a member's mode only what its owner may do counts: no set-uid, no owner, no group.

    Args:
        archive: The file.
        keep: Names in its folder that no member may have, its own among them in any case.

    Raises:
        BadInput: it is damaged or encrypted, names a place outside the folder or one in `keep`,
            holds a link or a device, or is larger than the free disk.
    """
    try:
        if archive.suffix.lower() == ".zip":
            with zipfile.ZipFile(archive) as opened:
                _check(archive, keep, map(_zip_member, opened.infolist()))
                opened.extractall(archive.parent)
        else:
            with tarfile.open(archive) as tar:
                members = tar.getmembers()
                # The checksum of a compressed stream stands behind all members and would go unread.
                while tar.fileobj is not None and tar.fileobj.read(_PIECE):
                    pass
                _check(archive, keep, map(_tar_member, members))
                tar.extractall(archive.parent, filter="data")
    except BadInput:
        raise
    except (*_DAMAGED, OSError) as error:
        raise BadInput(f"{archive}: cannot be unpacked ({error})") from None


def _zip_member(info: zipfile.ZipInfo) -> _Member:
    kind = stat.S_IFMT(info.external_attr >> 16)
    return _Member(info.filename, info.file_size, kind in (0, stat.S_IFREG, stat.S_IFDIR))


def _tar_member(info: tarfile.TarInfo) -> _Member:
    return _Member(info.name, info.size, info.isreg() or info.isdir())


def _check(archive: Path, keep: Collection[str], members: Iterable[_Member]) -> None:
    """Refuse members that lead out, are no files, hit what must stay, or do not fit."""
    kept = {_folded(name): name for name in (*keep, archive.name)}
    size = 0
    for member in members:
        path = PurePosixPath(member.name.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or PureWindowsPath(member.name).drive:
            raise BadInput(f"{archive}: its member {member.name!r} lies outside its folder")
        if not member.is_plain:
            raise BadInput(
                f"{archive}: its member {member.name!r} is a link or a device; unpack it yourself "
                "and give its `path`"
            )
        hit = kept.get(_folded(str(path)))
        if hit is not None:
            raise BadInput(
                f"{archive}: its member {member.name!r} would replace {hit}, which was fetched; "
                "unpack it yourself elsewhere and give its `path`"
            )
        size += member.size
    need_space(archive.parent, size)


def _folded(name: str) -> str:
    """Return a name as a disk that tells neither case nor composed letters apart knows it."""
    return unicodedata.normalize("NFC", name).casefold()
