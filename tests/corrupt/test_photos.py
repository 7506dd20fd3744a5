"""On real photographs: distortion rises with severity, but for the convention's own exceptions."""

from itertools import pairwise

import numpy as np
import pytest

from benchc.corrupt import CORRUPTIONS, SEVERITIES, corrupt
from benchc.corrupt.measure import against

# Pairs of severities between which the convention's constants do not make it worse.
EXCEPTIONS = {
    "snow": {(2, 3)},
    "fog": {(3, 4)},
    "frost": {(3, 4)},
    "spatter": {(3, 4)},
    "saturate": {(2, 3)},
}


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_distortion_rises_with_severity(photos, name):
    """By 1 - SSIM, or by mean squared error where that tells more (photometric)."""
    by_ssim, by_square = np.zeros(5), np.zeros(5)
    for number, picture in enumerate(photos):
        measure = against(picture)
        for draw in range(4):
            for severity in SEVERITIES:
                out = corrupt(picture, name, severity, seed=draw, image_id=str(number))
                by_ssim[severity - 1] += 1 - measure(out)[1]
                by_square[severity - 1] += ((out.astype(float) - picture) ** 2).mean()
    excused = EXCEPTIONS.get(name, set())
    pairs = [pair for pair in pairwise(SEVERITIES) if pair not in excused]
    rises = [all(score[b - 1] > score[a - 1] for a, b in pairs) for score in (by_ssim, by_square)]
    assert any(rises), (by_ssim / 16, by_square / 16)
    assert by_square[4] > by_square[0]
