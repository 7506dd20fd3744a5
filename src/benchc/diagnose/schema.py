"""The tables of the database: columns, types, and the comments that are stored with them.

Never fills a table; the statements in `sql/` do.
"""

from benchc import tables
from benchc.diagnose.columns import (
    CLASS,
    CONTRIBUTION,
    CORRUPTION,
    CROSSED,
    MEAN_RAS,
    MODEL,
    N_MISSING,
    N_PAIRS,
    SAMPLE,
    SCOPE,
    SEVERITY,
    SHARE,
)
from benchc.diagnose.statistics_schema import (
    CALIBRATION,
    COMPARISONS,
    DIFFERENCES,
    FLATTENING,
    INTERVALS,
    MEASURES,
    NULLS,
    ONSETS,
    PAIR_STATUS,
    SIMULTANEOUS_DIFFERENCES,
    VERDICTS,
)
from benchc.tables import INTEGER, REAL, TEXT, TEXTS, TRUTH, Column, Table


def _without_bytes(table: Table) -> Table:
    columns = tuple(column for column in table.columns if column.name != "bytes")
    return Table(table.name, f"{table.description} (without the pictures)", columns, table.key)


IMAGES = _without_bytes(tables.IMAGES)
CORRUPTED = _without_bytes(tables.CORRUPTED)

RUN = Table(
    "run",
    "facts about the run that made this database",
    (
        Column("name", TEXT, "what the fact is about"),
        Column("value", TEXT, "text, or JSON where the fact is no text"),
    ),
    ("name",),
)

MODELS = Table(
    "models",
    "the models under test",
    (
        MODEL,
        Column("selector", TRUTH, "took part in choosing the benchmark's samples"),
        Column("settings", TEXT, "JSON of the model's settings in the config"),
        Column(
            "fingerprint", TEXT, "JSON of what decides its predictions: settings, hash of weights"
        ),
    ),
    ("model",),
)

CORRUPTIONS = Table(
    "corruptions",
    "the corruptions and their groups",
    (
        Column("corruption", TEXT, "corruption name"),
        Column("corruption_group", TEXT, "photometric, blur, noise, weather or digital"),
    ),
    ("corruption",),
)

SCORES = Table(
    "scores",
    "what each prediction is worth: one row per model, sample and condition",
    (
        MODEL,
        SAMPLE,
        CORRUPTION,
        SEVERITY,
        Column("confidence", REAL, "largest option probability, 0..1", True),
        Column("correct", INTEGER, "1 if the right option alone holds the maximum", True),
        Column("uncertainty", REAL, "S: normalised entropy of the options, 0..1", True),
        Column("misalignment", REAL, "C: |confidence - correct|, 0..1; larger is worse", True),
        Column("brier", REAL, "sum of squared errors over the options, 0..2", True),
        Column("nll", REAL, "negative log-likelihood of the right option, nats", True),
    ),
    ("model", "sample_id", "corruption", "severity"),
)

SCOPES = Table(
    "scopes",
    "the samples each model's figures are taken over",
    (SCOPE, MODEL, SAMPLE),
    ("scope", "model", "sample_id"),
)

TRAJECTORIES = Table(
    "trajectories",
    "how correctness runs over the severities of one model, sample and corruption",
    (
        MODEL,
        SAMPLE,
        Column("corruption", TEXT, "corruption name"),
        Column("class", TEXT, CLASS),
        Column("onset", INTEGER, "first severity at which correctness differs from clean", True),
    ),
    ("model", "sample_id", "corruption"),
)

CELLS = Table(
    "cells",
    "sums of RAS by crossing, source, state and trajectory class; attributions are sums of these",
    (
        *CROSSED,
        Column("source", TEXT, "c or w: right or wrong on the clean picture", True),
        Column("state", TEXT, "cc, cw, wc or ww: clean then corrupted correctness", True),
        Column("class", TEXT, CLASS),
        Column("n_pairs", INTEGER, "pairs that have a RAS"),
        Column("n_missing", INTEGER, "pairs without a RAS"),
        Column("ras_sum", REAL, "sum of RAS over n_pairs"),
    ),
    (*(column.name for column in CROSSED), "source", "state", "class"),
)

LEADERBOARD = Table(
    "leaderboard",
    "one line per scope and model, over the pairs that have a RAS",
    (
        SCOPE,
        MODEL,
        Column("selector", TRUTH, "took part in choosing the benchmark's samples"),
        Column("n_samples", INTEGER, "samples with at least one pair that has a RAS"),
        Column("n_pairs", INTEGER, "pairs that have a RAS"),
        Column("n_missing", INTEGER, "pairs without a RAS, left out of every figure"),
        Column("clean_accuracy", REAL, "accuracy on the clean pictures, paired", True),
        Column("corrupted_accuracy", REAL, "accuracy on the corrupted pictures", True),
        Column("relative_robustness", REAL, "corrupted over clean accuracy", True),
        Column("ras", REAL, "mean Robustness Alignment Score, -2..1", True),
        Column("destructive", REAL, "part of ras from pairs right on the clean picture", True),
        Column("corrective", REAL, "part of ras from pairs wrong on the clean picture", True),
        Column("clean_uncertainty", REAL, "mean normalised entropy, clean, paired", True),
        Column("corrupted_uncertainty", REAL, "mean normalised entropy, corrupted", True),
        Column("clean_option_mass", REAL, "mean option mass, clean, paired", True),
        Column("corrupted_option_mass", REAL, "mean option mass, corrupted", True),
        Column("scoring", TEXT, "letter or text: how answers were read"),
        Column("temperature", REAL, "what logits were divided by: RAS is not scale-free"),
    ),
    ("scope", "model"),
)

SOURCE_ATTRIBUTION = Table(
    "source_attribution",
    "mean RAS split by correctness on the clean picture: destructive (c) and corrective (w) part",
    (
        *CROSSED,
        Column("source", TEXT, "c or w: right or wrong on the clean picture"),
        N_PAIRS,
        N_MISSING,
        SHARE,
        MEAN_RAS,
        CONTRIBUTION,
    ),
    (*(column.name for column in CROSSED), "source"),
)

STATE_ATTRIBUTION = Table(
    "state_attribution",
    "mean RAS split by correctness on the clean, then the corrupted picture",
    (
        *CROSSED,
        Column("state", TEXT, "cc, cw, wc or ww"),
        N_PAIRS,
        N_MISSING,
        SHARE,
        MEAN_RAS,
        CONTRIBUTION,
    ),
    (*(column.name for column in CROSSED), "state"),
)

TRAJECTORY_ATTRIBUTION = Table(
    "trajectory_attribution",
    "mean RAS split by the class of the trajectory that a pair lies on",
    (
        *CROSSED,
        Column("class", TEXT, CLASS),
        N_PAIRS,
        N_MISSING,
        SHARE,
        MEAN_RAS,
        CONTRIBUTION,
    ),
    (*(column.name for column in CROSSED), "class"),
)

PHENOMENA = Table(
    "phenomena",
    "how often the named phenomena occur",
    (
        *CROSSED,
        Column(
            "phenomenon",
            TEXT,
            "silent_degradation, overconfident_degradation, hesitant_support or lucky_guess",
        ),
        Column("tau", REAL, "shifts within tau are no finding: 0, 0.01 or 0.1"),
        Column("n_pairs", INTEGER, "pairs that show the phenomenon"),
        N_MISSING,
        SHARE,
    ),
    (*(column.name for column in CROSSED), "phenomenon", "tau"),
)

PAIRS = Table(
    "pairs",
    "the shifts with everything one groups by; a pair stands once in each scope it belongs to",
    (
        SCOPE,
        MODEL,
        SAMPLE,
        Column("image_id", TEXT, "the picture; cluster by it, since questions share pictures"),
        Column("benchmark", TEXT, "where the sample comes from"),
        Column("category", TEXT, "the benchmark's own category, or empty"),
        Column("corruption_group", TEXT, "photometric, blur, noise, weather or digital"),
        *(column for column in tables.SHIFTS.columns if column.name not in ("model", "sample_id")),
        Column("source", TEXT, "c or w: right or wrong on the clean picture", True),
        Column("class", TEXT, CLASS),
        Column("onset", INTEGER, "first severity at which correctness differs from clean", True),
    ),
    ("scope", "model", "sample_id", "corruption", "severity"),
)

#: What the build reads, in the order of the database.
GIVEN = (
    RUN,
    MODELS,
    CORRUPTIONS,
    tables.SAMPLES,
    IMAGES,
    tables.REJECTED,
    tables.SELECTION,
    CORRUPTED,
    tables.PREDICTIONS,
    tables.SHIFTS,
)

MODEL_STATUS = Table(
    "model_status",
    "what became of every model of the config: nothing disappears silently",
    (
        MODEL,
        Column("state", TEXT, "measured; failed: no prediction is ok; left_out: in no figure"),
        Column("n_predictions", INTEGER, "rows in `predictions`"),
        Column("n_failed", INTEGER, "of these, rows whose status is not ok"),
        Column("reason", TEXT, "why it is left out, or how rows failed; NULL if all are ok", True),
    ),
    ("model",),
)

#: What the build derives, each by the statement of its name, in this order.
QUERIED = (
    MODEL_STATUS,
    SCOPES,
    TRAJECTORIES,
    CELLS,
    SOURCE_ATTRIBUTION,
    STATE_ATTRIBUTION,
    TRAJECTORY_ATTRIBUTION,
    PHENOMENA,
    CALIBRATION,
    MEASURES,
    LEADERBOARD,
    PAIR_STATUS,
    ONSETS,
)

#: What it derives by bisection and bootstrap, and what it concludes from them.
RESAMPLED = (
    FLATTENING,
    NULLS,
    INTERVALS,
    DIFFERENCES,
    SIMULTANEOUS_DIFFERENCES,
    VERDICTS,
)

DERIVED = (*QUERIED, *RESAMPLED)

#: Views: nothing is stored twice.
VIEWS = (PAIRS, COMPARISONS)

_SQL_TYPES = {
    TEXT: "VARCHAR",
    INTEGER: "BIGINT",
    REAL: "DOUBLE",
    TRUTH: "BOOLEAN",
    TEXTS: "VARCHAR[]",
    tables.REALS: "DOUBLE[]",
}


def create_table(table: Table) -> str:
    """Return the CREATE TABLE statement of `table`."""
    columns = ", ".join(
        f'"{c.name}" {_SQL_TYPES[c.dtype]}{"" if c.nullable else " NOT NULL"}'
        for c in table.columns
    )
    return f'CREATE TABLE "{table.name}" ({columns})'


def comments(table: Table, kind: str = "TABLE") -> list[str]:
    """Return the COMMENT ON statements of a table (or VIEW) and its columns."""
    return [
        f'COMMENT ON {kind} "{table.name}" IS {quoted(table.description)}',
        *(
            f'COMMENT ON COLUMN "{table.name}"."{c.name}" IS {quoted(c.description)}'
            for c in table.columns
        ),
    ]


def quoted(text: str) -> str:
    """Return `text` as an SQL string literal."""
    return "'" + text.replace("'", "''") + "'"
