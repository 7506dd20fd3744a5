"""A run whose server goes away keeps what it has, and goes on where it was."""

import math

import pytest
from protocol_server import Script, picture, serving, words
from test_run import questions, world  # noqa: F401

from benchc.errors import BadInput
from benchc.infer import backends, run
from benchc.infer.settings import OpenAIModel


def by_picture(body: dict) -> list[tuple[str, float]]:
    """Answer by what is seen, so that a mixed-up answer is another answer."""
    share = 0.05 + 0.5 * float(picture(body).mean()) / 255
    letters = "ABCD"[: words(body).count("\n")]
    return [(letter, math.log(share / 2**i)) for i, letter in enumerate(letters)]


def gone():
    """Hang up without an answer."""
    raise ConnectionAbortedError


def predict(world, url, folder):  # noqa: F811
    settings = OpenAIModel(
        backend="openai", url=url, model="stub", instruction="", retries=0, concurrency=2
    )
    backend = backends.load(settings)
    key = backends.model_key(settings, 1)
    return run.predict("stub", settings, backend, questions(world), key, run.Part(folder))


def test_a_run_goes_on_where_its_server_went_away(world, tmp_path):  # noqa: F811
    script = Script(by_picture)
    with serving(script) as url:
        whole = predict(world, url, tmp_path / "whole")
        asked = len(script.bodies) - 1
        assert asked == whole.predictions.height

        script.bodies.clear()
        script.tokens = lambda body: by_picture(body) if len(script.bodies) <= 30 else gone()
        with pytest.raises(BadInput, match="Finished chunks are kept"):
            predict(world, url, tmp_path / "parted")
        kept = len(list((tmp_path / "parted").glob("*.parquet")))
        assert kept > 0

        script.bodies.clear()
        script.tokens = by_picture
    # Another address is the same model: nothing finished is asked again.
    with serving(script) as url:
        parted = predict(world, url, tmp_path / "parted")
        assert 0 < len(script.bodies) - 1 < asked
    assert parted.predictions.equals(whole.predictions)
    assert len(parted.ran_on) == 1
