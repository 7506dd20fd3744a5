"""Questions for tests: unequal words, options and pictures, the same for a seed."""

from collections.abc import Sequence

import numpy as np
from scipy.special import softmax

from benchc.models.scores import Question, Score

WORDS = "what colour is the large striped circle left of the small solid square".split()  # noqa: SIM905
OPTIONS = ("red", "blue", "green", "two", "circle", "large circle", "small square")


def questions(count: int, seed: int = 0) -> list[Question]:
    """Return questions of 4 to 13 words with 2 to 6 options, about pictures of three shapes."""
    random = np.random.default_rng(seed)
    made = []
    for i in range(count):
        options = tuple(map(str, random.choice(OPTIONS, 2 + i % 5)))
        text = " ".join(WORDS[: 3 + i % 10]) + " ?"
        picture = random.integers(0, 256, (60 + 40 * (i % 3), 224, 3), dtype=np.uint8)
        made.append(Question(picture, text, options))
    return made


def difference(some: Sequence[Score], others: Sequence[Score]) -> float:
    """Return the largest difference between the option probabilities of two readings."""
    pairs = zip(some, others, strict=True)
    return max(float(np.abs(softmax(a.logits) - softmax(b.logits)).max()) for a, b in pairs)
