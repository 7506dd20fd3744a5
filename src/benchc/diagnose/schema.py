"""The tables of the database: columns, types, and the comments that are stored with them.

Never fills a table; the statements in `sql/` do.
"""

from benchc import tables
from benchc.tables import INTEGER, REAL, TEXT, TEXTS, TRUTH, Column, Table

_MODEL = Column("model", TEXT, "key of the model in the config")
_SAMPLE = Column("sample_id", TEXT, "benchmark/source id")
_CORRUPTION = Column("corruption", TEXT, "corruption name; `clean` or `blank` at severity 0")
_SEVERITY = Column("severity", INTEGER, "0 (clean, blank) or 1 to 5")
_SCOPE = Column("scope", TEXT, "selection (the benchmark), control (random subset) or pool")
_N_PAIRS = Column("n_pairs", INTEGER, "pairs in this class that have a RAS")
_N_MISSING = Column("n_missing", INTEGER, "pairs of the whole crossing without a RAS, left out")
_SHARE = Column("share", REAL, "n_pairs over all pairs of the crossing that have a RAS", True)
_MEAN_RAS = Column("mean_ras", REAL, "mean RAS of the pairs in this class", True)
_CONTRIBUTION = Column("contribution", REAL, "share * mean_ras; adds up to the mean RAS", True)
_CROSSED = (
    _SCOPE,
    _MODEL,
    Column("crossing", TEXT, "what is held fixed: all, severity, corruption, category_by_..., ..."),
    Column("benchmark", TEXT, "benchmark, NULL if taken over all", True),
    Column("category", TEXT, "category in the benchmark, NULL if taken over all", True),
    Column("corruption_group", TEXT, "group of corruptions, NULL if taken over all", True),
    Column("corruption", TEXT, "corruption, NULL if taken over all", True),
    Column("severity", INTEGER, "severity 1 to 5, NULL if taken over all", True),
)
_CLASS = (
    "stable_correct, stable_wrong, persistent_loss, persistent_gain, transient_loss, "
    "transient_gain or incomplete"
)


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
        _MODEL,
        Column("selector", TRUTH, "took part in choosing the benchmark's samples"),
        Column("settings", TEXT, "JSON of the model's settings in the config"),
        Column("fingerprint", TEXT, "hash of everything that decides its predictions"),
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
        _MODEL,
        _SAMPLE,
        _CORRUPTION,
        _SEVERITY,
        Column("confidence", REAL, "largest option probability, 0..1", True),
        Column("correct", INTEGER, "1 if the right option alone holds the maximum", True),
        Column("uncertainty", REAL, "S: normalised entropy of the options, 0..1", True),
        Column("misalignment", REAL, "C: |confidence - correct|, 0..1; larger is worse", True),
    ),
    ("model", "sample_id", "corruption", "severity"),
)

SCOPES = Table(
    "scopes",
    "the samples each model's figures are taken over",
    (_SCOPE, _MODEL, _SAMPLE),
    ("scope", "model", "sample_id"),
)

TRAJECTORIES = Table(
    "trajectories",
    "how correctness runs over the severities of one model, sample and corruption",
    (
        _MODEL,
        _SAMPLE,
        Column("corruption", TEXT, "corruption name"),
        Column("class", TEXT, _CLASS),
        Column("onset", INTEGER, "first severity at which correctness differs from clean", True),
    ),
    ("model", "sample_id", "corruption"),
)

CELLS = Table(
    "cells",
    "sums of RAS by crossing, source, state and trajectory class; attributions are sums of these",
    (
        *_CROSSED,
        Column("source", TEXT, "c or w: right or wrong on the clean picture", True),
        Column("state", TEXT, "cc, cw, wc or ww: clean then corrupted correctness", True),
        Column("class", TEXT, _CLASS),
        Column("n_pairs", INTEGER, "pairs that have a RAS"),
        Column("n_missing", INTEGER, "pairs without a RAS"),
        Column("ras_sum", REAL, "sum of RAS over n_pairs"),
    ),
    (*(column.name for column in _CROSSED), "source", "state", "class"),
)

LEADERBOARD = Table(
    "leaderboard",
    "one line per scope and model, over the pairs that have a RAS",
    (
        _SCOPE,
        _MODEL,
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
        *_CROSSED,
        Column("source", TEXT, "c or w: right or wrong on the clean picture"),
        _N_PAIRS,
        _N_MISSING,
        _SHARE,
        _MEAN_RAS,
        _CONTRIBUTION,
    ),
    (*(column.name for column in _CROSSED), "source"),
)

STATE_ATTRIBUTION = Table(
    "state_attribution",
    "mean RAS split by correctness on the clean, then the corrupted picture",
    (
        *_CROSSED,
        Column("state", TEXT, "cc, cw, wc or ww"),
        _N_PAIRS,
        _N_MISSING,
        _SHARE,
        _MEAN_RAS,
        _CONTRIBUTION,
    ),
    (*(column.name for column in _CROSSED), "state"),
)

TRAJECTORY_ATTRIBUTION = Table(
    "trajectory_attribution",
    "mean RAS split by the class of the trajectory that a pair lies on",
    (
        *_CROSSED,
        Column("class", TEXT, _CLASS),
        _N_PAIRS,
        _N_MISSING,
        _SHARE,
        _MEAN_RAS,
        _CONTRIBUTION,
    ),
    (*(column.name for column in _CROSSED), "class"),
)

PHENOMENA = Table(
    "phenomena",
    "how often the named phenomena occur",
    (
        *_CROSSED,
        Column(
            "phenomenon",
            TEXT,
            "silent_degradation, overconfident_degradation, hesitant_support or lucky_guess",
        ),
        Column("tau", REAL, "shifts within tau are no finding: 0, 0.01 or 0.1"),
        Column("n_pairs", INTEGER, "pairs that show the phenomenon"),
        _N_MISSING,
        _SHARE,
    ),
    (*(column.name for column in _CROSSED), "phenomenon", "tau"),
)

#: A view: nothing is stored twice.
PAIRS = Table(
    "pairs",
    "the shifts with everything one groups by; a pair stands once in each scope it belongs to",
    (
        _SCOPE,
        _MODEL,
        _SAMPLE,
        Column("image_id", TEXT, "the picture; cluster by it, since questions share pictures"),
        Column("benchmark", TEXT, "where the sample comes from"),
        Column("category", TEXT, "the benchmark's own category, or empty"),
        Column("corruption_group", TEXT, "photometric, blur, noise, weather or digital"),
        *(column for column in tables.SHIFTS.columns if column.name not in ("model", "sample_id")),
        Column("source", TEXT, "c or w: right or wrong on the clean picture", True),
        Column("class", TEXT, _CLASS),
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

#: What the build derives, each by the statement of its name, in this order.
DERIVED = (
    SCOPES,
    TRAJECTORIES,
    CELLS,
    SOURCE_ATTRIBUTION,
    STATE_ATTRIBUTION,
    TRAJECTORY_ATTRIBUTION,
    PHENOMENA,
    LEADERBOARD,
)

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
