"""The registry of corruptions: name, group, kernel, constants, what each does.

A kernel is named as text, `module:function`, so that a config can be checked without loading any.
"""

from dataclasses import dataclass
from typing import Any

SEVERITIES = (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class Corruption:
    """One corruption of the convention.

    Attributes:
        name: lower-case id.
        group: noise, blur, weather, digital or photometric.
        kernel: `module:function`; a pure function of the pixels, one constant, random bits and the
            scale.
        constants: one entry per severity, passed to the kernel.
        does: what it does, in one line.
        random: whether it draws; without, the kernel is given None for the bits.
        own: whether it is a plug-in, whose kernel is `file:function`.
    """

    name: str
    group: str
    kernel: str
    constants: tuple[Any, Any, Any, Any, Any]
    does: str
    random: bool = True
    own: bool = False


_ALL = (
    Corruption(
        "gaussian_noise",
        "noise",
        "benchc.corrupt.noise:gaussian_noise",
        (0.08, 0.12, 0.18, 0.26, 0.38),
        "adds normal noise to every value",
    ),
    Corruption(
        "shot_noise",
        "noise",
        "benchc.corrupt.noise:shot_noise",
        (60, 25, 12, 5, 3),
        "counts photons: Poisson noise, fewer photons at higher severities",
    ),
    Corruption(
        "impulse_noise",
        "noise",
        "benchc.corrupt.noise:impulse_noise",
        (0.03, 0.06, 0.09, 0.17, 0.27),
        "turns values to black or white",
    ),
    Corruption(
        "speckle_noise",
        "noise",
        "benchc.corrupt.noise:speckle_noise",
        (0.15, 0.2, 0.35, 0.45, 0.6),
        "multiplies every value by normal noise around 1",
    ),
    Corruption(
        "defocus_blur",
        "blur",
        "benchc.corrupt.blur:defocus_blur",
        ((3, 0.1), (4, 0.5), (6, 0.5), (8, 0.5), (10, 0.5)),
        "averages over a disc, as a lens out of focus",
        random=False,
    ),
    Corruption(
        "glass_blur",
        "blur",
        "benchc.corrupt.blur:glass_blur",
        ((0.7, 1, 2), (0.9, 2, 1), (1, 2, 3), (1.1, 3, 2), (1.5, 4, 2)),
        "swaps neighbouring pixels, as frosted glass",
    ),
    Corruption(
        "motion_blur",
        "blur",
        "benchc.corrupt.blur:motion_blur",
        ((10, 3), (15, 5), (15, 8), (15, 12), (20, 15)),
        "averages along a line of random direction",
    ),
    Corruption(
        "zoom_blur",
        "blur",
        "benchc.corrupt.blur:zoom_blur",
        ((100, 1, 11), (100, 1, 16), (100, 2, 11), (100, 2, 13), (100, 3, 11)),
        "averages centred enlargements",
        random=False,
    ),
    Corruption(
        "gaussian_blur",
        "blur",
        "benchc.corrupt.blur:gaussian_blur",
        (1, 2, 3, 4, 6),
        "convolves with a Gaussian",
        random=False,
    ),
    Corruption(
        "snow",
        "weather",
        "benchc.corrupt.weather:snow",
        (
            (0.1, 0.3, 3, 0.5, 10, 4, 0.8),
            (0.2, 0.3, 2, 0.5, 12, 4, 0.7),
            (0.55, 0.3, 4, 0.9, 12, 8, 0.7),
            (0.55, 0.3, 4.5, 0.85, 12, 8, 0.65),
            (0.55, 0.3, 2.5, 0.85, 12, 12, 0.55),
        ),
        "whitens and adds streaked flakes",
    ),
    Corruption(
        "frost",
        "weather",
        "benchc.corrupt.frost:frost",
        ((1, 0.4), (0.8, 0.6), (0.7, 0.7), (0.65, 0.7), (0.6, 0.75)),
        "blends with drawn ice crystals",
    ),
    Corruption(
        "fog",
        "weather",
        "benchc.corrupt.weather:fog",
        ((1.5, 2), (2, 2), (2.5, 1.7), (2.5, 1.5), (3, 1.4)),
        "adds a diamond-square plasma",
    ),
    Corruption(
        "spatter",
        "weather",
        "benchc.corrupt.weather:spatter",
        (
            (0.65, 0.3, 4, 0.69, 0.6, 0),
            (0.65, 0.3, 3, 0.68, 0.6, 0),
            (0.65, 0.3, 2, 0.68, 0.5, 0),
            (0.65, 0.3, 1, 0.65, 1.5, 1),
            (0.67, 0.4, 1, 0.65, 1.5, 1),
        ),
        "splashes drops of water, then mud",
    ),
    Corruption(
        "elastic_transform",
        "digital",
        "benchc.corrupt.digital:elastic_transform",
        (12.5, 16.25, 21.25, 25, 30),
        "displaces pixels by a smooth random field",
    ),
    Corruption(
        "pixelate",
        "digital",
        "benchc.corrupt.digital:pixelate",
        (0.6, 0.5, 0.4, 0.3, 0.25),
        "shrinks by box averages and grows back",
        random=False,
    ),
    Corruption(
        "jpeg_compression",
        "digital",
        "benchc.corrupt.digital:jpeg_compression",
        (25, 18, 15, 10, 7),
        "compresses as JPEG of low quality",
        random=False,
    ),
    Corruption(
        "brightness",
        "photometric",
        "benchc.corrupt.photometric:brightness",
        (0.1, 0.2, 0.3, 0.4, 0.5),
        "raises the value of HSV",
        random=False,
    ),
    Corruption(
        "contrast",
        "photometric",
        "benchc.corrupt.photometric:contrast",
        (0.4, 0.3, 0.2, 0.1, 0.05),
        "draws values towards the mean of their channel",
        random=False,
    ),
    Corruption(
        "saturate",
        "photometric",
        "benchc.corrupt.photometric:saturate",
        ((0.3, 0), (0.1, 0), (2, 0), (5, 0.1), (20, 0.2)),
        "fades colours, then exaggerates them",
        random=False,
    ),
)

CORRUPTIONS: dict[str, Corruption] = {c.name: c for c in _ALL}
"""The corruptions by name, in the order of the convention's groups."""

GROUPS: dict[str, tuple[str, ...]] = {
    group: tuple(c.name for c in _ALL if c.group == group)
    for group in dict.fromkeys(c.group for c in _ALL)
}
"""Names by group."""
