"""The transform: keyed by index and epoch alone, the pipeline's pixels, any kind of picture."""

import copy
import pickle
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import DataLoader
from torchvision import tv_tensors
from torchvision.transforms import v2

from benchc.corrupt import CORRUPTIONS, condition
from benchc.corrupt.transform import RandomCorruption
from benchc.errors import BadInput
from benchc.pictures.pixels import pixel_hash

PAGE = Path(__file__).parents[2] / "docs/loading.md"
PICTURES = np.random.default_rng(7).integers(0, 256, (12, 24, 31, 3), np.uint8)


class Pictures:
    """A data set; a class of the module, so that a spawned worker can have it."""

    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return len(PICTURES)

    def __getitem__(self, index):
        return self.transform({"image": PICTURES[index], "index": index})


def loaded(loader):
    return {
        int(index): pixel_hash(image.numpy())
        for batch in loader
        for index, image in zip(batch["index"], batch["image"], strict=True)
    }


def alone(transform):
    return {at: pixel_hash(transform(picture, at)) for at, picture in enumerate(PICTURES)}


def test_order_workers_and_batches_make_no_difference():
    transform = RandomCorruption(seed=3)
    wanted = alone(transform)
    assert len(set(wanted.values())) == len(PICTURES)
    for settings in (
        {"num_workers": 0, "batch_size": 5},
        {"num_workers": 1, "batch_size": 4, "shuffle": True},
        {"num_workers": 2, "batch_size": 1, "shuffle": True},
    ):
        assert loaded(DataLoader(Pictures(transform), **settings)) == wanted, settings


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_an_epoch_reaches_workers_that_run_already(way):
    transform = RandomCorruption(["gaussian_noise", "fog"], seed=3)
    loader = DataLoader(
        Pictures(transform), 4, num_workers=1, persistent_workers=True, multiprocessing_context=way
    )
    found = []
    for epoch in (0, 1, 0):
        transform.set_epoch(epoch)
        found.append(loaded(loader))
        assert found[-1] == alone(transform)
    assert found[0] == found[2]
    assert not set(found[0].values()) & set(found[1].values())


def test_a_copy_has_an_epoch_of_its_own():
    transform = RandomCorruption(seed=3)
    transform.set_epoch(2)
    for other in (copy.deepcopy(transform), pickle.loads(pickle.dumps(transform))):
        assert (other.epoch, alone(other)) == (2, alone(transform))
        other.set_epoch(4)
        assert transform.epoch == 2


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_with_an_image_id_the_pixels_are_those_of_a_run(name):
    transform = RandomCorruption(name, [4], seed=5, reference_side=20)
    image_id = pixel_hash(PICTURES[0])
    wanted = condition(PICTURES[0], name, 4, seed=5, image_id=image_id, reference_side=20)
    for epoch in (0, 1):
        transform.set_epoch(epoch)
        assert pixel_hash(transform(PICTURES[0], epoch, image_id)) == pixel_hash(wanted)


def test_kinds_of_pictures_hold_the_same_pixels():
    transform = RandomCorruption(["fog", "impulse_noise"], seed=1)
    before = PICTURES.copy()
    wanted = np.stack([transform(picture, at) for at, picture in enumerate(PICTURES)])
    indices = torch.arange(len(PICTURES))
    channels_first = torch.from_numpy(np.moveaxis(PICTURES, -1, 1))
    assert np.array_equal(transform(PICTURES, list(range(12))), wanted)
    batch = transform(channels_first, indices)
    assert np.array_equal(np.moveaxis(batch.numpy(), 1, -1), wanted)
    one = transform(tv_tensors.Image(channels_first[3]), 3)
    assert isinstance(one, tv_tensors.Image)
    assert torch.equal(one.as_subclass(torch.Tensor), batch[3])
    pil = transform(Image.fromarray(PICTURES[3]), np.int64(3))
    assert np.array_equal(np.asarray(pil), wanted[3])
    sample = {"image": PICTURES[3], "index": 3, "label": 9}
    composed = v2.Compose([transform, v2.ToImage()])(sample)
    assert composed["label"] == 9
    assert torch.equal(composed["image"].as_subclass(torch.Tensor), batch[3])
    assert np.array_equal(PICTURES, before)


def test_grey_pictures_stay_grey():
    transform = RandomCorruption("fog", seed=1)
    grey = PICTURES[..., 0]
    pil = transform(Image.fromarray(grey[2]), 2)
    tensor = transform(torch.from_numpy(grey[:, None].copy()), range(12))
    assert pil.mode == "L"
    assert tensor.shape == (12, 1, 24, 31)
    assert np.array_equal(np.asarray(pil), tensor[2, 0].numpy())


def test_draws_keep_to_weights_and_shares():
    transform = RandomCorruption({"fog": 3, "frost": 1}, {1: 1, 5: 4}, seed=1, clean=0.5)
    found = Counter(transform.drawn(index) for index in range(4000))
    shares = {key: number / 4000 for key, number in found.items()}
    wanted = {
        ("clean", 0): 0.5,
        **{(n, s): 0.5 * a * b for n, a in (("fog", 0.75), ("frost", 0.25))
           for s, b in ((1, 0.2), (5, 0.8))},
    }  # fmt: skip
    assert shares == pytest.approx(wanted, abs=0.03)
    clean = RandomCorruption(seed=1, clean=1)
    assert np.array_equal(clean(PICTURES, range(12)), PICTURES)


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({"corruptions": ["fgo"]}, "corruption 'fgo': did you mean 'fog'?"),
        ({"corruptions": []}, "corruptions: nothing to draw from"),
        ({"corruptions": {"fog": 0}}, "weight 0 of 'fog'"),
        ({"severities": [0]}, "severity 0: expected a whole number from 1 to 5"),
        ({"severities": [6]}, "severity 6: expected a whole number from 1 to 5"),
        ({"severities": [True]}, "severity True"),
        ({"clean": 1.5}, "clean 1.5"),
        ({"seed": 1.5}, "seed 1.5"),
        ({"reference_side": 0}, "reference_side 0"),
    ],
)
def test_bad_settings_are_one_line(settings, wanted):
    with pytest.raises(BadInput, match=re.escape(wanted)) as refused:
        RandomCorruption(**{"seed": 1, **settings})
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ((torch.zeros(3, 8, 8), 0), "tensor of torch.float32: expected uint8"),
        ((np.zeros((8, 8, 3)), 0), "array of float64: expected uint8"),
        ((torch.zeros(8, 8, 3, dtype=torch.uint8), 0), "tensor of shape (8, 8, 3)"),
        ((np.zeros((8, 8, 4), np.uint8), 0), "array of shape (8, 8, 4)"),
        ((np.zeros((0, 8, 3), np.uint8), 0), "empty"),
        ((Image.new("RGBA", (8, 8)), 0), "PIL image of mode RGBA"),
        (("cat.png", 0), "picture of type str"),
        ((PICTURES[0],), "index None: expected a whole number; it keys the draw"),
        ((PICTURES[0], 0.5), "index 0.5"),
        ((PICTURES[0], 0, 7), "image_id 7: expected a string"),
        ((PICTURES, 0), "batch of 12 pictures: index 0"),
        ((PICTURES, [0, 1]), "batch of 12 pictures: index [0, 1]"),
        ((PICTURES, range(12), "twelve chars"), "batch of 12 pictures: image_id"),
        (({"image": PICTURES[0]},), "sample without 'index'"),
    ],
)
def test_bad_pictures_are_one_line(arguments, wanted):
    with pytest.raises(BadInput, match=re.escape(wanted)) as refused:
        RandomCorruption(seed=1)(*arguments)
    assert "\n" not in str(refused.value)


#: Refuses every package but those that the page names, as where no other is installed.
ALONE = """
import sys, importlib.abc

class Missing(importlib.abc.MetaPathFinder):
    known = sys.stdlib_module_names | {
        "benchc", "numpy", "cv2", "PIL", "pydantic", "pydantic_core", "annotated_types",
        "typing_extensions", "typing_inspection"}

    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in self.known and not top.startswith("_"):
            raise ModuleNotFoundError(f"No module named {top!r}", name=top)

sys.meta_path.insert(0, Missing())
import benchc.corrupt.transform
import numpy as np
from PIL import Image
for name in benchc.corrupt.CORRUPTIONS:
    transform = benchc.corrupt.transform.RandomCorruption(name, seed=1)
    transform(Image.fromarray(transform(np.full((20, 30, 3), 90, np.uint8), 0)), 1)
for name in ("torch", "snakemake", "duckdb", "polars"):
    assert name not in sys.modules, name
    try:
        __import__(name)
    except ModuleNotFoundError:
        continue
    raise SystemExit(f"{name} could be imported: this test shows nothing")
"""


def test_nothing_but_what_the_page_names_is_needed():
    subprocess.run([sys.executable, "-c", ALONE], check=True)


def test_the_page_runs(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 2
    printed = []
    for number, block in enumerate(blocks):
        (tmp_path / f"example{number}.py").write_text(block)
        done = subprocess.run(
            [sys.executable, f"example{number}.py"],
            cwd=tmp_path, check=True, capture_output=True, text=True,
        )  # fmt: skip
        printed.append(done.stdout.splitlines())
    assert {tuple(line.split()[:2]) for line in printed[0]} == {
        (str(epoch), str(index)) for epoch in range(2) for index in range(8)
    }
