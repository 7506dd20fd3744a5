"""What is asked by what corrupts, in words and as a matrix."""

import pytest

from benchc.report import asked

_ROW = {"benchmark": "read", "corruption_group": "blur", "change": -0.65}


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (("read", "digital", -0.24), "digital 24."),
        (("count", "blur", -0.031), "on those of count 3."),
        (("count", "blur", 0.0), "on those of count none."),
    ],
)  # fmt: skip
def test_a_contrast_in_words(other, said):
    row = _ROW | dict(zip(("other_benchmark", "other_group", "other_change"), other, strict=True))
    text = asked.sentence(row).replace("\u00a0", " ")
    assert text == f"blur costs 65 points of accuracy on questions of read, {said}"


def test_a_matrix_says_where_pictures_are_too_few():
    cell = {"model": "m", "benchmark": "read", "category": None, "low": None, "high": None}
    rows = [
        cell | {"corruption_group": "noise", "n_images": 9, "value": None, "mark": None},
        cell
        | {"corruption_group": "blur", "n_images": 80, "value": -0.5, "mark": "loss"}
        | {"low": -0.6, "high": -0.4},
    ]
    found = asked.matrix(rows, ["m"])
    assert found is not None
    assert found["groups"] == ["blur", "noise"]
    ((_, ((_, (blur, noise)),)),) = found["models"]
    assert "●" in blur["said"]
    assert "80 pictures" in blur["note"]
    assert noise == {"said": "–", "note": "9 pictures", "step": None}
    assert asked.matrix([], ["m"]) is None
