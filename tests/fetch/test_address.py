"""A file from an address comes whole and right, or not at all, whatever the server does."""

import hashlib
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from servers import Handler, serving

from benchc.errors import BadInput
from benchc.fetch.address import TRIES, fetch_address

MIB = 1 << 20
DATA = os.urandom(3 * MIB)
SEEN: list[tuple] = []
"""Method, path and headers of each request of the last fetch."""
SHA = hashlib.sha256(DATA).hexdigest()


def fetch(
    answer: Callable[[Handler], None], folder: Path, expected: str = SHA, name: str = "a.tsv"
):
    """Fetch through a server that answers so; return the file and the requests it took."""
    with serving(answer) as server:
        target = folder / "new folder" / name
        try:
            fetch_address(f"{server.url}/{name}?key=secret", target, "sha256", expected)
        finally:
            SEEN[:] = server.seen
    return target


def refusal(answer: Callable[[Handler], None], folder: Path, **more: str) -> str:
    with pytest.raises(BadInput) as caught:
        fetch(answer, folder, **more)
    said = str(caught.value)
    assert "\n" not in said
    assert "secret" not in said
    return said


def in_turn(*answers: Callable[[Handler], None]) -> Callable[[Handler], None]:
    """Answer each request in its own way; the last way stays."""
    left = list(answers)
    return lambda handler: (left.pop(0) if len(left) > 1 else left[0])(handler)


def whole(handler: Handler) -> None:
    handler.say_file(DATA)


def cut(handler: Handler) -> None:
    handler.say_file(DATA, most=MIB)


def status(code: int, **headers: str) -> Callable[[Handler], None]:
    return lambda handler: handler.say(code, **headers)


def test_a_file_comes_whole_and_under_its_name_alone(tmp_path, naps):
    target = fetch(whole, tmp_path)
    assert target.read_bytes() == DATA
    assert os.listdir(target.parent) == ["a.tsv"]
    assert naps == []


def test_what_is_there_is_not_fetched_again(tmp_path):
    fetch(whole, tmp_path)
    fetch(whole, tmp_path)
    assert SEEN == []


def test_md5_where_that_is_all_there_is(tmp_path):
    with serving(whole) as server:
        fetch_address(f"{server.url}/a", tmp_path / "a", "md5", hashlib.md5(DATA).hexdigest())
    assert (tmp_path / "a").read_bytes() == DATA


def test_cut_connections_are_continued_at_their_byte(tmp_path):
    target = fetch(cut, tmp_path)
    assert target.read_bytes() == DATA
    ranges = [headers.get("Range") for _, _, headers in SEEN]
    assert ranges == [None, f"bytes={MIB}-", f"bytes={2 * MIB}-"]


def test_a_killed_download_goes_on_in_the_next_call(tmp_path):
    part = tmp_path / "new folder" / "a.tsv.part"
    part.parent.mkdir()
    part.write_bytes(DATA[:2_500_000])
    assert fetch(whole, tmp_path).read_bytes() == DATA
    assert SEEN[0][2]["Range"] == "bytes=2500000-"


def test_a_download_that_is_killed_goes_on_in_the_next_command(tmp_path):
    asked, gone = threading.Event(), threading.Event()

    def stuck(handler: Handler) -> None:
        handler.say_file(DATA, most=2 * MIB)
        asked.set()
        gone.wait(60)

    part = tmp_path / "thing" / "a.tsv.part"
    with serving(in_turn(stuck, whole)) as server:
        spec = json.dumps({"url": f"{server.url}/a.tsv", "sha256": SHA})
        command = ["benchc", "fetch", "files", "--spec", spec, "--out", str(tmp_path / "thing")]
        process = subprocess.Popen(command)
        assert asked.wait(60)
        while not part.exists() or part.stat().st_size < MIB:
            assert process.poll() is None
        process.kill()
        process.wait()
        gone.set()
        kept = part.stat().st_size
        assert not (tmp_path / "thing.json").exists()
        subprocess.run(command, check=True, capture_output=True)
        assert server.seen[-1][2]["Range"] == f"bytes={kept}-"
    assert (tmp_path / "thing/a.tsv").read_bytes() == DATA
    assert (tmp_path / "thing.json").exists()


@pytest.mark.parametrize("kept", [len(DATA), len(DATA) + 5])
def test_a_part_as_long_as_the_file_or_longer(tmp_path, kept):
    part = tmp_path / "new folder" / "a.tsv.part"
    part.parent.mkdir()
    part.write_bytes((DATA + b"extra")[:kept])
    assert fetch(whole, tmp_path).read_bytes() == DATA


def test_a_server_that_continues_nothing(tmp_path):
    def from_the_start(handler: Handler) -> None:
        handler.say(200, DATA)

    target = fetch(in_turn(cut, from_the_start), tmp_path)
    assert target.read_bytes() == DATA


def test_a_server_that_always_cuts_at_the_same_byte_is_given_up(tmp_path):
    def half(handler: Handler) -> None:
        handler.say(200, DATA[:MIB], len(DATA))

    said = refusal(half, tmp_path)
    assert f"the connection was cut at byte {MIB}" in said
    assert f"{MIB} bytes are kept" in said
    assert len(SEEN) == TRIES + 1


def test_waits_as_long_as_the_server_says(tmp_path, naps):
    busy = status(429, Retry_After="7")
    assert fetch(in_turn(busy, busy, whole), tmp_path).read_bytes() == DATA
    assert naps == [7, 7]


def test_waits_until_the_time_that_the_server_says(tmp_path, naps):
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    fetch(in_turn(status(503, Retry_After=soon), whole), tmp_path)
    assert 60 < naps[0] <= 90


def test_never_waits_longer_than_ten_minutes(tmp_path, naps):
    fetch(in_turn(status(429, Retry_After="86400"), whole), tmp_path)
    assert naps == [600]


def test_waits_longer_each_time_and_then_gives_up(tmp_path, naps):
    said = refusal(status(503), tmp_path)
    assert "503" in said
    assert len(SEEN) == TRIES + 1
    assert naps == sorted(naps)
    assert naps[-1] > naps[0]


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (401, "401, it wants a login"),
        (403, "403, it is forbidden from here"),
        (404, "404, there is no such file"),
        (410, "410, the file was taken down"),
        (418, "418"),
    ],
)
def test_a_refusal_is_said_at_once_and_in_its_own_words(tmp_path, code, says, naps):
    assert says in refusal(status(code), tmp_path)
    assert len(SEEN) == 1
    assert naps == []


@pytest.mark.parametrize("kind", ["text/html; charset=utf-8", "application/octet-stream"])
def test_a_web_page_is_not_taken_for_the_file(tmp_path, kind):
    page = b"\n<!DOCTYPE html><html><title>Log in</title></html>"
    said = refusal(lambda handler: handler.say(200, page, Content_Type=kind), tmp_path)
    assert "a web page came in place of the file" in said
    assert not (tmp_path / "new folder/a.tsv").exists()


def test_wrong_bytes_show_both_sums_and_are_fetched_once(tmp_path):
    wrong = DATA[:-1] + bytes([DATA[-1] ^ 1])
    said = refusal(lambda handler: handler.say(200, wrong), tmp_path)
    assert hashlib.sha256(wrong).hexdigest() in said
    assert SHA in said
    assert len(SEEN) == 1
    assert os.listdir(tmp_path / "new folder") == []


def test_too_short_a_length_is_a_wrong_sum(tmp_path):
    said = refusal(lambda handler: handler.say(200, DATA[:-9], len(DATA) - 9), tmp_path)
    assert f"({3 * MIB - 9} bytes)" in said


def test_another_file_of_that_name_is_neither_taken_nor_overwritten(tmp_path):
    target = fetch(whole, tmp_path)
    target.write_bytes(b"mine")
    assert "delete it to fetch it again" in refusal(whole, tmp_path)
    assert target.read_bytes() == b"mine"


def test_a_full_disk_is_seen_before_the_first_byte(tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert "are to be written and 1.0 KB are free; make room" in refusal(whole, tmp_path)
    assert not (tmp_path / "new folder/a.tsv.part").exists()


def test_nobody_there(tmp_path):
    with serving(whole) as server:
        gone = server.url
    with pytest.raises(BadInput, match="it cannot be reached; given up after 6 tries"):
        fetch_address(f"{gone}/a", tmp_path / "a", "sha256", SHA)


def test_a_dead_proxy_is_named(tmp_path, monkeypatch):
    with serving(whole) as server:
        gone = server.url
    monkeypatch.setenv("http_proxy", gone)
    monkeypatch.delenv("NO_PROXY")
    with pytest.raises(BadInput, match=r"proxy does not answer.*the proxy in HTTP_PROXY"):
        fetch_address("http://example.invalid/a", tmp_path / "a", "sha256", SHA)


def test_no_token_is_sent_to_an_address(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    fetch(whole, tmp_path)
    assert "hf_secret" not in str(SEEN)
