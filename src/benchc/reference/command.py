"""The `benchc reference` commands: train the small models, measure them, look at their world."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import numpy as np
import typer
from PIL import Image, ImageDraw, ImageFont

from benchc.errors import BadInput
from benchc.world.samples import draw, draw_pool
from benchc.world.scene import SIDE

KEYS = ("llava", "qwen2vl", "paligemma", "idefics3", "clip")
PROBE_SEED, CARD_SEED = 20_000, 20_001
"""Seeds of the held-out samples for the log and for the card."""

app = typer.Typer(no_args_is_help=True)


@app.callback()
def reference() -> None:
    """Train, measure and look at the small models that the default run evaluates.

    They stand in for real models so that nothing has to be downloaded. The trained ones are in
    the folder `reference`; you need `train` only to make them again.
    """


@app.command()
def train(
    key: str = typer.Argument(help=f"Which model: {', '.join(KEYS)}."),
    out: Path = typer.Option(help="Checkpoint folder to write."),
    seed: int = typer.Option(1, help="Seed of weights, scenes and order."),
    effort: float = typer.Option(1.0, min=0.001, help="Multiplies the steps and the scenes."),
) -> None:
    """Train one model from scratch, 15 to 35 minutes on one core, and store it as a checkpoint.

    Same seed, same machine, same threads: same weights. Two models train well side by side.

    Example: benchc reference train llava --out reference/llava
    """
    if key not in KEYS:
        raise BadInput(f"unknown model {key!r}; one of {', '.join(KEYS)}")
    import torch

    torch.set_num_threads(1)
    command = f"benchc reference train {key} --out {out}" + (f" --seed {seed}" if seed != 1 else "")
    command += f" --effort {effort}" if effort != 1 else ""
    if key == "clip":
        _train_clip(out, seed, effort, command)
    else:
        _train_model(key, out, seed, effort, command)


@app.command()
def teach(
    folder: Path = typer.Argument(help="The checkpoint to start from, as `train` writes it."),
    out: Path = typer.Option(help="Checkpoint folder to write."),
    seed: int = typer.Option(1, help="Seed of scenes, questions and order."),
    effort: float = typer.Option(1.0, min=0.001, help="Multiplies the steps and the scenes."),
) -> None:
    """Teach a stored model to ask random valid questions about a picture, four per sequence.

    Takes 10 minutes or so on one core. The result is the base questioner of `benchc discover`; it
    knows nothing of any model under test.

    Example: benchc reference teach reference/qwen2vl --out reference/questioner
    """
    if not (folder / "config.json").is_file():
        raise BadInput(f"{folder} is no checkpoint folder: it has no config.json")
    import torch

    from benchc.reference.questioner import SCENES, STEPS, teach_to_ask, validity
    from benchc.reference.store import questioner_card, save_model

    torch.set_num_threads(1)
    steps, scenes = max(2, round(effort * STEPS)), max(64, round(effort * SCENES))
    trained = teach_to_ask(folder, seed, steps, scenes, _report)
    command = f"benchc reference teach {folder} --out {out}"
    command += f" --seed {seed}" if seed != 1 else ""
    command += f" --effort {effort}" if effort != 1 else ""
    card = questioner_card(
        trained.architecture, command, steps, scenes, validity(trained.architecture, 300)
    )
    save_model(trained.architecture, out, trained.log, card)


@app.command()
def evaluate(
    folder: Path = typer.Argument(help="A checkpoint folder, as `train` writes it."),
    count: int = typer.Option(600, min=6, help="Held-out samples."),
    words: bool = typer.Option(False, help="Also measure answers in words, without options."),
) -> None:
    """Print the letter accuracy on held-out clean samples, by track.

    `entropy` is the mean normalised entropy of the option distribution: 0 certain, 1 clueless.

    Example: benchc reference evaluate reference/llava --count 60
    """
    from transformers import AutoModelForImageTextToText, AutoProcessor

    from benchc.reference.measure import option_probabilities, score, spoken_answers

    if not (folder / "config.json").is_file():
        raise BadInput(f"{folder} is no checkpoint folder: it has no config.json")
    model = AutoModelForImageTextToText.from_pretrained(folder, dtype="float32").eval()
    processor = AutoProcessor.from_pretrained(folder)
    pool = list(draw_pool(count, CARD_SEED))
    for name, value in score(option_probabilities(model, processor, pool), pool).items():
        typer.echo(f"{name:<10} {value:.3f}")
    if words:
        said = spoken_answers(model, processor, pool)
        right = [s.options[s.answer] == text for s, text in zip(pool, said, strict=True)]
        typer.echo(f"{'in words':<10} {np.mean(right):.3f}")


@app.command()
def show(
    out: Path = typer.Option(dir_okay=False, help="PNG file to write."),
    count: int = typer.Option(12, min=1, help="Samples to show."),
    seed: int = typer.Option(0, help="Seed of the held-out pool."),
) -> None:
    """Write a contact sheet of drawn pictures with their questions; the right option is starred.

    Example: benchc reference show --out scenes.png
    """
    columns, lines, font = 4, 6, ImageFont.load_default(12)
    rows = -(-count // columns)
    cell = (SIDE + 16, SIDE + 20 + 15 * lines)
    sheet = Image.new("RGB", (columns * cell[0], rows * cell[1]), (255, 255, 255))
    pen = ImageDraw.Draw(sheet)
    for number, sample in enumerate(draw_pool(count, seed)):
        x, y = number % columns * cell[0] + 8, number // columns * cell[1] + 8
        sheet.paste(Image.fromarray(draw(sample.scene)), (x, y))
        options = [f"{'*' * (i == sample.answer)}{o}" for i, o in enumerate(sample.options)]
        text = [*textwrap.wrap(sample.question, 36), *textwrap.wrap(" | ".join(options), 36)]
        for i, line in enumerate([sample.track, *text][:lines]):
            pen.text((x, y + SIDE + 4 + 15 * i), line, font=font, fill=(140,) * 3 if i == 0 else 0)
    sheet.save(out)


def _train_model(key: str, out: Path, seed: int, effort: float, command: str) -> None:
    """Train and store one vision-language model."""
    from benchc.reference.measure import option_probabilities, probe_described, score
    from benchc.reference.models import Architecture
    from benchc.reference.plans import PLANS
    from benchc.reference.store import model_card, save_model
    from benchc.reference.teach import Describer
    from benchc.reference.teach import train as teach

    pool = list(draw_pool(300, PROBE_SEED))

    def probe(architecture: Architecture, describer: Describer | None) -> dict[str, float]:
        if describer is not None:
            return score(probe_described(architecture, describer, pool), pool)
        found = option_probabilities(architecture.model, architecture.processor, pool)
        return score(found, pool)

    plan = PLANS[key].scaled(effort)
    trained = teach(key, seed, plan, probe, _report)
    model = trained.architecture.model
    held_out = list(draw_pool(1200, CARD_SEED))
    scores = score(option_probabilities(model, trained.architecture.processor, held_out), held_out)
    card = model_card(trained.architecture, command, plan.told(), scores, len(held_out))
    save_model(trained.architecture, out, trained.log, card)


def _train_clip(out: Path, seed: int, effort: float, command: str) -> None:
    """Train and store the CLIP."""
    from benchc.reference.clip import SCENES, STEPS, save_clip, train_clip
    from benchc.reference.store import clip_card, save_notes

    steps, scenes = max(2, round(effort * STEPS)), max(256, round(effort * SCENES))
    model, log = train_clip(seed, steps, scenes, _report)
    save_clip(model, out)
    save_notes(out, log, clip_card(command, sum(p.numel() for p in model.parameters()), log))


def _report(line: str) -> None:
    """Print a line of progress on standard error."""
    print(line, file=sys.stderr, flush=True)
