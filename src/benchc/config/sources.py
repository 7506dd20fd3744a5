"""What a config may say about a source of samples: one class per kind of source.

`reader` names, as `module:function`, what reads a kind: it takes the settings and returns
`benchc.pool.rows.SourceRows`.
"""

from pathlib import Path
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import Field, PositiveInt, field_validator, model_validator

from benchc.config.origin import Origin, Request, request_for
from benchc.config.section import Section

Benchmark = Literal[
    "ai2d", "blink", "cvbench", "hallusion", "mmbench", "mmmu", "mmstar", "qbench", "realworldqa",
    "scienceqa", "seedbench2plus",
]  # fmt: skip


class DrawnSource(Section):
    """Scenes drawn by this package, six tracks, each a benchmark of its own."""

    reader: ClassVar[str] = "benchc.pool.sources.drawn:read"
    kind: Literal["drawn"]
    samples: PositiveInt = Field(description="How many samples to draw, over the six tracks.")
    seed: int = Field(default=1, ge=0, description="Another seed draws other scenes.")

    def request(self) -> None:
        """Nothing has to be fetched."""


class _FileSource(Origin):
    """What all sources that read files share."""

    path: Path = Path()
    samples: PositiveInt | None = Field(
        default=None, description="Take a random subset of this size; all when left out."
    )
    limit: PositiveInt | None = Field(
        default=None, description="Take at most so many of them; fewer are no fault."
    )
    seed: int = Field(default=1, ge=0, description="Another seed takes another subset.")
    exclude_categories: tuple[str, ...] = Field(
        default=(), description="Categories to leave out, spelt as in the source."
    )
    exclude_ids: tuple[str, ...] = Field(default=(), description="Ids of rows to leave out.")
    expect_rows: PositiveInt | None = Field(
        default=None, description="How many rows the source must have; another count is refused."
    )
    on_bad_row: Literal["refuse", "reject"] = Field(
        default="reject",
        description="refuse: stop at a bad row. reject: go on, and list it in `rejected`.",
    )

    @field_validator("exclude_categories", "exclude_ids")
    @classmethod
    def _no_empty(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if any(not name for name in names):
            raise ValueError("an empty name excludes nothing; leave it out")
        return names

    @model_validator(mode="after")
    def _somewhere(self) -> "_FileSource":
        if "path" not in self.model_fields_set and not self.is_fetched:
            raise ValueError("give `path`, `hub_id` with `revision`, or `url` with its checksum")
        return self

    def request(self) -> Request | None:
        """What has to be fetched before it can be read, if anything."""
        return request_for(self, "dataset")


class FolderSource(_FileSource):
    """A folder of pictures with a file of questions: how you bring your own."""

    reader: ClassVar[str] = "benchc.pool.sources.folder:read"
    kind: Literal["folder"]
    path: Path = Field(default=Path(), description="The folder that holds pictures and questions.")
    questions: str = Field(
        default="questions.jsonl",
        description="File of questions in the folder: .jsonl, .csv or .tsv.",
    )
    on_bad_row: Literal["refuse", "reject"] = Field(
        default="refuse",
        description="refuse: stop at a bad row. reject: go on, and list it in `rejected`.",
    )


class VlmevalkitSource(_FileSource):
    """A VLMEvalKit TSV: pictures as base64 in the table."""

    reader: ClassVar[str] = "benchc.pool.sources.vlmevalkit:read"
    kind: Literal["vlmevalkit"]
    path: Path = Field(default=Path(), description="The .tsv file.")


class FieldMap(Section):
    """Which column of a hub table holds what."""

    id: tuple[str, ...] = Field(
        default=(), description="Columns joined by `_`; row number when empty."
    )
    question: str = Field(default="question", description="Column of the question.")
    hint: str | None = Field(
        default=None, description="Column of what is put before the question, if there is one."
    )
    category: str | None = Field(
        default=None, description="Column by which the report groups samples, if there is one."
    )
    images: tuple[str, ...] = Field(
        default=("image",),
        description="Columns of encoded pictures, of which a row must fill exactly one.",
    )
    options: tuple[str, ...] = Field(
        default=(),
        description="For `options_as: columns` the columns, for list and literal the one column, "
        "for fixed the texts themselves.",
    )
    options_as: Literal["columns", "list", "literal", "question", "fixed"] = Field(
        default="columns",
        description="columns: one column per option. list: a column of lists. literal: a column of "
        "lists written as Python text. question: in the question's own text. fixed: the same for "
        "every row.",
    )
    absent: tuple[str, ...] = Field(default=(), description="Texts that stand for no option.")
    absent_means: dict[str, str] = Field(
        default={},
        description="Rows, by id, in which an absent text is an option after all: this one.",
    )
    answer: str = Field(default="answer", description="Column of the answer.")
    answer_as: Literal["letter", "index"] = Field(
        default="letter", description="letter: of the option. index: its number from 0."
    )
    answers: dict[str, str] = Field(
        default={},
        description="Translation of answers before they are read, "
        'for instance {"yes": A, "no": B}.',
    )
    no_answer: tuple[str, ...] = Field(
        default=(), description="Texts that stand for a hidden answer."
    )
    open_ended: dict[str, str] = Field(
        default={}, description="Column and value that mark a row without options."
    )
    circular: bool = Field(default=False, description="Ids of 1000000 and more are shifted copies.")


class ParquetSource(_FileSource):
    """A benchmark as the hubs carry it: Parquet with encoded pictures."""

    reader: ClassVar[str] = "benchc.pool.sources.parquet:read"
    kind: Literal["parquet"]
    path: Path = Field(
        default=Path(), description="The .parquet file, or a folder with all shards of one split."
    )
    fields: Benchmark | FieldMap = Field(description="A known benchmark, or a map of its columns.")


class SeedBench2PlusSource(_FileSource):
    """SEED-Bench-2-Plus as its authors publish it: one JSON file and a folder of pictures."""

    reader: ClassVar[str] = "benchc.pool.sources.seedbench2plus:read"
    kind: Literal["seedbench2plus"]
    path: Path = Field(
        default=Path(), description="SEED-Bench-2-plus-text-rich.json; pictures lie beside it."
    )


class MmvpSource(_FileSource):
    """MMVP as its authors publish it: Questions.csv and the folder `MMVP Images`."""

    reader: ClassVar[str] = "benchc.pool.sources.mmvp:read"
    kind: Literal["mmvp"]
    path: Path = Field(default=Path(), description="The folder.")
    exclude_ids: tuple[str, ...] = Field(
        default=("99", "100", "279", "280"),
        description="Rows to leave out; these four have swapped answers in the original file.",
    )


Source = Annotated[
    DrawnSource
    | FolderSource
    | VlmevalkitSource
    | ParquetSource
    | SeedBench2PlusSource
    | MmvpSource,
    Field(discriminator="kind"),
]

SOURCES: tuple[type[Section], ...] = get_args(get_args(Source)[0])
"""The kinds of source."""
