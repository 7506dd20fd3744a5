"""`benchc check` shows how a model is asked, and fails where a batch changes its answers."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from asked import questions
from typer.testing import CliRunner

from benchc.cli import app
from benchc.config.models import OpenAIModel, TransformersModel
from benchc.errors import BadInput
from benchc.infer.check import Sample, check, compared, listed
from benchc.models.scores import Explanation, Score

PROJECT = Path(__file__).parents[2]
SETTINGS = TransformersModel(path="x", least_option_mass=0)


@pytest.fixture
def samples():
    return [Sample(f"b/{i}", question) for i, question in enumerate(questions(9))]


def test_it_shows_three_samples_and_a_verdict(backend, samples):
    lines = list(check("mine", SETTINGS, backend, samples))
    page = "\n".join(lines)
    assert [line for line in lines if line.startswith("sample ")] == [
        f"sample b/{i}: a picture of 224 x {height}" for i, height in ((0, 60), (3, 60), (6, 60))
    ]
    assert "    | A. " in page
    assert page.count("  ids: '") == 3
    assert page.count("['A']") == page.count("likeliest next tokens") == 3
    assert "batch_size 8" in page
    assert "0 answers change\n" in page
    assert "asked twice by 0: looks" in page
    assert lines[-1] == "mine: fine"


@pytest.mark.parametrize("status", ["missing_option", "too_long", "unreadable_option"])
def test_it_is_not_fine_where_nothing_was_answered(samples, status):
    class Mute(Drifting):
        def score(self, questions):
            return [Score(None, None, status, ("are like this",)) for _ in questions]

    said = []
    with pytest.raises(BadInput, match="mine: none of the questions was answered: 9 of 9 are like"):
        said.extend(check("mine", SETTINGS, Mute(), samples))
    assert f"not answered: 9 {status}" in said
    assert "mine: NOT FINE" in said
    assert "mine: fine" not in said


def test_ids_in_a_row_are_counted_and_the_middle_is_left_out():
    assert listed([("<s>", 1), ("<s>", 1), ("A", 5)]) == "'<s>' 1 x 2, 'A' 5"
    many = listed([(f"t{i}", i) for i in range(100)])
    assert many.startswith("'t0' 0, 't1' 1")
    assert many.endswith("'t99' 99")
    assert many.count(", ") == 16


def test_a_batch_that_changes_answers_is_an_error(backend, samples, monkeypatch):
    encode = backend.encoder.encode

    def unmasked(batch):
        inputs = encode(batch)
        return {**inputs, "attention_mask": torch.ones_like(inputs["attention_mask"])}

    monkeypatch.setattr(backend.encoder, "encode", unmasked)
    said = []
    with pytest.raises(BadInput, match="what shares a batch changes its answers"):
        said.extend(check("mine", SETTINGS, backend, samples))


class Drifting:
    """Stands for a server whose answers depend on what else is on its way."""

    def score(self, questions):
        return [Score((float(len(questions) > 1), 0.0), 1.0) for _ in questions]

    def explain(self, question):
        return Explanation("?", None, ("A", "B"), (("A", 1.0),))

    def ran_on(self):
        return {"server": "drifting"}


def test_a_server_that_mixes_requests_is_an_error_with_its_own_way_out(samples):
    settings = OpenAIModel(backend="openai", url="http://localhost:1/v1", model="m")
    two = [Sample(s.sample_id, replace(s.question, options=("red", "blue"))) for s in samples]
    with pytest.raises(BadInput, match="use `concurrency: 1`"):
        list(check("mine", settings, Drifting(), two))


def test_readings_are_compared_by_probability():
    sure, unsure = Score((5.0, 0.0), 1.0), Score((0.0, 0.0), 1.0)
    failed = Score(None, None, "too_long")
    assert compared([sure], [sure]) == (0, 0)
    assert compared([sure], [unsure])[0] == pytest.approx(0.4933, abs=1e-4)
    assert compared([sure], [Score((0.0, 5.0), 1.0)])[1] == 1
    assert compared([failed], [failed]) == (0, 0)
    assert compared([failed], [sure]) == (1, 0)


def test_the_command_needs_no_run_before_it(tmp_path):
    asked = ["check", "llava", "--count", "2", "--project", str(PROJECT)]
    done = CliRunner().invoke(app, [*asked, "--results", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "likeliest next tokens" in done.output


def test_an_unknown_key_is_one_line():
    done = CliRunner().invoke(app, ["check", "lava", "--project", str(PROJECT)])
    assert isinstance(done.exception, BadInput)
    assert "no model 'lava' in the config; there are llava" in str(done.exception)
