"""Every figure of one model in one scope, in every draw of the bootstrap.

Never reads a table: pairs come as columns of a frame, figures leave as arrays of draws.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars as pl

from benchc.diagnose.bootstrap import exact, ratio

#: What is held fixed, as in `sql/cells.sql`; the names are those of the macro `crossing`.
CROSSINGS: Mapping[str, tuple[str, ...]] = {
    "all": (),
    "severity": ("severity",),
    "corruption_group": ("corruption_group",),
    "corruption_group_by_severity": ("corruption_group", "severity"),
    "corruption": ("corruption_group", "corruption"),
    "corruption_by_severity": ("corruption_group", "corruption", "severity"),
    "benchmark": ("benchmark",),
    "benchmark_by_severity": ("benchmark", "severity"),
    "benchmark_by_corruption_group": ("benchmark", "corruption_group"),
    "category": ("benchmark", "category"),
}
_FIXED = tuple(dict.fromkeys(name for fixed in CROSSINGS.values() for name in fixed))
SOURCES = ("c", "w")
STATES = ("cc", "cw", "wc", "ww")
CLASSES = (
    "stable_correct",
    "stable_wrong",
    "persistent_loss",
    "persistent_gain",
    "transient_loss",
    "transient_gain",
    "incomplete",
)
NULLS = ("flattening", "blank")
_BINS = 15
_CONDITIONS = ("clean", "corrupted")
_MEANS = ("accuracy", "uncertainty", "misalignment", "ece", "brier", "nll", "option_mass", "ties")
#: Numbers that the sums or the draws of one block may hold; 8 bytes each.
_BLOCK = 1_000_000
_WORTH_CUTTING = 10_000


class Label(NamedTuple):
    """What a figure is called in `intervals`."""

    measure: str
    part: str | None = None
    tau: float | None = None


@dataclass(frozen=True)
class Block:
    """Figures of some cells of one crossing.

    Attributes:
        cells: `crossing` and the columns that are held fixed, one row a cell.
        labels: the figures.
        draws: float64 (figures, cells, 1 + B); column 0 is the estimate, NaN is undefined.
        n_pairs: int64 (figures, cells): pairs a figure is taken over.
        n_images: int64 (figures, cells): pictures those pairs come from.
    """

    cells: pl.DataFrame
    labels: list[Label]
    draws: np.ndarray
    n_pairs: np.ndarray
    n_images: np.ndarray

    def only(self, wanted: Callable[[Label], bool]) -> "Block":
        """Return the block with the figures that are wanted."""
        rows = [row for row, label in enumerate(self.labels) if wanted(label)]
        return Block(
            self.cells,
            [self.labels[row] for row in rows],
            self.draws[rows],
            self.n_pairs[rows],
            self.n_images[rows],
        )


def joined(blocks: Iterable[Block]) -> dict[str, Block]:
    """Return one block a crossing; blocks of one crossing hold the same figures of other cells."""
    by_crossing: dict[str, list[Block]] = {}
    for block in blocks:
        by_crossing.setdefault(block.cells["crossing"][0], []).append(block)
    return {
        crossing: Block(
            pl.concat([block.cells for block in found]),
            found[0].labels,
            np.concatenate([block.draws for block in found], axis=1),
            np.concatenate([block.n_pairs for block in found], axis=1),
            np.concatenate([block.n_images for block in found], axis=1),
        )
        for crossing, found in by_crossing.items()
    }


def figures(
    pairs: pl.DataFrame,
    weights: np.ndarray,
    crossings: Sequence[str] = tuple(CROSSINGS),
    *,
    parts: bool = True,
) -> Iterator[Block]:
    """Yield every figure of the given crossings, in blocks of cells.

    Args:
        pairs: rows of `sql/bootstrap_pairs.sql`; `image` is the row of `weights`.
        weights: how often each picture stands in each draw, (pictures, 1 + B).
        crossings: names in `CROSSINGS`.
        parts: also the shares, means and contributions of parts, the phenomena and the nulls.
    """
    columns = _columns(pairs, parts)
    pairs = pairs.select("image", *_FIXED)
    n_names = sum(len(column.names) for column in columns)
    for crossing in crossings:
        cells, place = _cells(pairs, crossing)
        order = np.argsort(place, kind="stable")
        bounds = np.searchsorted(place[order], np.arange(cells.height + 1))
        for first, last in _chunks(cells, n_names * max(weights.shape), weights.shape[0]):
            rows = order[bounds[first] : bounds[last]]
            sums = _Sums(columns, rows, place[rows] - first, last - first, pairs, weights)
            found = [*_whole(sums), *(_parts(sums) if parts else ())]
            counts = [sums.behind(over) for _, _, over in found]
            yield Block(
                cells[first:last],
                [label for label, _, _ in found],
                np.stack([draws for _, draws, _ in found]),
                np.stack([n_pairs for n_pairs, _ in counts]),
                np.stack([n_images for _, n_images in counts]),
            )


def _cells(pairs: pl.DataFrame, crossing: str) -> tuple[pl.DataFrame, np.ndarray]:
    """Return the sorted cells of a crossing and the cell of each pair."""
    fixed = CROSSINGS[crossing]
    if not fixed:
        return pl.DataFrame({"crossing": [crossing]}), np.zeros(pairs.height, dtype=np.intp)
    cells = pairs.select(fixed).unique().sort(fixed)
    place = pairs.select(fixed).join(
        cells.with_row_index("cell"), on=list(fixed), how="left", maintain_order="left"
    )
    cells = cells.cast({pl.Categorical: pl.String}).with_columns(crossing=pl.lit(crossing))
    return cells, place["cell"].to_numpy().astype(np.intp)


def _chunks(cells: pl.DataFrame, cell_size: int, n_images: int) -> list[tuple[int, int]]:
    """Cut cells into runs whose sums fit a block.

    Where it pays, a benchmark's cells stay among themselves: it has few of the pictures.
    """
    size = max(1, _BLOCK // cell_size)
    starts = {0, cells.height}
    if "benchmark" in cells.columns and cells.height * n_images > _WORTH_CUTTING:
        starts |= set(np.flatnonzero((cells["benchmark"] != cells["benchmark"].shift()).to_numpy()))
    edges = sorted(starts)
    return [
        (first, min(first + size, edge))
        for start, edge in pairwise(edges)
        for first in range(start, edge, size)
    ]


@dataclass(frozen=True)
class _Column:
    """What is summed over pairs under `names`: pair i adds values[i] to names[code[i]]."""

    names: tuple[str, ...]
    values: np.ndarray
    code: np.ndarray | None = None


def _columns(pairs: pl.DataFrame, parts: bool) -> list[_Column]:
    """Return everything that figures are functions of the sums of."""
    ras = exact(pairs["ras"].to_numpy())
    one = np.ones(pairs.height)
    state = _code(pairs["state"], STATES)
    source = state // 2
    columns = [_Column(("n",), one), _Column(("ras",), ras)]
    for condition in _CONDITIONS:
        correct = pairs[f"{condition}_correct"].to_numpy()
        confidence = pairs[f"{condition}_confidence"].to_numpy()
        mass = pairs[f"{condition}_option_mass"]
        for name, values in {
            f"{condition}_accuracy": correct,
            f"{condition}_ties": pairs[f"{condition}_tie"].to_numpy(),
            f"n_{condition}_option_mass": mass.is_not_null().to_numpy(),
            f"{condition}_option_mass": exact(mass.fill_null(0.0).to_numpy()),
        }.items():
            columns.append(_Column((name,), values))
        for name in ("uncertainty", "misalignment", "brier", "nll"):
            values = exact(pairs[f"{condition}_{name}"].to_numpy())
            columns.append(_Column((f"{condition}_{name}",), values))
        bins = tuple(f"{condition}_bin_{number}" for number in range(_BINS))
        place = pairs[f"{condition}_bin"].to_numpy().astype(np.int8)
        columns.append(_Column(bins, exact(confidence - correct), place - 1))
    columns += _by_part(SOURCES, source, one, ras)
    columns += _by_part(STATES, state, one, ras)
    if not parts:
        return columns
    columns += _by_part(CLASSES, _code(pairs["class"], CLASSES), one, ras)
    columns += [_Column((name,), pairs[name].to_numpy()) for name in pairs.columns if "@" in name]
    for kind in NULLS:
        null = pairs[f"{kind}_ras"]
        known = null.is_not_null().to_numpy()
        if known.any():
            value = exact(null.fill_null(0.0).to_numpy())
            columns.append(_Column(_named(f"n_{kind}", SOURCES), known, source))
            columns.append(_Column(_named(kind, SOURCES), value, source))
            columns.append(_Column(_named(f"ras_{kind}", SOURCES), known * ras, source))
    return columns


def _by_part(
    parts: Sequence[str], code: np.ndarray, one: np.ndarray, ras: np.ndarray
) -> list[_Column]:
    return [
        _Column(_named("n", parts), one, code),
        _Column(_named("ras", parts), ras, code),
    ]


def _named(prefix: str, parts: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{prefix}_{part}" for part in parts)


def _code(labels: pl.Series, known: Sequence[str]) -> np.ndarray:
    return labels.cast(pl.Enum(known)).to_physical().to_numpy().astype(np.int8)


class _Sums:
    """Sums of the columns by cell in every draw, and how many pairs and pictures are behind."""

    def __init__(
        self,
        columns: Sequence[_Column],
        rows: np.ndarray,
        cell: np.ndarray,
        n_cells: int,
        pairs: pl.DataFrame,
        weights: np.ndarray,
    ):
        present, image = np.unique(pairs["image"].to_numpy()[rows], return_inverse=True)
        index = cell * present.size + image
        size = n_cells * present.size
        self.names = tuple(name for column in columns for name in column.names)
        sums = np.empty((len(self.names), n_cells, present.size))
        filled = 0
        for column in columns:
            width = len(column.names)
            place = index
            if column.code is not None:
                place = np.multiply(column.code[rows], size, dtype=np.intp) + index
            found = np.bincount(place, column.values[rows], width * size)
            sums[filled : filled + width] = found.reshape(width, n_cells, present.size)
            filled += width
        draws = sums.reshape(len(self.names) * n_cells, present.size) @ weights[present]
        self._draws = draws.reshape(len(self.names), n_cells, weights.shape[1])
        self._place = {name: number for number, name in enumerate(self.names)}
        self._n_images = {
            name: (sums[number] > 0).sum(axis=-1)
            for name, number in self._place.items()
            if name == "n" or name.startswith("n_")
        }

    def __contains__(self, name: str) -> bool:
        return name in self._place

    def __getitem__(self, name: str) -> np.ndarray:
        return self._draws[self._place[name]]

    def behind(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return how many pairs a count holds in each cell, and from how many pictures."""
        return self[name][:, 0].astype(np.int64), self._n_images[name]


#: A figure, its draws (cells, 1 + B), and the count of the pairs it is taken over.
_Found = tuple[Label, np.ndarray, str]


def _whole(sums: _Sums) -> Iterator[_Found]:
    """Yield the columns of `measures`."""
    n = sums["n"]
    for name in _MEANS:
        for condition in _CONDITIONS:
            measure = f"{condition}_{name}"
            over = f"n_{measure}" if name == "option_mass" else "n"
            total = _gaps(sums, condition) if name == "ece" else sums[measure]
            yield Label(measure), ratio(total, sums[over]), over
    clean, corrupted = (sums[f"{condition}_accuracy"] for condition in _CONDITIONS)
    yield Label("relative_robustness"), ratio(corrupted, clean), "n"
    for measure, total in {
        "accuracy_change": corrupted - clean,
        "right_to_wrong": sums["n_cw"],
        "wrong_to_right": sums["n_wc"],
        "ras": sums["ras"],
        "destructive": sums["ras_c"],
        "corrective": sums["ras_w"],
    }.items():
        yield Label(measure), ratio(total, n), "n"


def _gaps(sums: _Sums, condition: str) -> np.ndarray:
    """Return the distance of summed confidence from right answers, added up over the bins."""
    gaps = np.abs(sums[f"{condition}_bin_0"])
    for number in range(1, _BINS):
        gaps += np.abs(sums[f"{condition}_bin_{number}"])
    return gaps


def _parts(sums: _Sums) -> Iterator[_Found]:
    """Yield shares, means and contributions of parts, phenomena, and the nulls."""
    n = sums["n"]
    for part in (*SOURCES, *STATES, *CLASSES):
        count, total = sums[f"n_{part}"], sums[f"ras_{part}"]
        yield Label("share", part), ratio(count, n), "n"
        yield Label("mean_ras", part), ratio(total, count), f"n_{part}"
        yield Label("contribution", part), ratio(total, n), "n"
    for name in sums.names:
        phenomenon, _, tau = name.partition("@")
        if tau:
            yield Label("share", phenomenon, float(tau)), ratio(sums[name], n), "n"
    for kind in NULLS:
        for part in SOURCES:
            over = f"n_{kind}_{part}"
            if over in sums:
                null = ratio(sums[f"{kind}_{part}"], sums[over])
                measured = ratio(sums[f"ras_{kind}_{part}"], sums[over])
                yield Label(f"{kind}_ras", part), null, over
                yield Label(f"ras_above_{kind}", part), measured - null, over
