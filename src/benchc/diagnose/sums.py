"""The sums that every figure is a function of, by cell and in every draw of the bootstrap."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
import polars as pl

from benchc.diagnose.bootstrap import exact

CLEAN_STATES = ("c", "w")
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
#: Nulls that condition on the clean state, and the parts that each has a figure for.
NULLS: Mapping[str, tuple[str, ...]] = {
    "flattening": ("c", "w"),
    "flattening_kept": ("cc",),
    "blank": ("c", "w"),
}
#: RAS at a temperature that is found anew in each draw.
TEMPERED = ("matched", "fitted")
BINS = 15
CONDITIONS = ("clean", "corrupted")
#: By how much a factor or temperature in each draw is off its estimate, as a logarithm: float64
#: (1 or conditions, 1 + B), by the name of the figure it is behind.
Refits = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Column:
    """What is summed over pairs under `names`: pair i adds values[i] to names[code[i]]."""

    names: tuple[str, ...]
    values: np.ndarray
    code: np.ndarray | None = None


def columns_of(pairs: pl.DataFrame, parts: bool) -> list[Column]:
    """Return everything that figures are functions of the sums of."""
    ras = exact(pairs["ras"].to_numpy())
    one = np.ones(pairs.height)
    state = _code(pairs["state"], STATES)
    clean_state = state // 2
    columns = [Column(("n",), one), Column(("ras",), ras)]
    for condition in CONDITIONS:
        correct = pairs[f"{condition}_correct"].to_numpy()
        confidence = pairs[f"{condition}_confidence"].to_numpy()
        mass = pairs[f"{condition}_option_mass"]
        columns += [
            Column((f"{condition}_accuracy",), correct),
            Column((f"{condition}_ties",), pairs[f"{condition}_tie"].to_numpy()),
            Column((f"n_{condition}_option_mass",), mass.is_not_null().to_numpy()),
            Column((f"{condition}_option_mass",), exact(mass.fill_null(0.0).to_numpy())),
        ]
        for name in ("uncertainty", "misalignment", "brier", "nll"):
            values = exact(pairs[f"{condition}_{name}"].to_numpy())
            columns.append(Column((f"{condition}_{name}",), values))
        place = pairs[f"{condition}_bin"].to_numpy().astype(np.int8)
        columns.append(Column(bins(condition), exact(confidence - correct), place - 1))
        columns.append(Column(bins(f"n_{condition}"), one, place - 1))
    for kind in TEMPERED:
        if f"{kind}_ras" in pairs.columns:
            columns.append(Column((kind,), exact(pairs[f"{kind}_ras"].to_numpy())))
    columns += _by_part(CLEAN_STATES, clean_state, one, ras)
    columns += _by_part(STATES, state, one, ras)
    if not parts:
        return columns
    columns += _by_part(CLASSES, _code(pairs["class"], CLASSES), one, ras)
    columns += [Column((name,), pairs[name].to_numpy()) for name in pairs.columns if "@" in name]
    for kind, null_parts in NULLS.items():
        null = pairs[f"{kind}_ras"]
        known = null.is_not_null().to_numpy()
        if known.any():
            value = exact(null.fill_null(0.0).to_numpy())
            code = clean_state if null_parts == CLEAN_STATES else np.zeros_like(clean_state)
            columns.append(Column(_named(f"n_{kind}", null_parts), known, code))
            columns.append(Column(_named(kind, null_parts), value, code))
            columns.append(Column(_named(f"ras_{kind}", null_parts), known * ras, code))
    # Roles swapped: from the corrupted answer back to the clean one.
    back = exact(pairs["swapped_ras"].to_numpy())
    columns += _by_part(_named("swapped", CLEAN_STATES), state % 2, one, back)
    swapped_gain = (state == STATES.index("cw")) * back
    columns.append(Column(("ras_swapped_wc",), swapped_gain))
    return columns


def bins(condition: str) -> tuple[str, ...]:
    """Return the names of a condition's sums by bin of confidence."""
    return tuple(f"{condition}_bin_{number}" for number in range(BINS))


@dataclass(frozen=True)
class Slope:
    """What the sums under `names` change by with the logarithm of a refitted factor.

    Attributes:
        names: names of sums.
        values: float64 (pairs,): derivative of each pair's value.
        code: which of `names` a pair adds to.
        group: which row of `moves` a pair follows.
        moves: float64 (groups, 1 + B).
    """

    names: tuple[str, ...]
    values: np.ndarray
    code: np.ndarray
    group: np.ndarray
    moves: np.ndarray


def slopes_of(pairs: pl.DataFrame, refits: Refits, parts: bool) -> list[Slope]:
    """Return what moves with the refits; those of nulls only where `parts` are asked for."""
    found = []
    for kind, moves in refits.items():
        if kind in NULLS and not parts:
            continue
        values = exact(pairs[f"{kind}_slope"].fill_null(0.0).to_numpy())
        code = np.zeros(pairs.height, dtype=np.intp)
        group = np.zeros(pairs.height, dtype=np.intp)
        names: tuple[str, ...] = (kind,)
        if kind in NULLS:
            names = _named(kind, NULLS[kind])
            group = pairs["condition"].to_numpy().astype(np.intp)
            if NULLS[kind] == CLEAN_STATES:
                code = (_code(pairs["state"], STATES) // 2).astype(np.intp)
        found.append(Slope(names, values, code, group, moves))
    return found


def _by_part(
    parts: Sequence[str], code: np.ndarray, one: np.ndarray, ras: np.ndarray
) -> list[Column]:
    return [
        Column(_named("n", parts), one, code),
        Column(_named("ras", parts), ras, code),
    ]


def _named(prefix: str, parts: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{prefix}_{part}" for part in parts)


def _code(labels: pl.Series, known: Sequence[str]) -> np.ndarray:
    return labels.cast(pl.Enum(known)).to_physical().to_numpy().astype(np.int8)


class Sums:
    """Sums of the columns by cell in every draw, and how many pairs and pictures are behind."""

    def __init__(
        self,
        columns: Sequence[Column],
        rows: np.ndarray,
        cell: np.ndarray,
        n_cells: int,
        pairs: pl.DataFrame,
        weights: np.ndarray,
    ):
        present, image = np.unique(pairs["image"].to_numpy()[rows], return_inverse=True)
        self._rows, self._cell, self._image, self._weights = rows, cell, image, weights[present]
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
        draws = sums.reshape(len(self.names) * n_cells, present.size) @ self._weights
        self._sums = sums
        self._draws = draws.reshape(len(self.names), n_cells, weights.shape[1])
        self._place = {name: number for number, name in enumerate(self.names)}
        self._n_images = self._pictures()

    def __contains__(self, name: str) -> bool:
        return name in self._place

    def __getitem__(self, name: str) -> np.ndarray:
        return self._draws[self._place[name]]

    def follow(self, slopes: Sequence[Slope]) -> None:
        """Move sums in each draw with what is refitted in it, to first order."""
        n_cells, n_images = self._draws.shape[1], self._weights.shape[0]
        for slope in slopes:
            if slope.names[0] not in self:
                continue
            kinds = (slope.group[self._rows] * len(slope.names) + slope.code[self._rows]) * n_cells
            present, kind = np.unique(kinds + self._cell, return_inverse=True)
            place = kind * n_images + self._image
            sums = np.bincount(place, slope.values[self._rows], present.size * n_images)
            change = sums.reshape(present.size, n_images) @ self._weights
            rest, cell = np.divmod(present, n_cells)
            group, code = np.divmod(rest, len(slope.names))
            change *= slope.moves[group]
            for name, number in zip(slope.names, range(len(slope.names)), strict=True):
                mine = code == number
                np.add.at(self._draws[self._place[name]], cell[mine], change[mine])

    def mixed(self, factors: np.ndarray) -> "Sums":
        """Return the sums over all cells as one, each cell's times a factor.

        Args:
            factors: float64 (cells, 1 + B), not negative.
        """
        mixed = copy(self)
        mixed._draws = (self._draws * factors).sum(axis=1, keepdims=True)
        mixed._sums = (self._sums * factors[:, :1]).sum(axis=1, keepdims=True)
        mixed._n_images = mixed._pictures()
        return mixed

    def _pictures(self) -> dict[str, np.ndarray]:
        """Return from how many pictures the pairs of each count come, by cell."""
        return {
            name: (self._sums[number] > 0).sum(axis=-1)
            for name, number in self._place.items()
            if name == "n" or name.startswith("n_")
        }

    def squared_calibration_bias(self, condition: str) -> np.ndarray:
        """Return by how much the plug-in of the squared calibration error is too large, by cell.

        Sum over the bins of var(G) / (n N): G the summed gap between confidence and correctness of
        the n pairs of a bin, its variance between pictures, N all pairs.
        """
        whole = self._sums[self._place["n"]].sum(axis=-1)
        bias = np.zeros_like(whole)
        for gap, count in zip(bins(condition), bins(f"n_{condition}"), strict=True):
            gaps, counts = self._sums[self._place[gap]], self._sums[self._place[count]]
            n, pictures = counts.sum(axis=-1), (counts > 0).sum(axis=-1)
            mean = np.where(n > 0, gaps.sum(axis=-1) / np.maximum(n, 1), 0.0)
            squares = ((gaps - counts * mean[:, None]) ** 2).sum(axis=-1)
            few = pictures < 2
            variance = np.where(few, 0.0, squares * pictures / np.maximum(pictures - 1, 1))
            bias += variance / np.maximum(n, 1) / np.maximum(whole, 1)
        return bias

    def behind(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return how many pairs a count holds in each cell, and from how many pictures."""
        return self[name][:, 0].astype(np.int64), self._n_images[name]
