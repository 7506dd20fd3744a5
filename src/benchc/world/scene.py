"""What a drawn scene is: its description as data, sampled from a key."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np

from benchc.keyed import generator

SIDE = 224
"""Width and height of a picture in pixels."""
GRID = 6
"""Cells a side; the centre of every drawn thing lies well inside a cell of its own."""

KINDS = ("circle", "square", "triangle", "diamond", "star", "cross", "heart", "oval")
COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "brown")
PATTERNS = ("solid", "striped", "dotted", "hollow")
RADII = tuple(range(13, 28))
WORDS = (
    "bank", "bus", "cafe", "exit", "fire", "gate", "hotel", "ice", "lake", "milk", "north", "open",
    "park", "push", "road", "sale", "shop", "south", "stop", "taxi", "tea", "toll", "wait", "zoo",
)  # fmt: skip
NUMBERS = ("12", "15", "18", "23", "27", "30", "36", "41", "45", "49", "52", "58", "64", "70", "81",
           "96")  # fmt: skip
GROUNDS = ("flat", "gradient", "speckle", "weave")

_LIGHT = ((232, 228, 218), (214, 224, 232), (222, 232, 216), (236, 220, 214), (218, 214, 228),
          (205, 208, 210), (240, 236, 228), (196, 212, 208))  # fmt: skip
_DARK = ((58, 62, 74), (66, 58, 54), (48, 66, 64), (74, 70, 82))
SIGN_HEIGHT = 28
"""Font size of signs. Signs hang in the middle of their cells: reading at any offset is more than
a model of a million parameters learns in minutes."""
_JITTER = 11
_GAP = 3
_EDGE = 4


@dataclass(frozen=True)
class Shape:
    """One drawn shape.

    Attributes:
        x: Column of the centre in pixels, 0 to 223.
        y: Row of the centre in pixels, 0 to 223.
        kind: One of `KINDS`.
        colour: One of `COLOURS`.
        pattern: One of `PATTERNS`.
        radius: Radius in pixels of the disc of equal area, so that sizes compare across kinds.
    """

    x: int
    y: int
    kind: str
    colour: str
    pattern: str
    radius: int


@dataclass(frozen=True)
class Sign:
    """One printed word or number on a plate.

    Attributes:
        x: Column of the centre in pixels, 0 to 223.
        y: Row of the centre in pixels, 0 to 223.
        text: One of `WORDS` or `NUMBERS`; words are printed in capitals.
        height: Font size in pixels.
        dark: Whether the plate is dark with light ink.
    """

    x: int
    y: int
    text: str
    height: int
    dark: bool


@dataclass(frozen=True)
class Ground:
    """The background.

    Attributes:
        kind: One of `GROUNDS`.
        first: RGB colour, 0 to 255 each.
        second: RGB colour, close to the first.
        seed: Seed of the texture.
    """

    kind: str
    first: tuple[int, int, int]
    second: tuple[int, int, int]
    seed: int


@dataclass(frozen=True)
class Scene:
    """A whole picture before it is drawn: 2 to 5 shapes, 1 or 2 signs, a background."""

    shapes: tuple[Shape, ...]
    signs: tuple[Sign, ...]
    ground: Ground

    def to_json(self) -> str:
        """Return the scene as one line of JSON with sorted keys."""
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))

    @staticmethod
    def from_json(text: str) -> Scene:
        """Return the scene that `to_json` wrote."""
        raw: dict[str, Any] = json.loads(text)
        ground = raw["ground"]
        return Scene(
            tuple(Shape(**shape) for shape in raw["shapes"]),
            tuple(Sign(**sign) for sign in raw["signs"]),
            Ground(ground["kind"], tuple(ground["first"]), tuple(ground["second"]), ground["seed"]),
        )


def sample_scene(*key: str | int) -> Scene:
    """Return the scene of a key; equal keys give equal scenes."""
    rng = generator("reference", "scene", *key)
    while True:
        boxes: list[tuple[int, int, int, int]] = []
        cells: set[tuple[int, int]] = set()
        signs = _signs(rng, boxes, cells)
        shapes = _shapes(rng, boxes, cells)
        if signs and len(shapes) >= 2:
            return Scene(tuple(shapes), tuple(signs), _ground(rng))


def cell(x: int, y: int) -> int:
    """Return the row-major number, 0 to 35, of the grid cell in which a centre lies."""
    return (y * GRID // SIDE) * GRID + x * GRID // SIDE


def half_extent(kind: str, radius: int) -> int:
    """Return the half side in pixels of a square that holds a shape of that kind and radius."""
    return int(np.ceil(np.abs(outline(kind)).max() * radius)) + 1


@cache
def outline(kind: str) -> np.ndarray:
    """Return a kind's outline as a polygon whose area is that of the unit disc.

    Returns:
        Float64 array of shape (corners, 2), x to the right and y down, centroid near 0.
    """
    turn = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    points = {
        "circle": np.stack([np.cos(turn), np.sin(turn)], 1),
        "oval": np.stack([1.35 * np.cos(turn), 0.72 * np.sin(turn)], 1),
        "square": np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], float),
        "diamond": np.array([[0, -1.2], [0.9, 0], [0, 1.2], [-0.9, 0]], float),
        "triangle": np.array([[0, -1.1], [1, 0.7], [-1, 0.7]], float),
        "cross": np.array(
            [[-1, -3], [1, -3], [1, -1], [3, -1], [3, 1], [1, 1], [1, 3], [-1, 3], [-1, 1],
             [-3, 1], [-3, -1], [-1, -1]], float),
        "star": np.stack(
            [np.tile([1.0, 0.45], 5) * np.sin(np.arange(10) * np.pi / 5),
             -np.tile([1.0, 0.45], 5) * np.cos(np.arange(10) * np.pi / 5)], 1),
        "heart": np.stack(
            [16 * np.sin(turn) ** 3,
             -13 * np.cos(turn) + 5 * np.cos(2 * turn) + 2 * np.cos(3 * turn) + np.cos(4 * turn)
             - 2.5], 1),
    }[kind]  # fmt: skip
    x, y = points.T
    area = abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2
    scaled: np.ndarray = points * np.sqrt(np.pi / area)
    return scaled


def sign_half_width(text: str, height: int) -> int:
    """Return an upper bound in pixels of half the width of a sign's plate."""
    return int(len(text) * height * 0.36) + 6


def _signs(
    rng: np.random.Generator, boxes: list[tuple[int, int, int, int]], cells: set[tuple[int, int]]
) -> list[Sign]:
    """Place one or two signs with different texts."""
    signs: list[Sign] = []
    for _ in range(1 if rng.random() < 0.45 else 2):
        texts = WORDS if rng.random() < 0.6 else NUMBERS
        text = texts[rng.integers(len(texts))]
        height, dark = SIGN_HEIGHT, bool(rng.random() < 0.4)
        if any(sign.text == text for sign in signs):
            continue
        place = _place(rng, sign_half_width(text, height), height * 2 // 3 + 2, boxes, cells, 0)
        if place:
            signs.append(Sign(*place, text, height, dark))
    return signs


def _shapes(
    rng: np.random.Generator, boxes: list[tuple[int, int, int, int]], cells: set[tuple[int, int]]
) -> list[Shape]:
    """Place two to five shapes; in half of the scenes kinds and colours repeat, for counting."""
    few = rng.random() < 0.5
    kinds = rng.permutation(KINDS)[: 3 if few else 8]
    colours = rng.permutation(COLOURS)[: 3 if few else 8]
    patterns = rng.permutation(PATTERNS)[: 2 if few else 4]
    shapes: list[Shape] = []
    for _ in range(rng.choice([3, 4, 5], p=[0.25, 0.35, 0.4])):
        kind, colour = str(rng.choice(kinds)), str(rng.choice(colours))
        pattern, radius = str(rng.choice(patterns)), int(rng.choice(RADII))
        half = half_extent(kind, radius)
        place = _place(rng, half, half, boxes, cells, _JITTER)
        if place:
            shapes.append(Shape(*place, kind, colour, pattern, radius))
    return shapes


def _place(
    rng: np.random.Generator,
    half_width: int,
    half_height: int,
    boxes: list[tuple[int, int, int, int]],
    cells: set[tuple[int, int]],
    jitter: int,
) -> tuple[int, int] | None:
    """Return a free centre for a box and note it as taken, or None after 100 attempts."""
    for column, row, dx, dy in rng.integers(
        [0, 0, -jitter, -jitter], [GRID, GRID, jitter + 1, jitter + 1], size=(100, 4)
    ):
        x = int((2 * column + 1) * SIDE // (2 * GRID) + dx)
        y = int((2 * row + 1) * SIDE // (2 * GRID) + dy)
        box = (x - half_width, y - half_height, x + half_width, y + half_height)
        inside = min(box) >= _EDGE and max(box) < SIDE - _EDGE
        apart = all(
            box[2] + _GAP < b[0] or b[2] + _GAP < box[0]
            or box[3] + _GAP < b[1] or b[3] + _GAP < box[1]
            for b in boxes
        )  # fmt: skip
        if inside and apart and (column, row) not in cells:
            boxes.append(box)
            cells.add((column, row))
            return x, y
    return None


def _ground(rng: np.random.Generator) -> Ground:
    """Sample a background of two close colours."""
    tones = _LIGHT if rng.random() < 0.75 else _DARK
    first = np.array(tones[rng.integers(len(tones))])
    second = np.clip(first + rng.integers(-22, 23) + rng.integers(-6, 7, 3), 0, 255)
    kind = GROUNDS[rng.integers(len(GROUNDS))]
    return Ground(kind, _rgb(first), _rgb(second), int(rng.integers(2**31)))


def _rgb(values: np.ndarray) -> tuple[int, int, int]:
    """Return an array of three numbers as a tuple of integers."""
    return int(values[0]), int(values[1]), int(values[2])
