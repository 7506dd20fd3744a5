"""Columns that several tables of the database share.

The tables are defined in `schema.py` and `statistics_schema.py`.
"""

from benchc.tables import INTEGER, REAL, TEXT, Column

MODEL = Column("model", TEXT, "key of the model in the config")
SAMPLE = Column("sample_id", TEXT, "benchmark/source id")
CORRUPTION = Column("corruption", TEXT, "corruption name; `clean` or `blank` at severity 0")
SEVERITY = Column("severity", INTEGER, "0 (clean, blank) or 1 to 5")
SCOPE = Column("scope", TEXT, "selection (the benchmark), control (random subset) or pool")
N_PAIRS = Column("n_pairs", INTEGER, "pairs in this class that have a RAS")
N_MISSING = Column("n_missing", INTEGER, "pairs of the whole crossing without a RAS, left out")
SHARE = Column("share", REAL, "n_pairs over all pairs of the crossing that have a RAS", True)
MEAN_RAS = Column("mean_ras", REAL, "mean RAS of the pairs in this class", True)
CONTRIBUTION = Column("contribution", REAL, "share * mean_ras; adds up to the mean RAS", True)
OWN_COLUMN = Column("own_column", TEXT, "name of a source's own column, as `samples.extra` has it")
OWN_VALUE = Column("own_value", TEXT, "what a sample has there, as text; none has no row")
CROSSED = (
    SCOPE,
    MODEL,
    Column("crossing", TEXT, "what is held fixed: all, severity, corruption, category_by_..., ..."),
    Column("benchmark", TEXT, "benchmark, NULL if taken over all", True),
    Column("category", TEXT, "category in the benchmark, NULL if taken over all", True),
    Column("corruption_group", TEXT, "group of corruptions, NULL if taken over all", True),
    Column("corruption", TEXT, "corruption, NULL if taken over all", True),
    Column("severity", INTEGER, "severity 1 to 5, NULL if taken over all", True),
)
CLASS = (
    "stable_correct, stable_wrong, persistent_loss, persistent_gain, transient_loss, "
    "transient_gain or incomplete"
)
