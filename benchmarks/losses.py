"""Coverage of the joint intervals of `losses` and `loss_contrasts` where nothing differs.

Every cell of six benchmarks by five groups of corruptions loses the same share of its answers. Five
conditions of a cell share a picture's difficulty. Printed: how often all cells' intervals hold the
truth at once, and how often all contrasts' hold 0; the aim is .95.

    python benchmarks/losses.py
"""

import numpy as np
import typer
from scipy.stats import norm

from benchc.diagnose.bootstrap import simultaneous, weights

BENCHMARKS, GROUPS, CONDITIONS = 6, 5, 5
LOST = 0.3


def losses(rng: np.random.Generator, pictures: int) -> np.ndarray:
    """Return the share of each picture's answers that each group takes, (pictures, groups)."""
    shape = (CONDITIONS, pictures, GROUPS)
    noise, cell = rng.normal(size=shape), rng.normal(size=shape[1:])
    hard = rng.normal(size=(pictures, 1))
    bound = norm.isf(LOST) * np.sqrt(1 + 2 * 0.7**2)
    return (noise + 0.7 * hard + 0.7 * cell > bound).mean(0)


def main(data_sets: int = 1000, draws: int = 600, seed: int = 2) -> None:
    """Print the coverage at ten, 23 and 140 pictures a benchmark."""
    rng = np.random.default_rng(seed)
    cells = [(row, column) for row in range(BENCHMARKS) for column in range(GROUPS)]
    pairs = [
        (a, b)
        for a, (row, column) in enumerate(cells)
        for b, (other, beside) in enumerate(cells[:a])
        if (row == other) != (column == beside)
    ]
    left, right = np.array(pairs).T
    print("pictures per benchmark | all cells held | all contrasts held")
    for per in (10, 23, 140):
        drawn = weights(BENCHMARKS * per, 3, draws)
        held = np.zeros(2)
        for _ in range(data_sets):
            lost = losses(rng, BENCHMARKS * per)
            parts = [slice(at * per, (at + 1) * per) for at in range(BENCHMARKS)]
            change = np.concatenate(
                [-(lost[part].T @ drawn[part]) / drawn[part].sum(0) for part in parts]
            )
            low, high = simultaneous(change, np.full(len(cells), per))
            held[0] += np.all((low <= -LOST) & (high >= -LOST))
            low, high = simultaneous(change[left] - change[right], np.full(len(pairs), per))
            held[1] += np.all((low <= 0) & (high >= 0))
        print(f"{per:22} | {held[0] / data_sets:14.2f} | {held[1] / data_sets:18.2f}")


if __name__ == "__main__":
    typer.run(main)
