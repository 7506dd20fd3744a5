"""Waiting takes no time here, and is written down."""

import time

import pytest
from huggingface_hub import constants


@pytest.fixture(autouse=True)
def naps(monkeypatch) -> list[float]:
    """The seconds that the code under test wanted to sleep."""
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    # Any other stage that ran in this process took the network away.
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    return slept
