"""Every file that loading a checkpoint reads counts, and none that lies elsewhere is read."""

import json

import pytest

from benchc.config.models import TransformersModel
from benchc.errors import BadInput
from benchc.models.backends import model_key


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    return folder


def key(folder, **settings):
    return model_key(TransformersModel(path=str(folder), **settings), 1)


def put(folder, name, text):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


COUNTS = [
    "model.safetensors",
    "shards/model-00001-of-00001.safetensors",
    "a/b/c/weights.bin",
    "modeling_theirs.py",
    "package/inner.py",
    "additional_chat_templates/tools.jinja",
    "tokenizer.model",
    "merges.txt",
    "vocab.bpe",
    "qwen.tiktoken",
    "pytorch_model.pt",
    "weights_without_an_ending",
    "generation_config.json",
]


@pytest.mark.parametrize("name", COUNTS)
def test_a_file_that_loading_may_read_counts(folder, name):
    keys = set()
    for text in ("one", "two"):
        put(folder, name, text)
        keys.add(key(folder))
    assert len(keys) == 2


def test_what_an_index_names_counts_behind_links_too(folder, tmp_path):
    elsewhere = tmp_path / "blobs"
    put(elsewhere, "one.safetensors", "one")
    (folder / "shards").symlink_to(elsewhere)
    (folder / "loop").symlink_to(folder)
    index = {"weight_map": {"a": "shards/one.safetensors"}}
    put(folder, "model.safetensors.index.json", json.dumps(index))
    before = key(folder)
    put(elsewhere, "one.safetensors", "another")
    assert key(folder) != before


@pytest.mark.parametrize(
    "name", ["README.md", ".git/HEAD", ".cache/x.json", "__pycache__/m.pyc", "checkpoint-10/o.pt"]
)
def test_what_loading_does_not_read_does_not_count(folder, name):
    before = key(folder)
    put(folder, name, "anything")
    assert key(folder) == before


def test_a_checkpoint_among_those_of_a_trainer_counts_where_the_index_names_it(folder):
    put(folder, "checkpoint-10/one.safetensors", "one")
    index = {"weight_map": {"a": "checkpoint-10/one.safetensors"}}
    put(folder, "model.safetensors.index.json", json.dumps(index))
    before = key(folder)
    put(folder, "checkpoint-10/one.safetensors", "two")
    assert key(folder) != before


ELSEWHERE = {
    "a folder up": ("model.safetensors.index.json", {"weight_map": {"a": "../one.safetensors"}}),
    "up from below": ("model.safetensors.index.json", {"weight_map": {"a": "x/../../one.bin"}}),
    "absolute": ("pytorch_model.bin.index.json", {"weight_map": {"a": "/tmp/one.bin"}}),
    "backslashes": ("model.safetensors.index.json", {"weight_map": {"a": "..\\one.bin"}}),
    "a drive": ("model.safetensors.index.json", {"weight_map": {"a": "C:/one.bin"}}),
    "no name": ("model.safetensors.index.json", {"weight_map": {"a": ""}}),
    "named by the config": ("config.json", {"transformers_weights": "../one.safetensors"}),
    "an adapter's base": ("adapter_config.json", {"base_model_name_or_path": "/tmp/base"}),
    "code": ("config.json", {"auto_map": {"AutoConfig": "/tmp/other--theirs.Theirs"}}),
    "code of a tokenizer": (
        "tokenizer_config.json",
        {"auto_map": {"AutoTokenizer": ["someone/else--theirs.Theirs", None]}},
    ),
}


@pytest.mark.parametrize("kind", ELSEWHERE)
def test_weights_and_code_from_elsewhere_are_refused(folder, kind):
    name, content = ELSEWHERE[kind]
    put(folder, name, json.dumps(content))
    with pytest.raises(BadInput, match=name):
        key(folder)


@pytest.mark.parametrize("content", ["", "[1]", '{"weight_map": 3}', "{", "[" * 100_000])
def test_a_damaged_index_is_left_to_the_loader(folder, content):
    put(folder, "model.safetensors.index.json", content)
    assert key(folder)
