"""Options are read from what a server returns, its faults are outlived, its lies refused."""

import json
import math
import threading
from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from protocol_server import KEY, Script, cut, page, picture, serving, status, words
from pydantic import TypeAdapter, ValidationError
from scipy.special import log_softmax, softmax

from benchc.config.models import Model, OpenAIModel
from benchc.errors import BadInput
from benchc.models import backends
from benchc.models.openai_backend import OpenAIBackend, read_letters
from benchc.models.scores import Question, prediction_columns

LETTERS = [("B", math.log(0.6)), ("A", math.log(0.3)), ("The", math.log(0.05)), ("C", -4.0)]
RANDOM = np.random.default_rng(5)
ASKED = Question(
    RANDOM.integers(0, 256, (37, 53, 3), dtype=np.uint8), "What is it?", ("one", "two")
)


def settings(url: str, **more) -> OpenAIModel:
    return OpenAIModel(backend="openai", url=url, model="stub", **more)


@pytest.fixture
def script():
    return Script(lambda body: LETTERS)


@pytest.fixture
def url(script):
    with serving(script) as address:
        yield address


@pytest.fixture
def waits(monkeypatch):
    """Take the client's waiting for its word instead of waiting."""
    seconds = []

    async def note(delay):
        seconds.append(delay)

    monkeypatch.setattr("openai._base_client.anyio.sleep", note)
    return seconds


def test_options_are_the_log_probabilities_of_their_letters(url):
    score = OpenAIBackend(settings(url)).score([ASKED])[0]
    assert score.status == "ok"
    assert score.logits == (math.log(0.3), math.log(0.6))
    assert score.option_mass == pytest.approx(0.9)
    row = prediction_columns(score, 1.0)
    assert row["p"] == pytest.approx([1 / 3, 2 / 3])
    assert row["top1"] == 1


def test_a_server_gets_the_very_pixels_and_the_words_every_model_gets(url, script):
    OpenAIBackend(settings(url, instruction="Say a letter.")).score([ASKED])
    body = script.bodies[-1]
    np.testing.assert_array_equal(picture(body), ASKED.image)
    assert words(body) == "What is it?\nA. one\nB. two\nSay a letter."
    wanted = {
        "model": "stub", "max_tokens": 1, "temperature": 1, "top_p": 1, "logprobs": True,
        "top_logprobs": 20,
    }  # fmt: skip
    assert {name: body[name] for name in wanted} == wanted


def test_further_fields_go_with_each_request(url, script):
    extra = {"chat_template_kwargs": {"enable_thinking": False}}
    OpenAIBackend(settings(url, extra_body=extra)).score([ASKED])
    assert all(body["chat_template_kwargs"] == {"enable_thinking": False} for body in script.bodies)


def test_an_option_that_is_not_returned_has_a_bound_and_no_probability(url):
    asked = Question(ASKED.image, "What is it?", ("one", "two", "three", "four"))
    score = OpenAIBackend(settings(url)).score([asked])[0]
    assert score.status == "missing_option"
    assert score.logits == (math.log(0.3), math.log(0.6), -4.0, -4.0)
    row = prediction_columns(score, 1.0)
    assert row["logits"] == list(score.logits)
    assert row["option_mass"] == pytest.approx(0.9 + math.exp(-4))
    assert [row[name] for name in ("p", "top1", "is_tie")] == [None] * 3
    assert row["status"] == "missing_option"


def test_one_spelling_counts_and_the_likelier_of_two_alike():
    tokens = [("A", -1.0), (" A", -1.1), ("A", -2.0), ("a", -2.1), ("B", -3.0), ("А", -3.1)]
    assert read_letters(tokens, 2, "").logits == (-1.0, -3.0)
    assert read_letters(tokens, 2, " ").status == "missing_option"


def test_a_drawn_token_that_is_returned_as_one_more_is_left_out(url, script):
    script.tokens = lambda body: [("B", -3.0), ("A", -0.2), ("x", -2.2)]
    score = OpenAIBackend(settings(url, top_logprobs=2)).score([ASKED])[0]
    assert (score.status, score.logits) == ("missing_option", (-0.2, -2.2))


@given(st.lists(st.floats(-30, 30), min_size=8, max_size=40), st.integers(2, 6), st.data())
def test_what_is_read_agrees_with_the_whole_distribution(logits, options, data):
    """The oracle knows every token; the server returns the likeliest few of them."""
    whole = log_softmax(np.array(logits))
    names = ["A", "B", "C", "D", "E", "F", *(f"t{i}" for i in range(6, len(whole)))]
    kept = data.draw(st.integers(2, len(whole)))
    order = np.argsort(-whole, kind="stable")[:kept]
    score = read_letters([(names[i], float(whole[i])) for i in order], options, "")
    true = whole[:options]
    assert (np.array(score.logits) >= true).all()
    if score.status == "ok":
        np.testing.assert_allclose(softmax(score.logits), softmax(logits[:options]), atol=1e-9)
        assert score.option_mass == pytest.approx(np.exp(true).sum(), abs=1e-9)
    else:
        assert not set(range(options)) <= set(order.tolist())
        assert score.option_mass <= np.exp(true).sum() + 1e-9


def test_logits_that_are_no_numbers_are_a_status(url, script):
    backend = OpenAIBackend(settings(url))
    script.tokens = lambda body: [("A", math.nan), ("B", math.nan)]
    assert backend.score([ASKED])[0].status == "nonfinite_logits"


def test_words_that_a_server_would_take_for_a_picture_are_not_sent(url, script):
    backend = OpenAIBackend(settings(url))
    before = len(script.bodies)
    asked = [
        Question(ASKED.image, "What does <|image_pad|> mean?", ("one", "two")),
        Question(ASKED.image, "Which tag?", ("<image>", "two")),
    ]
    assert [score.status for score in backend.score(asked)] == ["reserved_token"] * 2
    assert len(script.bodies) == before


def test_passing_faults_are_outlived(url, script, waits):
    backend = OpenAIBackend(settings(url, concurrency=1))
    script.faults = deque([status(429, Retry_After="7"), status(500), cut, status(503)])
    assert backend.score([ASKED])[0].status == "ok"
    assert waits[0] == 7
    assert len(waits) == 4
    # Without the server's word each wait is longer than the one before: 1, 2, 4 s less a quarter.
    assert waits[1] < waits[2] < waits[3] <= 4


def test_retries_end(url, script, waits):
    backend = OpenAIBackend(settings(url, retries=3))
    script.faults = deque([status(429)] * 40)
    with pytest.raises(BadInput, match=r"HTTP 429.*too busy.*What was answered is kept"):
        backend.score([ASKED])
    # The question, then the plain one, which is tried less often.
    assert len(waits) == 3 + 2


def test_a_question_that_the_server_fails_is_a_row_and_the_rest_are_answered(url, script, waits):
    backend = OpenAIBackend(settings(url, concurrency=1, retries=1))
    script.faults = deque(
        [
            status(400, "This model's maximum context length is 4096 tokens."),
            status(422, "aspect ratio must be smaller than 200"),
            *[status(500, "out of range")] * 2,
        ]
    )
    scores = backend.score([ASKED] * 4)
    wanted = ["too_long", "server_refused", "server_error", "ok"]
    assert [score.status for score in scores] == wanted
    assert "HTTP 422: aspect ratio" in scores[1].reasons[0]
    assert "HTTP 500: out of range" in scores[2].reasons[0]


def test_a_server_that_fails_everything_ends_the_run(url, script, waits):
    backend = OpenAIBackend(settings(url, retries=1))
    script.faults = deque([status(500, "CUDA error")] * 50)
    with pytest.raises(BadInput, match="CUDA error"):
        backend.score([ASKED] * 3)


def test_a_server_that_hangs_is_not_waited_for(url, script):
    backend = OpenAIBackend(settings(url, retries=0, timeout=0.2))
    done = threading.Event()
    script.fault_of = lambda body: lambda handler: done.wait(10)
    try:
        with pytest.raises(BadInput, match=r"no whole answer within 0\.2 s"):
            backend.score([ASKED])
    finally:
        done.set()


def test_requests_share_the_server_and_keep_to_the_bound(url, script):
    both = threading.Barrier(3)

    def tokens(body):
        if "together" in words(body):
            both.wait(10)
        return LETTERS

    script.tokens = tokens
    asked = [Question(ASKED.image, "together?", ("one", "two"))] * 9
    scores = OpenAIBackend(settings(url, concurrency=3)).score(asked)
    assert [score.status for score in scores] == ["ok"] * 9
    assert script.most_at_once == 3


def test_answers_come_back_in_the_order_of_the_questions(url, script):
    script.tokens = lambda body: [("A", -float(picture(body)[0, 0, 0]) / 100 - 0.01), ("B", -9.0)]
    asked = [
        Question(np.full((8, 8, 3), i, np.uint8), "What is it?", ("one", "two")) for i in range(40)
    ]
    scores = OpenAIBackend(settings(url, concurrency=8)).score(asked)
    assert [score.logits[0] for score in scores] == [-i / 100 - 0.01 for i in range(40)]


@pytest.mark.parametrize(
    ("change", "more", "says"),
    [
        ({"logprobs": False}, {}, "an answer without log-probabilities"),
        ({"tokens": lambda body: [("A", 12.0), ("B", 9.5)]}, {}, "are no log-probabilities"),
        ({"tokens": lambda body: [("A", -0.1), ("B", -0.2)]}, {}, "are no log-probabilities"),
        ({"wants_key": True}, {}, "refuses the key"),
        ({"faults": deque([status(403)])}, {}, "HTTP 403: on purpose; it refuses the key"),
        ({"faults": deque([status(404)])}, {}, "the url ends in /v1 on most servers"),
        (
            {"faults": deque([status(500, "no mmproj")] * 3)},
            {},
            "with a picture: HTTP 500: no mmproj",
        ),
        ({"faults": deque([status(400, "top_logprobs > 20")])}, {}, "top_logprobs > 20"),
        ({"faults": deque([page] * 3)}, {}, "no JSON; it begins '<html>Welcome</html>'; is it"),
        ({"tokens": lambda b: [(" A", -0.2), (" B", -2.0), ("A", -5.0)]}, {}, "label_prefix: ' '"),
        ({}, {"label_prefix": " "}, "set `label_prefix: ''`"),
        ({}, {"key_variable": "BENCHC_TEST_UNSET"}, "variable BENCHC_TEST_UNSET is not set"),
    ],
)
def test_a_server_that_cannot_be_used_is_refused_at_start(url, script, waits, change, more, says):
    for name, value in change.items():
        setattr(script, name, value)
    with pytest.raises(BadInput) as refusal:
        OpenAIBackend(settings(url, **more))
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_nobody_there_is_refused_at_start(waits):
    with pytest.raises(BadInput, match=r"does not answer.*is it up"):
        OpenAIBackend(settings("http://127.0.0.1:9/v1"))


def test_the_key_is_used_and_never_told(url, script, monkeypatch):
    monkeypatch.setenv("A_SERVERS_KEY", KEY)
    script.wants_key = True
    backend = OpenAIBackend(settings(url, key_variable="A_SERVERS_KEY"))
    assert backend.score([ASKED])[0].status == "ok"
    script.faults.append(status(400, f"the key {KEY} may not ask this"))
    refused = backend.score([ASKED])[0]
    assert refused.status == "server_refused"
    told = json.dumps([*refused.reasons, backend.ran_on(), backend.settings.result_settings()])
    assert "*** may not ask" in told
    assert KEY not in told
    # At the end of what is kept of a reason, so that half of it would be left.
    for before in range(270, 300):
        script.faults.append(status(400, "x" * before + KEY))
        assert KEY[:3] not in backend.score([ASKED])[0].reasons[0]
    script.fault_of = lambda body: status(403, f"the key {KEY} is barred")
    with pytest.raises(BadInput, match=r"\*\*\* is barred") as refusal:
        backend.score([ASKED])
    assert KEY not in str(refusal.value)


def test_another_servers_key_is_not_sent(url, script, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    script.wants_key = True
    with pytest.raises(BadInput, match="refuses the key"):
        OpenAIBackend(settings(url))


def test_what_the_server_says_of_itself_is_kept_without_what_passes(url, script):
    first = OpenAIBackend(settings(url)).ran_on()
    script.models["data"][0]["created"] = 1
    second = OpenAIBackend(settings(url)).ran_on()
    assert first == second
    assert first["server"]["models"] == [{"id": "stub", "object": "model", "owned_by": "tests"}]


def test_where_a_server_is_and_how_fast_it_is_asked_changes_no_fingerprint():
    one = settings("http://one:8000/v1", concurrency=1, timeout=3, retries=0)
    other = settings("http://other:9000/v1", key_variable="KEY")
    assert backends.model_key(one, 1) == backends.model_key(other, 1)
    for change in ({"revision": "b"}, {"top_logprobs": 9}, {"label_prefix": " "}):
        assert backends.model_key(settings("http://one:8000/v1", **change), 1) != (
            backends.model_key(one, 1)
        )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"scoring": "text"}, "use `scoring: letter`"),
        ({"url": "localhost:8000"}, "write a whole address"),
        ({"url": "http://me:secret@host/v1"}, "leave keys out of the address"),
        ({"extra_body": {"temperature": 0}}, "temperature: set by benchc itself"),
        ({"extra_body": {"api_key": "k-12345678"}}, "api_key: a key in a config would be shown"),
        ({"extra_body": {"a": [{"Authorization": "k-12345678"}]}}, "Authorization: a key in a"),
        ({"extra_body": {"route": {"x-api-key": "k-12345678"}}}, "x-api-key: a key in a config"),
        ({"backend": "opena"}, "backend is `transformers` or `openai`"),
    ],
)
def test_settings_that_cannot_work_are_refused(change, says):
    values = {"backend": "openai", "url": "http://host/v1", "model": "m", **change}
    with pytest.raises(ValidationError) as refusal:
        TypeAdapter(Model).validate_python(values)
    assert says in str(refusal.value)
