"""The published findings, held against the intervals of a run.

A finding is a name and a sentence here, and a statement in `sql/verdicts/` that returns its
contrasts: scope, model (or `about`, of all models), contrast, expected, value, low, high. Where
something else would make the contrast too, it returns that null as well: null_name, above_null,
above_low, above_high.
"""

import duckdb

from benchc.sql import blamed, statement

#: In the order of the report.
FINDINGS = {
    "clean_accuracy_is_no_guarantee": "Clean accuracy is no guarantee: some other model has a "
    "better RAS than the most accurate one, raw, matched and fitted",
    "most_accurate_model_loses_most": "The most accurate model on clean pictures loses most, in "
    "accuracy and in RAS, raw, matched and fitted",
    "kept_answers_lose_ras": "Answers that stay right (Q_cc) lose RAS all the same, beyond "
    "flattening",
    "gains_come_with_damage": "Gains come from answers that turn right (Q_wc) and stand beside "
    "damage to those that were right (Q_c)",
    "severity_splits_right_and_wrong": "With severity RAS falls where the clean answer was right "
    "(Q_c) and rises where it was wrong (Q_w)",
    "blur_hurts_right_answers_most": "Blur hurts right answers (Q_c) most",
    "mild_corruption_raises_accuracy": "Under some mild corruption accuracy rises while RAS falls",
}


#: What a statement in `sql/verdicts/` returns; what it leaves out is empty.
_CONTRASTS = """
    scope VARCHAR, model VARCHAR, about VARCHAR, contrast VARCHAR, expected VARCHAR,
    value DOUBLE, low DOUBLE, high DOUBLE,
    null_name VARCHAR DEFAULT '', above_null DOUBLE, above_low DOUBLE, above_high DOUBLE
"""


def add_verdicts(connection: duckdb.DuckDBPyConnection) -> None:
    """Fill `verdicts` from the other tables of the database."""
    for view in ("ranked_differences", "most_accurate"):
        connection.execute(f"CREATE TEMP VIEW {view} AS {statement(f'diagnose/{view}')}")
    verdicts = statement("diagnose/verdicts")
    for finding in FINDINGS:
        connection.execute(f"CREATE TEMP TABLE contrasts ({_CONTRASTS})")
        with blamed(f"diagnose/verdicts/{finding}") as contrasts:
            connection.execute(f"INSERT INTO contrasts BY NAME {contrasts}")
        connection.execute(f"INSERT INTO verdicts BY NAME {verdicts}", {"finding": finding})
        connection.execute("DROP TABLE contrasts")
