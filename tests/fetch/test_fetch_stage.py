"""What was fetched is found again; archives stay in their folder."""

import hashlib
import io
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest
from servers import serving

from benchc.errors import BadInput
from benchc.fetch.archive import ENDINGS, unpack
from benchc.fetch.origin import Request
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
    with pytest.raises(BadInput, match="cannot be unpacked"):
        unpack(tmp_path / "a.tar.gz")


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
    with pytest.raises(BadInput, match="GB are free"):
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
