"""Tiny checkpoints of every family, random weights, made once a session."""

from importlib.util import find_spec

import pytest
from families import load, save


@pytest.fixture(scope="session")
def checkpoint_of(tmp_path_factory):
    """Returns a function from a family to the folder of its checkpoint."""
    made = {}

    def folder(family):
        if family == "smolvlm" and not find_spec("num2words"):
            pytest.skip("SmolVLM's processor needs the package num2words")
        if family not in made:
            made[family] = save(family, tmp_path_factory.mktemp(family))
        return made[family]

    return folder


@pytest.fixture(scope="session")
def backend_of(checkpoint_of):
    """Returns a function from a family and settings to its loaded model."""
    made = {}

    def backend(family, **settings):
        key = (family, *sorted(settings.items()))
        if key not in made:
            made[key] = load(checkpoint_of(family), family, **settings)
        return made[key]

    return backend


@pytest.fixture
def backend(backend_of):
    """A model that is asked letters; no test changes it."""
    return backend_of("qwen2_vl")
