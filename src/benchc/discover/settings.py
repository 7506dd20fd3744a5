"""What the config says about failure discovery; light to import.

Never loads anything.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from benchc.section import Key, Section, Variable

WAYS = ("zero_shot", "conme", "sft", "expert_iteration", "rl", "sft_rl", "rl_no_diversity")
"""The ways to ask; the last is the negative control."""
CONTROL = "rl_no_diversity"
BRIEF_WAYS = ("zero_shot", "rl")


class Questioner(Section):
    """The model that asks."""

    path: str = Field(
        default="reference/questioner", description="Folder of the base questioner's checkpoint."
    )
    prompt: Literal["questioner", "questioner_drawn"] = Field(
        default="questioner_drawn", description="Which packaged prompt asks for questions."
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

    pictures: int = Field(default=8, ge=1, description="Pictures a step.")
    group: int = Field(
        default=8, ge=2, description="Sequences a picture, whose rewards are compared."
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
    batch: int = Field(default=32, ge=1, description="Sequences a step.")
    learning_rate: float = Field(default=3e-4, gt=0, description="Of AdamW.")


class ServedVerifierSettings(Section):
    """A verifier behind a server of the OpenAI chat-completions protocol."""

    #: Settings that change no verdict: where the server is, how fast and how long it is asked.
    speed: ClassVar[frozenset[str]] = frozenset(
        {"url", "key_variable", "max_requests", "concurrency", "timeout", "retries"}
    )

    url: str = Field(description="Where the server is, for instance http://localhost:8000/v1.")
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
    max_tokens: int = Field(default=1024, ge=1, description="Longest reply, reasoning included.")
    concurrency: int = Field(default=16, ge=1, description="Requests on their way at once.")
    timeout: float = Field(default=120, gt=0, description="Seconds to wait for one reply.")
    retries: int = Field(default=5, ge=0, description="Further tries of a request that failed.")


class Discover(Section):
    """Failure discovery: who plays, on which pictures, with how many questions."""

    full: tuple[Key, ...] = Field(
        default=(), description="Models under test against which every way to ask is tried."
    )
    brief: tuple[Key, ...] = Field(
        default=(), description="Models against which only zero-shot and RL are tried."
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
    answer_prompt: Literal["answerer", "answerer_drawn"] = Field(
        default="answerer_drawn", description="Which packaged prompt is put around a question."
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
        whole = {"full", "brief", "corruption", "severity"}
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

    @model_validator(mode="after")
    def _steps(self) -> Discover:
        left = self.budget * (1 - self.warm_start)
        if left < self.step_questions:
            raise ValueError(
                f"budget: {self.budget} questions make no step of RL after the warm start; one "
                f"step takes pictures x group x questions = {self.step_questions}"
            )
        if self.training < self.reinforce.pictures:
            raise ValueError(
                f"training: {self.training} pictures are too few for one step of RL, which takes "
                f"reinforce.pictures = {self.reinforce.pictures}"
            )
        if (self.images is None) != (self.verifier is None):
            raise ValueError(
                "`images` and `verifier` go together: only drawn scenes can be judged without a "
                "server"
            )
        both = set(self.full) & set(self.brief)
        if both:
            raise ValueError(f"brief: {min(both)!r} is in `full` too; name it once")
        return self
