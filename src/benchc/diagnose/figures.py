"""Every figure of one model in one scope, in every draw of the bootstrap.

Pairs come as columns of a frame, figures leave as arrays of draws.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import polars as pl

from benchc.diagnose.bootstrap import ratio
from benchc.diagnose.sums import (
    BINS,
    CLASSES,
    CLEAN_STATES,
    CONDITIONS,
    NULLS,
    STATES,
    TEMPERED,
    Refits,
    Sums,
    bins,
    columns_of,
    slopes_of,
)

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
    "category_by_corruption_group": ("benchmark", "category", "corruption_group"),
}
_FIXED = tuple(dict.fromkeys(name for fixed in CROSSINGS.values() for name in fixed))
#: Crossings in which nulls are held against the measured figures.
WITH_NULLS = frozenset(
    {
        "all",
        "severity",
        "corruption_group",
        "corruption_group_by_severity",
        "corruption",
        "corruption_by_severity",
        "benchmark",
    }
)
_MEANS = (
    "accuracy",
    "uncertainty",
    "misalignment",
    "ece",
    "squared_calibration_error",
    "brier",
    "nll",
    "option_mass",
    "ties",
)
_TEMPERED = frozenset(f"ras_{kind}" for kind in TEMPERED)
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
        cells: `crossing` and the columns that are held fixed, one row per cell.
        labels: the figures.
        draws: float64 (figures, cells, 1 + B); column 0 is the estimate, NaN is undefined.
        n_pairs: int64 (figures, cells): pairs a figure is taken over.
        n_images: int64 (figures, cells): pictures those pairs come from.
        ends: the ends of the intervals, each float64 (figures, cells), where they are not those of
            each figure's own draws.
    """

    cells: pl.DataFrame
    labels: list[Label]
    draws: np.ndarray
    n_pairs: np.ndarray
    n_images: np.ndarray
    ends: tuple[np.ndarray, np.ndarray] | None = None

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
    refits: Refits = MappingProxyType({}),
    parts: bool = True,
) -> Iterator[Block]:
    """Yield every figure of the given crossings, in blocks of cells.

    Args:
        pairs: rows of `sql/bootstrap_pairs.sql`; `image` is the row of `weights`. For each refit
            NAME also the columns NAME_ras and NAME_slope, its derivative by the logarithm.
        weights: how often each picture occurs in each draw, (pictures, 1 + B).
        crossings: names in `CROSSINGS`.
        refits: what is found anew in each draw; figures follow it to first order.
        parts: also the shares, means and contributions of parts, the phenomena and the nulls.
    """
    columns = columns_of(pairs, parts)
    slopes = slopes_of(pairs, refits, parts)
    pairs = pairs.select("image", *_FIXED)
    n_names = sum(len(column.names) for column in columns)
    for crossing in crossings:
        cells, place = _cells(pairs, crossing)
        order = np.argsort(place, kind="stable")
        bounds = np.searchsorted(place[order], np.arange(cells.height + 1))
        for first, last in _chunks(cells, n_names * max(weights.shape), weights.shape[0]):
            rows = order[bounds[first] : bounds[last]]
            sums = Sums(columns, rows, place[rows] - first, last - first, pairs, weights)
            sums.follow(slopes)
            found = [*_whole(sums), *(_parts(sums) if parts else ())]
            if parts and crossing in WITH_NULLS:
                found += _nulls(sums)
            counts = [sums.behind(over) for _, _, over in found]
            yield Block(
                cells[first:last],
                [label for label, _, _ in found],
                np.stack([draws for _, draws, _ in found]),
                np.stack([n_pairs for n_pairs, _ in counts]),
                np.stack([n_images for _, n_images in counts]),
            )


def reweighted(pairs: pl.DataFrame, weights: np.ndarray, sizes: Mapping[str, np.ndarray]) -> Block:
    """Return the columns of `measures` over all pairs, mixed from the benchmarks in other shares.

    Args:
        pairs: rows of `sql/bootstrap_pairs.sql`.
        weights: see `figures`.
        sizes: by benchmark, how many pairs of it there should be in each draw, float64 (1 + B,); a
            benchmark that is not named has none.

    Returns:
        One cell of the crossing `all`, without the RAS at temperatures that are found.
    """
    columns = columns_of(pairs, parts=False)
    cells, place = _cells(pairs.select("image", *_FIXED), "benchmark")
    rows = np.arange(pairs.height)
    sums = Sums(columns, rows, place, cells.height, pairs.select("image"), weights)
    none = np.zeros(weights.shape[1])
    wanted = np.stack([sizes.get(name, none) for name in cells["benchmark"]])
    held = sums["n"]
    mixed = sums.mixed(np.where(held > 0, wanted / np.maximum(held, 1), 0.0))
    found = [entry for entry in _whole(mixed) if entry[0].measure not in _TEMPERED]
    counts = [sums.behind(over) for _, _, over in found]
    return Block(
        pl.DataFrame({"crossing": ["all"]}),
        [label for label, _, _ in found],
        np.stack([draws for _, draws, _ in found]),
        np.stack([n_pairs.sum(keepdims=True) for n_pairs, _ in counts]),
        np.stack([mixed.behind(over)[1] for _, _, over in found]),
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


#: A figure, its draws (cells, 1 + B), and the count of the pairs it is taken over.
_Found = tuple[Label, np.ndarray, str]


def _whole(sums: Sums) -> Iterator[_Found]:
    """Yield the columns of `measures`."""
    n = sums["n"]
    for name in _MEANS:
        for condition in CONDITIONS:
            measure = f"{condition}_{name}"
            over = f"n_{measure}" if name == "option_mass" else "n"
            if name == "squared_calibration_error":
                yield Label(measure), _squared_gaps(sums, condition), over
                continue
            total = _gaps(sums, condition) if name == "ece" else sums[measure]
            yield Label(measure), ratio(total, sums[over]), over
    clean, corrupted = (sums[f"{condition}_accuracy"] for condition in CONDITIONS)
    yield Label("relative_robustness"), ratio(corrupted, clean), "n"
    for measure, total in {
        "accuracy_change": corrupted - clean,
        "right_to_wrong": sums["n_cw"],
        "wrong_to_right": sums["n_wc"],
        "ras": sums["ras"],
        # Undefined for a model that no temperature fits.
        **{f"ras_{k}": sums[k] if k in sums else np.full_like(n, np.nan) for k in TEMPERED},
        "destructive": sums["ras_c"],
        "corrective": sums["ras_w"],
    }.items():
        yield Label(measure), ratio(total, n), "n"


def _gaps(sums: Sums, condition: str) -> np.ndarray:
    """Return the distance of summed confidence from right answers, added up over the bins."""
    gaps = np.abs(sums[f"{condition}_bin_0"])
    for number in range(1, BINS):
        gaps += np.abs(sums[f"{condition}_bin_{number}"])
    return gaps


def _squared_gaps(sums: Sums, condition: str) -> np.ndarray:
    """Return the debiased squared calibration error, which may lie below 0 (Kumar et al. 2019).

    The bias of the estimate is taken off every draw, so that they spread around the estimate.
    """
    total = np.zeros_like(sums["n"])
    for gap, count in zip(bins(condition), bins(f"n_{condition}"), strict=True):
        total += np.where(sums[count] > 0, sums[gap] ** 2 / np.maximum(sums[count], 1), 0.0)
    return ratio(total, sums["n"]) - sums.squared_calibration_bias(condition)[:, None]


def _parts(sums: Sums) -> Iterator[_Found]:
    """Yield shares, means and contributions of parts, phenomena, and the nulls."""
    n = sums["n"]
    for part in (*CLEAN_STATES, *STATES, *CLASSES):
        count, total = sums[f"n_{part}"], sums[f"ras_{part}"]
        yield Label("share", part), ratio(count, n), "n"
        yield Label("mean_ras", part), ratio(total, count), f"n_{part}"
        yield Label("contribution", part), ratio(total, n), "n"
    for name in sums.names:
        phenomenon, _, tau = name.partition("@")
        if tau:
            yield Label("share", phenomenon, float(tau)), ratio(sums[name], n), "n"


def _nulls(sums: Sums) -> Iterator[_Found]:
    """Yield what nulls would give, and how far the measured figures are from that."""
    n = sums["n"]
    for part in CLEAN_STATES:
        back = ratio(sums[f"ras_swapped_{part}"], sums[f"n_swapped_{part}"])
        forward = ratio(sums[f"ras_{part}"], sums[f"n_{part}"])
        yield Label("swapped_ras", part), back, f"n_swapped_{part}"
        yield Label("ras_above_swapped", part), forward - back, f"n_{part}"
    for part in ("c", "wc"):
        above = ratio(sums[f"ras_{part}"] - sums[f"ras_swapped_{part}"], n)
        yield Label("contribution_above_swapped", part), above, "n"
    for kind, parts in NULLS.items():
        for part in parts:
            over = f"n_{kind}_{part}"
            if over in sums:
                null = ratio(sums[f"{kind}_{part}"], sums[over])
                measured = ratio(sums[f"ras_{kind}_{part}"], sums[over])
                yield Label(f"{kind}_ras", part), null, over
                yield Label(f"ras_above_{kind}", part), measured - null, over
