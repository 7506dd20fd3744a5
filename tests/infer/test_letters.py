"""A model whose letters hold next to nothing is refused, or named, unless a setting allows it."""

import pytest

from benchc.config.models import OpenAIModel, TransformersModel
from benchc.errors import BadInput
from benchc.infer import looks
from benchc.infer.check import check, drawn_samples
from benchc.infer.letters import median_mass, refuse_other_words
from benchc.models.scores import Score

LOCAL = {"path": "somewhere"}
SERVED = {"backend": "openai", "url": "http://localhost/v1", "model": "m"}


def settings(served, **changes):
    return OpenAIModel(**SERVED, **changes) if served else TransformersModel(**LOCAL, **changes)


@pytest.mark.parametrize("served", [False, True])
@pytest.mark.parametrize(
    ("mass", "least", "comes"),
    [
        (0.05, 0.1, "refused"),
        (0.0, 0.1, "refused"),
        (0.05, 0.0, "warned"),
        (0.1, 0.1, "warned"),
        (0.3, 0.1, "warned"),
        (0.5, 0.1, None),
        (0.9, 0.95, "refused"),
        (None, 0.1, None),
    ],
)
def test_what_letters_hold_decides(served, mass, least, comes):
    asked = settings(served, least_option_mass=least)
    if comes == "refused":
        with pytest.raises(BadInput, match=r"less than `least_option_mass: .*allow it with"):
            refuse_other_words("m", asked, mass)
        return
    warning = refuse_other_words("m", asked, mass)
    assert (warning is not None) == (comes == "warned")


def test_the_median_counts_and_not_one_question():
    scores = [Score((1.0, 2.0), mass) for mass in (0.01, 0.9, 0.8)] + [Score(None, None, "x")]
    assert median_mass(scores) == 0.8
    assert median_mass(scores[3:]) is None


def test_the_limit_changes_no_result():
    kept = [settings(served, least_option_mass=0.2).result_settings() for served in (0, 1)]
    assert kept == [settings(served).result_settings() for served in (0, 1)]


def test_the_trial_measures_it_and_check_is_not_fine(backend_of):
    backend = backend_of("qwen2_vl")
    assert 0 < looks.trial(backend).option_mass < 0.1
    samples = drawn_samples(2)
    with pytest.raises(BadInput, match="least_option_mass"):
        list(check("m", backend.settings, backend, samples))
    allowed = backend.settings.model_copy(update={"least_option_mass": 0.0})
    lines = list(check("m", allowed, backend, samples))
    assert lines[-1] == "m: fine"
    assert "would not answer with a letter" in lines[-2]
