"""Samples chosen without a model, by half of the corruptions: what a fresh look at it needs.

A set chosen by a model's own answers flatters or harms it. Here each selector is left out, and
those that remain choose by one half of the corruptions; the other half is for scoring.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import polars as pl
from tqdm import tqdm

from benchc import keyed, tables
from benchc.select.diversity import remembered
from benchc.select.impurity import impurity, trajectories
from benchc.select.selection import DEFAULT, Pool, Rule, choose

SPLITS = 12


def cross_fit(
    pool: Pool,
    predictions: Sequence[pl.DataFrame],
    groups: Mapping[str, Sequence[str]],
    rule: Rule = DEFAULT,
    severities: Sequence[int] = (1, 2, 3, 4, 5),
    seed: int = 0,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the halves of the corruptions, and the samples that others choose by them.

    Args:
        pool: The candidates.
        predictions: `predictions` rows of each selector.
        groups: The corruptions of each group; each half holds half of every group.
        rule: How to choose.
        severities: the configured severities.
        seed: key of the halves.

    Returns:
        `cross_fit_halves`: for each split which corruptions choose; the others score.
        `cross_fit_samples`: for each split and each model, or two models, left out: the samples
        that the remaining selectors choose. Empty where nobody remains, or nothing is chosen.
    """
    complete = trajectories(predictions, severities)
    models = sorted(complete["model"].unique())
    present = set(complete["corruption"].unique())
    halves = list(_halves(groups, present, seed))
    left_out = [c for n in (1, 2) if n < len(models) for c in combinations(models, n)]
    near = remembered(pool.near(rule), pool.samples.height)
    rows = []
    for split, chooses in enumerate(tqdm(halves, desc="cross-fit", disable=None)):
        half = (
            complete.filter(pl.col("corruption").is_in(chooses))
            .group_by("model", "sample_id")
            .agg(pl.col("squares").sum(), trajectories=pl.len().cast(pl.Int64))
        )
        for without in left_out:
            others = half.filter(~pl.col("model").is_in(without))
            found = impurity(pool.samples, others, severities)
            kept = choose(pool.samples, found, rule, near)[0].filter("kept")["sample_id"]
            model, other = (*without, None)[:2]
            rows += [
                {"model": model, "other": other or "", "split": split, "sample_id": sample}
                for sample in kept
            ]
    chosen_by = [
        {"split": split, "corruption": name, "chooses": name in chooses}
        for split, chooses in enumerate(halves)
        for name in sorted(present)
    ]
    return (
        tables.CROSS_FIT_HALVES.from_rows(chosen_by),
        tables.CROSS_FIT_SAMPLES.from_rows(rows),
    )


def _halves(
    groups: Mapping[str, Sequence[str]], present: set[str], seed: int
) -> Iterator[list[str]]:
    """Yield, for each split, the corruptions that choose: half of each group, drawn by key.

    Of a group with an odd number the larger part goes to either half by turns, so that both
    halves are of like size.
    """
    for split in range(SPLITS):
        chooses: list[str] = []
        larger = split % 2
        for group, members in sorted(groups.items()):
            names = sorted(set(members) & present)
            drawn = keyed.generator("cross_fit", seed, split, group).permutation(len(names))
            count = (len(names) + larger) // 2
            if len(names) % 2:
                larger = 1 - larger
            chooses += [names[i] for i in drawn[:count]]
        yield sorted(chooses)
