"""The tables of what a figure is worth: measures, intervals, differences, nulls and verdicts.

Never fills a table; statements in `sql/` and the modules `nulls` and `intervals` do.
"""

from benchc.diagnose.columns import (
    CLASS,
    CORRUPTION,
    CROSSED,
    MODEL,
    N_MISSING,
    SAMPLE,
    SCOPE,
    SEVERITY,
)
from benchc.tables import INTEGER, REAL, TEXT, Column, Table

#: What `measures` holds of each crossing, and `intervals` and `differences` under the same names.
MEASURE_COLUMNS = (
    Column("clean_accuracy", REAL, "accuracy on the clean pictures, paired", True),
    Column("corrupted_accuracy", REAL, "accuracy on the corrupted pictures", True),
    Column("accuracy_change", REAL, "corrupted minus clean accuracy", True),
    Column("relative_robustness", REAL, "corrupted over clean accuracy", True),
    Column("right_to_wrong", REAL, "share of pairs right on clean and wrong on corrupted", True),
    Column("wrong_to_right", REAL, "share of pairs wrong on clean and right on corrupted", True),
    Column("ras", REAL, "mean Robustness Alignment Score, -2..1", True),
    Column("destructive", REAL, "part of ras from pairs right on the clean picture", True),
    Column("corrective", REAL, "part of ras from pairs wrong on the clean picture", True),
    Column("clean_uncertainty", REAL, "mean normalised entropy, clean, paired", True),
    Column("corrupted_uncertainty", REAL, "mean normalised entropy, corrupted", True),
    Column("clean_misalignment", REAL, "mean |confidence - correct|, clean, paired", True),
    Column("corrupted_misalignment", REAL, "mean |confidence - correct|, corrupted", True),
    Column("clean_ece", REAL, "expected calibration error over the bins of `calibration`", True),
    Column("corrupted_ece", REAL, "expected calibration error, corrupted", True),
    Column("clean_brier", REAL, "mean sum of squared errors over the options, 0..2, clean", True),
    Column("corrupted_brier", REAL, "mean sum of squared errors over the options, 0..2", True),
    Column("clean_nll", REAL, "mean negative log-likelihood of the right option, nats", True),
    Column("corrupted_nll", REAL, "mean negative log-likelihood, corrupted, nats", True),
    Column("clean_option_mass", REAL, "mean option mass, clean, paired; NULL if unknown", True),
    Column("corrupted_option_mass", REAL, "mean option mass, corrupted", True),
    Column("clean_ties", REAL, "share of pairs whose clean maximum is shared", True),
    Column("corrupted_ties", REAL, "share of pairs whose corrupted maximum is shared", True),
)

MEASURES = Table(
    "measures",
    "RAS and its plain companions by crossing, all over the same pairs: those that have a RAS",
    (
        *CROSSED,
        Column("n_pairs", INTEGER, "pairs that have a RAS"),
        N_MISSING,
        *MEASURE_COLUMNS,
    ),
    tuple(column.name for column in CROSSED),
)

CALIBRATION = Table(
    "calibration",
    "reliability diagrams: 15 equal bins of confidence; empty bins have no row",
    (
        *CROSSED,
        Column("condition", TEXT, "clean or corrupted: whose confidence is binned"),
        Column("bin", INTEGER, "1 to 15; a bin holds its lower edge, the last also its upper"),
        Column("bin_low", REAL, "lower edge of the bin, confidence 0..1"),
        Column("bin_high", REAL, "upper edge of the bin, confidence 0..1"),
        Column("n_pairs", INTEGER, "pairs in the bin; a clean row counts once for each pair"),
        Column("weight", REAL, "share of the crossing's pairs; adds to 1 over the bins"),
        Column("confidence", REAL, "mean confidence in the bin"),
        Column("accuracy", REAL, "share of right answers in the bin"),
    ),
    (*(column.name for column in CROSSED), "condition", "bin"),
)

INTERVALS = Table(
    "intervals",
    "95 % bootstrap intervals, clustered by picture, of every mean, one a row",
    (
        *CROSSED,
        Column(
            "measure",
            TEXT,
            "a column of `measures` (part NULL); share, mean_ras or contribution (of a part); "
            "flattening_ras, blank_ras, ras_above_flattening, ras_above_blank (of c or w); "
            "severity_trend, flattening_severity_trend, severity_trend_above_flattening (RAS of "
            "c or w at the last severity minus at the first; crossing all, group, corruption); "
            "ras_above_worst_other_group (c or w; negative: no other group hurts as much)",
        ),
        Column("part", TEXT, "source, state, trajectory class or phenomenon, NULL for all", True),
        Column("tau", REAL, "of a phenomenon, else NULL", True),
        Column("n_pairs", INTEGER, "pairs the value is taken over: those of the part for its mean"),
        Column("n_images", INTEGER, "pictures (clusters) those pairs come from"),
        Column("value", REAL, "the estimate", True),
        Column("low", REAL, "2.5 % quantile of the draws, NULL below two pictures", True),
        Column("high", REAL, "97.5 % quantile of the draws, NULL below two pictures", True),
    ),
    (*(column.name for column in CROSSED), "measure", "part", "tau"),
)

_PAIR_OF_MODELS = (
    SCOPE,
    MODEL,
    Column("other", TEXT, "the model it is compared with; each two stand once, model < other"),
    *CROSSED[2:],
)

DIFFERENCES = Table(
    "differences",
    "paired differences between models with their 95 % intervals: the same pairs, the same draws; "
    "crossings all, severity, corruption_group, corruption and benchmark",
    (
        *_PAIR_OF_MODELS,
        Column("measure", TEXT, "a column of `measures`"),
        Column("n_pairs", INTEGER, "pairs for which both models have a RAS"),
        Column("n_images", INTEGER, "pictures (clusters) those pairs come from"),
        Column("difference", REAL, "value of model minus value of other", True),
        Column("low", REAL, "2.5 % quantile of the draws, NULL below two pictures", True),
        Column("high", REAL, "97.5 % quantile of the draws, NULL below two pictures", True),
    ),
    (*(column.name for column in _PAIR_OF_MODELS), "measure"),
)

SIMULTANEOUS_DIFFERENCES = Table(
    "simultaneous_differences",
    "paired differences between models over all pairs, with intervals that hold 95 % all together: "
    "for every two models of a scope and the measures clean_accuracy, accuracy_change and ras",
    (
        SCOPE,
        MODEL,
        Column("other", TEXT, "the model it is compared with; each two stand both ways"),
        Column("measure", TEXT, "clean_accuracy, accuracy_change or ras"),
        Column("difference", REAL, "value of model minus value of other", True),
        Column("low", REAL, "lower end, NULL below two pictures", True),
        Column("high", REAL, "upper end, NULL below two pictures", True),
    ),
    ("scope", "model", "other", "measure"),
)

COMPARISONS = Table(
    "comparisons",
    "the differences seen from both sides: each two models stand twice",
    DIFFERENCES.columns,
    DIFFERENCES.key,
)

FLATTENING = Table(
    "flattening",
    "the factor on clean logits that gives the mean entropy of a corrupted cell",
    (
        SCOPE,
        MODEL,
        Column("corruption", TEXT, "corruption name"),
        Column("severity", INTEGER, "1 to 5"),
        Column("n_pairs", INTEGER, "pairs that have a RAS"),
        Column("factor", REAL, "t > 0; above 1 where corruption sharpens; NULL if none fits", True),
        Column("target", REAL, "mean entropy of the corrupted pairs, 0..1", True),
        Column("reached", REAL, "mean entropy of their clean logits times the factor, 0..1", True),
    ),
    ("scope", "model", "corruption", "severity"),
)

NULLS = Table(
    "nulls",
    "what two nulls would do to each pair: flattened clean logits, and a uniform grey picture",
    (
        SCOPE,
        MODEL,
        SAMPLE,
        Column("kind", TEXT, "flattening or blank"),
        Column("corruption", TEXT, "the corruption that is matched, or `blank`"),
        Column("severity", INTEGER, "the severity that is matched, or 0 for blank"),
        Column("uncertainty_shift", REAL, "dS: null minus clean normalised entropy", True),
        Column("misalignment_shift", REAL, "dC: null minus clean misalignment", True),
        Column("ras", REAL, "Robustness Alignment Score of the null, -2..1", True),
    ),
    ("scope", "model", "sample_id", "kind", "corruption", "severity"),
)

PAIR_STATUS = Table(
    "pair_status",
    "how predictions ended, clean and corrupted, by cell: why pairs are missing",
    (
        SCOPE,
        MODEL,
        CORRUPTION,
        SEVERITY,
        Column("clean_status", TEXT, "status of the clean prediction"),
        Column("status", TEXT, "status of the corrupted (or blank) prediction"),
        Column("n_pairs", INTEGER, "pairs that ended so; all but ok and ok have no RAS"),
    ),
    ("scope", "model", "corruption", "severity", "clean_status", "status"),
)

ONSETS = Table(
    "onsets",
    "trajectories by class and by the severity at which they first differ from clean",
    (
        SCOPE,
        MODEL,
        Column("corruption", TEXT, "corruption name"),
        Column("class", TEXT, CLASS),
        Column("onset", INTEGER, "first severity that differs from clean, NULL if none", True),
        Column("n_trajectories", INTEGER, "trajectories (sample, corruption) of this kind"),
    ),
    ("scope", "model", "corruption", "class", "onset"),
)

VERDICTS = Table(
    "verdicts",
    "the published findings held against this run: one contrast a row, with its interval",
    (
        Column("finding", TEXT, "name of the finding: the file in sql/verdicts/"),
        SCOPE,
        Column("model", TEXT, "the model it is about, NULL for one about all models", True),
        Column("contrast", TEXT, "what the value is"),
        Column("expected", TEXT, "negative or positive: the side of 0 that the finding states"),
        Column("value", REAL, "the contrast's estimate", True),
        Column("low", REAL, "lower end of its 95 % interval", True),
        Column("high", REAL, "upper end of its 95 % interval", True),
        Column("verdict", TEXT, "agree, disagree or cannot tell: from this contrast's interval"),
        Column("finding_verdict", TEXT, "agree if all contrasts of this model do; disagree if one"),
    ),
    ("finding", "scope", "model", "contrast"),
)
