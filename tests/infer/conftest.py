"""Tiny checkpoints of the reference architectures, random weights, made once a session."""

import pytest
import torch

from benchc.infer.settings import Model
from benchc.infer.transformers_backend import TransformersBackend
from benchc.reference.models import build
from benchc.reference.store import save_model

ARCHITECTURES = ("llava", "qwen2vl", "paligemma", "idefics3")


@pytest.fixture(scope="session", params=ARCHITECTURES)
def checkpoint(request, tmp_path_factory):
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp(request.param)
    save_model(build(request.param), folder, [{"step": 0}], "random weights")
    return folder


@pytest.fixture(scope="session")
def backend(checkpoint):
    return TransformersBackend(Model(path=str(checkpoint), instruction="", batch_size=8))
