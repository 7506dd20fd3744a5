"""What the config says about failure discovery; light to import."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from benchc.config.checked import nearest
from benchc.config.prompts import AnswererPrompt, ComparePrompt, JudgePrompt, QuestionerPrompt
from benchc.config.section import Key, Section, ServerAddress, Variable


@dataclass(frozen=True)
class Way:
    """One way to ask.

    Attributes:
        learn: `module:function`; it takes a `benchc.discover.ways.Game`, trains its questioner
            within the budget and returns the examples to show with each prompt.
        does: What it does, in one line.
        brief: Also tried against the models in `discover.brief`.
        learns: Spends the budget on training pictures.
        in_rounds: Spends it in `discover.rounds`.
        warm: Spends `discover.warm_start` of it on fine-tuning first.
        reinforced: Trains by reinforcement learning.
        control: A negative control, which is never the best.
    """

    learn: str
    does: str
    brief: bool = False
    learns: bool = True
    in_rounds: bool = False
    warm: bool = False
    reinforced: bool = False
    control: bool = False


WAYS = {
    "zero_shot": Way(
        "benchc.discover.ways:zero_shot",
        "the base, which has learnt to ask random valid questions and nothing of any model",
        brief=True,
        learns=False,
    ),
    "conme": Way(
        "benchc.discover.ways:conme",
        "rounds: ask, keep what was answered wrongly, show it with the next prompts",
        in_rounds=True,
    ),
    "sft": Way(
        "benchc.discover.ways:fine_tuning",
        "ask with the base, then fine-tune on all failures found",
    ),
    "expert_iteration": Way(
        "benchc.discover.ways:expert_iteration",
        "rounds of asking and fine-tuning on that round's failures",
        in_rounds=True,
    ),
    "rl": Way("benchc.discover.ways:reinforcement", "GRPO", brief=True, reinforced=True),
    "sft_rl": Way(
        "benchc.discover.ways:warm_start",
        "SFT on a share of the budget, GRPO on the rest",
        warm=True,
        reinforced=True,
    ),
    "rl_no_diversity": Way(
        "benchc.discover.ways:without_diversity",
        "the negative control: GRPO with Delta = 1",
        reinforced=True,
        control=True,
    ),
}
"""The ways to ask, in the order of the tables that show them."""
BRIEF_WAYS = tuple(name for name, way in WAYS.items() if way.brief)


def _known_way(name: str) -> str:
    if name not in WAYS:
        raise ValueError(f"unknown way {name!r}{nearest(name, WAYS)}")
    return name


#: The name of a way to ask.
WayName = Annotated[str, AfterValidator(_known_way)]


class Questioner(Section):
    """The model that asks."""

    path: str = Field(
        default="reference/questioner", description="Folder of the base questioner's checkpoint."
    )
    prompt: QuestionerPrompt = Field(
        default="questioner_drawn",
        description="The prompt that asks for questions: questioner, questioner_drawn, or a file.",
    )
    questions: int = Field(default=4, ge=1, description="Questions in one sequence.")
    max_tokens: int = Field(
        default=72, ge=4, description="Longest sequence; a question cut off by it is invalid."
    )
    temperature: float = Field(default=1.0, gt=0, description="Of the sampling.")
    lora_rank: int | None = Field(
        default=None, ge=1, description="Train a LoRA adapter of this rank; all weights if none."
    )
    dtype: Literal["float32", "bfloat16"] = Field(
        default="float32", description="Precision of the weights."
    )
    separator: str = Field(default=" ", description="Between the questions of a sequence.")


class Reinforce(Section):
    """Reinforcement learning of the questioner."""

    pictures: int = Field(default=8, ge=1, description="Pictures per step.")
    group: int = Field(
        default=8, ge=2, description="Sequences per picture, whose rewards are compared."
    )
    per_forward: int | None = Field(
        default=None,
        ge=1,
        description="Sequences in one forward and backward pass; all of a step's if left out. Less "
        "takes less memory and changes no result but its last digits.",
    )
    iterations: int = Field(
        default=2, ge=1, description="Updates of the weights from the sequences of each step."
    )
    learning_rate: float = Field(default=6e-4, gt=0, description="Of AdamW.")
    warmup: int = Field(default=5, ge=0, description="Steps until the full learning rate.")
    kl: float = Field(default=0.05, ge=0, description="Weight of the KL divergence to the base.")
    memory: int = Field(default=8, ge=0, description="Newest failures that are remembered.")
    penalty: float = Field(default=0.5, ge=0, description="What an invalid question costs.")
    diversity: bool = Field(default=True, description="Whether the diversity term counts.")
    patience: int = Field(
        default=10, ge=1, description="Steps with equal rewards in every group before a stop."
    )
    validate_every: int = Field(default=12, ge=1, description="Steps between held-out measures.")
    checkpoint_every: int = Field(default=12, ge=1, description="Steps between checkpoints.")

    @model_validator(mode="after")
    def _whole_passes(self) -> Reinforce:
        total = self.pictures * self.group
        if self.per_forward is not None and total % self.per_forward:
            raise ValueError(
                f"per_forward: {self.per_forward} does not divide pictures x group = {total}"
            )
        return self


class Imitate(Section):
    """Supervised fine-tuning of the questioner on failures that it found."""

    epochs: int = Field(default=2, ge=1, description="Passes over the failures.")
    batch: int = Field(default=32, ge=1, description="Sequences per step.")
    learning_rate: float = Field(default=3e-4, gt=0, description="Of AdamW.")


class ServedVerifierSettings(Section):
    """A verifier behind a server of the OpenAI chat-completions protocol."""

    #: Settings that change no verdict: where the server is, how fast and how long it is asked.
    speed: ClassVar[frozenset[str]] = frozenset(
        {"url", "key_variable", "max_requests", "concurrency", "timeout", "retries"}
    )

    url: ServerAddress = Field(
        description="Where the server is, for instance http://localhost:8000/v1."
    )
    model: str = Field(min_length=1, description="The name the server knows the model by.")
    key_variable: Variable | None = Field(
        default=None,
        description="The environment variable that holds the server's key; none for no key.",
    )
    max_requests: int = Field(
        ge=1,
        description="Bound on the requests of one game, further tries included, and hence on what "
        "it costs.",
    )
    judge_prompt: JudgePrompt = Field(
        default="verifier_judge",
        description="The prompt that asks for verdicts on a question; verifier_judge, or a file.",
    )
    compare_prompt: ComparePrompt = Field(
        default="verifier_compare",
        description="The prompt that asks whether an answer is right; verifier_compare, or a file.",
    )
    max_tokens: int = Field(default=1024, ge=1, description="Longest reply, reasoning included.")
    concurrency: int = Field(default=16, ge=1, description="Requests on their way at once.")
    timeout: float = Field(default=120, gt=0, description="Seconds to wait for one reply.")
    retries: int = Field(default=5, ge=0, description="Further tries of a request that failed.")


class Discover(Section):
    """Failure discovery: who plays, on which pictures, with how many questions."""

    full: tuple[Key, ...] = Field(
        default=(), description="Models under test against which every way in `ways` is tried."
    )
    brief: tuple[Key, ...] = Field(
        default=(), description="Models against which only zero-shot and RL are tried."
    )
    ways: tuple[WayName, ...] = Field(
        default=tuple(WAYS),
        min_length=1,
        description=f"The ways to ask, of {', '.join(WAYS)}; all by default.",
    )
    budget: int = Field(
        default=12_288, ge=1, description="Questions that a way may ask to learn from, each way."
    )
    held_out: int = Field(
        default=400, ge=2, description="Held-out pictures, one sequence each, for the measures."
    )
    validation: int = Field(
        default=60, ge=1, description="Held-out pictures that choose the best checkpoint."
    )
    training: int = Field(default=2000, ge=1, description="Pictures to learn from.")
    images: str | None = Field(
        default=None,
        description="A folder of pictures, in the layout of COCO or any other; drawn scenes by "
        "default. Photographs need a `verifier`.",
    )
    verifier: ServedVerifierSettings | None = Field(
        default=None, description="A server that judges; by default the drawn world's own verifier."
    )
    answer_prompt: AnswererPrompt = Field(
        default="answerer_drawn",
        description="What is put around a question: answerer, answerer_drawn, or a file.",
    )
    rounds: int = Field(
        default=4, ge=1, description="Rounds of expert iteration and of the ConMe-style way."
    )
    warm_start: float = Field(
        default=0.25, gt=0, lt=1, description="Share of the budget that SFT before RL spends."
    )
    corruption: str | None = Field(
        default=None,
        description="Zero-shot and RL also ask the models in `full` about pictures under this "
        "corruption; none by default.",
    )
    severity: int = Field(default=3, ge=1, le=5, description="Severity of the corruption.")
    embedder: str | None = Field(
        default=None,
        description="A sentence-transformers folder; all-MiniLM-L6-v2 from its package by default.",
    )
    answer_tokens: int = Field(default=6, ge=1, description="Longest answer, in tokens.")
    questioner: Questioner = Questioner()
    reinforce: Reinforce = Reinforce()
    imitate: Imitate = Imitate()

    def result_settings(self) -> dict[str, object]:
        """The settings that can change a game, for fingerprints; paths are among them."""
        whole = {"full", "brief", "ways", "corruption", "severity"}
        values = self.model_dump(mode="json", exclude=whole)
        if self.verifier is not None:
            values["verifier"] = self.verifier.model_dump(
                mode="json", exclude=set(self.verifier.speed)
            )
        return values

    @property
    def step_questions(self) -> int:
        """Questions in one step of reinforcement learning."""
        return self.reinforce.pictures * self.reinforce.group * self.questioner.questions

    @property
    def prompts(self) -> dict[str, tuple[str, str]]:
        """The prompts by the names of their settings, each with its role."""
        found = {
            "questioner.prompt": ("questioner", self.questioner.prompt),
            "answer_prompt": ("answerer", self.answer_prompt),
        }
        if self.verifier is not None:
            found["verifier.judge_prompt"] = ("judge", self.verifier.judge_prompt)
            found["verifier.compare_prompt"] = ("compare", self.verifier.compare_prompt)
        return found

    @model_validator(mode="after")
    def _large_enough(self) -> Discover:
        for name in self.ways:
            self._refuse_too_small(WAYS[name], name)
        return self

    def _refuse_too_small(self, way: Way, name: str) -> None:
        """Refuse settings with which a way could not take its smallest step."""
        questions, step = self.questioner.questions, self.step_questions
        sequences = self.budget // questions
        said = f"budget: {self.budget} questions are {sequences} sequences of {questions}"
        without = f"or leave {name} out of `ways`"
        if way.learns and sequences < 1:
            raise ValueError(f"{said} (questioner.questions), too few for {name}; raise it")
        if way.in_rounds and sequences < self.rounds:
            raise ValueError(
                f"{said}, fewer than `rounds` = {self.rounds}; change one of them, {without}"
            )
        if way.warm and sequences * self.warm_start < 1:
            raise ValueError(
                f"{said}, and warm_start = {self.warm_start:g} of them is none; raise one of them, "
                f"{without}"
            )
        if not way.reinforced:
            return
        spent = int(sequences * self.warm_start) * questions if way.warm else 0
        if self.budget - spent < step:
            after = " after the warm start" if way.warm else ""
            raise ValueError(
                f"budget: {self.budget} questions make no step of RL{after}; one step takes "
                f"reinforce.pictures x reinforce.group x questioner.questions = {step}; change one "
                f"of them, {without}"
            )
        if self.training < self.reinforce.pictures:
            raise ValueError(
                f"training: {self.training} pictures are too few for one step of RL, which takes "
                f"reinforce.pictures = {self.reinforce.pictures}; change one of them, {without}"
            )

    @model_validator(mode="after")
    def _consistent(self) -> Discover:
        if (self.images is None) != (self.verifier is None):
            raise ValueError(
                "`images` and `verifier` go together: only drawn scenes can be judged without a "
                "server"
            )
        both = set(self.full) & set(self.brief)
        if both:
            raise ValueError(f"brief: {min(both)!r} is in `full` too; name it once")
        if len(set(self.ways)) < len(self.ways):
            raise ValueError("ways: a value occurs twice")
        if self.brief and not set(self.ways) & set(BRIEF_WAYS):
            raise ValueError(
                f"brief: of the ways tried there ({', '.join(BRIEF_WAYS)}) none is in `ways`; name "
                "the models in `full`"
            )
        return self
