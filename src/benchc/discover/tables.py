"""The schemas of the tables that the stages of a discovery meet in."""

from benchc.config.discovery import WAYS
from benchc.tables import INTEGER, REAL, TEXT, TEXTS, TRUTH, Column, Table
from benchc.tables.columns import CORRUPTION, MODEL, SEVERITY

_WAY = Column("way", TEXT, f"way to ask: {', '.join(WAYS)}")
_ASKED_KEY = ("model", "way", "corruption", "severity", "sequence", "place")

ASKED = Table(
    "discover_asked",
    "one row per question that a questioner asked about held-out pictures, with its judgement",
    (
        MODEL,
        _WAY,
        CORRUPTION,
        SEVERITY,
        Column(
            "reference_side",
            INTEGER,
            "shorter side, pixels, at which blurs have their nominal size; NULL: on every picture",
            True,
        ),
        Column("sequence", INTEGER, "number of the sequence the question was written in"),
        Column("place", INTEGER, "its place in the sequence, from 0"),
        Column("picture", TEXT, "key of the picture"),
        Column("question", TEXT, "empty where the questioner wrote too few"),
        Column("grammatical", TRUTH, "judged to be a well-formed question"),
        Column("atomic", TRUTH, "judged to ask one thing"),
        Column("grounded", TRUTH, "judged to speak of what is in the picture"),
        Column("objective", TRUTH, "judged to have one right answer"),
        Column("valid", TRUTH, "judged to be all four"),
        Column("truth", TEXT, "the verifier's own answer, where valid", True),
        Column("answer", TEXT, "the model's words, where it was asked", True),
        Column("correct", TRUTH, "the answer says the same as the truth", True),
        Column("failed", TRUTH, "valid and answered wrongly"),
        Column("verifier_failure", TEXT, "why the verifier came to no judgement", True),
        Column("primitives", TEXTS, "what must be perceived or inferred"),
    ),
    _ASKED_KEY,
)

TRAINING = Table(
    "discover_training",
    "learning curves: one row per step of a training",
    (
        MODEL,
        _WAY,
        CORRUPTION,
        SEVERITY,
        Column("step", INTEGER, "update of the weights, from 1"),
        Column("measure", TEXT, "fdr, validity, reward, semantic, lexical, held_out_fdr, ..."),
        Column("value", REAL, "its value", True),
    ),
    ("model", "way", "corruption", "severity", "step", "measure"),
)

STEPS = Table(
    "discover_steps",
    "which primitives were asked for and failed at each step of a training",
    (
        MODEL,
        _WAY,
        CORRUPTION,
        SEVERITY,
        Column("step", INTEGER, "update of the weights, from 1"),
        Column("primitive", TEXT, "what must be perceived or inferred"),
        Column("asked", INTEGER, "questions that take it"),
        Column("valid", INTEGER, "of these, valid"),
        Column("failed", INTEGER, "of these, answered wrongly"),
    ),
    ("model", "way", "corruption", "severity", "step", "primitive"),
)

SKILLS = Table(
    "discover_skills",
    "the taxonomy: skills of failed questions under meta-skills",
    (
        Column("skill", INTEGER, "number of the skill"),
        Column("name", TEXT, "its name"),
        Column("terms", TEXTS, "words that tell its questions apart"),
        Column("meta_skill", INTEGER, "number of the meta-skill above it"),
        Column("meta_name", TEXT, "name of the meta-skill"),
        Column("novel", TRUTH, "not in the packaged list of known skills"),
        Column("failed_by", TEXTS, "models that fail it"),
        Column("only_one", TRUTH, "failed by one of several models"),
    ),
    ("skill",),
)

QUESTION_SKILLS = Table(
    "discover_question_skills",
    "the skill of every valid question",
    (
        Column("question", TEXT, "the question"),
        Column("skill", INTEGER, "number of its skill"),
        Column("stands_with", TEXT, "the kept near-duplicate of the failed question nearest to it"),
    ),
    ("question",),
)

MEASURES = Table(
    "discover_measures",
    "how well each way to ask finds failures, with 95 % intervals",
    (
        MODEL,
        _WAY,
        CORRUPTION,
        SEVERITY,
        Column("measure", TEXT, "validity, fdr, fdr_valid, sd, ld, ..."),
        Column("value", REAL, "the estimate", True),
        Column("low", REAL, "lower end of the interval", True),
        Column("high", REAL, "upper end of the interval", True),
        Column("drawn", INTEGER, "failures in a draw; 0 for a rate"),
    ),
    ("model", "way", "corruption", "severity", "measure"),
)
