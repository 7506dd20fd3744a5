"""Print the table of families for docs/models.md: python tests/infer/family_table.py.

Each is a tiny checkpoint with random weights, loaded and asked as a real one would be.
"""

import tempfile
from pathlib import Path

from asked import difference, questions
from families import FAMILIES, save

from benchc.config.models import TransformersModel
from benchc.errors import BadInput
from benchc.models.transformers_backend import TransformersBackend


def readings(backend: TransformersBackend) -> float:
    """Return how far the options' probabilities in a batch of eight are from those alone."""
    asked = questions(8)
    alone = [backend.score([question])[0] for question in asked]
    return difference(backend.score(asked), alone)


def row(family: str, folder: Path) -> str:
    """Return one family's row: class, what stands for option A, differences in a batch."""
    settings = {"path": str(save(family, folder)), "batch_size": 8, **FAMILIES[family][1]}
    backend = TransformersBackend(TransformersModel(**settings))
    letters = readings(backend)
    token = backend.facts()["option_tokens"]["A"]["token"]
    try:
        texts = TransformersBackend(TransformersModel(**settings, scoring="text"))
        text = f"{readings(texts):.0e}"
    except BadInput:
        text = "refused: it reads its prompt both ways"
    loaded = type(backend.model).__name__
    return f"| `{family}` | `{loaded}` | `{token}` | {letters:.0e} | {text} |"


def main() -> None:
    """Print the table."""
    print("| `model_type` | loaded as | option A | letters in a batch | texts in a batch |")
    print("|---|---|---|---|---|")
    for family in FAMILIES:
        with tempfile.TemporaryDirectory() as folder:
            print(row(family, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
