"""Whether this machine renders the same bytes as the one that the hashes were taken on.

It names the corruptions that differ, for the run's fingerprint.
"""

import numpy as np

from benchc.config.corruptions import CORRUPTIONS, SEVERITIES
from benchc.corrupt.condition import condition
from benchc.corrupt.goldens import SELFTEST
from benchc.pictures.pixels import Pixels, pixel_hash


def selftest() -> list[str]:
    """Return the names of corruptions whose pixels differ from the packaged hashes.

    Renders every corruption at every severity of one synthetic picture of 131 x 97 pixels.
    """
    found = hashes(synthetic_picture(97, 131), "selftest")
    return [name for name in CORRUPTIONS if found[name] != SELFTEST[name]]


def hashes(picture: Pixels, image_id: str) -> dict[str, list[str]]:
    """Return the pixel hashes of every corruption, in order of severity, under seed 1."""
    return {
        name: [
            pixel_hash(
                condition(picture, name, severity, seed=1, image_id=image_id, reference_side=None)
            )[:16]
            for severity in SEVERITIES
        ]
        for name in CORRUPTIONS
    }


def synthetic_picture(height: int, width: int) -> Pixels:
    """Return ramps, stripes and coarse hashed texture, uint8 (height, width, 3), all integers."""
    y, x = np.mgrid[:height, :width].astype(np.int64)
    ramp = (x * 255) // max(1, width - 1)
    stripes = ((x + y) // 7 % 2) * 160 + 40
    texture = ((x // 9 * 2654435761 + y // 9 * 40503) % 65536 * 7919 % 65536) >> 8
    return np.stack([ramp, stripes, texture], axis=-1).astype(np.uint8)
