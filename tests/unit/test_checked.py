"""What is wrong with a value of the user's is one line that names the key as it was written."""

import re
from typing import Annotated, Any, Literal

import pytest
import yaml
from pydantic import BaseModel, Field

from benchc.config.checked import checked
from benchc.config.discovery import Discover
from benchc.config.models import Model, OpenAIModel, TransformersModel
from benchc.config.origin import Request
from benchc.config.run import Config
from benchc.config.sources import FieldMap, Source
from benchc.errors import BadInput

PARQUET = {"kind": "parquet", "path": "x"}
LLAVA = {"path": "reference/llava"}


@pytest.mark.parametrize(
    ("form", "values", "says"),
    [
        (Source, {**PARQUET, "fields": {"questoin": "q"}}, "fields.questoin: unknown key; did you"),
        (Source, {**PARQUET, "fields": {"options": "x"}}, "fields.options: write a list in [ ]"),
        (Source, {**PARQUET, "fields": {"options_as": "lits"}}, "did you mean 'list'?"),
        (Source, {**PARQUET, "fields": "mmbnech"}, "fields: unknown value 'mmbnech'; did you mean"),
        (Source, {**PARQUET, "fields": ["a"]}, "here: fields: needs keys of its own"),
        (Source, PARQUET, "here: fields: is missing"),
        (Source, {"path": "x"}, "here: needs `kind`"),
        (Source, {"kind": "mmvp", "pth": "x"}, "here: pth: unknown key; did you mean 'path'?"),
        (Source, {"kind": "drawn", "samples": 0}, "here: samples: 0 should be greater than 0"),
        (Discover, {"questioner": {"pth": "x"}}, "questioner.pth: unknown key; did you mean"),
        (Discover, {"reinforce": {"kll": 1}}, "reinforce.kll: unknown key; did you mean 'kl'?"),
        (Model, {**LLAVA, "batch_size": "auot"}, "unknown value 'auot'; did you mean 'auto'?"),
        (Model, {**LLAVA, "batch_size": 0}, "here: batch_size: 0 should be greater than or"),
        (Model, {**LLAVA, "processor": {"size": {"a": "b"}}}, "processor.size.a: 'b' should be"),
        (Source, {"kind": "drawn", "samples": "x"}, "here: samples: 'x' should be a valid integer"),
        (Model, {**LLAVA, "dtype": "fp16"}, "here: dtype: unknown value 'fp16'; known: float32"),
        (Model, 3, "here: needs keys of its own"),
        (Source, {"kind": "mmvp", "path": ["x"]}, "here: path: write one path, as text"),
        (
            Source,
            yaml.safe_load("{kind: parquet, path: x, fields: {answers: {yes: A}}}"),
            "answers.1: write yes, no, on, off, true and false in quotes where they are",
        ),
        (Source, {"kind": "parket"}, "here: kind: unknown value 'parket'; did you mean 'parquet'?"),
        (Config, {"models": {}, "sources": {}}, "must not be empty"),
        (
            Config,
            {"models": {"a": LLAVA}, "sources": {"b": {"kind": "foldr"}}},
            "here: sources.b.kind: unknown value 'foldr'; did you mean 'folder'?",
        ),
        (Request, {"hub": "a/b"}, "hub: unknown key; did you mean 'hub_id'?"),
        (
            Config,
            {"models": 3, "sources": {"a": {"kind": "drawn", "samples": 3}}},
            "here: models: needs keys of its own",
        ),
    ],
)
def test_a_refusal_names_the_key_as_it_was_written(form, values, says):
    with pytest.raises(BadInput) as refusal:
        checked(form, values, "here")
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)


class Leaf(BaseModel, extra="forbid"):
    number: int = Field(default=1, ge=1)
    word: Literal["left", "right"] | int = "left"


class OtherLeaf(Leaf):
    kind: Literal["other"]


class OneLeaf(Leaf):
    kind: Literal["one"]


class Tree(BaseModel, extra="forbid"):
    by_name: dict[str, list[Leaf | None]] = {}
    pair: tuple[Leaf, ...] = ()
    chosen: Annotated[OneLeaf | OtherLeaf, Field(discriminator="kind")] | None = None
    either: Leaf | list[Leaf] | None = None


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ({"by_name": {"a": [None, {"nmber": 1}]}}, "by_name.a.1.nmber: unknown key; did you mean"),
        ({"pair": [{"nmber": 1}]}, "pair.0.nmber: unknown key; did you mean 'number'?"),
        ({"chosen": {"kind": "other", "nmber": 1}}, "chosen.nmber: unknown key; did you mean"),
        ({"chosen": {"kind": "one", "word": "lfet"}}, "chosen.word: unknown value 'lfet'; did you"),
        ({"either": {"nmber": 1}}, "either.nmber: unknown key; did you mean 'number'?"),
        ({"by_name": {"a": [{"number": 0}]}}, "by_name.a.0.number: 0 should be greater"),
    ],
)
def test_a_place_is_followed_through_every_kind_of_type(values: dict[str, Any], place: str):
    with pytest.raises(BadInput) as refusal:
        checked(Tree, values, "x")
    assert str(refusal.value).startswith(f"x: {place}")


@pytest.mark.parametrize(
    ("section", "key"),
    [(FieldMap, "answers"), (TransformersModel, "processor"), (OpenAIModel, "extra_body")],
)
def test_an_example_of_the_reference_can_be_copied_into_a_config(section, key):
    field = section.model_fields[key]
    example = re.search(r"\{.*\}", field.description)
    assert checked(field.annotation, yaml.safe_load(example[0]), key)
