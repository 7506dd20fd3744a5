"""The selection's figures: the map of the embeddings holds every sample, where it belongs."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from synthetic import SyntheticRun

from benchc import tables
from benchc.errors import BadInput
from benchc.report import chosen
from benchc.report.facts import facts_of


def embeddings(sample_ids: list[str], path: Path) -> Path:
    vectors = np.random.default_rng(0).normal(size=(2, len(sample_ids), 4))
    image, text = (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).tolist()
    frame = pl.DataFrame(
        {
            "sample_id": sample_ids,
            "image": image,
            "text": text,
            "text_tokens": [5] * len(sample_ids),
            "text_truncated": [False] * len(sample_ids),
        }
    )
    tables.EMBEDDINGS.write(tables.EMBEDDINGS.conform(frame), path)
    return path


def test_every_sample_is_on_the_map(
    synthetic_database: Path, made_up_run: SyntheticRun, tmp_path: Path
) -> None:
    path = embeddings(made_up_run.samples["sample_id"].to_list(), tmp_path / "embeddings.parquet")
    with facts_of({"first": synthetic_database}) as facts:
        figure = chosen.figures(facts, path)["members"]
        assert chosen.figures(facts, None)["members"] is None
    drawn = pl.DataFrame(figure.panels[0].spec["data"]["values"]).sort("sample_id")
    held = made_up_run.selection.sort("sample_id")
    assert drawn["sample_id"].equals(held["sample_id"])
    names = {
        (True, True): "selection_and_control",
        (True, False): "selection",
        (False, True): "control",
        (False, False): "neither",
    }
    wanted = [names[pair] for pair in held.select("kept", "control").iter_rows()]
    assert drawn["member"].to_list() == wanted
    assert np.allclose(drawn.select("x", "y").mean().row(0), 0, atol=1e-3)


def test_embeddings_of_other_samples_are_refused(synthetic_database: Path, tmp_path: Path) -> None:
    path = embeddings(["else/1"], tmp_path / "embeddings.parquet")
    with (
        facts_of({"first": synthetic_database}) as facts,
        pytest.raises(BadInput, match="built from other samples"),
    ):
        chosen.figures(facts, path)
