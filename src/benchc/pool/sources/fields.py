"""Which column of each known benchmark's hub table holds what.

A benchmark that needs more than a map needs a module of its own.
"""

from benchc.config.sources import Benchmark, FieldMap

_LETTERS = ("A", "B", "C", "D")

FIELD_MAPS: dict[Benchmark, FieldMap] = {
    "ai2d": FieldMap(options=("options",), options_as="list", answer_as="index"),
    # Test answers are hidden; several pictures per row for most sub-tasks.
    "blink": FieldMap(
        id=("idx",),
        category="sub_task",
        images=("image_1", "image_2", "image_3", "image_4"),
        options=("choices",),
        options_as="list",
        no_answer=("hidden",),
    ),
    "cvbench": FieldMap(id=("idx",), category="task", options=("choices",), options_as="list"),
    # Yes/no: the answer "1" is yes.
    "hallusion": FieldMap(
        id=("category", "subcategory", "visual_input", "set_id", "figure_id", "question_id"),
        category="subcategory",
        options=("Yes", "No"),
        options_as="fixed",
        answer="gt_answer",
        answers={"1": "A", "0": "B"},
    ),
    "mmbench": FieldMap(
        id=("index",),
        hint="hint",
        category="category",
        options=_LETTERS,
        absent=("nan",),
        no_answer=("nan",),
        circular=True,
    ),
    "mmmu": FieldMap(
        id=("id",),
        category="subfield",
        images=tuple(f"image_{number}" for number in range(1, 8)),
        options=("options",),
        options_as="literal",
        no_answer=("?",),
        open_ended={"question_type": "open"},
    ),
    # In three rows `nan` was the word None before a table reader swallowed it.
    "mmstar": FieldMap(
        id=("index",),
        category="category",
        options_as="question",
        absent=("nan",),
        absent_means={"268": "None", "273": "None", "391": "None"},
    ),
    # Asks about picture quality, so its answers change with the corruption: not for diagnosis.
    "qbench": FieldMap(
        id=("id",),
        category="question_concern",
        options=tuple(f"option{number}" for number in range(4)),
        absent=("N/A",),
        answer="correct_choice",
    ),
    "realworldqa": FieldMap(options_as="question"),
    "scienceqa": FieldMap(
        hint="hint",
        category="topic",
        options=("choices",),
        options_as="list",
        answer_as="index",
    ),
    "seedbench2plus": FieldMap(
        id=("question_id",),
        category="question_image_type",
        options=tuple(f"choice_{letter}" for letter in _LETTERS),
    ),
}
