import json

import numpy as np
import polars as pl
import pytest
from PIL import Image
from polars.testing import assert_frame_equal
from pydantic import TypeAdapter, ValidationError

from benchc.config.sources import DrawnSource, FolderSource, Source
from benchc.errors import BadInput
from benchc.pictures.decode import decode_stored
from benchc.pictures.pixels import pixel_hash
from benchc.pool.build import TABLES, Pool, build_source, merge
from benchc.pool.duplicates import normalised
from benchc.world.samples import TRACKS, draw
from benchc.world.scene import Scene


def photo(seed: int, size=(60, 40)) -> Image.Image:
    rng = np.random.default_rng(seed)
    small = rng.integers(0, 256, (5, 6, 3), dtype=np.uint8)
    return Image.fromarray(small).resize(size, Image.Resampling.BICUBIC)


def make_folder(path, rows) -> FolderSource:
    """Write rows of (picture, file name, question, options, answer, category)."""
    path.mkdir()
    with (path / "questions.jsonl").open("w") as file:
        for number, (picture, name, question, options, answer, category) in enumerate(rows):
            picture.save(path / name)
            row = {
                "id": f"q{number}",
                "image": name,
                "question": question,
                "options": options,
                "answer": answer,
                "category": category,
            }
            file.write(json.dumps(row) + "\n")
    return FolderSource(kind="folder", path=path)


@pytest.fixture
def folder(tmp_path) -> FolderSource:
    rows = [
        (photo(i // 2), f"{i // 2}.png", f"Question {i}?", ["x", "y"], "A", "ab"[i % 2])
        for i in range(20)
    ]
    return make_folder(tmp_path / "folder", rows)


def test_pictures_are_stored_once_and_losslessly(folder):
    pool = build_source("mine", folder)
    assert pool.samples.height == 20
    assert pool.images.height == 10
    for image_id, width, height, data, note in pool.images.iter_rows():
        rgb = decode_stored(data)
        assert rgb.shape == (height, width, 3)
        assert pixel_hash(rgb) == image_id
        assert note is None
    for frame, table in zip(pool, TABLES.values(), strict=True):
        assert_frame_equal(frame, table.conform(frame))


def test_a_subset_is_random_keyed_and_independent_of_other_rows(folder):
    def subset(key, **changes):
        pool = build_source(key, folder.model_copy(update=changes))
        assert pool.samples.height + pool.rejected.height == 20
        return set(pool.samples["source_ref"])

    eight = subset("mine", samples=8)
    assert len(eight) == 8
    assert eight == subset("mine", samples=8)
    assert eight < subset("mine", samples=9)
    assert eight != subset("mine", samples=8, seed=2)
    assert eight != subset("other", samples=8)
    left_out = next(iter(eight))
    assert subset("mine", samples=8, exclude_ids=(left_out,)) > eight - {left_out}
    # A limit takes the same ones, and more than there are is no fault.
    assert subset("mine", limit=8) == subset("mine", limit=8, samples=9) == eight
    assert subset("mine", limit=10**6) == subset("mine")


def test_what_the_spec_excludes(folder):
    pool = build_source("mine", folder.model_copy(update={"exclude_categories": ("b",)}))
    assert set(pool.samples["category"]) == {"a"}
    assert pool.rejected["reason"].value_counts().rows() == [("excluded_category", 10)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"samples": 21}, "21 samples are asked for and 20 rows are usable"),
        ({"exclude_categories": ("c",)}, "names 'c', which no row has; it has a, b"),
        ({"exclude_ids": ("q99",)}, "names 'q99'"),
        ({"exclude_categories": ("a", "b")}, "none of its 20 rows"),
        ({"expect_rows": 19}, "has 20 rows, and 19 were expected"),
    ],
)
def test_refused(folder, changes, message):
    spec = FolderSource(kind="folder", path=folder.path, **changes)
    with pytest.raises(BadInput, match=message):
        build_source("mine", spec)


@pytest.mark.parametrize("key", ["", "con", "a/b", "../x", "a b", "-a", "a" * 65, "a\n"])
def test_unsafe_keys_are_refused(folder, key):
    with pytest.raises(BadInput, match=r"a key is|on Windows"):
        build_source(key, folder)


def test_a_benchmark_may_keep_its_own_spelling(folder):
    assert set(build_source("MMBench_V1.1", folder).samples["benchmark"]) == {"MMBench_V1.1"}


def test_drawn_samples_carry_their_track_and_their_scene():
    pool = build_source("drawn", DrawnSource(kind="drawn", samples=24))
    assert pool.samples.height == 24
    assert set(pool.samples["benchmark"]) == set(TRACKS)
    sample = pool.samples.row(0, named=True)
    assert sample["sample_id"] == f"{sample['benchmark']}/{sample['source_ref']}"
    assert set(pool.scenes["image_id"]) == set(pool.images["image_id"])
    for image_id, scene in pool.scenes.iter_rows():
        assert pixel_hash(draw(Scene.from_json(scene))) == image_id


def test_drawn_samples_are_reproducible_and_seeded():
    spec = DrawnSource(kind="drawn", samples=12)
    for one, other in zip(build_source("a", spec), build_source("b", spec), strict=True):
        assert_frame_equal(one, other)
    seeded = build_source("a", DrawnSource(kind="drawn", samples=12, seed=2))
    assert not set(seeded.images["image_id"]) & set(build_source("a", spec).images["image_id"])


def test_duplicates_inside_a_source_need_picture_question_and_options(tmp_path):
    same = photo(1)
    spec = make_folder(
        tmp_path / "f",
        [
            (same, "a.png", "Which one?", ["x", "y"], "A", ""),
            (same, "b.png", "Which one?", ["y", "x"], "B", ""),
            (same, "c.png", "Which one?", ["x", "z"], "A", ""),
            (photo(2), "d.png", "Which one?", ["x", "y"], "A", ""),
            (same, "e.png", "which  one", ["x", "y"], "A", ""),
        ],
    )
    pool = build_source("mine", spec)
    assert pool.samples["source_ref"].to_list() == ["q0", "q2", "q3"]
    assert pool.rejected.rows() == [
        ("mine", "q1", "duplicate", "same as mine/q0"),
        ("mine", "q4", "duplicate", "same as mine/q0"),
    ]


def test_merge_finds_duplicates_by_picture_and_question_together(tmp_path):
    first = make_folder(
        tmp_path / "one",
        [
            (photo(1), "a.png", "Which one?", ["x", "y"], "A", ""),
            (photo(2), "b.png", "What is it?", ["x", "y"], "A", ""),
        ],
    )
    second = make_folder(
        tmp_path / "two",
        [
            (photo(1), "a.png", "WHICH  one?", ["x", "w"], "A", ""),
            (photo(1), "a.png", "Another question?", ["x", "y"], "A", ""),
            (photo(3), "b.png", "Which one?", ["x", "y"], "A", ""),
            (photo(2, (48, 32)), "c.jpg", "What is it?", ["y", "x"], "B", ""),
            (photo(2, (48, 32)), "c.jpg", "What is it? ", ["y", "z"], "A", ""),
        ],
    )
    pools = [build_source("one", first), build_source("two", second)]
    merged = merge(pools)
    assert merged.samples["sample_id"].to_list() == [
        "one/q0",
        "one/q1",
        "two/q1",
        "two/q2",
        "two/q4",
    ]
    assert merged.rejected.rows() == [
        ("two", "q0", "duplicate", "same as one/q0"),
        ("two", "q3", "duplicate", "same as one/q1"),
    ]
    assert set(merged.images["image_id"]) == set(merged.samples["image_id"])
    backwards = merge(pools[::-1])
    assert "two/q0" in backwards.samples["sample_id"].to_list()
    assert "one/q0" not in backwards.samples["sample_id"].to_list()


def test_merge_drops_pictures_that_no_sample_shows_any_more(tmp_path):
    row = (photo(2), "a.png", "Which?", ["x", "y"], "A", "")
    resized = (photo(2, (48, 32)), "a.png", "Which?", ["x", "y"], "A", "")
    pools = [
        build_source("one", make_folder(tmp_path / "one", [row])),
        build_source("two", make_folder(tmp_path / "two", [resized])),
    ]
    merged = merge(pools)
    assert merged.samples["sample_id"].to_list() == ["one/q0"]
    assert_frame_equal(merged.images, pools[0].images)


def test_merge_keeps_scenes_and_accounts_for_every_row(folder):
    drawn = build_source("drawn", DrawnSource(kind="drawn", samples=12))
    mine = build_source("mine", folder.model_copy(update={"samples": 5}))
    merged = merge([drawn, mine])
    assert merged.samples.height == 17
    assert merged.rejected.height == 15
    assert_frame_equal(merged.scenes, drawn.scenes)
    for frame, table in zip(merged, TABLES.values(), strict=True):
        assert_frame_equal(frame, table.conform(frame))
    assert merge([]).samples.height == 0


def test_merge_refuses_one_benchmark_name_from_two_sources(folder):
    pool = build_source("mine", folder)
    with pytest.raises(BadInput, match="mine comes from two sources"):
        merge([pool, pool])


def test_merged_frames_do_not_depend_on_how_rows_were_ordered(folder):
    pool = build_source("mine", folder)
    shuffled = Pool(*(frame.sample(fraction=1, shuffle=True, seed=1) for frame in pool))
    for one, other in zip(merge([pool]), merge([shuffled]), strict=True):
        assert_frame_equal(one, other)


def test_normalised_keeps_what_distinguishes_questions():
    assert normalised("  What  IS this? ") == normalised("what is this")
    assert normalised("Is x > y?") != normalised("Is x < y?")
    assert normalised("1.5") != normalised("15")


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        ({"kind": "folder", "path": "x", "sample": 3}, "sample"),
        ({"kind": "folder"}, "path"),
        ({"kind": "drawn", "samples": 0}, "samples"),
        ({"kind": "drawn", "samples": 3, "seed": -1}, "seed"),
        ({"kind": "folder", "path": "x", "exclude_ids": [7]}, "exclude_ids"),
        ({"kind": "folder", "path": "x", "exclude_ids": [""]}, "exclude_ids"),
        ({"kind": "parquet", "path": "x", "fields": "mmbanch"}, "fields"),
        ({"kind": "web"}, "kind"),
        ({}, "kind"),
    ],
)
def test_specs_refuse(raw, place):
    with pytest.raises(ValidationError, match=place):
        TypeAdapter(Source).validate_python(raw)


def test_specs_are_light_to_import():
    import subprocess
    import sys

    code = "import sys, benchc.config.sources; print({'numpy', 'polars', 'PIL'} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"


def test_no_row_is_lost_when_the_hundredth_has_more_options(tmp_path):
    rows = [
        (photo(0, (6, 4)), "a.png", f"Question {i}?", list("wxyz")[: 2 + i % 3], "A", "")
        for i in range(101)
    ] + [(photo(0, (6, 4)), "a.png", "Last?", [f"o{i}" for i in range(26)], "Z", "")]
    pool = build_source("mine", make_folder(tmp_path / "f", rows))
    lengths = pool.samples.select("source_ref", pl.col("options").list.len().alias("k"))
    assert dict(lengths.rows())["q101"] == 26
