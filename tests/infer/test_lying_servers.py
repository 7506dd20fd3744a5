"""Whatever a server sends, in whatever time, ends in a status or in one line; nothing else."""

import gzip
import json
import math
import threading
import time
import zlib
from collections import deque

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from protocol_server import KEY, Script, completion, serving, status

from benchc.config.models import OpenAIModel
from benchc.errors import BadInput
from benchc.models.answer import Fault, is_about_length
from benchc.models.openai_backend import OpenAIBackend, read_letters
from benchc.models.scores import Question
from benchc.models.server import Server

LETTERS = [("B", math.log(0.6)), ("A", math.log(0.3)), ("The", math.log(0.05))]
ASKED = Question(np.zeros((8, 8, 3), np.uint8), "What is it?", ("one", "two"))
STATUSES = {"ok", "missing_option", "nonfinite_logits", "no_logprobs", "server_error"} | {
    "server_refused", "timeout", "too_long"}  # fmt: skip


def model(url: str, **more) -> OpenAIModel:
    return OpenAIModel(backend="openai", url=url, model="stub", **{"retries": 0, **more})


@pytest.fixture(autouse=True)
def no_waits(monkeypatch):
    async def at_once(_):
        pass

    monkeypatch.setattr("openai._base_client.anyio.sleep", at_once)


@pytest.fixture
def script():
    return Script(lambda body: LETTERS)


@pytest.fixture
def url(script):
    with serving(script) as address:
        yield address


def raw(content: bytes, code: int = 200, **headers: str):
    """Answer with these bytes."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}

    def answer(handler):
        handler.send_response(code)
        for name, value in ({"Content-Type": "application/json"} | named).items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def dripping(pieces, pause: float, begin: bytes = b"HTTP/1.1 200 OK\r\n\r\n"):
    """Send pieces with a pause before each, until the other side has gone."""

    def answer(handler):
        handler.close_connection = True
        handler.wfile.write(begin)
        for piece in pieces:
            time.sleep(pause)
            handler.wfile.write(piece)
            handler.wfile.flush()

    return answer


def scored(url: str, script: Script, *faults, **more):
    """Return the score of a question which gets these answers, and then that of a plain one."""
    backend = OpenAIBackend(model(url, concurrency=1, **more))
    script.faults = deque(faults)
    return backend.score([ASKED, ASKED])


@pytest.mark.parametrize(
    "drip",
    [
        dripping([b" "] * 400, 0.05),
        dripping([b"X"] * 400, 0.05, begin=b"HTTP/1.1 200 OK\r\nX-A: "),
        dripping(
            [b"1\r\n \r\n"] * 400, 0.05, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        ),
        dripping([b"HTTP/1.1 103 Early Hints\r\n\r\n"] * 400, 0.05, begin=b""),
        dripping([b"X"] * 400, 0.05, begin=b"HTTP/1.1 500 "),
        dripping([], 0, begin=b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"),
    ],
    ids=["body", "headers", "chunks", "hints", "error", "cut"],
)  # fmt: skip
def test_the_whole_answer_has_one_deadline(url, script, drip):
    start = time.monotonic()
    dripped, plain = scored(url, script, drip, timeout=0.5)
    assert time.monotonic() - start < 5
    assert dripped.status in ("timeout", "server_error")
    assert plain.status == "ok"


def test_a_server_that_drips_at_everything_ends_the_run_at_its_deadline(url, script):
    backend = OpenAIBackend(model(url, timeout=0.3))
    script.fault_of = lambda body: dripping([b" "] * 400, 0.05)
    start = time.monotonic()
    with pytest.raises(BadInput, match=r"no whole answer within 0\.3 s; if it is up"):
        backend.score([ASKED] * 3)
    assert time.monotonic() - start < 5


def _bomb(coding: str) -> bytes:
    packed = zlib.compressobj(9, zlib.DEFLATED, 31 if coding == "gzip" else 15)
    return b"".join(packed.compress(b" " * 2**24) for _ in range(12)) + packed.flush()


@pytest.mark.parametrize(
    "answer",
    [
        dripping((b" " * 2**20 for _ in range(500)), 0),
        raw(_bomb("gzip"), Content_Encoding="gzip"),
        raw(_bomb("deflate"), Content_Encoding="deflate"),
        raw(b'{"choices": [' + b"{}," * 2**21 + b"{}]}"),
    ],
    ids=["endless", "gzip", "deflate", "long"],
)
def test_a_long_answer_is_not_kept_in_memory_nor_parsed(url, script, answer, monkeypatch):
    parsed = []
    loads = json.loads
    monkeypatch.setattr(
        "benchc.models.answer.json.loads", lambda text, **_: parsed.append(len(text)) or loads(text)
    )
    long, plain = scored(url, script, answer, timeout=30)
    assert long.status == "server_error"
    assert "more than" in long.reasons[0]
    assert plain.status == "ok"
    assert max(parsed) < 2**22 + 2**16


def test_compressed_answers_are_read(url, script):
    body = {"model": "stub"}
    plain = json.dumps(completion(script, body)).encode()
    both = scored(
        url, script, raw(gzip.compress(plain), Content_Encoding="gzip"),
        raw(zlib.compress(plain), Content_Encoding="deflate"),
    )  # fmt: skip
    assert [score.status for score in both] == ["ok", "ok"]


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip", "gzip"])
def test_a_compression_that_cannot_be_read_is_a_status(url, script, coding):
    odd, plain = scored(url, script, raw(b'{"choices": []}', Content_Encoding=coding))
    assert (odd.status, plain.status) == ("server_error", "ok")


def test_an_answer_may_hold_a_whole_vocabulary(url, script):
    everything = [(f"token {i}", -20.0) for i in range(50_000)]
    script.tokens = lambda body: [*LETTERS, *everything]
    backend = OpenAIBackend(model(url, top_logprobs=60_000))
    assert backend.score([ASKED])[0].status == "ok"


ODD = [
    b"", b" ", b"null", b"5", b'"x"', b"[]", b"{}", b"<html>Welcome</html>", b'{"choices": [{"mes',
    b"\xff\xfe\x00", b"[" * 100_000, b'{"choices": ' + b"[" * 5000 + b"]" * 5000 + b"}",
    b'{"choices": null}', b'{"choices": {}}', b'{"choices": []}', b'{"choices": [null]}',
    b'{"choices": [5]}', b'{"choices": [{}]}', b'{"choices": [{"logprobs": 5}]}',
    b'{"choices": [{"logprobs": {"content": {}}}]}',
    b'{"choices": [{"logprobs": {"content": [[]]}}]}',
    *(
        b'{"choices": [{"logprobs": {"content": [{"top_logprobs": ' + top + b"}]}}]}"
        for top in (
            b'{"A": -1}', b'[["A", -1]]', b'[{"token": 5, "logprob": -1}]',
            b'[{"token": "A", "logprob": "x"}]', b'[{"token": "A", "logprob": [1]}]',
            b'[{"token": "A", "logprob": true}]',
            b'[{"token": "A", "logprob": -1' + b"0" * 5000 + b"}]",
            b'[{"token": "A", "logprob": -1' + b"0" * 400 + b"}]",
        )
    ),
    b'{"error": {"message": "no"}}', b"data: {}\n\ndata: [DONE]\n\n", b"NaN",
]  # fmt: skip


@pytest.mark.parametrize("body", ODD)
def test_an_odd_answer_is_a_status_of_its_question(url, script, body):
    kind = ("application/json", "text/html", "text/event-stream")[len(body) % 3]
    odd, plain = scored(url, script, *[raw(body, Content_Type=kind)] * 2)
    assert odd.status in STATUSES - {"ok"}
    assert "\n" not in odd.reasons[0]
    assert plain.status == "ok"


@pytest.mark.parametrize("body", ODD)
def test_a_server_of_odd_answers_is_refused_in_one_line(url, script, body):
    script.fault_of = lambda _: raw(body)
    with pytest.raises(BadInput) as refusal:
        OpenAIBackend(model(url))
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 800


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(
            ["choices", "message", "content", "logprobs", "top_logprobs", "token", "logprob",
             "error", "detail", "id"]
        ),
        inner, max_size=4,
    ),
    max_leaves=30,
)  # fmt: skip


@pytest.fixture(scope="module")
def fuzzed():
    script = Script(lambda body: LETTERS)
    with serving(script) as address:
        backend = OpenAIBackend(model(address, concurrency=1))
        yield script, backend


def _damaged(data, whole: object) -> object:
    """Return an answer in the right form with one of its parts replaced."""
    if isinstance(whole, dict) and whole and data.draw(st.booleans()):
        name = data.draw(st.sampled_from(sorted(whole)))
        return whole | {name: _damaged(data, whole[name])}
    if isinstance(whole, list) and whole and data.draw(st.booleans()):
        return [_damaged(data, whole[0]), *whole[1:]]
    return data.draw(JSON)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data(), st.sampled_from([200, 200, 200, 201, 204, 301, 400, 422, 500, 599]))
def test_no_answer_at_all_is_a_traceback(fuzzed, data, code):
    script, backend = fuzzed
    answer = _damaged(data, completion(script, {"model": "stub"})) if code == 200 else (
        data.draw(JSON))  # fmt: skip
    body = json.dumps(answer).encode() + data.draw(st.sampled_from([b"", b"", b"]"]))
    if code == 204:
        body = b""
    script.faults = deque([raw(body, code)] * (2 if code < 300 else 1))
    odd = backend.score([ASKED])[0]
    script.faults.clear()
    assert odd.status in STATUSES
    assert backend.score([ASKED])[0].status == "ok"


@given(st.binary(max_size=200), st.sampled_from([200, 400, 500]))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_bytes_at_all_are_a_traceback(fuzzed, content, code):
    script, backend = fuzzed
    script.faults = deque([raw(content, code)] * (2 if code < 300 else 1))
    assert backend.score([ASKED])[0].status in STATUSES


@pytest.mark.parametrize("listed", [5, [5], {"data": 5}, {"data": [5, None]}, {"data": {"id": 1}},
                                    {"data": [{"id": [1], "x": math.nan}]}, None])  # fmt: skip
def test_what_a_server_says_of_itself_may_be_anything(url, script, listed):
    script.models = listed
    json.dumps(OpenAIBackend(model(url)).ran_on(), allow_nan=False)


def test_a_key_that_models_repeats_is_in_no_record(url, script, monkeypatch):
    monkeypatch.setenv("A_SERVERS_KEY", KEY)
    script.models = {"data": [{"id": "stub", "owned_by": KEY, KEY: [f"Bearer {KEY}"]}]}
    said = json.dumps(OpenAIBackend(model(url, key_variable="A_SERVERS_KEY")).ran_on())
    assert "Bearer ***" in said
    assert KEY not in said


@pytest.mark.parametrize("key", ["sk-ä", "sk-\x07bell", "two\nlines"])
def test_a_key_that_cannot_be_sent_is_one_line_without_it(key, monkeypatch):
    monkeypatch.setenv("A_SERVERS_KEY", key)
    with pytest.raises(BadInput, match="holds characters that no key has") as refusal:
        Server(model("http://127.0.0.1:9/v1", key_variable="A_SERVERS_KEY"))
    assert key not in str(refusal.value)


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_question_goes_to_no_host_that_was_not_named(url, script, code):
    with serving(elsewhere := Script(lambda body: LETTERS)) as other:
        away = raw(b"", code, Location=f"{other}/chat/completions?t=secret")
        sent_on, plain = scored(url, script, away)
        assert sent_on.status == "server_refused"
        assert f"sends on to {other}/chat/completions" in sent_on.reasons[0]
        assert "secret" not in sent_on.reasons[0]
        assert plain.status == "ok"
        script.fault_of = lambda _: away
        with pytest.raises(BadInput, match="if that is your server, put it there"):
            OpenAIBackend(model(url))
        assert not elsewhere.bodies


def without_logprobs(kind: str):
    """Answer as servers do where the model ends at once, or a filter took the answer."""

    def answer(handler):
        said = completion(handler.server.script, {"model": "stub"})
        choice = said["choices"][0]
        if kind == "empty":
            choice["logprobs"] = {"content": []}
        elif kind == "null":
            choice["logprobs"] = None
        elif kind == "no top":
            choice["logprobs"]["content"][0]["top_logprobs"] = []
        else:
            del choice["logprobs"]
        handler.reply(200, said)

    return answer


@pytest.mark.parametrize("kind", ["empty", "null", "no top", "absent"])
def test_an_answer_without_log_probabilities_is_asked_again_and_then_a_status(url, script, kind):
    odd, plain = scored(url, script, *[without_logprobs(kind)] * 2)
    assert (odd.status, plain.status) == ("no_logprobs", "ok")
    again, plain = scored(url, script, without_logprobs(kind))
    assert (again.status, plain.status) == ("ok", "ok")


@pytest.mark.parametrize("code", [400, 401, 403, 404, 408, 409, 413, 418, 422, 429, 500, 503])
def test_one_question_that_any_status_answers_ends_no_run(url, script, code):
    odd, plain = scored(url, script, status(code))
    assert odd.status in ("server_refused", "server_error")
    assert f"HTTP {code}" in odd.reasons[0]
    assert plain.status == "ok"


TAIL = [None, -math.inf, math.nan, -9999.0, -1e9, -1e30, -3.4028235e38, -100.0]


@pytest.mark.parametrize("value", TAIL)
def test_a_token_that_is_no_option_may_have_any_number(url, script, value):
    backend = OpenAIBackend(model(url))
    script.tokens = lambda body: [*LETTERS, ("zz", value)]
    score = backend.score([ASKED])[0]
    assert score.status == "ok"
    assert score.logits == (math.log(0.3), math.log(0.6))
    assert score.option_mass == pytest.approx(0.9)


@pytest.mark.parametrize("value", [v for v in TAIL if v is None or not math.isnan(v)])
def test_a_stand_in_for_an_options_number_is_a_missing_option(url, script, value):
    backend = OpenAIBackend(model(url))
    script.tokens = lambda body: [("A", -0.01), ("B", value), ("The", -5.0)]
    score = backend.score([ASKED])[0]
    assert score.status == "missing_option"
    assert score.logits == (-0.01, -5.0)
    assert "option B" in score.reasons[0]


@pytest.mark.parametrize("value", [-20.0, -60.0, -99.0, -101.5])
def test_a_small_number_is_a_number(value):
    score = read_letters([("A", -0.01), ("B", value)], 2, "")
    assert (score.status, score.logits) == ("ok", (-0.01, value))


def test_only_stand_ins_leave_nothing_to_bound_by():
    score = read_letters([("A", -9999.0), ("B", -9999.0)], 2, "")
    assert (score.status, score.logits) == ("missing_option", None)


@pytest.mark.parametrize(
    "spelled",
    [lambda t: f"token_id:{ord(t[0])}", lambda t: "▁" + t, lambda t: "", lambda t: f"<{t}>"],
)
def test_a_server_none_of_whose_tokens_is_a_letter_is_refused_with_what_it_says(
    url, script, spelled
):
    script.tokens = lambda body: [(spelled(text), p) for text, p in LETTERS]
    with pytest.raises(BadInput, match="no option's letter is among the 3") as refusal:
        OpenAIBackend(model(url))
    assert repr(spelled("B")) in str(refusal.value)


def test_halves_of_characters_are_read_past(url, script):
    backend = OpenAIBackend(model(url))
    script.tokens = lambda body: [*LETTERS, ("\ud83d", -8.0)]
    assert backend.score([ASKED])[0].status == "ok"


TOO_LONG = [
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
    "The decoder prompt (length 5120) is longer than the maximum model length of 4096. Make sure "
    "that `max_model_len` is no smaller than the number of text tokens plus multimodal tokens.",
    "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
    "Input length (5000 tokens) exceeds the maximum allowed length (4096 tokens).",
    "the request exceeds the available context size, try increasing it",
    "exceed_context_size_error",
    "input is too large to process. increase the physical batch size (current batch size: 512)",
    "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 1",
    "Input validation error: `inputs` must have less than 4095 tokens. Given: 5000",
    "Prompt length (5000) should not exceed max_input_len (4096)",
    "The sum of prompt length (5000.0), query length (0) and max_tokens (1) should not exceed "
    "max_num_tokens (4096)",
    "prompt too long; exceeded max context length by 12 tokens",
    "the input length exceeds the context length",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "context_length_exceeded",
    "prompt is too long: 208310 tokens > 200000 maximum",
    "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
    "Prompt contains 33000 tokens, too large for model with 32768 maximum context length",
    "too many tokens: total number of tokens in the prompt cannot exceed 4081",
    "Please reduce the length of the messages or completion.",
    "Prompt length 5000 is greater than max_seq_len 4096",
    "input_length 5000 exceeds session_len 4096",
    "Token indices sequence length is longer than the specified maximum sequence length",
    "Requested tokens (5000) exceed context window of 2048",
    "The prompt is 5120 tokens long, more than the limit of 4096 tokens",
]
NOT_TOO_LONG = [
    "aspect ratio must be smaller than 200",
    "top_logprobs must be less than or equal to 20",
    "max_tokens must be greater than 0",
    "max_tokens: must be at least 1 token",
    "the image is too large: 8000 x 8000",
    "input image is too large",
    "Image size exceeds the maximum of 20 MB",
    "At most 0 image(s) may be provided in one prompt.",
    "<html><head><title>413 Request Entity Too Large</title></head></html>",
    "out of range",
    "invalid token",
    "model not found",
]


@pytest.mark.parametrize("said", TOO_LONG)
def test_every_wording_of_a_full_context_is_too_long(url, script, said):
    assert is_about_length(said)
    for code in (400, 500):
        assert scored(url, script, status(code, said))[0].status == "too_long"


@pytest.mark.parametrize("said", NOT_TOO_LONG)
def test_other_refusals_are_no_full_context(said):
    assert not is_about_length(said)


def test_faults_say_what_they_are_in_one_line():
    fault = Fault("server_error", "HTTP 500: oops", "is it up?")
    assert fault.said == "HTTP 500: oops; is it up?"
    assert Fault("timeout", "late", "raise it").said == "late; raise it."
    assert Fault("timeout", "late").said == "late."


def test_questions_are_packed_beside_each_other(url, script):
    """A slow picture holds up no other question's deadline."""
    seen = threading.Barrier(2)
    script.tokens = lambda body: (seen.wait(10) and LETTERS) or LETTERS
    server = Server(model(url, concurrency=2))
    heard = {}
    say = [{"type": "text", "text": "?"}]
    server.ask([lambda: say, lambda: say], {"max_tokens": 1}, heard.__setitem__)
    assert {answer.text for answer in heard.values()} == {"B"}
