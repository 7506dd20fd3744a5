"""On real photographs: distortion rises with severity, but for the convention's own exceptions."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from benchc.corrupt import CORRUPTIONS, SEVERITIES, corrupt
from benchc.corrupt.frost import STYLES, frost_sheet
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


def test_frost_is_of_several_styles_and_as_various_as_photographs_of_ice(photos):
    sheets = {name: frost_sheet(name).astype(float) for name, _, _ in STYLES}
    assert len(sheets) == 5
    for one, other in combinations(sheets.values(), 2):
        assert np.abs(one - other).mean() > 15
    # Of the convention's own photographs 30 to 119 grey levels at severity 5, 32 to 82 at 1.
    for severity, low, high in ((1, 45, 75), (5, 50, 105)):
        strengths = [
            np.abs(corrupt(picture, "frost", severity, seed=draw, image_id=str(number)) - 1.0
                   * picture).mean()
            for number, picture in enumerate(photos) for draw in range(12)
        ]  # fmt: skip
        assert min(strengths) < low
        assert max(strengths) > high
