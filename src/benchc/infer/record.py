"""`run.json`: what a model's predictions were made with, put together from those of its shards.

Whether a difference between machines matters is not judged; it is kept and said.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from benchc.errors import BadInput

Record = dict[str, Any]

_SUMMED = {"ran_on", "corruptions_that_differ", "processor_errors", "reasons", "looks"}


def merged(records: Sequence[Record], key: str, ran_on: list[dict[str, object]]) -> Record:
    """Return the record of a whole model.

    Args:
        records: Those of its shards.
        key: The model's key in the config.
        ran_on: What all predictions were computed on.

    Returns:
        What the shards say alike, `ran_on`, what went wrong in any of them, and under
        `shards_differ_in` each further field with the values that it had.

    Raises:
        BadInput: a record is of another model, or of other settings of it.
    """
    first = records[0]
    for record in records:
        if record["model"] != key:
            raise BadInput(f"--part: a shard of {record['model']!r} was given for {key!r}")
        if record["settings"] != first["settings"]:
            raise BadInput(f"--part: shards of {key!r} were asked with different settings")
    whole = {**first, "ran_on": ran_on}
    differing = {name for record in records for name in record["corruptions_that_differ"]}
    whole["corruptions_that_differ"] = sorted(differing)
    for name in ("processor_errors", "reasons"):
        if name in first:
            whole[name] = dict(sum((Counter(r[name]) for r in records), Counter[str]()))
    differ = _differences(records)
    return {**whole, "shards_differ_in": differ} if differ else whole


def _differences(records: Sequence[Record]) -> dict[str, list[object]]:
    """Return the fields that tell shards apart and are not summed, with each value once."""
    found = {}
    for name in sorted({name for record in records for name in record} - _SUMMED):
        values: list[object] = []
        for record in records:
            if record.get(name) not in values:
                values.append(record.get(name))
        if len(values) > 1:
            found[name] = values
    return found
