"""A checkpoint that never ends, takes all memory or panics is refused in one line, and soon."""

import json
import os
import resource
import shutil
import signal
import time
from pathlib import Path

import pytest
from asked import questions
from families import load

from benchc.config.models import TransformersModel
from benchc.errors import BadInput
from benchc.infer.command import check_model
from benchc.models import contained, encode, preflight
from benchc.models.encode import Encoder

PROJECT = Path(__file__).parents[2]
REFERENCE = PROJECT / "reference"


@pytest.fixture
def copy(checkpoint_of, tmp_path):
    folder = tmp_path / "checkpoint"
    shutil.copytree(checkpoint_of("qwen2_vl"), folder)
    return folder


def changed(file, change):
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(content))


def a_template(text):
    def damage(folder):
        (folder / "chat_template.jinja").write_text(text)

    return damage


def a_config(part, **values):
    def damage(folder):
        def change(c):
            c[part].pop("layer_types", None)
            c[part].update(values)

        changed(folder / "config.json", change)

    return damage


def a_pattern(pattern):
    splitter = {"type": "Split", "behavior": "Isolated", "invert": False}
    splitter["pattern"] = {"Regex": pattern}

    def damage(folder):
        def change(c):
            both = [splitter, c["pre_tokenizer"]]
            c["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": both}

        changed(folder / "tokenizer.json", change)

    return damage


def a_processor(part, **values):
    def damage(folder):
        def change(c):
            (c[part] if part else c).update(values)

        changed(folder / "processor_config.json", change)

    return damage


LOOP = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
DOUBLED = (
    "{% set n = namespace(x='xxxxxxxx') %}"
    "{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}"
)
RECURSION = "{% macro again() %}{{ again() }}{% endmacro %}{{ again() }}"
TOO_LONG = "chat template (CHECKPOINT/chat_template.jinja) takes more than 2 seconds"
TOO_BIG = "chat template (CHECKPOINT/chat_template.jinja) takes more than 1 GB of memory"
#: Filling memory takes time as well; which of them ends first depends on the machine.
TOO_MUCH = "chat template (CHECKPOINT/chat_template.jinja) takes more than"
TOO_MANY = "chat template (CHECKPOINT/chat_template.jinja) writes 20,0"
#: Templates and what is said of them. Most hold the interpreter in C: no thread could stop it.
TEMPLATES = {
    "loops": (LOOP, TOO_LONG),
    "a power": ("{{ 9**(9**9) }}", TOO_LONG),
    "a power as text": ("{{ (10**10**7) | string }}", "chat template"),
    "a power in a test": ("{% if 7**(9**9) > 1 %}x{% endif %}", TOO_LONG),
    "a power where the question is a number": ("{{ 9**(9**(messages | length + 8)) }}", TOO_LONG),
    "a shift by multiplication": ("{{ (2**(10**9) * 2**(10**9)) % 3 }}", "chat template"),
    "doubles": (DOUBLED, TOO_MUCH),
    "a format": ("{{ '%10000000000d' % 1 }}", TOO_BIG),
    "a format of 20 MB": ("{{ '%20000000d' % 1 }}", TOO_MANY),
    "a format method": ("{{ '{:>20000000}'.format('x') }}", TOO_MANY),
    "a filter": ("{{ 'x' | center(20000000) }}", TOO_MANY),
    "a text": ("{{ 'x' * 10**10 }}", TOO_BIG),
    "a list": ("{{ [0] * 10**10 }}", TOO_BIG),
    "a range": ("{{ range(10**9) | list }}", "chat template fails: Range too big"),
    "a join": ("{{ (['x' * 10**5] * 10**5) | join }}", TOO_MUCH),
    "a pattern of words": ("{{ ('a ' * 10**7) | wordwrap(1) }}", "chat template"),
    "calls itself": (RECURSION, "chat template fails: maximum"),
    "only with a reply": ("{% if messages[1] is defined %}{{ 9**(9**9) }}{% endif %}", TOO_LONG),
    "only a plain question": (
        "{% if 'What is this' in messages[0].content[1].text %}{{ 9**(9**9) }}{% endif %}",
        TOO_LONG,
    ),
}
#: Files of a checkpoint that are no template.
FILES = {
    "a pattern that backtracks": (a_pattern("(a+)+$"), "tokenizer breaks down on a trial"),
    "an alternative that backtracks": (a_pattern("(a|aa)+$"), "tokenizer breaks down on a trial"),
    "spaces that backtrack": (a_pattern(r"(\s+)+\S$"), "tokenizer breaks down on a trial"),
    "patches too wide": (a_processor("image_processor", patch_size=10**9), "processor fails"),
    "patches of nothing": (a_processor("image_processor", patch_size=0), "processor fails"),
    "patches too deep": (
        a_processor("image_processor", temporal_patch_size=10**9),
        "processor takes more than 1 GB of memory",
    ),
}
SIZES = {
    "layers": a_config("text_config", num_hidden_layers=10**9),
    "width": a_config("text_config", hidden_size=10**9),
    "width of vision": a_config("vision_config", embed_dim=10**9),
    "layers of vision": a_config("vision_config", depth=10**9),
    "words": a_config("text_config", vocab_size=10**12),
    "experts": a_config("text_config", num_local_experts=10**9),
}


@pytest.fixture
def little(monkeypatch):
    """Less time and memory than a user's checkpoint gets, so that the tests are soon over."""
    monkeypatch.setattr(contained, "SECONDS", 2)
    monkeypatch.setattr(contained, "GIGABYTES", 1)


def refused(folder, **settings):
    """Return the one line that refuses a checkpoint."""
    start = time.monotonic()
    with pytest.raises(BadInput) as found:
        Encoder(TransformersModel(path=str(folder), **settings))
    # Processor time is what counts; a busy machine gives little of it in a second.
    assert time.monotonic() - start < 60
    line = str(found.value)
    assert "\n" not in line
    return line.replace(str(folder), "CHECKPOINT")


@pytest.mark.parametrize("kind", TEMPLATES)
def test_a_template_that_never_ends_is_refused_in_one_line(little, copy, kind):
    text, says = TEMPLATES[kind]
    a_template(text)(copy)
    line = refused(copy)
    assert line.startswith("model CHECKPOINT: its ")
    assert says in line


def test_a_template_of_the_settings_is_named_where_it_never_ends(little, copy, tmp_path):
    file = tmp_path / "mine.jinja"
    file.write_text("{{ 9**(9**9) }}")
    assert f"its chat template ({file}) takes more than" in refused(copy, chat_template=str(file))


@pytest.mark.parametrize("kind", FILES)
def test_files_that_never_end_are_refused_in_one_line(little, copy, kind):
    damage, says = FILES[kind]
    damage(copy)
    assert says in refused(copy)


def test_a_process_of_its_own_loads_and_refuses_likewise(little, copy, monkeypatch):
    monkeypatch.setattr(contained, "START", "spawn")
    Encoder(TransformersModel(path=str(copy)))
    a_template("{{ 9**(9**9) }}")(copy)
    assert TOO_LONG in refused(copy)


def test_the_command_names_the_model(little, copy, tmp_path):
    a_template("{{ 9**(9**9) }}")(copy)
    config = tmp_path / "config.yaml"
    config.write_text(f"models: {{hostile: {{path: {copy}}}}}\n")
    with pytest.raises(
        BadInput, match=r"^hostile: model \S+: its chat template \(\S+\) takes more"
    ):
        check_model("hostile", config, PROJECT, tmp_path / "results", 4)


def ends(how):
    """Return steps of which the second ends its process, or never ends."""
    return [("first", lambda: None), (how, {"asleep": asleep, **DEATHS}[how])]


def asleep():
    time.sleep(1000)


DEATHS = {
    "segfault": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "exit": lambda: os._exit(3),
}
SAID = {
    "segfault": "segfault breaks down on a trial (Segmentation fault)",
    "kill": "kill takes more memory than this machine has",
    "exit": "exit breaks down on a trial (exit status 3)",
    "asleep": "asleep does not end in 1 seconds",
}


@pytest.mark.parametrize("how", SAID)
def test_the_end_of_a_trial_is_told(how, monkeypatch):
    monkeypatch.setattr(contained, "CLOCK", 1)
    assert contained.first_fault(lambda how, _: ends(how), how, None) == SAID[how]


def test_a_trial_leaves_nothing_behind(capfd):
    def steps(*_):
        yield "loud", lambda: os.write(1, b"said") and os.write(2, b"said")
        yield "wrong", lambda: 1 / 0
        yield "changing", lambda: changed_here.append(1)

    changed_here = []
    before = resource.getrlimit(resource.RLIMIT_DATA), resource.getrlimit(resource.RLIMIT_CPU)
    assert contained.first_fault(steps, None, None) is None
    assert changed_here == []
    assert capfd.readouterr() == ("", "")
    assert before == (
        resource.getrlimit(resource.RLIMIT_DATA),
        resource.getrlimit(resource.RLIMIT_CPU),
    )


def test_pictures_cut_into_too_many_pieces_are_refused_in_one_line(checkpoint_of, tmp_path):
    folder = tmp_path / "idefics3"
    shutil.copytree(checkpoint_of("idefics3"), folder)
    a_processor("image_processor", size={"longest_edge": 10**9})(folder)
    with pytest.raises(BadInput, match=r"is [\d,]+ tokens, and its config.json allows 4,096"):
        load(folder, "idefics3")


@pytest.mark.parametrize("kind", SIZES)
def test_sizes_that_the_weights_cannot_hold_are_refused(copy, kind):
    SIZES[kind](copy)
    with pytest.raises(BadInput, match=r"config.json: `\w+: 10+` cannot be"):
        Encoder(TransformersModel(path=str(copy)))


@pytest.mark.parametrize("value", [-3, 2.5, 1e9, "many", None, True], ids=str)
@pytest.mark.parametrize("name", ["num_hidden_layers", "vocab_size", "hidden_size"])
def test_sizes_that_are_no_counts_are_refused_in_one_line(copy, name, value):
    a_config("text_config", **{name: value})(copy)
    with pytest.raises(BadInput, match=r"does not load: [^\n]+[^:\n]$"):
        load(copy, "qwen2_vl")


@pytest.mark.parametrize("value", [28, 10**9])
def test_sizes_that_the_weights_do_not_have_are_refused_in_our_words(
    checkpoint_of, tmp_path, value
):
    folder = tmp_path / "llava"
    shutil.copytree(checkpoint_of("llava"), folder)
    a_config("vision_config", image_size=value)(folder)
    with pytest.raises(BadInput, match=r"other shapes than its config.json says.*of two$"):
        load(folder, "llava")


@pytest.mark.parametrize(
    ("family", "damage"),
    [
        ("idefics3", a_processor(None, image_seq_len=10**9)),
        ("llava", a_processor(None, num_additional_image_tokens=10**9)),
    ],
    ids=["places of a picture", "more places of a picture"],
)
def test_a_processor_that_never_ends_is_refused_in_one_line(
    little, checkpoint_of, tmp_path, family, damage
):
    folder = tmp_path / family
    shutil.copytree(checkpoint_of(family), folder)
    damage(folder)
    assert "processor takes more than" in refused(folder)


def test_the_reference_models_pass():
    for config in REFERENCE.glob("*/config.json"):
        preflight.refuse_absurd_sizes(config.parent)


class PanicException(BaseException):
    """As code in Rust raises it."""


def test_a_panic_at_loading_is_one_line(copy, monkeypatch):
    def panic(*_, **__):
        raise PanicException("index out of bounds\nmore")

    monkeypatch.setattr("benchc.models.checkpoint.AutoProcessor.from_pretrained", panic)
    with pytest.raises(BadInput, match=r"does not load: index out of bounds$"):
        Encoder(TransformersModel(path=str(copy)))


def test_a_panic_at_one_question_is_a_status_of_that_question(checkpoint_of, monkeypatch):
    backend = load(checkpoint_of("qwen2_vl"), "qwen2_vl")
    asked = questions(3)
    right = backend.score(asked)
    processor = backend.encoder.processor

    class Panicking:
        def __getattr__(self, name):
            return getattr(processor, name)

        def __call__(self, text, **more):
            if any(asked[2].question in prompt for prompt in text):
                raise PanicException("no entry found for key")
            return processor(text=text, **more)

    monkeypatch.setattr(backend.encoder, "processor", Panicking())
    scores = backend.score(asked)
    assert [score.status for score in scores] == ["ok", "ok", "processor_error"]
    for i in (0, 1):
        assert scores[i].logits == pytest.approx(right[i].logits, abs=1e-4)


def test_an_interrupt_is_no_panic():
    def interrupted(**_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encode.processed(interrupted, ["?"], [])
