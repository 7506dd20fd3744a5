"""What the database says of its models, held against what their predictions were made with.

The config may have changed since, and a workflow can be told that nothing is old; `run.json`,
which inference writes beside the predictions, knows.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl

from benchc.diagnose.schema import MODELS
from benchc.errors import BadInput
from benchc.tables.database import as_json

_COMMIT = re.compile(r"[0-9a-f]{40}")
_ABSENT = object()

#: Where the facts about a run hold what a record holds too.
_OF_THE_RUN = {
    "seed": ("seed",),
    "reference_side": ("corrupt", "reference_side"),
    "threads": ("infer", "threads"),
}


def models(entries: Iterable[Mapping[str, Any]], run: Mapping[str, Any]) -> pl.DataFrame:
    """Return the table `models`.

    Args:
        entries: per model its key, selector, settings and fingerprint, and as `record` what its
            run.json holds, None without one.
        run: facts about the run, its `config` among them.

    Raises:
        BadInput: the predictions of a model were made with another setting than is given here.
    """
    rows = []
    for entry in entries:
        record = entry.get("record")
        if record is not None:
            for name, given, used in differences(entry, run.get("config", {}), record):
                raise BadInput(
                    f"model {entry['key']}: its predictions were made with {name} {_shown(used)}, "
                    f"and not {_shown(given)} as the config says now; delete "
                    f"results/infer/{entry['key']}/run.json and run again, or take the change back"
                )
        rows.append(
            {
                "model": entry["key"],
                "selector": entry["selector"],
                "settings": as_json({**entry["settings"], "run": record}),
                "fingerprint": entry["fingerprint"],
            }
        )
    return MODELS.conform(MODELS.from_rows(rows))


def differences(
    entry: Mapping[str, Any], config: Mapping[str, Any], record: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    """Yield name, value in the config, value in the record of whatever is not the same."""
    given, used = entry["settings"], record.get("settings", {})
    for name in sorted({*given, *used}):
        one, other = given.get(name, _ABSENT), used.get(name, _ABSENT)
        # A branch is recorded as the commit that it was resolved to.
        if one != other and not (name == "revision" and not _is_commit(one) and _is_commit(other)):
            yield name, one, other
    weights = _weights(entry["fingerprint"])
    if weights is not None and record.get("weights", weights) != weights:
        yield "weights", weights, record["weights"]
    for name, path in _OF_THE_RUN.items():
        value: Any = config
        for key in path:
            value = value.get(key, _ABSENT) if isinstance(value, Mapping) else _ABSENT
        if value is not _ABSENT and record.get(name, value) != value:
            yield name, value, record[name]


def _is_commit(value: Any) -> bool:
    return isinstance(value, str) and _COMMIT.fullmatch(value) is not None


def _weights(fingerprint: str) -> str | None:
    try:
        found = json.loads(fingerprint)
    except ValueError:
        return None
    return found.get("weights") if isinstance(found, dict) else None


def _shown(value: Any) -> str:
    return "(not given)" if value is _ABSENT else as_json(value)
