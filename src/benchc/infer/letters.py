"""Whether a model answers with a letter where it is asked to: how much probability letters hold.

A template that opens a thought, or an instruction that the model does not follow, leaves the
letters next to nothing; what is read of them then is not what the model would say.
"""

from collections.abc import Sequence

import numpy as np

from benchc.config.models import Model
from benchc.errors import BadInput
from benchc.models.scores import Score

LOW = 0.5


def median_mass(scores: Sequence[Score]) -> float | None:
    """Return the median share of probability on the options' letters; None where none is known."""
    masses = [score.option_mass for score in scores if score.option_mass is not None]
    return float(np.median(masses)) if masses else None


def refuse_other_words(key: str, settings: Model, mass: float | None) -> str | None:
    """Return a warning where letters hold less than half of the probability, or None.

    Args:
        key: The model's key in the config.
        settings: How it is asked.
        mass: The median over the trial's questions, 0..1; None where it is not known.

    Raises:
        BadInput: they hold less than `least_option_mass`.
    """
    if mass is None or mass >= max(LOW, settings.least_option_mass):
        return None
    said = f"{key}: the options' letters hold {mass:.2g} of the probability behind plain questions"
    if mass >= settings.least_option_mass:
        return f"{said}: it would not answer with a letter here (see `benchc check {key}`)"
    raise BadInput(
        f"{said}, less than `least_option_mass: {settings.least_option_mass}`: it would write "
        "something else, a thought for instance, or does not follow the instruction. See what with "
        f"`benchc check {key}`; change `chat_template` or `instruction`, use `scoring: text`, or "
        "allow it with `least_option_mass: 0`"
    )
