"""CLIP embeddings of samples: of the right picture and text, whatever the batches."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchc.config.sources import DrawnSource
from benchc.embed.clip import Clip, embed_samples
from benchc.errors import BadInput
from benchc.pool.build import build_source

REFERENCE = Path(__file__).parents[2] / "reference" / "clip"


@pytest.fixture(scope="module")
def clip():
    return Clip(str(REFERENCE), None)


@pytest.fixture(scope="module")
def pool():
    return build_source("drawn", DrawnSource(kind="drawn", samples=12), iter)


@pytest.fixture(scope="module")
def embedded(clip, pool):
    return embed_samples(clip, pool.samples, pool.images)


def vectors(frame: pl.DataFrame, column: str) -> np.ndarray:
    return np.array(frame.sort("sample_id")[column].to_list())


def test_every_sample_has_a_unit_vector_of_its_picture_and_of_its_text(embedded, pool):
    assert set(embedded["sample_id"]) == set(pool.samples["sample_id"])
    for column in ("image", "text"):
        assert np.linalg.norm(vectors(embedded, column), axis=1) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("size", [1, 5])
def test_batches_and_order_change_nothing_but_the_last_digits(clip, pool, embedded, size):
    others = embed_samples(clip, pool.samples.reverse(), pool.images.reverse(), batch_size=size)
    for column in ("image", "text"):
        assert vectors(others, column) == pytest.approx(vectors(embedded, column), abs=1e-5)


def test_the_options_count_and_samples_of_one_picture_share_its_vector(clip, pool):
    row = pool.samples.head(1)
    reversed_options = row.with_columns(
        pl.lit("another").alias("sample_id"), pl.col("options").list.reverse()
    )
    frame = embed_samples(clip, pl.concat([row, reversed_options]), pool.images)
    first, second = frame.iter_rows(named=True)
    assert first["image"] == second["image"]
    assert first["text"] != second["text"]


def test_a_text_longer_than_the_context_is_marked_and_its_tokens_counted(clip, pool):
    long = "red " * (clip.context + 1)
    row = pool.samples.head(1)
    short, cut = (
        embed_samples(clip, frame, pool.images)
        for frame in (row, row.with_columns(pl.lit(long).alias("question")))
    )
    assert not short["text_truncated"].item()
    assert short["text_tokens"].item() <= clip.context
    assert cut["text_truncated"].item()
    assert cut["text_tokens"].item() > clip.context


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("ViT-B32", "did you mean 'ViT-B-32'?"),
        ("org/nothing-alike", "neither a folder nor an architecture"),
        (str(REFERENCE.parent), "open_clip_config.json"),
    ],
)
def test_a_model_that_is_not_there_is_one_short_line(model, says):
    with pytest.raises(BadInput) as refusal:
        Clip(model, None)
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 250
