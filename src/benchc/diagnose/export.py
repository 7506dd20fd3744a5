"""Writes the pairs in which a model failed quietly as one table: the way from here to training.

Pictures stay where they are: a row says which one, and by what its corrupted pixels are made again.
"""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from benchc.config.checked import nearest
from benchc.diagnose.answers import csv_text
from benchc.errors import BadInput
from benchc.sql import blamed, fetch, rows
from benchc.tables import renamed_into_place
from benchc.tables.database import opened

#: The kinds of pairs, as the macros of the same names define them.
KINDS = ("silent_degradation", "overconfident_degradation", "lucky_guess")
#: Shifts within this are no finding.
TAU = 0.01
_ENDINGS = (".parquet", ".csv", ".jsonl")


def export(
    database: Path,
    out: Path,
    scope: str = "selection",
    models: Sequence[str] = (),
    kinds: Sequence[str] = KINDS,
    tau: float = TAU,
) -> pl.DataFrame:
    """Write the rows of `sql/export.sql` to `out` and return them.

    Args:
        database: what `benchc diagnose build` wrote.
        out: a .parquet, .csv or .jsonl file; in CSV lists are JSON.
        scope: selection, control or pool.
        models: keys; none stands for all that were run on the whole scope.
        kinds: of `KINDS`; a pair of two kinds has a row for each.
        tau: shifts within it are no finding, 0..1; lucky guesses do not depend on it.

    Raises:
        BadInput: no such database, or one of another version; an unknown scope, model, kind or
            ending of `out`; a model that was not run on the whole scope; nothing to export.
    """
    if out.suffix not in _ENDINGS:
        raise BadInput(f"--out {out}: ends in none of {', '.join(_ENDINGS)}")
    for kind in kinds:
        if kind not in KINDS:
            raise BadInput(f"--kinds {kind}: no such kind{nearest(kind, KINDS)}")
    if not database.is_file():
        raise BadInput(f"{database}: no such database; run `snakemake --cores all` to build it")
    with opened({"run": database}) as connection, blamed("diagnose/export") as query:
        covered = rows(connection, "SELECT scope, model FROM scopes GROUP BY ALL ORDER BY ALL")
        asked = [row["model"] for row in covered if row["scope"] == scope]
        if not asked:
            scopes = sorted({row["scope"] for row in covered})
            raise BadInput(f"--scope {scope}: no model was run on it; there is {_all_of(scopes)}")
        known = [row["model"] for row in rows(connection, "FROM models ORDER BY model")]
        for model in models:
            if model not in known:
                raise BadInput(f"--model {model}: no such model{nearest(model, known)}")
            if model not in asked:
                raise BadInput(f"--model {model}: was not run on all of the {scope}")
        values = {"scope": scope, "models": list(models) or asked, "kinds": list(kinds), "tau": tau}
        found = fetch(connection, query, values)
    if found.is_empty():
        raise BadInput(
            f"{database}: no pair of {_all_of(kinds)} over the {scope} for "
            f"{_all_of(list(models) or asked)}; nothing to export"
        )
    with renamed_into_place(out) as temporary:
        if out.suffix == ".csv":
            temporary.write_text(csv_text(found), encoding="utf-8")
        elif out.suffix == ".jsonl":
            found.write_ndjson(temporary)
        else:
            found.write_parquet(temporary)
    return found


def _all_of(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
