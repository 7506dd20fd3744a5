"""Time inference: our runner against the bare forward passes, one picture at a time, and a peer.

    python benchmarks/infer.py [--checkpoint reference/llava] [--scale 1] [--samples 60]

Prints samples per second of, in one run: a bare loop of the same forward passes on inputs that lie
ready; the runner with its rendering, preprocessing, reading and writing; the runner without worker
processes; one question at a time; and, where lmms-eval can be imported, its LLaVA wrapper, which
answers one question at a time by generating `--generated` tokens. `--scale` widens the model, from
random weights, to where a forward pass costs what it costs in practice: more than all the rest.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import polars as pl
from PIL import Image
from transformers import AutoConfig, AutoModelForImageTextToText, AutoProcessor

from benchc.config.models import TransformersModel
from benchc.corrupt.stage import render_corruption
from benchc.infer import run
from benchc.infer.looks import Trial
from benchc.infer.questionnaire import Questionnaire, conditions, expected_hashes
from benchc.infer.rendering import Rendering, Submit, renderers
from benchc.models.scores import Question, Score
from benchc.models.transformers_backend import TransformersBackend
from benchc.pictures.pixels import encode, pixel_hash
from benchc.tables import IMAGES, SAMPLES
from benchc.world.samples import draw, draw_pool

CORRUPTIONS = ("gaussian_noise", "defocus_blur", "fog", "jpeg_compression", "elastic_transform")


def questions(count: int) -> Questionnaire:
    """Return questions about drawn scenes under five corruptions, with clean and blank."""
    samples, images = [], {}
    for i, sample in enumerate(draw_pool(count, seed=1)):
        picture = draw(sample.scene)
        height, width = picture.shape[:2]
        key = pixel_hash(picture)
        images[key] = {"image_id": key, "width": width, "height": height,
                       "bytes": encode(picture)}  # fmt: skip
        samples.append(
            {"sample_id": f"drawn/{i}", "benchmark": "drawn", "category": "", "image_id": key,
             "question": sample.question, "options": list(sample.options),
             "answer": sample.answer, "source_ref": sample.ref}
        )  # fmt: skip
    pictures = IMAGES.from_rows(images.values())
    corrupted = pl.concat(render_corruption(pictures, name, seed=1) for name in CORRUPTIONS)
    rendering = Rendering(1, None, expected_hashes(corrupted))
    return Questionnaire(SAMPLES.from_rows(samples), pictures, rendering, conditions(corrupted))


def widened(checkpoint: Path, scale: int, folder: Path) -> Path:
    """Write the same architecture `scale` times as wide and deep, with random weights."""
    config = AutoConfig.from_pretrained(checkpoint)
    for part in (config.vision_config, config.text_config):
        for name in ("hidden_size", "intermediate_size", "num_attention_heads",
                     "num_key_value_heads", "num_hidden_layers"):  # fmt: skip
            if getattr(part, name, None):
                setattr(part, name, scale * getattr(part, name))
    AutoModelForImageTextToText.from_config(config).save_pretrained(folder)
    AutoProcessor.from_pretrained(checkpoint).save_pretrained(folder)
    return folder


class Recorder:
    """A backend that keeps the questions of each call, to run exactly the same batches again."""

    def __init__(self, backend: TransformersBackend):
        self.backend = backend
        self.calls: list[list[Question]] = []

    def score(self, asked: list[Question]) -> list[Score]:
        """Pass on, and keep."""
        self.calls.append(list(asked))
        return self.backend.score(asked)

    def ran_on(self) -> dict[str, object]:
        """Pass on."""
        return self.backend.ran_on()


def bare(backend: TransformersBackend, calls: list[list[Question]]) -> float:
    """Return the seconds of the forward passes alone, their inputs lying ready."""
    batches = []
    for asked in calls:
        items = backend.encoder.items(asked)
        size = backend.batch_size or len(items)
        batches += [
            backend.encoder.prepare(items[i : i + size]) for i in range(0, len(items), size)
        ]
    return timed(lambda: [backend._logits(batch.inputs, keep=1) for batch in batches])


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that some work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def runner(backend, settings: TransformersModel, asked: Questionnaire, submit: Submit) -> float:
    """Return the seconds of a whole run, answers kept."""
    with tempfile.TemporaryDirectory() as folder:
        part = run.Part(Path(folder))
        loaded = (backend, Trial(None, None))
        return timed(lambda: run.predict("k", settings, lambda: loaded, asked, "key", part, submit))


def peer(checkpoint: Path, calls: list[list[Question]], count: int, generated: int) -> float:
    """Return the seconds a question of lmms-eval's wrapper, as its own evaluator calls it."""
    from lmms_eval.api.instance import Instance
    from lmms_eval.models.simple.llava_hf import LlavaHf

    from benchc.models.prompt import letter_prompt

    model = LlavaHf(str(checkpoint), device="cpu", dtype="float32", batch_size=1)
    asked = [question for call in calls for question in call][:count]
    documents = [{"visual": [Image.fromarray(question.image)]} for question in asked]
    model.task_dict = {"task": {"test": documents}}
    requests = [
        Instance(
            request_type="generate_until",
            arguments=(
                letter_prompt(question.question, question.options, ""),
                {"max_new_tokens": generated},
                lambda document: document["visual"],
                i,
                "task",
                "test",
            ),
            idx=0,
            metadata={"task": "task", "doc_id": i, "repeats": 1},
        )
        for i, question in enumerate(asked)
    ]
    return timed(lambda: model.generate_until(requests)) / len(asked)


def measured(arguments: argparse.Namespace, checkpoint: Path) -> Iterator[tuple[str, float]]:
    """Yield a name and samples per second for each way of asking."""
    settings = TransformersModel(path=str(checkpoint), instruction="")
    backend = TransformersBackend(settings)
    asked = questions(arguments.samples)
    recorder = Recorder(backend)
    with renderers(0) as here, renderers(1) as ahead:
        runner(recorder, settings, asked, here)
        count = sum(map(len, recorder.calls))
        parameters = sum(p.numel() for p in backend.model.parameters())
        print(f"{parameters / 1e6:.1f} million parameters, {count} questions", flush=True)
        ways: dict[str, Callable[[], float]] = {
            "bare forward passes": lambda: bare(backend, recorder.calls),
            "runner, 1 worker": lambda: runner(backend, settings, asked, ahead),
            "runner, no worker": lambda: runner(backend, settings, asked, here),
        }
        # In turns, so that a busy machine is busy for all of them.
        turns = [{name: way() for name, way in ways.items()} for _ in range(arguments.repeats)]
    for name in ways:
        yield name, count / min(turn[name] for turn in turns)
    few = [question for call in recorder.calls for question in call][: arguments.singly]
    yield "one at a time", len(few) / timed(lambda: [backend.score([q]) for q in few])
    if find_spec("lmms_eval"):
        for generated in (1, arguments.generated):
            seconds = peer(checkpoint, recorder.calls, arguments.singly, generated)
            yield f"lmms-eval, {generated} token{'s' if generated > 1 else ''}", 1 / seconds
    else:
        print("lmms-eval is not installed: left out")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", type=Path, default=Path("reference/llava"))
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--samples", type=int, default=60)
    parser.add_argument("--singly", type=int, default=100)
    parser.add_argument("--generated", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = arguments.checkpoint
        if arguments.scale > 1:
            checkpoint = widened(checkpoint, arguments.scale, Path(folder))
        rates = {}
        for name, rate in measured(arguments, checkpoint):
            rates[name] = rate
            share = rate / rates["bare forward passes"]
            print(f"{name:>22}: {rate:8.1f} samples/s, {share:6.1%} of the bare passes", flush=True)


if __name__ == "__main__":
    main()
