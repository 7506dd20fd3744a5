"""The tables of what a figure is worth: measures, intervals, differences, nulls and verdicts.

Statements in `sql/` and the modules `nulls` and `intervals` fill them.
"""

from benchc.tables import INTEGER, REAL, TEXT, Column, Table
from benchc.tables.columns import (
    CLASS,
    CORRUPTION,
    CROSSED,
    MODEL,
    N_MISSING,
    SAMPLE,
    SCOPE,
    SEVERITY,
)

#: What `measures` holds of each crossing, and `intervals` and `differences` under the same names.
MEASURE_COLUMNS = (
    Column("clean_accuracy", REAL, "accuracy on the clean pictures, paired", True),
    Column("corrupted_accuracy", REAL, "accuracy on the corrupted pictures", True),
    Column("accuracy_change", REAL, "corrupted minus clean accuracy", True),
    Column("relative_robustness", REAL, "corrupted over clean accuracy", True),
    Column("right_to_wrong", REAL, "share of pairs right on clean and wrong on corrupted", True),
    Column("wrong_to_right", REAL, "share of pairs wrong on clean and right on corrupted", True),
    Column("ras", REAL, "mean Robustness Alignment Score, -2..1", True),
    Column(
        "ras_matched",
        REAL,
        "mean RAS at the temperature at which the mean clean confidence on the scope is .80; NULL "
        "where `temperatures` gives a reason",
        True,
    ),
    Column(
        "ras_fitted",
        REAL,
        "mean RAS at the temperature of the least clean negative log-likelihood on the scope; NULL "
        "where `temperatures` gives a reason",
        True,
    ),
    Column("destructive", REAL, "part of ras from pairs right on the clean picture", True),
    Column("corrective", REAL, "part of ras from pairs wrong on the clean picture", True),
    Column("clean_uncertainty", REAL, "mean normalised entropy, clean, paired", True),
    Column("corrupted_uncertainty", REAL, "mean normalised entropy, corrupted", True),
    Column("clean_misalignment", REAL, "mean |confidence - correct|, clean, paired", True),
    Column("corrupted_misalignment", REAL, "mean |confidence - correct|, corrupted", True),
    Column("clean_ece", REAL, "expected calibration error over the bins of `calibration`", True),
    Column("corrupted_ece", REAL, "expected calibration error, corrupted", True),
    Column(
        "clean_squared_calibration_error",
        REAL,
        "debiased mean squared distance of confidence from accuracy over the bins; may be below 0",
        True,
    ),
    Column(
        "corrupted_squared_calibration_error",
        REAL,
        "debiased squared calibration error, corrupted; may be below 0",
        True,
    ),
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
    "95 % bootstrap intervals, clustered by picture, of every mean, one per row",
    (
        *CROSSED,
        Column(
            "measure",
            TEXT,
            "a column of `measures` (part NULL); share, mean_ras or contribution (of a part); "
            "NULL_ras and ras_above_NULL, for the nulls flattening, blank and swapped (of c or w) "
            "and flattening_kept (of cc); contribution_above_swapped (of c or wc); "
            "severity_trend, flattening_severity_trend, severity_trend_above_flattening and "
            "severity_trend_above_swapped (RAS of c or w at the last severity minus at the first; "
            "crossing all, group, corruption); ras_above_worst_other_group, alone or above a null "
            "(c or w; negative: no other group hurts as much); largest_mild_rise, "
            "rising_mild_cells: accuracy in cells of severity 1 and 2, alone or above sign flips",
        ),
        Column(
            "part", TEXT, "clean state, state, trajectory class or phenomenon, NULL for all", True
        ),
        Column("tau", REAL, "of a phenomenon, else NULL", True),
        Column("n_pairs", INTEGER, "pairs the value is taken over: those of the part for its mean"),
        Column("n_images", INTEGER, "pictures (clusters) those pairs come from"),
        Column("value", REAL, "the estimate", True),
        Column("low", REAL, "lower end; NULL for ECE and from fewer than ten pictures", True),
        Column("high", REAL, "upper end; NULL for ECE and from fewer than ten pictures", True),
    ),
    (*(column.name for column in CROSSED), "measure", "part", "tau"),
)

_PAIR_OF_MODELS = (
    SCOPE,
    MODEL,
    Column("other", TEXT, "the model it is compared with; each two stand once, model < other"),
    *CROSSED[2:],
)
_OTHER_SCOPE = Column(
    "other_scope",
    TEXT,
    "the scope of `other`: the same for two models; for one model (other = model) control, pool or "
    "pool_at_selection_mix, whose benchmarks are weighted as the selection's",
)

_DIFFERENCE = (
    Column("measure", TEXT, "a column of `measures`"),
    Column("n_pairs", INTEGER, "pairs for which both models have a RAS; of two scopes, of both"),
    Column(
        "n_images", INTEGER, "pictures (clusters) those pairs come from; of two scopes, the fewer"
    ),
    Column("difference", REAL, "value of model minus value of other", True),
    Column("low", REAL, "lower end; NULL for ECE and from fewer than ten pictures", True),
    Column("high", REAL, "upper end; NULL for ECE and from fewer than ten pictures", True),
)

DIFFERENCES = Table(
    "differences",
    "differences with their 95 % intervals, in the same draws: between two models over the same "
    "pairs (crossings all, severity, corruption_group, corruption and benchmark), and between the "
    "selection and another scope for one model (crossing all)",
    (
        *_PAIR_OF_MODELS[:3],
        _OTHER_SCOPE,
        *_PAIR_OF_MODELS[3:],
        *_DIFFERENCE,
    ),
    (
        *(column.name for column in _PAIR_OF_MODELS[:3]),
        "other_scope",
        *(column.name for column in _PAIR_OF_MODELS[3:]),
        "measure",
    ),
)

SIMULTANEOUS_DIFFERENCES = Table(
    "simultaneous_differences",
    "paired differences between models over all pairs, with intervals that hold 95 % all together: "
    "for every two models of a scope and the measures named below",
    (
        SCOPE,
        MODEL,
        Column("other", TEXT, "the model it is compared with; each two stand both ways"),
        Column("measure", TEXT, "clean_accuracy, accuracy_change, ras, ras_matched or ras_fitted"),
        Column("difference", REAL, "value of model minus value of other", True),
        Column("low", REAL, "lower end, NULL from fewer than ten pictures", True),
        Column("high", REAL, "upper end, NULL from fewer than ten pictures", True),
    ),
    ("scope", "model", "other", "measure"),
)

LOSSES = Table(
    "losses",
    "what is asked by what corrupts: benchmarks, and categories in them, by group of corruptions; "
    "the simultaneous intervals of a model, scope, crossing and measure hold 95 % all together",
    (
        SCOPE,
        MODEL,
        Column("crossing", TEXT, "benchmark_by_corruption_group or category_by_corruption_group"),
        Column("benchmark", TEXT, "what is asked: benchmark or track"),
        Column("category", TEXT, "category in the benchmark, NULL if taken over all", True),
        Column("corruption_group", TEXT, "what corrupts"),
        Column(
            "measure",
            TEXT,
            "accuracy_change, relative_robustness, right_to_wrong, wrong_to_right, "
            "corrupted_accuracy, corrupted_brier, corrupted_nll: as in `measures`",
        ),
        Column("n_pairs", INTEGER, "pairs that have a RAS"),
        Column("n_images", INTEGER, "pictures (clusters) those pairs come from"),
        Column("value", REAL, "the estimate, NULL from fewer than ten pictures", True),
        Column("low", REAL, "lower end of its own 95 % interval", True),
        Column("high", REAL, "upper end of its own 95 % interval", True),
        Column("together_low", REAL, "lower end of its simultaneous interval (max-t)", True),
        Column("together_high", REAL, "upper end of its simultaneous interval (max-t)", True),
        Column(
            "mark",
            TEXT,
            "of accuracy_change: loss or gain where the simultaneous interval leaves 0 out, else "
            "cannot tell; NULL of other measures and from fewer than ten pictures",
            True,
        ),
    ),
    ("scope", "model", "crossing", "benchmark", "category", "corruption_group", "measure"),
)

LOSS_CONTRASTS = Table(
    "loss_contrasts",
    "losses of accuracy held against each other: two groups of corruptions in one benchmark, or "
    "one group in two benchmarks, with intervals that hold 95 % all together for a model and scope",
    (
        SCOPE,
        MODEL,
        Column("benchmark", TEXT, "of the one cell of `losses`, that which loses more"),
        Column("corruption_group", TEXT, "of the one cell"),
        Column("other_benchmark", TEXT, "of the other cell"),
        Column("other_group", TEXT, "of the other cell"),
        Column("n_images", INTEGER, "the fewer of the pictures behind the two cells"),
        Column("difference", REAL, "accuracy change of the one minus of the other, 0 or below"),
        Column("low", REAL, "lower end of its simultaneous interval (max-t)", True),
        Column("high", REAL, "upper end; below 0 the two are told apart", True),
    ),
    ("scope", "model", "benchmark", "corruption_group", "other_benchmark", "other_group"),
)

RANK_CORRELATIONS = Table(
    "rank_correlations",
    "does clean accuracy order the models as another measure does? Spearman's rank correlation "
    "over the models, with an interval over pictures; few models say little",
    (
        SCOPE,
        Column("measure", TEXT, "what clean accuracy is correlated with"),
        Column("n_models", INTEGER, "models; with fewer than three there is no row"),
        Column("value", REAL, "-1..1", True),
        Column("low", REAL, "2.5 % quantile of the draws", True),
        Column("high", REAL, "97.5 % quantile of the draws", True),
    ),
    ("scope", "measure"),
)

ACCURACY_TESTS = Table(
    "accuracy_tests",
    "paired tests of two models' accuracies: each flip of signs turns all answers about a picture",
    (
        SCOPE,
        MODEL,
        Column("other", TEXT, "the model it is compared with; each two stand once, model < other"),
        Column("condition", TEXT, "clean or corrupted: on which pictures"),
        Column(
            "test",
            TEXT,
            "sign_flip; or mcnemar, only on clean pictures that have one question each",
        ),
        Column("n_answers", INTEGER, "answers that both models gave; corrupted: with a RAS"),
        Column("n_images", INTEGER, "pictures (clusters) they are about"),
        Column("n_differing", INTEGER, "pictures on which the two are not right equally often"),
        Column("difference", REAL, "accuracy of model minus accuracy of other"),
        Column("p_value", REAL, "two-sided; of drawn flips at least 0.0001"),
        Column("p_holm", REAL, "adjusted for all comparisons of the scope, condition and test"),
    ),
    ("scope", "model", "other", "condition", "test"),
)

COMPARISONS = Table(
    "comparisons",
    "the differences between models seen from both sides: each two stand twice",
    (*_PAIR_OF_MODELS, *_DIFFERENCE),
    (*(column.name for column in _PAIR_OF_MODELS), "measure"),
)

TEMPERATURES = Table(
    "temperatures",
    "the temperatures at which models are compared, refitted in each draw of the bootstrap",
    (
        SCOPE,
        MODEL,
        Column("kind", TEXT, "matched (mean clean confidence .80) or fitted (least clean NLL)"),
        Column("n_samples", INTEGER, "clean answers it was found on"),
        Column("temperature", REAL, "what raw logits are divided by; NULL if there is none", True),
        Column("low", REAL, "2.5 % quantile of the draws", True),
        Column("high", REAL, "97.5 % quantile of the draws", True),
        Column("reason", TEXT, "why there is none, or empty"),
    ),
    ("scope", "model", "kind"),
)

FLATTENING = Table(
    "flattening",
    "the factor on clean logits that gives the mean entropy of a corrupted cell",
    (
        SCOPE,
        MODEL,
        Column(
            "kind", TEXT, "flattening: over all pairs; flattening_kept: over those that stay right"
        ),
        Column("corruption", TEXT, "corruption name"),
        Column("severity", INTEGER, "1 to 5"),
        Column("n_pairs", INTEGER, "pairs that have a RAS"),
        Column("factor", REAL, "t > 0; above 1 where corruption sharpens; NULL if none fits", True),
        Column("target", REAL, "mean entropy of the corrupted pairs, 0..1", True),
        Column("reached", REAL, "mean entropy of their clean logits times the factor, 0..1", True),
    ),
    ("scope", "model", "kind", "corruption", "severity"),
)

NULLS = Table(
    "nulls",
    "what two nulls would do to each pair: flattened clean logits, and a uniform grey picture",
    (
        SCOPE,
        MODEL,
        SAMPLE,
        Column("kind", TEXT, "flattening, flattening_kept (pairs that stay right) or blank"),
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
    "the published findings held against this run: one contrast and one null per row",
    (
        Column("finding", TEXT, "name of the finding: the file in sql/verdicts/"),
        SCOPE,
        Column("model", TEXT, "the model it is about, NULL for one about all models", True),
        Column("about", TEXT, "of one about all models: the model or models it compares", True),
        Column("contrast", TEXT, "what the value is"),
        Column("expected", TEXT, "negative or positive: the side of 0 that the finding states"),
        Column("value", REAL, "the contrast's estimate", True),
        Column("low", REAL, "lower end of its 95 % interval", True),
        Column("high", REAL, "upper end of its 95 % interval", True),
        Column("against_zero", TEXT, "agree, disagree or cannot tell: from the interval above"),
        Column("null_name", TEXT, "what would make the contrast without the finding, or empty"),
        Column("above_null", REAL, "the contrast less what the null gives", True),
        Column("above_low", REAL, "lower end of its 95 % interval", True),
        Column("above_high", REAL, "upper end of its 95 % interval", True),
        Column("against_null", TEXT, "from that interval; NULL where there is no null", True),
        Column(
            "verdict",
            TEXT,
            "the one that counts: agree where selection and control both agree, against 0 and "
            "against the null; disagree where both disagree against 0",
        ),
        Column("finding_verdict", TEXT, "agree if all contrasts of this model do; disagree if one"),
    ),
    ("finding", "scope", "model", "contrast", "null_name"),
)
