"""Corruptions of a user's own: known wherever pictures are corrupted, or refused clearly."""

import os
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml
from typer.testing import CliRunner

from benchc.config.plugins import VARIABLE, Plugin, groups, known, register
from benchc.config.run import read_config
from benchc.corrupt import CORRUPTIONS, condition
from benchc.corrupt.command import app
from benchc.corrupt.plugins import check_plugin
from benchc.corrupt.selftest import synthetic_picture
from benchc.corrupt.stage import render_corruption
from benchc.discover.pictures import pictures
from benchc.errors import BadInput
from benchc.infer.rendering import Recipe, renderers
from benchc.pictures.pixels import encode, pixel_hash
from benchc.running.workflow import Workflow

PROJECT = Path(__file__).parents[2]
PAGE = (PROJECT / "docs/corruptions.md").read_text(encoding="utf-8")
EXAMPLE = re.search(r"`my.py`:\n\n```python\n(.*?)```", PAGE, re.DOTALL)[1]
CONFIG = yaml.safe_load(re.search(r"In the config:\n\n```yaml\n(.*?)```", PAGE, re.DOTALL)[1])
SEEN = {"seed": 1, "image_id": "x", "reference_side": None}


@pytest.fixture(autouse=True)
def forget(monkeypatch):
    monkeypatch.setenv(VARIABLE, "{}")


def plugin(tmp_path, body, name="rain"):
    (tmp_path / "my.py").write_text(body)
    register({name: Plugin(file="my.py", function=name, group="weather")}, tmp_path)


def test_the_example_of_the_page_works_as_any_other(tmp_path):
    plugin(tmp_path, EXAMPLE)
    check_plugin("rain")
    picture = synthetic_picture(40, 50)
    before = picture.copy()
    made = [condition(picture, "rain", severity, **SEEN) for severity in range(1, 6)]
    assert (picture == before).all()
    change = [np.abs(one.astype(int) - picture).mean() for one in made]
    assert 0 < change[0] < change[-1]
    again = condition(picture, "rain", 3, **SEEN)
    assert (again == made[2]).all()
    assert (condition(picture, "rain", 3, **SEEN | {"image_id": "y"}) != again).any()
    assert list(known())[-1] == "rain"
    assert groups()["weather"][-1] == "rain"
    assert "rain" in CliRunner().invoke(app, ["list"]).output


def test_worker_processes_and_discovery_know_it(tmp_path):
    plugin(tmp_path, EXAMPLE)
    picture = synthetic_picture(40, 50)
    made = condition(picture, "rain", 2, **SEEN)
    recipe = Recipe("x", encode(picture), "rain", (2,), (pixel_hash(made),), (None,), 1, None)
    with renderers(1) as submit:
        found = submit([recipe])()
    assert (found["x", 2] == made).all()
    (clean,), (wet,) = pictures("t", 1, 1), pictures("t", 1, 1, "rain", 2)
    assert (clean.load() != wet.load()).any()


def test_it_is_rendered_as_a_table(tmp_path):
    plugin(tmp_path, EXAMPLE)
    picture = synthetic_picture(40, 50)
    row = {"image_id": "x", "width": 50, "height": 40, "bytes": encode(picture)}
    frame = render_corruption(pl.DataFrame([row]), "rain", seed=1)
    wanted = [pixel_hash(condition(picture, "rain", level, **SEEN)) for level in range(1, 6)]
    assert frame["pixels_sha256"].to_list() == wanted


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("def rain(p, s, r): return p.astype(float)", "array of float64 .* at severity 1"),
        ("def rain(p, s, r): return p[:-s]", "severity 1; want uint8 of shape"),
        ("def rain(p, s, r): return p if s < 4 else p[..., 0]", "at severity 4"),
        ("def rain(p, s, r): return None", "returned NoneType"),
        ("import numpy as np\ndef rain(p, s, r): return p + np.random.randint(0, 9, p.shape)"
         ".astype('u1')", "two calls at severity 1 gave different pictures"),
        ("n = [0]\ndef rain(p, s, r):\n    n[0] += 1\n    return p + np.uint8(n[0])"
         "\nimport numpy as np", "two calls"),
        ("\n\ndef rain(p, s, r): return p / 0 if s > 2 else 1 / 0", "ZeroDivisionError.*line 3"),
        ("def rain(p, s, r): return p + undefined", "NameError"),
        ("def rain(p): return p", "TypeError"),
        ("def snow(p, s, r): return p", "defines no function 'rain'"),
        ("rain = 3", "defines no function 'rain'"),
        ("def rain(:", "cannot be loaded .SyntaxError"),
        ("import not_there", "cannot be loaded .ModuleNotFoundError"),
    ],
)  # fmt: skip
def test_what_is_no_corruption_is_refused_in_one_line(tmp_path, body, said):
    plugin(tmp_path, body)
    with pytest.raises(BadInput, match=said) as refused:
        check_plugin("rain")
    assert "\n" not in str(refused.value)


def test_it_cannot_change_the_picture_it_is_given(tmp_path):
    plugin(tmp_path, "def rain(p, s, r):\n    p[:] = 0\n    return p")
    picture = synthetic_picture(20, 20)
    assert condition(picture, "rain", 1, **SEEN).max() == 0
    assert picture.max() > 0


def values(**corrupt):
    return {"corrupt": {"plugins": {"rain": {"file": "my.py", "function": "rain",
                                             "group": "weather"} | corrupt}}}  # fmt: skip


def test_its_name_joins_the_list_of_a_run(tmp_path):
    (tmp_path / "my.py").write_text(EXAMPLE)
    file = str(tmp_path / "my.py")
    config = read_config(values(file=file), PROJECT)
    assert config.corruptions == (*CORRUPTIONS, "rain")
    some = read_config(values(file=file) | {"corruptions": ["fog", "rain"]}, PROJECT)
    assert some.corruptions == ("fog", "rain")
    assert values() == CONFIG
    with pytest.raises(BadInput, match=r"corruptions: unknown value 'rain'"):
        read_config({"corruptions": ["fog", "rain"]}, PROJECT)
    with pytest.raises(BadInput, match=r"corrupt.plugins.rain.file: no.py is no file"):
        read_config(values(file="no.py"), PROJECT)


@pytest.mark.parametrize("name", ["fog", "clean", "blank", "Rain", "a b", "../x", "1rain"])
def test_a_name_that_is_taken_or_no_name_is_refused(name):
    with pytest.raises(BadInput, match=r"corrupt\.plugins"):
        read_config(
            {"corrupt": {"plugins": {name: values()["corrupt"]["plugins"]["rain"]}}}, PROJECT
        )


def test_its_code_counts_and_nothing_elses_does(tmp_path):
    file = tmp_path / "my.py"
    file.write_text(EXAMPLE)

    def codes():
        run = Workflow(values(file=str(file)), str(PROJECT))
        return run.corruption_code("rain"), run.corruption_code("fog")

    rain, fog = codes()
    assert codes() == (rain, fog)
    file.write_text(EXAMPLE.replace("20 *", "21 *"))
    assert codes()[0] != rain
    assert codes()[1] == fog
    Workflow({}, str(PROJECT))
    assert os.environ[VARIABLE] == "{}"
