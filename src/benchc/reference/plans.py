"""How long each reference model is trained."""

from __future__ import annotations

from dataclasses import asdict, dataclass

BATCH = 128
"""Lessons in one step of training."""


@dataclass(frozen=True)
class Plan:
    """How long to train.

    Attributes:
        matching: Steps of stage one, from a given answer to its letter, without pictures.
        listing: Steps of stage two, on scenes described as a short list of their filled cells.
        language: Steps of stage three, on scenes described cell by cell.
        vision: Steps of stage four, the tower regressed onto the descriptions.
        joint: Steps of stage five, everything on pictures.
        scenes: Drawn scenes, with eight questions each.
    """

    matching: int
    listing: int
    language: int
    vision: int
    joint: int
    scenes: int

    def scaled(self, effort: float) -> Plan:
        """Return the plan with its steps and scenes multiplied; a stage left out stays out."""
        steps = {
            stage: round(max(2, effort * number)) if number else 0
            for stage, number in asdict(self).items()
        }
        return Plan(**steps | {"scenes": max(64, round(effort * self.scenes))})

    def told(self) -> str:
        """Return the plan as a sentence for a card."""
        stages = {
            "finding a given answer's letter": self.matching,
            "questions about lists of what a scene holds": self.listing,
            "questions about scenes described cell by cell": self.language,
            "the vision tower regressed onto the descriptions": self.vision,
            "everything on pictures": self.joint,
        }
        told = ", ".join(f"{steps} steps of {stage}" for stage, steps in stages.items() if steps)
        return f"Stages: {told}; {self.scenes} scenes, batches of {BATCH}, no corrupted picture."


PLANS = {
    "llava": Plan(150, 900, 200, 800, 200, 12_000),
    "qwen2vl": Plan(150, 2_000, 1_000, 800, 0, 12_000),
    "paligemma": Plan(150, 900, 200, 400, 220, 12_000),
    "idefics3": Plan(150, 700, 200, 450, 250, 12_000),
}
"""How `benchc reference train` makes each; the cards say what made the stored ones."""
