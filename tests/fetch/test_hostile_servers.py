"""A server that lies, drips or never ends costs one line: no traceback, no full disk, no wait."""

import json
import os
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256

import httpx2
import pytest
from servers import Hub, serving

from benchc.config.checked import checked
from benchc.config.origin import Request
from benchc.errors import BadInput
from benchc.fetch import address, client
from benchc.fetch.address import fetch_address, readable
from benchc.fetch.client import Bounds
from benchc.fetch.stage import fetch, place, read_record

DATA = os.urandom(200_000)
SUM = sha256(DATA).hexdigest()
OK = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"


@contextmanager
def talking(*answers: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that says whatever an answer writes, one a connection; the last one stays."""
    listening = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()
    left = list(answers)

    def serve() -> None:
        while not over.is_set():
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            answer = left.pop(0) if len(left) > 1 else left[0]
            threading.Thread(target=handle, args=(connection, answer), daemon=True).start()

    def handle(connection: socket.socket, answer: Callable) -> None:
        with connection:
            try:
                connection.recv(65536)
                answer(connection)
            except OSError:
                pass

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        over.set()
        listening.close()


def says(text: bytes) -> Callable[[socket.socket], None]:
    return lambda connection: connection.sendall(text)


def endless(start: bytes, piece: bytes = b"x" * 65536) -> Callable[[socket.socket], None]:
    def answer(connection: socket.socket) -> None:
        connection.sendall(start)
        while True:
            connection.sendall(piece)

    return answer


def dripping(text: bytes, then: bytes = b"x") -> Callable[[socket.socket], None]:
    def answer(connection: socket.socket) -> None:
        for byte in text:
            connection.sendall(bytes([byte]))
            wait()
        while True:
            connection.sendall(then)
            wait()

    return answer


def wait() -> None:
    threading.Event().wait(0.02)


def sends_on(to: str) -> Callable[[socket.socket], None]:
    # Kept open, the connection might be used again in the moment in which it is closed.
    start = b"HTTP/1.1 302 Found\r\nConnection: close\r\nContent-Length: 0\r\n"
    return says(start + b"Location: %b\r\n\r\n" % to.encode())


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(client, "SILENCE", 0.5)
    monkeypatch.setattr(client, "WINDOW", 0.2)
    monkeypatch.setattr(address, "MOST", 3_000_000)


def refusal(answer: Callable, folder, **more) -> str:
    with talking(answer) as url, pytest.raises(BadInput) as caught:
        fetch_address(f"{url}/a.bin", folder / "a.bin", "sha256", SUM, **more)
    assert "\n" not in str(caught.value)
    assert not (folder / "a.bin").exists()
    kept = folder / "a.bin.part"
    assert not kept.exists() or kept.stat().st_size <= 4_000_000
    return str(caught.value)


LIES = {
    "endless": (endless(OK + b"\r\n"), "does not say how long the file is, and more than 3.0 MB"),
    "endless chunks": (
        endless(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + b"x" * 65536 + b"\r\n"),
        "more than 3.0 MB came",
    ),
    "endless chunk line": (
        endless(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"0" * 65536), "the connection was cut"
    ),
    "endless headers": (endless(OK, b"X: y\r\n" * 1000), "as a web server does"),
    "endless header": (endless(OK + b"X: "), "as a web server does"),
    "endless status": (endless(b""), "as a web server does"),
    "drips a body": (dripping(OK + b"\r\n"), "KB came in a second"),
    "drips a body of a length": (
        dripping(OK + b"Content-Length: 200000\r\n\r\n"), "KB came in a second"
    ),
    "drips headers": (dripping(OK + b"X: "), "KB came in a second"),
    "drips a status": (dripping(b"H" * 9), "KB came in a second"),
    "says nothing": (lambda c: threading.Event().wait(5), "does not answer in time"),
    "says nothing more": (
        lambda c: (c.sendall(OK + b"\r\nab"), threading.Event().wait(5)), "does not answer in time"
    ),
    "hangs up": (lambda c: None, "as a web server does"),
    "no HTTP": (says(b"SSH-2.0-OpenSSH_9\r\n"), "as a web server does"),
    "length of letters": (says(OK + b"Content-Length: many\r\n\r\nx"), "as a web server does"),
    "length below zero": (says(OK + b"Content-Length: -5\r\n\r\nx"), "as a web server does"),
    "two lengths": (
        says(OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nxxxxxx"), "as a web server does"
    ),
    "length of 60 digits": (
        says(OK + b"Content-Length: " + b"9" * 60 + b"\r\n\r\nx"), "as a web server does"
    ),
    "length of 19 digits": (
        says(OK + b"Content-Length: " + b"9" * 19 + b"\r\n\r\nx"), "are free; make room"
    ),
    "longer than it is": (
        says(OK + b"Content-Length: 200000\r\n\r\nx"), "the connection was cut at byte 1"
    ),
    "chunk of letters": (
        says(OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nx"), "the connection was cut"
    ),
    "compressed": (
        says(OK + b"Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nxxx"), "comes compressed"
    ),
    "nothing": (says(b"HTTP/1.1 204 No Content\r\n\r\n"), "204 No Content, which is no file"),
    "not modified": (says(b"HTTP/1.1 304 Not Modified\r\n\r\n"), "304"),
    "several places": (says(b"HTTP/1.1 300 Many\r\nContent-Length: 0\r\n\r\n"), "300"),
    "on to nowhere": (says(b"HTTP/1.1 302 F\r\nContent-Length: 0\r\n\r\n"), "302"),
    "on to a file": (sends_on("file:///etc/passwd"), "no web server"),
    "on to ftp": (sends_on("ftp://h/a"), "no web server"),
    "on to data": (sends_on("data:text/plain,abc"), "as a web server does"),
    "on to itself": (sends_on("/a.bin"), "on and on"),
    "on to nonsense": (sends_on("http://[::bad/"), "does not answer as a web server does"),
    "on to an escape": (sends_on("http://\x1b[31m/"), "web server"),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_each_lie_is_one_line(tmp_path, lie):
    answer, line = LIES[lie]
    assert line in refusal(answer, tmp_path)


@pytest.mark.parametrize("lie", ["endless", "drips headers", "on to itself", "no HTTP"])
def test_the_command_says_one_line(tmp_path, lie):
    patch = (
        "import sys; from benchc.fetch import address, client; from benchc import cli;"
        "client.WINDOW = .2; address.MOST = 3_000_000; address.TRIES = 1; client.SLOW = 1;"
        "cli.main()"
    )
    with talking(LIES[lie][0]) as url:
        spec = json.dumps({"url": f"{url}/a", "sha256": SUM})
        command = [sys.executable, "-c", patch, "fetch", "files", "--spec", spec, "--out", "t"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr


def test_a_slow_line_that_gets_better_goes_on(tmp_path):
    rest = b"Content-Length: %d\r\n\r\n" % len(DATA)
    with talking(dripping(OK + rest), says(OK + rest + DATA)) as url:
        fetch_address(f"{url}/a.bin", tmp_path / "a.bin", "sha256", SUM)
    assert (tmp_path / "a.bin").read_bytes() == DATA


@pytest.mark.parametrize(("size", "says_so"), [(100, "`size` says 100"), (200_001, "says 200001")])
def test_another_size_than_the_config_says_is_refused_before_a_byte_came(tmp_path, size, says_so):
    whole = says(OK + b"Content-Length: 200000\r\n\r\n" + DATA)
    assert says_so in refusal(whole, tmp_path, size=size)
    assert not (tmp_path / "a.bin.part").exists()


def test_a_size_is_a_limit_where_the_server_says_none(tmp_path):
    said = refusal(endless(OK + b"\r\n"), tmp_path, size=200_000)
    assert "more came than the 200000 bytes" in said or "longer than the 200000 bytes" in said
    assert (tmp_path / "a.bin.part").stat().st_size <= 200_000


def test_a_disk_that_fills_up_is_one_line(tmp_path):
    script = (
        "import resource, signal; from benchc import cli;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)); cli.main()"
    )
    whole = says(OK + b"Content-Length: 200000\r\n\r\n" + DATA)
    with talking(whole) as url:
        spec = json.dumps({"url": f"{url}/a", "sha256": SUM})
        command = [sys.executable, "-c", script, "fetch", "files", "--spec", spec, "--out", "t"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "cannot be written (File too large); what came is kept" in done.stderr


def test_a_redirect_to_another_host_is_followed_without_what_logs_in_and_written_down(tmp_path):
    with serving(lambda handler: handler.say_file(DATA)) as there:
        elsewhere = there.url.replace("127.0.0.1", "localhost")

        def on(handler):
            handler.say(302, Location=f"{elsewhere}/real?signature=abc", Set_Cookie="login=1")

        with serving(on) as here:
            wanted = Request(url=f"{here.url}/a.bin", sha256=SUM)
            record = fetch(wanted, tmp_path / "thing")
        (_, path, headers) = there.seen[0]
    assert record["sent_on_to"] == ["localhost"]
    assert path == "/real?signature=abc"
    assert not {"authorization", "cookie", "referer"} & {name.lower() for name in headers}
    assert "signature" not in (tmp_path / "thing.json").read_text()


def test_a_login_of_netrc_is_not_sent(tmp_path, monkeypatch):
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret-word")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with serving(lambda handler: handler.say_file(DATA)) as server:
        fetch_address(f"{server.url}/a", tmp_path / "a", "sha256", SUM)
        assert "Authorization" not in server.seen[0][2]


@pytest.mark.parametrize("place", ["http://h.org/a", "ftp://h.org/a", "file:///etc/passwd"])
def test_what_is_encrypted_stays_encrypted(place):
    with pytest.raises(BadInput, match="not encrypted or no web server"):
        Bounds("h.org", 1, is_secure=True).check(httpx2.Request("GET", place))
    Bounds("h.org", 1, is_secure=True).check(httpx2.Request("GET", "https://other.org/a"))


def test_a_certificate_that_nobody_vouches_for(tmp_path):
    error = httpx2.ConnectError("x")
    error.__cause__ = ssl.SSLCertVerificationError(1, "self-signed certificate")
    error.__cause__.verify_message = "self-signed certificate"
    with pytest.raises(BadInput, match="its certificate is not accepted"):
        address._refuse_certificate(error, "https://h.org/a?key=secret")


def hub_refusal(folder, *before: Callable) -> str:
    hub = Hub({"config.json": b"{}", "model.safetensors": DATA}, large=("model.safetensors",))
    hub.before = list(before)
    script = (
        "from benchc.fetch import client, hub; from benchc import cli;"
        "client.SILENCE = .5; client.WINDOW = .2; client.SLOW = 1; hub.ANSWER = 1_000_000;"
        "hub._TRIES = 1; cli.main()"
    )
    with serving(hub) as server:
        spec = '{"hub_id": "org/thing", "revision": "main", "repo_type": "model"}'
        command = [sys.executable, "-c", script, "fetch", "files", "--spec", spec, "--out", "t"]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=100,
            env={**os.environ, "HF_ENDPOINT": server.url, "HF_HUB_DISABLE_XET": "1"},
        )  # fmt: skip
    assert done.returncode == 1
    said = [line for line in done.stderr.splitlines() if line.startswith("benchc: ")]
    assert len(said) == 1, done.stderr
    assert "Traceback" not in done.stderr
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    assert size < 3_000_000
    return said[0]


@pytest.mark.parametrize("where", ["/revision/", "/tree/", "safetensors"])
@pytest.mark.parametrize("way", ["endless", "drips", "drips headers", "on to itself", "on to ftp"])
def test_a_hub_that_lies_is_one_line(tmp_path, where, way):
    def lie(handler) -> bool:
        if where not in handler.path or (handler.command == "HEAD" and way in ("endless", "drips")):
            return False
        if way.startswith("on"):
            handler.say(302, Location=handler.path if way == "on to itself" else "ftp://h/a")
            return True
        if way == "drips headers":
            handler.connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
        else:
            handler.send_response(200)
            handler.end_headers()
        while True:
            handler.connection.sendall(b"x" * (65536 if way == "endless" else 1))
            if way != "endless":
                wait()

    said = hub_refusal(tmp_path, lie)
    assert "org/thing" in said or "127.0.0.1" in said


RECORDS = ["", "{", "[]", "null", "{}", '{"files": 1}', '{"files": [1]}', "[" * 100_000, "\udc80"]


@pytest.mark.parametrize("text", [*RECORDS, '{"commit": "main"}', '{"commit": 3}'])
def test_a_damaged_commit_is_one_line(tmp_path, text):
    (tmp_path / "thing").mkdir()
    (tmp_path / "thing.commit.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    wanted = Request(hub_id="org/thing", revision="main")
    with pytest.raises(BadInput, match=r"thing\.commit\.json.*delete it and fetch again"):
        fetch(wanted, tmp_path / "thing")


@pytest.mark.parametrize("text", RECORDS)
def test_a_damaged_record_is_one_line(tmp_path, text):
    (tmp_path / "thing.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    for read in (read_record, place):
        with pytest.raises(BadInput, match=r"thing\.json.*delete it and fetch again"):
            read(tmp_path / "thing")


@pytest.mark.parametrize(
    "url", ["https://h.org/a.zip?key=abc", "https://h.org/a.zip#key=abc", "https://me:pw@h.org/a"]
)
def test_an_address_with_a_key_in_it_is_refused_and_not_repeated(url):
    with pytest.raises(BadInput, match="url") as caught:
        checked(Request, {"url": url, "sha256": "0" * 64}, "config")
    assert not {"abc", "pw"} & set(str(caught.value).replace("=", " ").split())


def test_a_query_is_read_from_its_variable_and_written_down_nowhere(tmp_path, monkeypatch):
    with serving(lambda handler: handler.say_file(DATA)) as server:
        values = {"url": f"{server.url}/a.bin", "sha256": SUM, "query_variable": "SIGNED"}
        wanted = Request.model_validate(values)
        with pytest.raises(BadInput, match="SIGNED is not set"):
            fetch(wanted, tmp_path / "thing")
        monkeypatch.setenv("SIGNED", "?token=very-secret&download=1")
        fetch(wanted, tmp_path / "thing")
        assert server.seen[0][1] == "/a.bin?token=very-secret&download=1"
        with pytest.raises(BadInput) as caught:
            fetch(Request.model_validate({**values, "sha256": "0" * 64}), tmp_path / "other")
    written = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    assert not any(b"very-secret" in data for data in written)
    assert "very-secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("size", "said"),
    [
        (0, "0 B"), (1, "1 B"), (999, "999 B"), (1000, "1.0 KB"), (1500, "1.5 KB"),
        (9_949, "9.9 KB"), (99_960, "100 KB"), (999_499, "999 KB"), (999_501, "1.0 MB"),
        (2.5e9, "2.5 GB"), (3e12, "3.0 TB"), (5e15, "5000 TB"),
    ],
)  # fmt: skip
def test_a_size_is_said_in_the_unit_that_fits(size, said):
    assert readable(size) == said
