"""A chat template writes the same in every run, and opens no thought in front of the reply."""

import datetime
import json
import shutil

import pytest
import transformers.utils.chat_template_utils as hub
from asked import questions
from families import load
from transformers.utils.chat_template_utils import render_jinja_template

from benchc.config.models import TransformersModel
from benchc.errors import BadInput
from benchc.models import template
from benchc.models.transformers_backend import TransformersBackend

DAY = datetime.date(2026, 1, 2)
HEADER = "<|im_start|>assistant\n"


def rendered(text, day=DAY):
    messages = [[{"role": "user", "content": "hello"}]]
    return render_jinja_template(messages, chat_template=template.settle(text, day))[0][0]


class Later(datetime.datetime):
    """A clock that has gone on since the last run."""

    @classmethod
    def now(cls, tz=None):
        return cls(2031, 7, 8, 9, 10, 11)


@pytest.fixture(autouse=True)
def _another_day(monkeypatch):
    monkeypatch.setattr(hub, "datetime", Later)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("{{ strftime_now('%d %B %Y') }}", "02 January 2026"),
        ("{{ strftime_now(format='%Y-%m-%d') }}", "2026-01-02"),
        ("{% set form = '%d %b' %}{{ strftime_now(form ~ ' %Y') }}", "02 Jan 2026"),
        ("{{ strftime_now('%-d/%-m/%y, %H:%M:%S %A') }}", "2/1/26, 00:00:00 Friday"),
        ("{% if strftime_now is defined %}{{ strftime_now('%Y') | int + 1 }}{% endif %}", "2027"),
        ("{% macro day() %}{{ strftime_now('%d') }}{% endmacro %}{{ day() }}", "02"),
        (
            "{% set today = strftime_now('%d') %}{% for m in messages %}{{ today }}{% endfor %}",
            "02",
        ),
        (
            "  {%- set x = 1 %}\n  {% if x %}\n{{ strftime_now('100 %%') }}\n{% endif %}\n",
            "100 %\n",
        ),
    ],
)
def test_a_template_is_told_the_day_of_the_run(written, said):
    if "100" in written:
        with pytest.raises(Exception, match="unknown form"):
            rendered(written)
        return
    assert rendered(written) == said
    assert rendered(written, datetime.date(2027, 5, 6)) != said


@pytest.mark.parametrize(
    "written",
    [
        "\n{{ messages[0].content }}\n\n",
        "  {% if true %}\n  a\n  {% endif %}\n b",
        "{%- if true -%} a {%- endif -%} b",
        "\n\n  {# a remark #}\nb",
        "{{ messages[0].content }}",
    ],
)
def test_nothing_else_of_a_template_changes(written):
    plain = render_jinja_template([[{"role": "user", "content": "hello"}]], chat_template=written)
    marked = written + "{{ '' if strftime_now is defined or thinking else '' }}"
    assert rendered(marked) == plain[0][0] + ("\n" if written.endswith("\n") else "")
    begun = template.beginning_with("<s>", written)
    found = render_jinja_template([[{"role": "user", "content": "hello"}]], chat_template=begun)
    assert found[0][0] == "<s>" + plain[0][0]


@pytest.mark.parametrize(
    "written",
    [
        "{{ [1, 2] | random }}",
        "{{ ['a', 'b'] | map('random') | join }}",
        "{{ lipsum(n=1) }}",
    ],
)
def test_a_template_that_draws_at_random_is_refused(written):
    with pytest.raises(BadInput, match="draws at random"):
        template.settle(written, DAY)


def dated(checkpoint, folder, start):
    shutil.copytree(checkpoint, folder)
    place = folder / "chat_template.jinja"
    place.write_text(start + place.read_text())
    return folder


def test_the_date_of_the_run_decides_and_is_recorded(checkpoint_of, tmp_path, monkeypatch):
    start = "The date is {{ strftime_now('%d %B %Y') }}.\n"
    folder = dated(checkpoint_of("qwen2_vl"), tmp_path / "dated", start)
    asked = questions(3)
    one = load(folder, "qwen2_vl")
    first = one.score(asked)
    assert "The date is 01 January 2026." in one.encoder.rendered(asked[0])
    monkeypatch.setattr(hub, "datetime", datetime.datetime)
    assert load(folder, "qwen2_vl").score(asked) == first
    other = load(folder, "qwen2_vl", date="2026-03-02")
    assert other.score(asked) != first
    settings = [b.settings.result_settings() for b in (one, other)]
    assert [s["date"] for s in settings] == ["2026-01-01", "2026-03-02"]
    assert "02 March" not in one.facts()["chat_template"]
    json.dumps(other.facts())


def test_a_template_that_writes_an_address_is_refused(checkpoint_of, tmp_path):
    folder = dated(checkpoint_of("qwen2_vl"), tmp_path / "address", "{{ raise_exception }}")
    with pytest.raises(BadInput, match="which differs from run to run"):
        TransformersBackend(TransformersModel(path=str(folder)))


# Thoughts.


def finished(prompt, reply="Zebra", end="<|im_end|>\n", header=HEADER):
    return prompt + header + reply + end


@pytest.mark.parametrize(
    ("opening", "answered"),
    [
        ("<think>\n", ""),
        ("<think>\n", "<think>\n\n</think>\n\n"),
        ("[THINK]", ""),
        ("◁think▷", ""),
        ("<|START_THINKING|>", "<|START_THINKING|><|END_THINKING|>"),
        ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
        ("<|channel>thought\n", ""),
        ("<scratchpad>", ""),
        ("<seed:think>", ""),
        ("<reasoning>\n", None),
        ("Thought:", ""),
        ("Let me think step by step. ", ""),
    ],
)
def test_an_open_thought_is_found(opening, answered):
    words = "<|im_start|>user\nWhat?<|im_end|>\n"
    prompt = words + HEADER + opening
    whole = None if answered is None else finished(words, answered + "Zebra")
    assert template.opened_thought(prompt, whole, prompt.partition("What?")[2])


@pytest.mark.parametrize(
    ("opening", "answered"),
    [
        ("", ""),
        ("<think>\n\n</think>\n\n", ""),
        ("<think>\n\n</think>\n\n", "<think>\n\n</think>\n\n"),
        ("[THINK][/THINK]", ""),
        ("<|START_THINKING|><|END_THINKING|>", None),
        ("<|channel>thought\n<channel|>", ""),
        ("<|channel|>final<|message|>", ""),
        ("<think></think><answer>", ""),
        ("<|START_RESPONSE|>", ""),
        ("\n", ""),
        ("", None),
    ],
)
def test_a_closed_thought_and_none_pass(opening, answered):
    words = "<|im_start|>user\nWhat?<|im_end|>\n"
    prompt = words + HEADER + opening
    whole = None if answered is None else finished(words, answered + "Zebra")
    assert template.opened_thought(prompt, whole, prompt.partition("What?")[2]) is None


@pytest.mark.parametrize("header", ["<start_of_turn>model\n", "<|bot|>\n", "[BOT]", "ASSISTANT: "])
def test_another_name_of_the_assistant_is_no_thought(header):
    words = "<start_of_turn>user\nWhat?<end_of_turn>\n"
    whole = finished(words, header="<start_of_turn>assistant\n")
    assert (
        template.opened_thought(words + header, whole, words.partition("What?")[2] + header) is None
    )


@pytest.mark.parametrize("opening", ["<think>\n", "[THINK]", "<|channel|>analysis<|message|>"])
def test_a_template_that_opens_a_thought_is_refused(checkpoint_of, tmp_path, opening):
    folder = dated(checkpoint_of("qwen2_vl"), tmp_path / "thinking", "")
    place = folder / "chat_template.jinja"
    place.write_text(place.read_text().replace("assistant\n", "assistant\n" + opening))
    (folder / "model.safetensors").unlink()
    with pytest.raises(BadInput, match="opens a thought"):
        TransformersBackend(TransformersModel(path=str(folder)))
