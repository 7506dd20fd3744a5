"""A run whose server goes away keeps what it has, and goes on where it was."""

import math
import re

import polars as pl
import pytest
from protocol_server import Script, picture, serving, status, words
from test_run import questions, world  # noqa: F401

from benchc.config.models import OpenAIModel
from benchc.errors import BadInput
from benchc.infer import looks, run
from benchc.infer.journal import listed
from benchc.infer.status import shown as overview
from benchc.models import backends


def by_picture(body: dict) -> list[tuple[str, float]]:
    """Answer by what is seen, so that a mixed-up answer is another answer."""
    share = 0.05 + 0.5 * float(picture(body).mean()) / 255
    letters = "ABCD"[: words(body).count("\n")]
    return [(letter, math.log(share / 2**i)) for i, letter in enumerate(letters)]


def gone():
    """Hang up without an answer."""
    raise ConnectionAbortedError


#: A plain question and four pictures twice; nothing where nothing is to be asked.
TRIAL = 9


def predict(world, url, folder, **more):  # noqa: F811
    settings = OpenAIModel(
        backend="openai", url=url, model="stub", instruction="", retries=0,
        **{"concurrency": 2, **more},
    )  # fmt: skip

    def load():
        backend = backends.load(settings)
        return backend, looks.trial(backend)

    key = backends.model_key(settings, 1)
    return run.predict("stub", settings, load, questions(world), key, run.Part(folder))


def test_a_run_goes_on_where_its_server_went_away(world, tmp_path):  # noqa: F811
    script = Script(by_picture)
    with serving(script) as url:
        whole = predict(world, url, tmp_path / "whole")
        asked = len(script.bodies) - TRIAL
        assert asked == whole.predictions.height

        script.bodies.clear()
        script.tokens = lambda body: by_picture(body) if len(script.bodies) <= 30 else gone()
        with pytest.raises(BadInput, match="What was answered is kept"):
            predict(world, url, tmp_path / "parted", concurrency=1)
        kept = sum(1 for _ in listed("stub", tmp_path / "parted"))
        assert kept == 30 - TRIAL

        script.bodies.clear()
        script.tokens = by_picture
    # Another address is the same model: nothing that was answered is asked again.
    with serving(script) as url:
        parted = predict(world, url, tmp_path / "parted")
        assert len(script.bodies) - TRIAL == asked - kept
    assert parted.predictions.equals(whole.predictions)
    assert len(parted.ran_on) == 1


def test_what_a_run_will_ask_is_said_before_the_first_request(world, tmp_path, capsys):  # noqa: F811
    said = []
    script = Script(lambda body: said.append(capsys.readouterr().err) or by_picture(body))
    with serving(script) as url:
        predict(world, url, tmp_path, concurrency=1)
        asked = script.bodies[TRIAL:]
        (line,) = said[0].strip().splitlines()
        requests, tokens = re.search(
            r"stub: ([\d,]+) requests .* about ([\d,]+) tokens", line
        ).groups()
        assert int(requests.replace(",", "")) == len(asked)
        characters = sum(len(words(body)) for body in asked)
        assert int(tokens.replace(",", "")) == math.ceil(characters / 4)
        predict(world, url, tmp_path)
    assert "requests" not in capsys.readouterr().err


@pytest.fixture
def counted(world, tmp_path):  # noqa: F811
    """Run once on some of the world; then return how many questions another run asks."""
    script = Script(by_picture)
    with serving(script) as url:

        def ask(first, then, **more) -> int:
            predict(first, url, tmp_path)
            script.bodies.clear()
            predict(then, url, tmp_path, **more)
            return max(0, len(script.bodies) - TRIAL)

        yield ask


def changed(world, samples=None, corrupted=None):  # noqa: F811
    return (world[0] if samples is None else samples, world[1],
            world[2] if corrupted is None else corrupted)  # fmt: skip


def test_nothing_is_asked_twice_of_a_server(world, counted):  # noqa: F811
    assert counted(world, world) == 0


def test_another_severity_asks_that_severity_alone(world, counted):  # noqa: F811
    mild = changed(world, corrupted=world[2].filter(pl.col("severity") == 1))
    assert counted(mild, world) == 10 * 2


def test_a_severity_less_asks_nothing(world, counted):  # noqa: F811
    mild = changed(world, corrupted=world[2].filter(pl.col("severity") == 1))
    assert counted(world, mild) == 0


def test_more_samples_ask_what_is_new(world, counted):  # noqa: F811
    fewer = changed(world, samples=world[0].head(8))
    assert counted(fewer, world) == 2 * 6
    assert counted(world, fewer) == 0


def test_another_order_of_options_asks_that_question_alone(world, counted):  # noqa: F811
    turned = world[0].with_columns(
        pl.when(pl.col("sample_id") == "b/4").then(pl.col("options").list.reverse())
        .otherwise(pl.col("options")).alias("options")
    )  # fmt: skip
    assert counted(world, changed(world, samples=turned)) == 6


def test_another_name_of_a_sample_asks_nothing(world, counted):  # noqa: F811
    renamed = world[0].with_columns(pl.col("sample_id") + "-renamed")
    assert counted(world, changed(world, samples=renamed)) == 0


@pytest.mark.parametrize(
    ("more", "asked"),
    [
        ({"temperature": 2.0}, 0), ({"concurrency": 7}, 0), ({"timeout": 9}, 0), ({"shards": 3}, 0),
        ({"top_logprobs": 5}, 60), ({"revision": "b"}, 60), ({"instruction": "Say."}, 60),
        ({"extra_body": {"seed": 1}}, 60),
    ],
)  # fmt: skip
def test_settings_that_decide_no_answer_ask_nothing(world, tmp_path, more, asked):  # noqa: F811
    script = Script(by_picture)
    with serving(script) as url:
        ask = {"instruction": ""}
        predict_with(world, url, tmp_path, ask)
        script.bodies.clear()
        predict_with(world, url, tmp_path, ask | more)
    assert len(script.bodies) == (asked + TRIAL if asked else 0)


def predict_with(world, url, folder, values):  # noqa: F811
    settings = OpenAIModel(backend="openai", url=url, model="stub", retries=0, **values)

    def load():
        backend = backends.load(settings)
        return backend, looks.trial(backend)

    key = backends.model_key(settings, 1)
    return run.predict("stub", settings, load, questions(world), key, run.Part(folder))


@pytest.mark.parametrize("code", [500, 429])
def test_failed_rows_alone_are_asked_again(world, tmp_path, code):  # noqa: F811
    script = Script(by_picture)
    script.fault_of = lambda body: status(code) if "question 3" in words(body) else None
    with serving(script) as url:
        first = predict(world, url, tmp_path, concurrency=1)
        failed = first.predictions.filter(pl.col("status") == "server_error")
        assert set(failed["sample_id"]) == {"b/3"}
        assert (failed.height, first.to_ask_again) == (6, 6)
        assert f"HTTP {code}" in next(iter(first.reasons))
        script.fault_of = lambda body: None
        script.bodies.clear()
        second = predict(world, url, tmp_path)
        assert len(script.bodies) == TRIAL + 6
        assert (second.to_ask_again, second.reasons) == (0, {})
        assert set(second.predictions["status"]) == {"ok"}


def test_a_refusal_is_not_asked_again(world, tmp_path):  # noqa: F811
    script = Script(by_picture)
    script.fault_of = lambda body: status(400) if "question 3" in words(body) else None
    with serving(script) as url:
        assert predict(world, url, tmp_path).to_ask_again == 0
        script.bodies.clear()
        predict(world, url, tmp_path)
    assert not script.bodies


def test_a_server_whose_answers_all_miss_an_option_ends_the_run(world, tmp_path):  # noqa: F811
    def no_b(body):
        plain = words(body).startswith("What")
        others = [(f"x{i}", -9.0) for i in range(20)]
        return [*((t, p) for t, p in by_picture(body) if plain or t != "B"), *others][:20]

    script = Script(no_b)
    with serving(script) as url, pytest.raises(BadInput) as refusal:
        predict(world, url, tmp_path)
    assert "60 of 60 miss option B among 20 tokens" in str(refusal.value)
    assert "raise `top_logprobs`" in str(refusal.value)
    shown = overview("stub", tmp_path)
    assert "missing_option" in shown
    assert "60" in shown
    table = overview("stub", tmp_path, "SELECT count(*) AS n FROM answers WHERE severity = 5")
    assert "20" in table
    with pytest.raises(BadInput, match="--sql"):
        overview("stub", tmp_path, "SELECT * FROM read_text('/etc/passwd')")
