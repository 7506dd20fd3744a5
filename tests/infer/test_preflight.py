"""A checkpoint that never ends, takes all memory or panics is refused in one line, and soon."""

import json
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from asked import questions
from families import load

from benchc.config.models import TransformersModel
from benchc.errors import BadInput
from benchc.models import checkpoint, encode, preflight
from benchc.models.encode import Encoder

REFERENCE = Path(__file__).parents[2] / "reference"


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
NEVER = {
    "a template that loops": (a_template(LOOP), "chat template takes more than 2 seconds"),
    "a template that doubles": (a_template(DOUBLED), "chat template takes more than"),
    "a template that calls itself": (a_template(RECURSION), "chat template fails: maximum"),
    "a text too long": (a_template("{{ 'x' * 10**10 }}"), "takes more than 1 GB of memory"),
    "a pattern that backtracks": (a_pattern("(a+)+$"), "tokenizer breaks down on a trial"),
    "an alternative that backtracks": (a_pattern("(a|aa)+$"), "tokenizer breaks down on a trial"),
    "spaces that backtrack": (a_pattern(r"(\s+)+\S$"), "tokenizer breaks down on a trial"),
    "patches too wide": (a_processor("image_processor", patch_size=10**9), "processor fails"),
    "patches of nothing": (a_processor("image_processor", patch_size=0), "processor fails"),
}
SIZES = {
    "layers": a_config("text_config", num_hidden_layers=10**9),
    "width": a_config("text_config", hidden_size=10**9),
    "width of vision": a_config("vision_config", embed_dim=10**9),
    "layers of vision": a_config("vision_config", depth=10**9),
    "words": a_config("text_config", vocab_size=10**12),
    "experts": a_config("text_config", num_local_experts=10**9),
}
LOADS = """
import sys
from benchc.config.models import TransformersModel
from benchc.errors import BadInput
from benchc.models import preflight
from benchc.models.encode import Encoder
preflight.SECONDS, preflight._GIGABYTES = 2, 1
try:
    Encoder(TransformersModel(path=sys.argv[1]))
except BadInput as error:
    print(error)
    sys.exit(1)
"""


def loaded(folder):
    # A process of its own: the thread that never ends lives until its process does.
    return subprocess.run(
        [sys.executable, "-c", LOADS, str(folder)], capture_output=True, text=True, timeout=100
    )


@pytest.mark.parametrize("kind", NEVER)
def test_what_never_ends_is_refused_in_one_line(copy, kind):
    damage, says = NEVER[kind]
    damage(copy)
    done = loaded(copy)
    assert done.returncode == 1, done.stderr
    assert says in done.stdout
    assert done.stdout.count("\n") == 1


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
    checkpoint_of, tmp_path, family, damage
):
    folder = tmp_path / family
    shutil.copytree(checkpoint_of(family), folder)
    damage(folder)
    done = loaded(folder)
    assert done.returncode == 1, done.stderr
    assert "processor takes more than" in done.stdout
    assert done.stdout.count("\n") == 1


def test_the_reference_models_pass():
    for config in REFERENCE.glob("*/config.json"):
        preflight.refuse_absurd_sizes(config.parent)


class PanicException(BaseException):
    """As code in Rust raises it."""


def test_a_panic_at_loading_is_one_line(copy, monkeypatch):
    def panic(*_, **__):
        raise PanicException("index out of bounds\nmore")

    monkeypatch.setattr(checkpoint.AutoProcessor, "from_pretrained", panic)
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


def test_a_good_checkpoint_keeps_its_memory(copy):
    before = resource.getrlimit(resource.RLIMIT_DATA)
    Encoder(TransformersModel(path=str(copy)))
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
