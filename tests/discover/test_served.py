import json
import threading
from collections import deque

import pytest
from protocol_server import Script, cut, garbage, page, serving, status

from benchc.config.discovery import ServedVerifierSettings
from benchc.config.models import OpenAIModel
from benchc.discover.pictures import pictures
from benchc.discover.served import (
    Chat,
    ServedAnswerer,
    ServedVerifier,
    _parsed,
    _Sameness,
    _Verdicts,
)
from benchc.errors import BadInput

SHOWN = list(pictures("test", 1, 1))
GRANTED = {"grammatical": True, "atomic": True, "grounded": True, "objective": True}


def verifier(url, **changes):
    values = {"url": url, "model": "stub", "max_requests": 100, "timeout": 5, "retries": 0}
    return ServedVerifier(ServedVerifierSettings(**{**values, **changes}))


def saying(reply):
    """A script whose every answer is a function of the request's last text."""
    return Script(lambda body: [(reply(body["messages"][0]["content"][-1]["text"]), -0.1)])


def verdict_on(text):
    """Reply to a question by what it says."""
    if "garbage" in text:
        return "I would say it is fine."
    if "yes" in text:
        return json.dumps({**GRANTED, "grounded": "yes", "answer": "3"})
    granted = {**GRANTED, "grounded": "absent" not in text}
    return "The picture shows {a lot}. " + json.dumps(
        {**granted, "answer": "3", "skills": ["Counting "]}
    )


def test_verdicts_are_read_and_what_cannot_be_read_is_a_failure_of_the_verifier():
    questions = ["plain?", "absent?", "garbage?", "yes?"]
    with serving(saying(verdict_on)) as url:
        found = verifier(url).judge(SHOWN * 4, questions)
    assert [j.valid for j in found] == [True, False, False, False]
    assert [j.failure is None for j in found] == [True, True, False, False]
    assert found[0].truth == "3"
    assert found[0].primitives == {"counting"}
    assert found[1].truth is None


def test_answers_are_compared_by_the_server():
    replies = {"<given_answer>\nthree": '{"same": true}', "<given_answer>\nfour": '{"same": false}'}

    def reply(text):
        return next((said for mark, said in replies.items() if mark in text), "no idea")

    asked = [(SHOWN[0], "How many?")] * 3
    with serving(saying(reply)) as url:
        found = verifier(url).compare(asked, ["3"] * 3, ["three", "four", "five"])
    assert found == [True, False, None]


def test_a_model_behind_a_server_answers_each_question_once():
    script = saying(lambda text: " A star. ")
    script.faults = deque([lambda handler: handler.reply(500, {"error": {"message": "oops"}})])
    with serving(script) as url:
        settings = OpenAIModel(
            backend="openai", url=url, model="stub", concurrency=1, timeout=5, retries=0
        )
        chat = Chat(settings, max_tokens=6)
        answerer = ServedAnswerer(chat, "answerer")
        assert answerer.answer(SHOWN * 3, ["What?", "Which?", "Which?"]) == [
            None, "A star.", "A star."]  # fmt: skip
        assert answerer.answer(SHOWN, ["Which?"]) == ["A star."]
    assert len(script.bodies) == 2


def test_a_picture_goes_with_a_question_and_not_with_a_comparison():
    script = saying(lambda text: json.dumps({**GRANTED, "answer": "3", "same": True}))
    with serving(script) as url:
        served = verifier(url)
        served.judge(SHOWN, ["How many?"])
        served.compare([(SHOWN[0], "How many?")], ["3"], ["3"])
    kinds = [[part["type"] for part in body["messages"][0]["content"]] for body in script.bodies]
    assert kinds == [["image_url", "text"], ["text"]]


def test_requests_go_out_together_but_not_too_many():
    three = threading.Barrier(3)

    def reply(text):
        three.wait(timeout=20)
        return json.dumps({**GRANTED, "answer": "3"})

    script = saying(reply)
    with serving(script) as url:
        found = verifier(url, concurrency=3, timeout=60).judge(SHOWN * 6, ["How many?"] * 6)
    assert all(judgement.valid for judgement in found)
    assert script.most_at_once == 3


def test_a_server_error_fails_one_question_and_the_rest_is_kept():
    script = saying(lambda text: json.dumps({**GRANTED, "answer": "3"}))
    script.faults = deque([lambda handler: handler.reply(500, {"error": {"message": "oops"}})])
    with serving(script) as url:
        found = verifier(url, concurrency=1).judge(SHOWN * 2, ["a?", "b?"])
    assert [j.failure for j in found] == ["no reply", None]


def test_a_failed_request_is_tried_again():
    script = saying(lambda text: json.dumps({**GRANTED, "answer": "3"}))
    script.faults = deque([lambda handler: handler.reply(500, {"error": {"message": "oops"}})])
    with serving(script) as url:
        assert verifier(url, retries=1).judge(SHOWN, ["a?"])[0].valid
    assert len(script.bodies) == 2


def test_the_bound_on_requests_ends_the_game_with_the_way_out():
    with serving(saying(verdict_on)) as url:
        served = verifier(url, max_requests=3)
        served.judge(SHOWN * 2, ["a?", "b?"])
        with pytest.raises(BadInput, match="raise `max_requests`"):
            served.judge(SHOWN * 2, ["c?", "d?"])


def test_a_refused_key_and_an_absent_server_are_one_line():
    script = Script(lambda body: [("x", -0.1)], wants_key=True)
    with serving(script) as url, pytest.raises(BadInput, match="does not answer"):
        verifier(url).judge(SHOWN, ["a?"])
    with pytest.raises(BadInput, match="does not answer"):
        verifier("http://127.0.0.1:9/v1").judge(SHOWN, ["a?"])


def test_a_key_that_is_not_set_is_refused():
    with pytest.raises(BadInput, match="NO_SUCH_KEY is not set"):
        verifier("http://127.0.0.1:9/v1", key_variable="NO_SUCH_KEY")


def test_the_last_object_counts_and_its_types_must_fit():
    assert _parsed(_Sameness, '{"same": false} ... {"same": true}').same is True
    assert _parsed(_Sameness, '{"same": "true"}') is None
    assert _parsed(_Sameness, '{"same": 1}') is None
    assert _parsed(_Sameness, None) is None
    assert _parsed(_Verdicts, json.dumps({**GRANTED, "answer": 3})) is None


def test_a_page_or_broken_json_is_asked_again_and_fails_one_question():
    script = saying(lambda text: json.dumps({**GRANTED, "answer": "3"}))
    script.faults = deque([page, garbage, cut])
    with serving(script) as url:
        found = verifier(url, concurrency=1, retries=1).judge(SHOWN * 3, ["a?", "b?", "c?"])
    assert [j.failure for j in found] == ["no reply", None, None]


def test_further_tries_and_earlier_starts_count_towards_the_bound(tmp_path):
    script = saying(verdict_on)
    script.faults = deque([status(500, retry_after_ms="1")] * 4)
    settings = {"model": "stub", "max_requests": 6, "timeout": 5, "concurrency": 1, "retries": 2}
    with serving(script) as url:
        values = ServedVerifierSettings(url=url, **settings)
        first = ServedVerifier(values, tmp_path / "requests")
        assert [j.failure is None for j in first.judge(SHOWN * 2, ["a?", "b?"])] == [False, True]
        assert first.chat.server.sent == len(script.bodies) == 5
        again = ServedVerifier(values, tmp_path / "requests")
        with pytest.raises(BadInput, match="5 requests were sent, and 2 more would pass"):
            again.judge(SHOWN * 2, ["c?", "d?"])
        script.faults = deque([status(500, retry_after_ms="1")] * 4)
        with pytest.raises(BadInput, match="6 requests were sent"):
            again.judge(SHOWN, ["c?"])
    assert len(script.bodies) == 6


def test_silence_for_long_ends_the_game():
    script = saying(verdict_on)
    script.faults = deque([page] * 20)
    with serving(script) as url, pytest.raises(BadInput, match="8 messages in a row got no reply"):
        verifier(url, concurrency=2).judge(SHOWN * 20, ["a?"] * 20)
    assert len(script.bodies) < 20
