"""The small pieces of the page: thumbnails and numbers."""

import base64

import numpy as np
import pytest

from benchc.pictures.decode import decode_stored
from benchc.report import wording
from benchc.report.pictures import SIDE, data_uri


def test_thumbnails_are_small() -> None:
    uri = data_uri(np.zeros((3000, 10, 3), dtype=np.uint8))
    held = decode_stored(base64.b64decode(uri.split(",")[1]))
    assert held.shape == (SIDE, 1, 3)


@pytest.mark.parametrize(
    ("value", "said"), [(None, "–"), (-0.0001, "0.000"), (-0.5, "−0.500"), (0.25, "+0.250")]
)
def test_signed(value: float | None, said: str) -> None:
    assert wording.signed(value) == said
