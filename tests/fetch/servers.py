"""Servers on this machine that misbehave on purpose: one for addresses, one that plays a hub."""

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMMIT = "a" * 40
MOVED = "b" * 40


class Server(ThreadingHTTPServer):
    """Keeps the requests it saw: (method, path, headers)."""

    def __init__(self, answer: Callable[["Handler"], None]):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.seen: list[tuple[str, str, dict[str, str]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, *_: Any) -> None:
        """Say nothing of clients that hang up."""


class Handler(BaseHTTPRequestHandler):
    """Hands every request to the server's `answer`."""

    server: Server

    def do_GET(self) -> None:
        self.server.seen.append((self.command, self.path, dict(self.headers)))
        self.server.answer(self)

    do_HEAD = do_GET  # noqa: N815 - the base class calls it so

    def log_message(self, *_: Any) -> None:
        pass

    def say(self, status: int, body: bytes = b"", length: int | None = None, **headers: str):
        """Send an answer; one whose `length` is more than its body is cut off behind it."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.close_connection = True

    @property
    def start(self) -> int:
        """The byte from which the client wants the file."""
        found = re.match(r"bytes=(\d+)-", self.headers.get("Range", ""))
        return int(found[1]) if found else 0

    def say_file(self, data: bytes, most: int | None = None, **headers: str) -> None:
        """Send a file from the wanted byte on, at most `most` bytes before the cut."""
        rest = data[self.start :]
        if self.start and not rest:
            return self.say(416, Content_Range=f"bytes */{len(data)}")
        if self.start:
            headers["Content_Range"] = f"bytes {self.start}-{len(data) - 1}/{len(data)}"
        body = rest if most is None else rest[:most]
        self.say(206 if self.start else 200, body, len(rest), **headers)


@contextmanager
def serving(answer: Callable[[Handler], None]) -> Iterator[Server]:
    server = Server(answer)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Hub:
    """As much of a hub as the client needs to resolve a branch, list files and fetch them."""

    def __init__(self, files: dict[str, bytes], large: tuple[str, ...] = ()):
        self.files = files
        self.large = large
        self.head = COMMIT
        self.server: Any = None
        self.before: list[Callable[[Handler], bool]] = []
        self.sent = dict(files)

    def __call__(self, handler: Handler) -> None:
        if any(trouble(handler) for trouble in self.before):
            return
        path = handler.path.partition("?")[0]
        api = re.fullmatch(r"/api/(?:models|datasets)/org/thing/(revision|tree)/([^/]+)", path)
        file = re.fullmatch(r"(?:/datasets)?/org/thing/resolve/([^/]+)/(.*)", path)
        if api and api[2] not in ("main", self.head, COMMIT):
            handler.say(404, X_Error_Code="RevisionNotFound")
        elif api and api[1] == "revision":
            self._json(handler, {"id": "org/thing", "sha": self.head, "siblings": []})
        elif api:
            self._json(handler, [self._entry(name) for name in self.files])
        elif file and file[2] in self.files:
            data = self.sent[file[2]]
            etag = self._sums(file[2])["sha256" if file[2] in self.large else "git"]
            handler.say_file(data, ETag=f'"{etag}"', X_Repo_Commit=file[1])
        else:
            handler.say(404, X_Error_Code="RepoNotFound")

    def _json(self, handler: Handler, content: Any) -> None:
        handler.say(200, json.dumps(content).encode(), Content_Type="application/json")

    def _sums(self, name: str) -> dict[str, str]:
        data = self.files[name]
        blob = b"blob %d\0" % len(data) + data
        return {
            "git": hashlib.sha1(blob).hexdigest(),
            "sha256": hashlib.sha256(data).hexdigest(),
        }

    def _entry(self, name: str) -> dict[str, Any]:
        sums, size = self._sums(name), len(self.files[name])
        entry = {"type": "file", "path": name, "size": size, "oid": sums["git"]}
        if name in self.large:
            entry["lfs"] = {"oid": sums["sha256"], "size": size, "pointerSize": 130}
        return entry
