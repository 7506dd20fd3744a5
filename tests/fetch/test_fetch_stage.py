"""What was fetched is found again; archives stay in their folder."""

import contextlib
import hashlib
import io
import os
import shutil
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest
from servers import serving

from benchc.config.origin import Request
from benchc.errors import BadInput
from benchc.fetch.archive import ENDINGS, unpack
from benchc.fetch.stage import fetch, place, read_record


def zipped(members: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return out.getvalue()


def tarred(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for info, data in members:
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def fetched(data: bytes, name: str, folder: Path, **more: object) -> dict:
    with serving(lambda handler: handler.say_file(data)) as server:
        values = {"url": f"{server.url}/data/{name}", "sha256": hashlib.sha256(data).hexdigest()}
        return fetch(Request.model_validate({**values, **more}), folder)


def test_one_file_is_the_thing_itself(tmp_path):
    record = fetched(b"index\timage", "b.tsv", tmp_path / "thing")
    assert read_record(tmp_path / "thing") == record
    assert record["sha256"] == hashlib.sha256(b"index\timage").hexdigest()
    assert place(tmp_path / "thing").read_bytes() == b"index\timage"


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_an_archive_is_unpacked_beside_itself(tmp_path, name):
    info = tarfile.TarInfo("pictures/1.png")
    data = zipped({"pictures/1.png": "x"}) if name == "a.zip" else tarred((info, b"x"))
    fetched(data, name, tmp_path / "thing", unpack=True)
    assert place(tmp_path / "thing") == tmp_path / "thing"
    assert place(tmp_path / "thing", Path("pictures/1.png")).read_text() == "x"


def test_without_unpack_an_archive_stays_one_file(tmp_path):
    fetched(zipped({"a": "x"}), "a.zip", tmp_path / "thing")
    assert place(tmp_path / "thing").name == "a.zip"


def test_unpack_wants_an_archive(tmp_path):
    with pytest.raises(BadInput, match=r"no archive is among b\.tsv"):
        fetched(b"x", "b.tsv", tmp_path / "thing", unpack=True)
    assert not (tmp_path / "thing.json").exists()


@pytest.mark.parametrize("name", ["../out", "/out", "a/../../out", "..\\out", "C:/out"])
def test_a_zip_cannot_write_elsewhere(tmp_path, name):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.zip").write_bytes(zipped({"fine": "x", name: "x"}))
    with pytest.raises(BadInput, match="lies outside its folder"):
        unpack(tmp_path / "in/a.zip")
    assert [p.name for p in (tmp_path / "in").iterdir()] == ["a.zip"]


def test_a_link_out_of_a_tar_is_refused(tmp_path):
    link = tarfile.TarInfo("link")
    link.type, link.linkname = tarfile.SYMTYPE, "../../etc"
    (tmp_path / "a.tar.gz").write_bytes(tarred((link, b"")))
    with pytest.raises(BadInput, match="is a link or a device"):
        unpack(tmp_path / "a.tar.gz")


def a_tar(folder: Path, *members: tarfile.TarInfo) -> Path:
    (folder / "in").mkdir()
    archive = folder / "in" / "a.tar.gz"
    archive.write_bytes(
        tarred(*((member, b"" if member.type != b"0" else b"x") for member in members))
    )
    return archive


def member(name: str, kind: bytes = tarfile.REGTYPE, **more: object) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    for attribute, value in more.items():
        setattr(info, attribute, value)
    return info


@pytest.mark.parametrize("mode", [0o4755, 0o2755, 0o1777, 0o7777, 0o000, 0o666])
def test_modes_and_owners_of_a_tar_count_only_as_far_as_they_are_harmless(tmp_path, mode):
    owner = {"uid": 12345, "gid": 12345, "uname": "nobody", "gname": "nogroup"}
    archive = a_tar(
        tmp_path, member("tool", mode=mode, **owner), member("d/", tarfile.DIRTYPE, mode=mode)
    )
    unpack(archive)
    found = (archive.parent / "tool").stat()
    assert found.st_mode & 0o7022 == 0
    assert found.st_mode & 0o600 == 0o600
    assert (found.st_uid, found.st_gid) == (os.getuid(), os.getgid())
    assert (archive.parent / "d").stat().st_mode & 0o7000 == 0


@pytest.mark.parametrize("name", ["../out", "/out", "a/../../out", "..\\out", "C:/out", "//out"])
def test_a_tar_cannot_write_elsewhere(tmp_path, name):
    archive = a_tar(tmp_path, member("fine"), member(name))
    with pytest.raises(BadInput, match="lies outside its folder"):
        unpack(archive)
    assert [p.name for p in archive.parent.iterdir()] == ["a.tar.gz"]


@pytest.mark.parametrize(
    "kind",
    [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE],
)
def test_only_files_and_folders_come_out_of_a_tar(tmp_path, kind):
    archive = a_tar(tmp_path, member("fine"), member("odd", kind, linkname="fine"))
    with pytest.raises(BadInput, match="'odd' is a link or a device"):
        unpack(archive)
    assert [p.name for p in archive.parent.iterdir()] == ["a.tar.gz"]


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO, stat.S_IFSOCK])
def test_only_files_and_folders_come_out_of_a_zip(tmp_path, kind):
    info = zipfile.ZipInfo("odd")
    info.external_attr = (kind | 0o4777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as opened:
        opened.writestr(info, "../../etc/passwd")
    with pytest.raises(BadInput, match="'odd' is a link or a device"):
        unpack(tmp_path / "a.zip")


OWN = [
    "a.zip",
    "./a.zip",
    "A.ZIP",
    "a.zip/",
    "q\u00fc.zip",
    "qu\u0308.zip",
    "sub//..//x",
    "keep.json",
]


@pytest.mark.parametrize("name", [n for n in OWN if ".." not in n])
@pytest.mark.parametrize("ending", ["zip", "tar"])
def test_a_member_never_replaces_what_was_fetched(tmp_path, name, ending):
    archive = tmp_path / f"own.{ending}"
    if ending == "zip":
        archive.write_bytes(zipped({"fine": "x", name: "x"}))
    else:
        kind = tarfile.DIRTYPE if name.endswith("/") else tarfile.REGTYPE
        with tarfile.open(archive, "w") as opened:
            opened.addfile(member(name, kind))
    keep = ["a.zip", "q\u00fc.zip", "keep.json", archive.name]
    before = archive.read_bytes()
    with pytest.raises(BadInput, match="would replace"):
        unpack(archive, keep)
    assert archive.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == [archive.name]


def test_an_archive_that_holds_a_member_of_its_own_name_stays_whole(tmp_path):
    data = zipped({"A.zip": "gone"})
    with pytest.raises(BadInput, match=r"its member 'A\.zip' would replace a\.zip"):
        fetched(data, "a.zip", tmp_path / "thing", unpack=True)
    assert (tmp_path / "thing/a.zip").read_bytes() == data


def test_an_archive_is_unpacked_again_after_a_kill(tmp_path):
    archive = tmp_path / "a.zip"
    archive.write_bytes(zipped({"one": "1", "two": "2"}))
    (tmp_path / "one").write_text("half")
    unpack(archive, ["a.zip"])
    assert (tmp_path / "one").read_text() == "1"


@pytest.mark.parametrize("name", ["a\0b", "a" * 300, "con\x1b[31m", "fine/x", "fine"])
def test_an_odd_name_is_one_line_or_a_file(tmp_path, name):
    (tmp_path / "a.zip").write_bytes(zipped({"fine": "x", name: "y"}))
    said = ""
    with contextlib.suppress(BadInput):
        try:
            unpack(tmp_path / "a.zip")
        except BadInput as error:
            said = str(error)
            raise
    assert not {"\n", "\x1b", "\0"} & set(said)


@pytest.mark.parametrize("name", [f"a{ending}" for ending in ENDINGS])
def test_a_file_that_is_no_archive(tmp_path, name):
    (tmp_path / name).write_bytes(b"not an archive")
    with pytest.raises(BadInput, match="cannot be unpacked") as caught:
        unpack(tmp_path / name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "way"),
    [
        *(("a.zip", way) for way in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)),
        *((f"a.tar.{way}", way) for way in ("gz", "bz2", "xz")),
    ],
)
def test_a_damaged_archive(tmp_path, name, way):
    archive, content = tmp_path / name, " ".join(map(str, range(20_000)))
    if name == "a.zip":
        with zipfile.ZipFile(archive, "w", way) as opened:
            opened.writestr("numbers", content)
    else:
        (tmp_path / "numbers").write_text(content)
        with tarfile.open(archive, f"w:{way}") as opened:
            opened.add(tmp_path / "numbers", "numbers")
    data = archive.read_bytes()
    middle = slice(len(data) // 2, len(data) // 2 + 400)
    archive.write_bytes(data.replace(data[middle], bytes(255 - byte for byte in data[middle])))
    with pytest.raises(BadInput, match="cannot be unpacked"):
        unpack(archive)


def test_an_archive_larger_than_the_disk(tmp_path, monkeypatch):
    (tmp_path / "a.zip").write_bytes(zipped({"large": "x" * 5000}))
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(BadInput, match=r"5\.0 KB are to be written and 1.0 KB are free"):
        unpack(tmp_path / "a.zip")


def test_a_folder_that_was_never_filled(tmp_path):
    with pytest.raises(BadInput, match="nothing was fetched there to the end"):
        place(tmp_path / "thing")


def test_a_path_that_did_not_come(tmp_path):
    fetched(b"x", "b.tsv", tmp_path / "thing")
    with pytest.raises(BadInput, match="`path` counts from"):
        place(tmp_path / "thing", Path("en"))


def test_another_commit_or_sum_has_another_name_and_another_address_has_not():
    def name(**changes: object) -> str:
        values = {"url": "https://a.org/b.tsv", "md5": "0" * 32}
        return Request.model_validate({**values, **changes}).name

    assert name() == name(url="http://mirror.org/c/b.tsv")
    assert name() != name(md5="1" * 32)
    hub = [
        Request.model_validate({"hub_id": "o/n", "revision": revision, "repo_type": kind}).name
        for revision in ("a" * 40, "b" * 40, "main")
        for kind in ("model", "dataset")
    ]
    assert len(set(hub)) == 6
    assert all(each.startswith("o--n-") for each in hub)
