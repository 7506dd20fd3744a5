"""A model that answers from the words alone is found; one that looks is let be."""

import math
import zlib

import numpy as np
import polars as pl
import pytest
from protocol_server import Script, picture, serving, words

from benchc.config.models import OpenAIModel
from benchc.errors import BadInput
from benchc.infer import looks
from benchc.models.openai_backend import OpenAIBackend
from benchc.models.scores import Score
from benchc.tables import PREDICTIONS


class Model:
    """Answers by words, and by the picture as far as it is told to; some say it with noise."""

    def __init__(self, sight: float, noise: float = 0.0, seed: int = 0):
        self.sight, self.noise = sight, noise
        self.random = np.random.default_rng(seed)

    def logits(self, question):
        prior = [zlib.crc32(option.encode()) % 100 / 25 for option in question.options]
        seen = question.image.reshape(-1, 3).mean(0) / 30
        return tuple(
            p + self.sight * seen[i % 3] + self.noise * self.random.normal()
            for i, p in enumerate(prior)
        )

    def score(self, questions):
        return [Score(self.logits(question), 0.9) for question in questions]


def pairs(count: int, change) -> pl.DataFrame:
    """Return predictions of clean and blank pictures that differ by what `change` says."""
    rows = [
        {
            "model": "m", "sample_id": f"b/{i}", "corruption": name, "severity": 0,
            "scoring": "letter", "temperature": 1.0, "logits": [1.0, change(i) * (name == "blank")],
            "p": [0.5, 0.5], "top1": 0, "is_tie": False, "option_mass": 0.9, "status": "ok",
        }
        for i in range(count) for name in ("clean", "blank")
    ]  # fmt: skip
    return PREDICTIONS.conform(PREDICTIONS.from_rows(rows))


@pytest.mark.parametrize("sight", [1.0, 0.01, 1e-4])
def test_a_model_that_looks_passes_however_little_it_sees(sight):
    seen = looks.trial(Model(sight))
    assert seen.verdict == looks.LOOKS
    seen.refuse_blindness("m")


def test_a_model_of_words_alone_is_refused_by_name():
    seen = looks.trial(Model(0.0))
    assert (seen.between, seen.repeat) == (0.0, 0.0)
    with pytest.raises(BadInput, match="words-only: it does not look at pictures") as refusal:
        seen.refuse_blindness("words-only")
    assert "\n" not in str(refusal.value)


def test_noise_is_not_taken_for_sight_nor_sight_for_noise():
    blind = [looks.trial(Model(0.0, noise=0.1, seed=seed)).verdict for seed in range(200)]
    assert blind.count(looks.LOOKS) <= 4
    honest = [looks.trial(Model(1.0, noise=0.02, seed=seed)).verdict for seed in range(200)]
    assert honest.count(looks.DOES_NOT) == 0
    assert honest.count(looks.LOOKS) >= 190


def test_the_answers_of_the_trial_differ_and_no_place_tells_them():
    assert len(set(looks._ANSWERS)) == len(looks._ANSWERS) >= 4
    for order in looks._ORDERS:
        assert sorted(order) == list(range(len(looks._ANSWERS)))
        assert all(place != number for number, place in enumerate(order))
    colours = [looks._question(place).image[112, 112].tolist() for place in range(4)]
    assert len(set(map(tuple, colours))) == 4


@pytest.mark.parametrize(
    "score",
    [
        Score(None, None, "too_long"),
        # Bounds in place of logits are alike because the server says too little.
        Score((-0.01, -0.01, -0.01, -0.01), 0.9, "missing_option"),
        Score((math.nan,) * 4, 0.9),
    ],
)
def test_unanswered_pictures_measure_nothing(score):
    class Mute:
        def score(self, questions):
            return [score for _ in questions]

    seen = looks.trial(Mute())
    assert seen.verdict == looks.UNKNOWN
    seen.refuse_blindness("m")
    assert looks.measured(pairs(0, float), seen).verdict == looks.UNKNOWN


def test_a_whole_run_tells_who_moved():
    sure = looks.Trial(3.0, 0.0)
    all_alike = looks.measured(pairs(40, lambda i: 0.0), sure)
    assert all_alike.record() == {
        "pairs": 40, "moved": 0, "spread_between": 0.0, "spread_repeat": 0.0,
        "verdict": "does not look",
    }  # fmt: skip
    few = looks.measured(pairs(40, lambda i: float(i == 7)), sure)
    assert (few.moved, few.verdict) == (1, "hardly looks")
    # Questions that need no picture: little moves, yet more than the same picture asked twice.
    little = looks.measured(pairs(40, lambda i: 1e-4 * (1 + i)), sure)
    assert (little.moved, little.verdict) == (40, "looks")
    noisy = looks.measured(pairs(40, lambda i: 0.1), looks.Trial(0.5, 0.1))
    assert (noisy.moved, noisy.verdict) == (0, "does not look")


def test_shards_are_judged_together():
    parts = [looks.measured(pairs(5, lambda i: 0.0), looks.Trial(3.0, r)).record() for r in (0, 1)]
    whole = looks.merged(parts, pairs(9, lambda i: 6.0 if i else 0.0))
    assert (whole.pairs, whole.moved, whole.spread_repeat) == (9, 8, 1.0)


def tokens(body, sees: bool):
    text = words(body) + (str(picture(body).mean()) if sees else "")
    letters = "ABCDEF"[: words(body).count("\n")]
    raw = [1 + zlib.crc32((text + letter).encode()) % 1000 for letter in letters]
    return [(letter, math.log(0.9 * r / sum(raw))) for letter, r in zip(letters, raw, strict=True)]


@pytest.mark.parametrize("sees", [True, False])
def test_a_server_that_drops_the_picture_is_told_from_one_that_does_not(sees):
    with serving(Script(lambda body: tokens(body, sees))) as url:
        backend = OpenAIBackend(OpenAIModel(backend="openai", url=url, model="stub"))
        assert looks.trial(backend).verdict == (looks.LOOKS if sees else looks.DOES_NOT)
