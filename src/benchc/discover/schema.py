"""The tables of a discovery's database: columns, types, and the comments stored with them."""

from dataclasses import replace

from benchc.discover.tables import ASKED, MEASURES, SKILLS, STEPS, TRAINING
from benchc.tables import INTEGER, REAL, TEXT, Column, Table
from benchc.tables.columns import CORRUPTION, MODEL, SEVERITY
from benchc.tables.database import RUN

_QUESTION = Column("question_id", TEXT, "model/way/corruption/severity/sequence/place")
_ASKED = {column.name: column for column in ASKED.columns}
_SKILL = {column.name: column for column in SKILLS.columns}

QUESTIONS = Table(
    "questions",
    "every question that was asked about a held-out picture",
    (
        _QUESTION,
        *(
            _ASKED[name]
            for name in (
                *("model", "way", "corruption", "severity", "reference_side", "picture"),
                *("sequence", "place"),
            )
        ),
        _ASKED["question"],
        _ASKED["primitives"],
        Column("skill", INTEGER, "number of its skill; NULL where it is not valid", True),
    ),
    ("question_id",),
)

JUDGEMENTS = Table(
    "judgements",
    "what the verifier said of each question, and of the model's answer to it",
    (
        _QUESTION,
        *(
            _ASKED[name]
            for name in ("grammatical", "atomic", "grounded", "objective", "valid", "truth")
        ),
        *(_ASKED[name] for name in ("answer", "correct", "failed", "verifier_failure")),
    ),
    ("question_id",),
)

TAXONOMY = Table(
    "skills",
    "the skills that failed questions take; failed_by and only_one are over the models tried",
    tuple(
        _SKILL[name]
        for name in ("skill", "name", "terms", "meta_skill", "novel", "failed_by", "only_one")
    ),
    ("skill",),
)

META_SKILLS = Table(
    "meta_skills",
    "the second grouping: what skills have in common",
    (
        _SKILL["meta_skill"],
        Column("name", TEXT, "its name"),
        Column("n_skills", INTEGER, "skills under it"),
    ),
    ("meta_skill",),
)

SKILL_FAILURE_RATES = Table(
    "skill_failure_rates",
    "how often each model fails valid questions at every node of the tree, all ways together",
    (
        Column("level", TEXT, "skill or meta_skill; filter by it, since each question is in both"),
        Column("node", INTEGER, "number of the skill or meta-skill"),
        MODEL,
        CORRUPTION,
        SEVERITY,
        Column("n_valid", INTEGER, "valid questions that the verifier judged"),
        Column("n_failed", INTEGER, "of these, answered wrongly"),
        Column("failure_rate", REAL, "n_failed over n_valid, 0..1"),
    ),
    ("level", "node", "model", "corruption", "severity"),
)

#: Stored as they are given.
GIVEN = (
    RUN,
    replace(MEASURES, name="measures"),
    replace(TRAINING, name="training"),
    replace(STEPS, name="steps"),
)

#: Derived, each by the statement of its name, in this order.
DERIVED = (QUESTIONS, JUDGEMENTS, TAXONOMY, META_SKILLS, SKILL_FAILURE_RATES)
