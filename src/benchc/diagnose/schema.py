"""The tables of the database: columns, types, and the comments that are stored with them.

The statements in `sql/` fill them.
"""

from benchc import tables
from benchc.config.corruptions import GROUPS
from benchc.diagnose.statistics_schema import (
    ACCURACY_TESTS,
    CALIBRATION,
    COMPARISONS,
    DIFFERENCES,
    FLATTENING,
    INTERVALS,
    LOSS_CONTRASTS,
    LOSSES,
    MEASURES,
    NULLS,
    ONSETS,
    PAIR_STATUS,
    RANK_CORRELATIONS,
    SIMULTANEOUS_DIFFERENCES,
    TEMPERATURES,
    VERDICTS,
)
from benchc.tables import INTEGER, REAL, TEXT, TRUTH, Column, Table
from benchc.tables.columns import (
    CLASS,
    CONTRIBUTION,
    CROSSED,
    MEAN_RAS,
    MODEL,
    N_MISSING,
    N_PAIRS,
    OWN_COLUMN,
    OWN_VALUE,
    SAMPLE,
    SCOPE,
    SHARE,
)
from benchc.tables.database import RUN


def _without_bytes(table: Table) -> Table:
    columns = tuple(column for column in table.columns if column.name != "bytes")
    return Table(table.name, f"{table.description} (without the pictures)", columns, table.key)


_LOOKS = Column(
    "looks",
    TEXT,
    "whether pictures change its answers more than asking twice does: looks, hardly looks, "
    "does not look or not measured; NULL where inference recorded nothing",
    True,
)

IMAGES = _without_bytes(tables.IMAGES)
CORRUPTED = _without_bytes(tables.CORRUPTED)

MODELS = Table(
    "models",
    "the models under test",
    (
        MODEL,
        Column("selector", TRUTH, "took part in choosing the benchmark's samples"),
        Column(
            "settings",
            TEXT,
            "JSON of the settings its predictions were made with; `run`: what inference recorded",
        ),
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
        Column("corruption_group", TEXT, f"one of {', '.join(GROUPS)}"),
    ),
    ("corruption",),
)

OWN_COLUMNS = Table(
    "own_columns",
    "what each sample has in the own columns that the config's `diagnose.columns` names",
    (
        SAMPLE,
        OWN_COLUMN,
        OWN_VALUE,
    ),
    ("sample_id", "own_column"),
)

OWN_COLUMN_INTERVALS = Table(
    "own_column_intervals",
    "the measures by each value of an own column, over all corruptions and by their groups, with "
    "95 % intervals in the draws of `intervals`",
    (
        SCOPE,
        MODEL,
        OWN_COLUMN,
        OWN_VALUE,
        Column("corruption_group", TEXT, "group of corruptions, NULL if taken over all", True),
        Column("measure", TEXT, "a column of `measures`"),
        Column("n_pairs", INTEGER, "pairs that have a RAS and this value"),
        Column("n_images", INTEGER, "pictures (clusters) those pairs come from"),
        Column("value", REAL, "the estimate", True),
        Column("low", REAL, "lower end; NULL for ECE and from fewer than ten pictures", True),
        Column("high", REAL, "upper end; NULL for ECE and from fewer than ten pictures", True),
    ),
    ("scope", "model", "own_column", "own_value", "corruption_group", "measure"),
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
    "sums of RAS by crossing, clean state, state and trajectory class; attributions add them up",
    (
        *CROSSED,
        Column("clean_state", TEXT, "c or w: right or wrong on the clean picture", True),
        Column("state", TEXT, "cc, cw, wc or ww: clean then corrupted correctness", True),
        Column("class", TEXT, CLASS),
        Column("n_pairs", INTEGER, "pairs that have a RAS"),
        Column("n_missing", INTEGER, "pairs without a RAS"),
        Column("ras_sum", REAL, "sum of RAS over n_pairs"),
    ),
    (*(column.name for column in CROSSED), "clean_state", "state", "class"),
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
        Column("ras_matched", REAL, "mean RAS at a mean clean confidence of .80", True),
        Column("ras_fitted", REAL, "mean RAS at the temperature of least clean NLL", True),
        Column("destructive", REAL, "part of ras from pairs right on the clean picture", True),
        Column("corrective", REAL, "part of ras from pairs wrong on the clean picture", True),
        Column("clean_uncertainty", REAL, "mean normalised entropy, clean, paired", True),
        Column("corrupted_uncertainty", REAL, "mean normalised entropy, corrupted", True),
        Column("clean_option_mass", REAL, "mean option mass, clean, paired", True),
        Column("corrupted_option_mass", REAL, "mean option mass, corrupted", True),
        Column("scoring", TEXT, "letter or text: how answers were read"),
        Column("temperature", REAL, "what logits were divided by: RAS is not scale-free"),
        _LOOKS,
    ),
    ("scope", "model"),
)

SOURCE_ATTRIBUTION = Table(
    "source_attribution",
    "mean RAS split by correctness on the clean picture: destructive (c) and corrective (w) part",
    (
        *CROSSED,
        Column("clean_state", TEXT, "c or w: right or wrong on the clean picture"),
        N_PAIRS,
        N_MISSING,
        SHARE,
        MEAN_RAS,
        CONTRIBUTION,
    ),
    (*(column.name for column in CROSSED), "clean_state"),
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
        Column("clean_state", TEXT, "c or w: right or wrong on the clean picture", True),
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
    OWN_COLUMNS,
    IMAGES,
    tables.REJECTED,
    tables.SELECTION,
    CORRUPTED,
    tables.PREDICTIONS,
    tables.SCORES,
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
        _LOOKS,
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
    TEMPERATURES,
    FLATTENING,
    NULLS,
    INTERVALS,
    LOSSES,
    LOSS_CONTRASTS,
    OWN_COLUMN_INTERVALS,
    DIFFERENCES,
    SIMULTANEOUS_DIFFERENCES,
    RANK_CORRELATIONS,
    ACCURACY_TESTS,
    VERDICTS,
)

DERIVED = (*QUERIED, *RESAMPLED)

#: Views: nothing is stored twice.
VIEWS = (PAIRS, COMPARISONS)
