"""Tables of two different pools are refused by every stage that puts them together."""

import numpy as np
import polars as pl
import pytest

from benchc.embed.clip import embed_samples
from benchc.errors import BadInput
from benchc.infer.questionnaire import asked_images
from benchc.pictures.pixels import encode
from benchc.tables import IMAGES, SAMPLES

SAMPLE = {
    "benchmark": "b", "category": "", "question": "What?", "options": ["one", "two"], "answer": 0,
}  # fmt: skip


def samples(*image_ids: str) -> pl.DataFrame:
    return SAMPLES.from_rows(
        {**SAMPLE, "sample_id": f"b/{i}", "image_id": i, "source_ref": i} for i in image_ids
    )


@pytest.mark.parametrize(
    "stage", [asked_images, lambda samples, images: embed_samples(None, samples, images)]
)
def test_a_picture_that_is_not_there_is_named_by_its_sample(stage):
    picture = encode(np.zeros((2, 2, 3), np.uint8))
    images = IMAGES.from_rows([{"image_id": "ab", "width": 2, "height": 2, "bytes": picture}])
    with pytest.raises(BadInput, match="sample b/cd: its picture is not in the images table"):
        stage(samples("ab", "cd"), images)
