"""The schemas of every table that stages meet in."""

import math

from benchc.tables.contract import BYTES, INTEGER, REAL, REALS, TEXT, TEXTS, TRUTH, Column, Table

_SHARE = (0.0, 1.0)
_COUNT = (0.0, math.inf)
_SIDE = (1.0, math.inf)

_MODEL = Column("model", TEXT, "key of the model in the config")
_SAMPLE = Column("sample_id", TEXT, "benchmark/source id")
_IMAGE = Column("image_id", TEXT, "SHA-256 of the decoded RGB pixels and their size")
_CORRUPTION = Column("corruption", TEXT, "corruption name; `clean` or `blank` at severity 0")
_SEVERITY = Column("severity", INTEGER, "0 (clean, blank) or 1 to 5", range=(0, 5))

SAMPLES = Table(
    "samples",
    "the candidate pool: one multiple-choice question with one picture per row",
    (
        _SAMPLE,
        Column("benchmark", TEXT, "where the sample comes from"),
        Column("category", TEXT, "the benchmark's own category, or empty"),
        Column("question", TEXT, "the question, hint included"),
        Column("options", TEXTS, "2 to 26 option texts in order"),
        Column("answer", INTEGER, "0-based index of the right option", range=(0, 25)),
        _IMAGE,
        Column("source_ref", TEXT, "the row's id or place in its source"),
        Column("source_row", TEXT, "file and line or row that it was read from", True),
        Column("picture_file", TEXT, "file of its picture, beside that one, if it has one", True),
        Column("extra", TEXT, "the source's own columns, a JSON object, if it has any", True),
    ),
    ("sample_id",),
)

IMAGES = Table(
    "images",
    "the decoded pictures of the pool, stored losslessly",
    (
        _IMAGE,
        Column("width", INTEGER, "pixels", range=_SIDE),
        Column("height", INTEGER, "pixels", range=_SIDE),
        Column("bytes", BYTES, "PNG of the RGB pixels"),
        Column("note", TEXT, "what is odd about the file it was decoded from, if anything", True),
    ),
    ("image_id",),
)

REJECTED = Table(
    "rejected",
    "what was left out of the pool, and why",
    (
        Column("benchmark", TEXT, "where the row comes from"),
        Column("source_ref", TEXT, "the row's id or place in its source"),
        Column("reason", TEXT, "one of a closed list of reasons"),
        Column("detail", TEXT, "what exactly is wrong with this row, or empty"),
    ),
    ("benchmark", "source_ref"),
)

SCENES = Table(
    "scenes",
    "the description each drawn picture was drawn from; empty for other sources",
    (_IMAGE, Column("scene", TEXT, "JSON description of the scene")),
    ("image_id",),
)

CORRUPTED = Table(
    "corrupted",
    "the recipe and pixel hash of every corrupted picture",
    (
        _IMAGE,
        _CORRUPTION,
        _SEVERITY,
        Column("width", INTEGER, "pixels", range=_SIDE),
        Column("height", INTEGER, "pixels", range=_SIDE),
        Column("pixels_sha256", TEXT, "hash of the corrupted pixels, hex"),
        Column(
            "mean_absolute_difference",
            REAL,
            "from the clean picture, grey levels 0..255",
            range=(0, 255),
        ),
        Column(
            "ssim", REAL, "structural similarity to clean, NULL below 7 pixels", True, range=(-1, 1)
        ),
        Column("bytes", BYTES, "the lossless picture where `corrupt.store` asks for it", True),
    ),
    ("image_id", "corruption", "severity"),
)

EMBEDDINGS = Table(
    "embeddings",
    "CLIP embeddings of each sample's picture and text, unit length",
    (
        _SAMPLE,
        Column("image", REALS, "unit vector", range=(-1, 1)),
        Column("text", REALS, "unit vector of question and options", range=(-1, 1)),
        Column("text_tokens", INTEGER, "tokens before truncation", range=_COUNT),
        Column("text_truncated", TRUTH, "the text was longer than the context"),
    ),
    ("sample_id",),
)

PREDICTIONS = Table(
    "predictions",
    "one row per model, sample and condition: the option distribution",
    (
        _MODEL,
        _SAMPLE,
        _CORRUPTION,
        _SEVERITY,
        Column("scoring", TEXT, "letter or text"),
        Column(
            "temperature", REAL, "what the logits were divided by before the softmax", range=_COUNT
        ),
        Column(
            "logits",
            REALS,
            "one per option, natural-log units; upper bounds where status is missing_option",
            True,
        ),
        Column("p", REALS, "softmax of the logits over the options", True, range=_SHARE),
        Column("top1", INTEGER, "lowest option index that holds the maximum", True, range=(0, 25)),
        Column("is_tie", TRUTH, "several options share the maximum", True),
        Column(
            "option_mass",
            REAL,
            "share of the full vocabulary's probability on the options",
            True,
            range=_SHARE,
        ),
        Column("status", TEXT, "ok, nonfinite_logits, too_long, ..."),
    ),
    ("model", "sample_id", "corruption", "severity"),
)

#: In the metadata of `predictions`: how often a model was asked, and rows that failed for a reason
#: that may be gone and are to be asked again.
ATTEMPT, TO_ASK_AGAIN = "benchc.attempt", "benchc.to_ask_again"

SELECTION = Table(
    "selection",
    "which samples make the benchmark, and why each was kept or left out",
    (
        _SAMPLE,
        Column(
            "impurity", REAL, "mean Gini impurity of the answer trajectories", True, range=_SHARE
        ),
        Column(
            "normalised_impurity",
            REAL,
            "impurity over the largest one that a question with as many options can have, 0..1",
            True,
            range=_SHARE,
        ),
        Column(
            "trajectories", INTEGER, "complete trajectories the mean was taken over", range=_COUNT
        ),
        Column(
            "rank",
            INTEGER,
            "1-based order of the greedy walk, NULL if not walked",
            True,
            range=(1, math.inf),
        ),
        Column("kept", TRUTH, "part of the benchmark"),
        Column("control", TRUTH, "part of the random subset of the same size"),
        Column(
            "reason",
            TEXT,
            "accepted, impurity_not_above, impurity_zero, near_duplicate_of:ID, quota (its "
            "benchmark's was full), cap, incomplete",
        ),
    ),
    ("sample_id",),
)

QUOTAS = Table(
    "quotas",
    "how many samples each benchmark was dealt and how many could be kept; empty without strata",
    (
        Column("benchmark", TEXT, "where the samples come from"),
        Column("pool", INTEGER, "samples of the pool", range=_COUNT),
        Column(
            "movable",
            INTEGER,
            "samples with an impurity above 0: the only candidates",
            range=_COUNT,
        ),
        Column(
            "quota", INTEGER, "its share of the selection by its share of the pool", range=_COUNT
        ),
        Column(
            "kept", INTEGER, "samples kept; fewer than the quota where it stays open", range=_COUNT
        ),
    ),
    ("benchmark",),
)

CROSS_FIT_HALVES = Table(
    "cross_fit_halves",
    "the halves of the corruptions: one chooses samples, the other scores the models left out",
    (
        Column("split", INTEGER, "number of the split, from 0", range=_COUNT),
        Column("corruption", TEXT, "corruption name"),
        Column("chooses", TRUTH, "its answers choose; where false, they score"),
    ),
    ("split", "corruption"),
)

CROSS_FIT_SAMPLES = Table(
    "cross_fit_samples",
    "samples that the other selectors choose by one half of the corruptions",
    (
        Column("model", TEXT, "key of the selector that is left out"),
        Column("other", TEXT, "key of a second one that is left out; empty for none"),
        Column("split", INTEGER, "number of the split, from 0", range=_COUNT),
        _SAMPLE,
    ),
    ("model", "other", "split", "sample_id"),
)

SCORES = Table(
    "scores",
    "what each prediction is worth: one row per model, sample and condition",
    (
        _MODEL,
        _SAMPLE,
        _CORRUPTION,
        _SEVERITY,
        Column("confidence", REAL, "largest option probability, 0..1", True, range=_SHARE),
        Column(
            "correct", INTEGER, "1 if the right option alone holds the maximum", True, range=_SHARE
        ),
        Column(
            "uncertainty", REAL, "S: normalised entropy of the options, 0..1", True, range=_SHARE
        ),
        Column(
            "misalignment",
            REAL,
            "C: |confidence - correct|, 0..1; larger is worse",
            True,
            range=_SHARE,
        ),
        Column("brier", REAL, "sum of squared errors over the options, 0..2", True, range=(0, 2)),
        Column(
            "nll", REAL, "negative log-likelihood of the right option, nats", True, range=_COUNT
        ),
    ),
    ("model", "sample_id", "corruption", "severity"),
)

SHIFTS = Table(
    "shifts",
    "one row per model, sample and corrupted condition: what the corruption did",
    (
        _MODEL,
        _SAMPLE,
        _CORRUPTION,
        _SEVERITY,
        Column(
            "uncertainty_shift",
            REAL,
            "dS: corrupted minus clean normalised entropy",
            True,
            range=(-1, 1),
        ),
        Column(
            "misalignment_shift",
            REAL,
            "dC: corrupted minus clean misalignment",
            True,
            range=(-1, 1),
        ),
        Column("ras", REAL, "Robustness Alignment Score, -2..1", True, range=(-2, 1)),
        Column("clean_correct", INTEGER, "1 if right on the clean picture", True, range=_SHARE),
        Column("correct", INTEGER, "1 if right on the corrupted picture", True, range=_SHARE),
        Column("state", TEXT, "cc, cw, wc or ww: clean then corrupted correctness", True),
    ),
    ("model", "sample_id", "corruption", "severity"),
)
