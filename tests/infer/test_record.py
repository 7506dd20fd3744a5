"""The record of a sharded model keeps what any shard met."""

import pytest

from benchc.errors import BadInput
from benchc.infer.record import merged

ALIKE = {
    "model": "m",
    "settings": {"dtype": "float32"},
    "libraries": {"torch": "2.14.1"},
    "corruptions_that_differ": [],
    "processor_errors": {},
    "ran_on": [],
}
RAN_ON = [{"device": "cpu", "predictions": 7}]


def test_what_any_shard_met_is_kept():
    record = merged(
        [
            ALIKE | {"processor_errors": {"too thin": 2}},
            ALIKE | {"processor_errors": {"too thin": 1, "empty": 1}},
            ALIKE | {"corruptions_that_differ": ["fog"]},
        ],
        "m",
        RAN_ON,
    )
    assert record["processor_errors"] == {"too thin": 3, "empty": 1}
    assert record["corruptions_that_differ"] == ["fog"]
    assert record["ran_on"] == RAN_ON
    assert "shards_differ_in" not in record


def test_reasons_are_summed_and_need_no_errors_of_a_processor():
    served = {k: v for k, v in ALIKE.items() if k != "processor_errors"}
    shards = [{}, {"too_long": 1}, {"too_long": 2, "rejected": 3}]
    record = merged([served | {"reasons": reasons} for reasons in shards], "m", RAN_ON)
    assert record["reasons"] == {"too_long": 3, "rejected": 3}
    assert "processor_errors" not in record


def test_machines_that_differ_are_said():
    other = ALIKE | {"libraries": {"torch": "2.15.0"}}
    record = merged([ALIKE, other, ALIKE], "m", RAN_ON)
    assert record["shards_differ_in"] == {"libraries": [ALIKE["libraries"], other["libraries"]]}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"model": "n"}, "a shard of 'n' was given for 'm'"),
        ({"settings": {}}, "different settings"),
    ],
)
def test_shards_of_something_else_are_refused(change, says):
    with pytest.raises(BadInput, match=says):
        merged([ALIKE, ALIKE | change], "m", RAN_ON)
