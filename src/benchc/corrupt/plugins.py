"""The functions of plug-ins: loaded from their files, checked whatever they return."""

import importlib.util
import traceback
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np

from benchc import keyed
from benchc.config.corruptions import SEVERITIES, Corruption
from benchc.config.plugins import known
from benchc.errors import BadInput
from benchc.pictures.pixels import Pixels


def rendered(entry: Corruption, picture: Pixels, severity: int, source: np.random.Philox) -> Pixels:
    """Return a picture under a plug-in.

    Args:
        entry: The plug-in.
        picture: uint8 (height, width, 3) or (height, width); never modified.
        severity: 1 to 5.
        source: random bits, all that the function may draw from.

    Raises:
        BadInput: the function cannot be loaded, raises, or returns anything but a picture.
    """
    file, _, name = entry.kernel.rpartition(":")
    try:
        made = _function(file, name)(picture.copy(), severity, np.random.Generator(source))
    except BadInput:
        raise
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == file]
        raise BadInput(
            f"corruption {entry.name}: severity {severity}: {type(error).__name__}: "
            f"{' '.join(str(error).split())} ({file}, line {lines[-1] if lines else '?'})"
        ) from error
    if not isinstance(made, np.ndarray) or made.dtype != np.uint8 or made.shape != picture.shape:
        found = (
            f"an array of {made.dtype} and shape {made.shape}"
            if isinstance(made, np.ndarray)
            else type(made).__name__
        )
        raise BadInput(
            f"corruption {entry.name}: {name} of {file} returned {found} at severity {severity}; "
            f"want uint8 of shape {picture.shape}"
        )
    return np.array(made, order="C")


def check_plugin(name: str) -> None:
    """Try a plug-in at every severity, twice, on a small picture; other corruptions pass.

    Raises:
        BadInput: see `rendered`; or two calls with the same arguments gave different pictures.
    """
    entry = known()[name]
    if not entry.own:
        return
    y, x = np.mgrid[:97, :131]
    picture = np.stack([x, y, (x * y) % 251], axis=-1).astype(np.uint8)
    for severity in SEVERITIES:
        first, again = (
            rendered(entry, picture, severity, keyed.philox("plugin", name, severity))
            for _ in range(2)
        )
        if not np.array_equal(first, again):
            raise BadInput(
                f"corruption {name}: two calls at severity {severity} gave different pictures; "
                "draw from the generator that the function is given, and from nothing else"
            )


@lru_cache(maxsize=64)
def _function(file: str, name: str) -> Callable[[Pixels, int, np.random.Generator], Pixels]:
    spec = importlib.util.spec_from_file_location(f"benchc_plugin_{Path(file).stem}", file)
    if spec is None or spec.loader is None or not Path(file).is_file():
        raise BadInput(f"{file}: no Python file that could be loaded")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise BadInput(f"{file}: cannot be loaded ({type(error).__name__}: {error})") from error
    found = getattr(module, name, None)
    if not callable(found):
        raise BadInput(f"{file}: it defines no function {name!r}")
    function: Callable[[Pixels, int, np.random.Generator], Pixels] = found
    return function
