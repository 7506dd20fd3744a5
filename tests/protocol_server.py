"""A server of the chat-completions protocol whose every word, and every fault, a test decides."""

import base64
import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

from benchc.pictures.decode import decode_stored

Tokens = Sequence[tuple[str, float]]
Fault = Callable[["Handler"], None]

KEY = "sk-protocol-server-0123456789"


def _named() -> dict:
    """Return an entry with a field that differs from server to server."""
    return {"id": "stub", "object": "model", "created": time.monotonic(), "owned_by": "tests"}


@dataclass
class Script:
    """What the server answers, and what it does instead before that.

    Attributes:
        tokens: From a request's body to the likeliest next tokens with log-probabilities; all of
            them are returned, however many were asked for.
        faults: Taken one a request, in order, in place of an answer.
        fault_of: From a request's body to what is done in place of an answer, if anything.
        logprobs: Whether answers hold log-probabilities at all.
        models: What it says of itself.
        bodies: The requests that were answered or failed, as received.
    """

    tokens: Callable[[dict], Tokens]
    faults: deque[Fault] = field(default_factory=deque)
    fault_of: Callable[[dict], Fault | None] = lambda body: None
    logprobs: bool = True
    wants_key: bool = False
    models: object = field(default_factory=lambda: {"object": "list", "data": [_named()]})
    bodies: list[dict] = field(default_factory=list)
    most_at_once: int = 0
    at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "ProtocolServer"

    def do_GET(self):
        if self.path == "/v1/models":
            self.reply(200, self.server.script.models)
        else:
            self.reply(404, {"error": {"message": "not here"}})

    def do_POST(self):
        script = self.server.script
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with script.lock:
            script.bodies.append(body)
            script.at_once += 1
            script.most_at_once = max(script.most_at_once, script.at_once)
            fault = script.faults.popleft() if script.faults else script.fault_of(body)
        try:
            if script.wants_key and self.headers["Authorization"] != f"Bearer {KEY}":
                said = f"{self.headers['Authorization']} is no key of ours"
                self.reply(401, {"error": {"message": said}})
            elif fault is not None:
                fault(self)
            else:
                self.reply(200, completion(script, body))
        finally:
            with script.lock:
                script.at_once -= 1

    def reply(self, status: int, content: object, headers: dict[str, str] | None = None):
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class ProtocolServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, script: Script):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = script

    def handle_error(self, request, client_address):
        """A cut connection is meant; nothing to report."""


@contextmanager
def serving(script: Script) -> Iterator[str]:
    """Run the server on a free port and yield its url."""
    server = ProtocolServer(script)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def completion(script: Script, body: dict) -> dict:
    tokens = [{"token": text, "logprob": logprob} for text, logprob in script.tokens(body)]
    logprobs = {"content": [{**tokens[0], "top_logprobs": tokens}]} if script.logprobs else None
    return {
        "id": "x", "object": "chat.completion", "created": 1, "model": body["model"],
        "choices": [
            {
                "index": 0, "finish_reason": "length", "logprobs": logprobs,
                "message": {"role": "assistant", "content": tokens[0]["token"]},
            }
        ],
    }  # fmt: skip


def picture(body: dict) -> np.ndarray:
    """Return the picture of a request, decoded from its data URI."""
    url = body["messages"][0]["content"][0]["image_url"]["url"]
    start, data = url.split(",", 1)
    assert start == "data:image/png;base64"
    return decode_stored(base64.b64decode(data, validate=True))


def words(body: dict) -> str:
    """Return the text of a request."""
    return body["messages"][0]["content"][1]["text"]


def status(code: int, said: str = "on purpose", **headers: str) -> Fault:
    """Answer with an error status."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler: handler.reply(code, {"error": {"message": said}}, named)


def cut(handler: Handler) -> None:
    """Promise an answer and hang up in the middle of it."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "5000")
    handler.end_headers()
    handler.wfile.write(b'{"id": "x", "choi')
    handler.close_connection = True
    handler.connection.shutdown(2)


def garbage(handler: Handler) -> None:
    """Answer with something that says it is JSON and is not."""
    data = b'{"choices": [{"message": '
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)


def page(handler: Handler) -> None:
    """Answer with a page for people, as a proxy does."""
    data = b"<html>Welcome</html>"
    handler.send_response(200)
    handler.send_header("Content-Type", "text/html")
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)
