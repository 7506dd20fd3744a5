"""What has come of a model's questions so far, read from its answers; no database is needed."""

from pathlib import Path

import duckdb
import polars as pl

from benchc.errors import BadInput
from benchc.infer.journal import listed

OVERVIEW = """
    SELECT status, count(*) AS answers, count(*) FILTER (NOT final) AS asked_again,
        mode(reason) AS most_seen
    FROM answers GROUP BY status ORDER BY answers DESC, status
"""
_SCHEMA = {
    "sample_id": pl.String,
    "corruption": pl.String,
    "severity": pl.Int64,
    "status": pl.String,
    "reason": pl.String,
    "tries": pl.Int64,
    "final": pl.Boolean,
    "option_mass": pl.Float64,
}


def answers(key: str, folder: Path) -> pl.DataFrame:
    """Return one row per answer in a folder; those of earlier settings are among them.

    Args:
        key: The model's key in the config.
        folder: Where its answers are.
    """
    rows = [
        {
            "sample_id": where.samples[0],
            "corruption": where.corruption,
            "severity": where.severity,
            "status": kept.score.status,
            "reason": "; ".join(kept.score.reasons) or None,
            "tries": kept.tries,
            "final": kept.is_final,
            "option_mass": kept.score.option_mass,
        }
        for where, kept in listed(key, folder)
    ]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def shown(key: str, folder: Path, statement: str | None = None) -> str:
    """Return what a statement says of the table `answers`, as a Markdown table.

    Args:
        key: See `answers`.
        folder: See `answers`.
        statement: In SQL; the number of answers of each status without it.

    Raises:
        BadInput: the statement cannot be run.
    """
    with duckdb.connect() as connection:
        connection.register("answers", answers(key, folder))
        connection.execute("SET enable_external_access = false; SET lock_configuration = true")
        try:
            answered = connection.execute(statement or OVERVIEW)
            names = [column[0] for column in answered.description or ()]
            rows = answered.fetchall()
        except duckdb.Error as error:
            raise BadInput(f"--sql: {str(error).splitlines()[0]}") from None
    with pl.Config(
        tbl_formatting="MARKDOWN",
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
        tbl_rows=-1,
        tbl_cols=-1,
        fmt_str_lengths=500,
        tbl_width_chars=-1,
    ):
        return str(pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None))
