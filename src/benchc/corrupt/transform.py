"""The corruptions as a transform of a data loader, in the manner of `torchvision.transforms.v2`.

Needs no torch: a tensor is met only where the caller has imported it.
"""

import operator
import sys
from collections.abc import Iterable, Mapping, Sequence
from multiprocessing.context import get_spawning_popen
from multiprocessing.sharedctypes import RawValue
from typing import Any

import numpy as np
from PIL import Image

from benchc import keyed
from benchc.config.corruptions import CORRUPTIONS, SEVERITIES
from benchc.corrupt.condition import CLEAN, condition
from benchc.corrupt.render import check_name
from benchc.errors import BadInput
from benchc.pictures.pixels import Pixels

_WANTED = (
    "expected a PIL image (RGB or L), a uint8 array (height, width, 3) or (n, height, width, 3), "
    "or a uint8 tensor (channels, height, width) or (n, channels, height, width) of 1 or 3 channels"
)


class RandomCorruption:
    """Corrupt pictures at random; the draw is a function of seed, epoch and index alone.

    Order, number of workers and batches make no difference. Without `image_id` the random bits of
    the pixels belong to (epoch, index); with it they are those of a run with the same `seed` and
    `reference_side`, whose `image_id` is a picture's pixel hash (`benchc.pictures.pixels`).

    Args:
        corruptions: names to draw from, each as likely; or weights above 0 by name.
        severities: of 1 to 5, likewise; drawn independently of the corruption.
        seed: the run's seed.
        clean: the share of pictures that stay as they are, 0 to 1.
        reference_side: see `benchc.corrupt.corrupt`.

    Raises:
        BadInput: for an unknown corruption, a severity other than 1 to 5, a weight or share out of
            its range, or nothing to draw from.
    """

    def __init__(
        self,
        corruptions: Iterable[str] | Mapping[str, float] = tuple(CORRUPTIONS),
        severities: Iterable[int] | Mapping[int, float] = SEVERITIES,
        *,
        seed: int,
        clean: float = 0.0,
        reference_side: int | None = None,
    ):
        given = [corruptions] if isinstance(corruptions, str) else corruptions
        self.corruptions = _weights("corruptions", given)
        for name in self.corruptions:
            try:
                check_name(name)
            except ValueError as error:
                raise BadInput(str(error)) from None
        self.severities = _weights("severities", severities)
        for severity in self.severities:
            if isinstance(severity, bool) or severity not in SEVERITIES:
                raise BadInput(f"severity {severity!r}: expected a whole number from 1 to 5")
        self.seed = _whole("seed", seed)
        if not 0 <= clean <= 1:
            raise BadInput(f"clean {clean!r}: expected a share from 0 to 1")
        self.clean = clean
        if reference_side is not None and _whole("reference_side", reference_side) < 1:
            raise BadInput(f"reference_side {reference_side}: expected 1 or more")
        self.reference_side = reference_side
        self._epoch = RawValue("q", 0)

    @property
    def epoch(self) -> int:
        """The epoch whose draws are made, 0 at first."""
        return int(self._epoch.value)

    def set_epoch(self, epoch: int) -> None:
        """Draw for another epoch, in workers that run already too (`persistent_workers`)."""
        self._epoch.value = _whole("epoch", epoch)

    def __getstate__(self) -> dict[str, Any]:
        """Share the epoch with a process that is being started; a copy has one of its own."""
        shared = self._epoch if get_spawning_popen() is not None else self.epoch
        return {**self.__dict__, "_epoch": shared}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what `__getstate__` gave."""
        self.__dict__.update(state)
        if isinstance(self._epoch, int):
            self._epoch = RawValue("q", self._epoch)

    def __repr__(self) -> str:
        """Return the settings as they are written."""
        return (
            f"RandomCorruption({self.corruptions}, {self.severities}, seed={self.seed}, "
            f"clean={self.clean}, reference_side={self.reference_side})"
        )

    def drawn(self, index: int) -> tuple[str, int]:
        """Return the corruption and severity that a sample gets in this epoch; or ("clean", 0).

        Raises:
            BadInput: the index is no whole number.
        """
        key = ("transform", self.seed, self.epoch, _whole("index", index))
        share, which, how = keyed.generator(*key).random(3)
        if share < self.clean:
            return CLEAN, 0
        return _at(self.corruptions, which), _at(self.severities, how)

    def __call__(self, picture: Any, index: Any = None, image_id: Any = None) -> Any:
        """Return a picture, or each of a batch, corrupted; of the type and shape that came in.

        Args:
            picture: a PIL image (RGB or L), uint8 array (height, width, 3) or (n, height, width,
                3), or uint8 tensor (channels, height, width) or (n, channels, height, width), 0 to
                255, never modified. Or, so that it can stand in a `v2.Compose`, a mapping with
                `image`, `index` and, where wanted, `image_id`: it is copied with another `image`.
            index: the sample's number in its data set; for a batch one for each picture.
            image_id: what identifies the picture in a run; for a batch one for each picture.

        Raises:
            BadInput: for another type, dtype or shape, or without an index for each picture.
        """
        if isinstance(picture, Mapping):
            return self._in_sample(picture)
        if isinstance(picture, Image.Image):
            if picture.mode not in ("RGB", "L"):
                raise BadInput(f"PIL image of mode {picture.mode}: {_WANTED}; convert it first")
            return Image.fromarray(self._one(np.asarray(picture), index, image_id))
        if isinstance(picture, np.ndarray):
            return self._array(picture, index, image_id)
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(picture, torch.Tensor):
            return self._tensor(picture, index, image_id)
        raise BadInput(f"picture of type {type(picture).__name__}: {_WANTED}")

    def _in_sample(self, sample: Mapping[str, Any]) -> dict[str, Any]:
        missing = [name for name in ("image", "index") if name not in sample]
        if missing:
            raise BadInput(f"sample without {missing[0]!r}: expected 'image' and 'index'")
        image = self(sample["image"], sample["index"], sample.get("image_id"))
        return {**sample, "image": image}

    def _tensor(self, picture: Any, index: Any, image_id: Any) -> Any:
        shape = tuple(picture.shape)
        if len(shape) not in (3, 4) or shape[-3] not in (1, 3):
            raise BadInput(f"tensor of shape {shape}: {_WANTED}")
        _check_dtype("tensor", picture.dtype, str(picture.dtype) == "torch.uint8")
        pixels = np.moveaxis(picture.detach().cpu().numpy(), -3, -1)
        grey = shape[-3] == 1
        done = self._array(pixels[..., 0] if grey else pixels, index, image_id, grey=grey)
        done = np.ascontiguousarray(np.moveaxis(done[..., None] if grey else done, -1, -3))
        tensor = sys.modules["torch"].from_numpy(done).to(picture.device)
        kinds = sys.modules.get("torchvision.tv_tensors")
        known = kinds is not None and isinstance(picture, kinds.TVTensor)
        return kinds.wrap(tensor, like=picture) if known and kinds is not None else tensor

    def _array(self, pixels: Pixels, index: Any, image_id: Any, *, grey: bool = False) -> Pixels:
        _check_dtype("array", pixels.dtype, pixels.dtype == np.uint8)
        single = 2 if grey else 3
        if pixels.ndim not in (single, single + 1) or not (grey or pixels.shape[-1] == 3):
            raise BadInput(f"array of shape {pixels.shape}: {_WANTED}")
        if pixels.ndim == single:
            return self._one(pixels, index, image_id)
        number = len(pixels)
        indices = _each("index", index, number)
        ids = [None] * number if image_id is None else _each("image_id", image_id, number)
        done = np.empty_like(pixels, order="C")
        for at in range(number):
            done[at] = self._one(pixels[at], indices[at], ids[at])
        return done

    def _one(self, pixels: Pixels, index: Any, image_id: Any) -> Pixels:
        if pixels.size == 0:
            raise BadInput(f"picture of shape {pixels.shape}, empty: {_WANTED}")
        if image_id is not None and not isinstance(image_id, str):
            raise BadInput(f"image_id {image_id!r}: expected a string")
        name, severity = self.drawn(index)
        return condition(
            pixels,
            name,
            severity,
            seed=self.seed,
            image_id=f"{self.epoch}/{operator.index(index)}" if image_id is None else image_id,
            reference_side=self.reference_side,
        )


def _weights(what: str, given: Any) -> dict[Any, float]:
    """Return weights by what is drawn, in the order given; without weights all have 1."""
    weights = dict(given) if isinstance(given, Mapping) else dict.fromkeys(given, 1.0)
    if not weights:
        raise BadInput(f"{what}: nothing to draw from; name at least one")
    for name, weight in weights.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not weight > 0:
            raise BadInput(f"{what}: weight {weight!r} of {name!r}: expected a number above 0")
        if weight == float("inf"):
            raise BadInput(f"{what}: weight {weight!r} of {name!r}: expected a finite number")
    return weights


def _at(weights: Mapping[Any, float], share: float) -> Any:
    """Return what stands at a share, 0 to 1, of the sum of weights."""
    names = list(weights)
    ends = np.cumsum(list(weights.values()))
    return names[min(int(np.searchsorted(ends, share * ends[-1], "right")), len(names) - 1)]


def _whole(what: str, value: Any) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        wayout = "; it keys the draw" if what == "index" else ""
        raise BadInput(f"{what} {value!r}: expected a whole number{wayout}") from None


def _each(what: str, values: Any, number: int) -> Sequence[Any]:
    """Return values for a batch, one for each picture."""
    single = values is None or isinstance(values, str) or not hasattr(values, "__len__")
    held = 0 if single or getattr(values, "ndim", 1) == 0 else len(values)
    if single or held != number:
        raise BadInput(f"batch of {number} pictures: {what} {values!r} does not name each of them")
    found: Sequence[Any] = values
    return found


def _check_dtype(kind: str, dtype: Any, good: bool) -> None:
    if not good:
        raise BadInput(
            f"{kind} of {dtype}: expected uint8, 0 to 255; put the corruption before what makes "
            "floats (v2.ToDtype, Normalize)"
        )
