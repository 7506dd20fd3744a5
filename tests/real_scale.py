"""Failure discovery as at real scale, but tiny: checkpoints, photographs, a server that misbehaves.

What the server says, and what it does wrong, is a function of what it is asked, so that two runs
meet the same; faults that a further try mends happen once a text.
"""

import json
import time
from hashlib import sha256
from pathlib import Path

import numpy as np
import torch
from families import FAMILIES, save
from PIL import Image
from protocol_server import Script, garbage, page, status

THINGS = ("cats", "dogs", "cups", "trees", "signs", "boats")
QUESTIONS = [
    f" {start} {thing}{end}?"
    for thing in THINGS
    for start, end in (
        ("how many", " are there"), ("which colour are the", ""), ("where are the", " standing"),
        ("is any of the", " large"), ("what is behind the", ""), ("what do the", " look at"),
        ("which is larger, the wall or the", ""), ("are there more", " than people"),
    )
]  # fmt: skip
VERIFIER, ANSWERER = "a-verifier", "an-answerer"
TIMEOUT = 3


def questioner(folder: Path) -> Path:
    """Write a tiny Qwen2.5-VL that has whole questions for tokens, and likes them."""
    torch.manual_seed(0)
    model, processor = FAMILIES["qwen2_5_vl"][0]()
    processor.tokenizer.add_tokens(QUESTIONS)
    model.resize_token_embeddings(len(processor.tokenizer), mean_resizing=False)
    with torch.no_grad():
        model.get_output_embeddings().weight[-len(QUESTIONS) :] *= 3
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def answerer(folder: Path) -> Path:
    """Write a tiny SmolVLM."""
    return save("smolvlm", folder)


def photographs(folder: Path, count: int = 14) -> Path:
    """Write pictures in COCO's layout and return the folder of one split."""
    images = folder / "val2017"
    images.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for number in range(count):
        pixels = np.kron(rng.integers(0, 256, (4, 5, 3)), np.ones((16, 16, 1))).astype(np.uint8)
        Image.fromarray(pixels).save(images / f"{139 + number:012d}.jpg")
    (folder / "annotations").mkdir()
    (folder / "annotations/instances_val2017.json").write_text('{"images": []}')
    return images


def section(folder: Path, url: str, **changes) -> dict:
    """Return the section `discover` of a config, in the shape of config/discover.yaml."""
    verifier = {
        "url": url, "model": VERIFIER, "max_requests": 4000, "max_tokens": 64, "timeout": TIMEOUT,
        "retries": 3, "concurrency": 8,
    }  # fmt: skip
    return {
        "images": str(folder / "coco/val2017"),
        "training": 4,
        "validation": 2,
        "held_out": 8,
        "budget": 64,
        "answer_prompt": "answerer",
        "answer_tokens": 4,
        "rounds": 2,
        "warm_start": 0.5,
        "questioner": {
            "path": str(folder / "questioner"), "prompt": "questioner", "separator": "\n",
            "questions": 2, "max_tokens": 12, "lora_rank": 2,
        },
        "reinforce": {
            "pictures": 2, "group": 4, "per_forward": 4, "learning_rate": 1e-2, "warmup": 0,
            "memory": 16, "validate_every": 2, "checkpoint_every": 1,
        },
        "imitate": {"batch": 4},
        **changes,
        "verifier": verifier | changes.get("verifier", {}),
    }  # fmt: skip


def players(folder: Path) -> None:
    """Write all that a game needs but the server."""
    questioner(folder / "questioner")
    answerer(folder / "answerer")
    photographs(folder / "coco")


def server() -> Script:
    """Return a server that judges, compares and answers, and often does something else."""
    seen: set[str] = set()

    def fault_of(body: dict):
        if body["model"] != VERIFIER:
            return None
        asked = text(body)
        draw = number(asked)
        first = asked not in seen
        seen.add(asked)
        if len(seen) == 1 and first:
            return hang
        if draw % 13 == 0:
            return status(500, retry_after_ms="1")
        if draw % 13 in (1, 2) and first:
            return status(429, retry_after_ms="1")
        return {3: page, 4: garbage}.get(draw % 13)

    return Script(lambda body: [(said(body), -0.1)], fault_of=fault_of)


def said(body: dict) -> str:
    """Return what the server's models say to a request."""
    asked = text(body)
    draw = number(asked) // 13
    if body["model"] == ANSWERER:
        return ("two", "red", "a wall", "nobody")[draw % 4]
    if draw % 11 == 0:
        return "It depends on how one looks at it."
    if "<given_answer>" in asked:
        return json.dumps({"same": draw % 2 == 0})
    skills = ("counting", "naming a colour", "finding a thing", "telling what is behind")
    verdict = {
        "grammatical": True, "atomic": True, "grounded": draw % 5 > 0, "objective": True,
        "answer": "three", "skills": [skills[draw % 4]],
    }  # fmt: skip
    return "There are {some} things. " + json.dumps(verdict)


def text(body: dict) -> str:
    """Return the words of a request."""
    return body["messages"][0]["content"][-1]["text"]


def number(words: str) -> int:
    """Return a number that depends on nothing but the words."""
    return int.from_bytes(sha256(words.encode()).digest()[:6], "little")


def hang(handler) -> None:
    """Say nothing for longer than anybody waits."""
    time.sleep(TIMEOUT + 1)
    handler.close_connection = True
