"""Photographs for the tests of corruptions; skipped, saying so, where they are missing."""

from pathlib import Path

import cv2
import numpy as np
import pytest

PHOTOS = Path(__file__).parents[3] / "shared" / "cases" / "photos"
NAMES = ("lions.jpg", "astronaut.jpg", "street_ironing.jpg", "red_panda_planks.jpg")


@pytest.fixture(scope="session")
def photos():
    """Four photographs of 320 x 240, uint8 RGB."""
    if not all((PHOTOS / name).exists() for name in NAMES):
        pytest.skip(f"no photographs in {PHOTOS}")
    found = [cv2.imread(str(PHOTOS / name)) for name in NAMES]
    small = [cv2.resize(bgr, (320, 240), interpolation=cv2.INTER_AREA) for bgr in found]
    return [np.ascontiguousarray(bgr[:, :, ::-1]) for bgr in small]
