"""Outcomes of a game as tables, and back as arrays for the measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from benchc.discover.embedding import Embedder
from benchc.discover.measures import OF_FAILURES, Estimate, Failures, over_draws, rate
from benchc.discover.play import Outcome
from benchc.discover.reward import opening
from benchc.discover.tables import ASKED, MEASURES, QUESTION_SKILLS, SKILLS, STEPS, TRAINING
from benchc.discover.taxonomy import build_taxonomy


def asked_table(
    outcomes: Sequence[Outcome],
    model: str,
    way: str,
    corruption: str,
    severity: int,
    reference_side: int | None = None,
) -> pl.DataFrame:
    """Return `discover_asked`: one row per question that was asked about held-out pictures."""
    return ASKED.from_rows(
        {
            "model": model,
            "way": way,
            "corruption": corruption,
            "severity": severity,
            "reference_side": reference_side,
            "picture": o.asked.picture.key,
            "sequence": o.asked.sequence,
            "place": o.asked.place,
            "question": o.asked.text,
            "grammatical": o.judgement.grammatical,
            "atomic": o.judgement.atomic,
            "grounded": o.judgement.grounded,
            "objective": o.judgement.objective,
            "valid": o.judged and o.judgement.valid,
            "truth": o.judgement.truth,
            "answer": o.answer,
            "correct": o.correct,
            "failed": o.failed,
            "verifier_failure": o.judgement.failure,
            "primitives": sorted(o.judgement.primitives),
        }
        for o in outcomes
    )


def curve_table(
    log: Sequence[dict[str, Any]], model: str, way: str, corruption: str, severity: int
) -> pl.DataFrame:
    """Return `discover_training` from the rows of a training's log."""
    return TRAINING.from_rows(
        {
            "model": model,
            "way": way,
            "corruption": corruption,
            "severity": severity,
            "step": row["step"],
            "measure": name,
            "value": value,
        }
        for row in log
        for name, value in row.items()
        if name not in ("step", "primitives")
    )


def step_table(
    log: Sequence[dict[str, Any]], model: str, way: str, corruption: str, severity: int
) -> pl.DataFrame:
    """Return `discover_steps`: for each step and primitive, what was asked and what failed."""
    return STEPS.from_rows(
        {
            "model": model,
            "way": way,
            "corruption": corruption,
            "severity": severity,
            "step": row["step"],
            "primitive": name,
            "asked": asked,
            "valid": valid,
            "failed": failed,
        }
        for row in log
        for name, (asked, valid, failed) in row.get("primitives", {}).items()
    )


def failures(asked: pl.DataFrame, embeddings: np.ndarray, topics: Sequence[str]) -> Failures:
    """Return the failures among asked questions, for the measures.

    Args:
        asked: Failed rows of `discover_asked`.
        embeddings: Unit vectors of their questions, in the same order.
        topics: The skill of each, in the same order.
    """
    _, pictures = np.unique(asked["picture"].to_numpy(), return_inverse=True)
    return Failures(
        pictures=pictures,
        embeddings=embeddings,
        openings=[opening(text) for text in asked["question"]],
        primitives=[frozenset(row) for row in asked["primitives"]],
        skills=list(topics),
    )


def skill_tables(asked: pl.DataFrame, embedder: Embedder) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return `discover_skills` of the failures and `discover_question_skills` of valid questions.

    A valid question that was never failed stands with the failure that is nearest to it, so that
    a failure rate counts what went well too.
    """
    failed = asked.filter("failed")
    different = failed.unique("question").sort("question")
    texts = different["question"].to_list()
    found = build_taxonomy(
        texts, embedder.embed(texts), [frozenset(row) for row in different["primitives"]]
    )
    others = asked.filter("valid")["question"].unique().sort().to_list() if texts else []
    nearest = (embedder.embed(others) @ embedder.embed(texts).T).argmax(1) if others else []
    placed = QUESTION_SKILLS.from_rows(
        {
            "question": text,
            "skill": int(found.skill[near]),
            "stands_with": texts[int(found.representative[near])],
        }
        for text, near in zip(others, nearest, strict=True)
    )
    models = asked["model"].n_unique()
    failing = dict(
        failed.join(placed, on="question")
        .group_by("skill")
        .agg(pl.col("model").unique().sort())
        .iter_rows()
    )
    skills = SKILLS.from_rows(
        {
            "skill": s.number,
            "name": s.name,
            "terms": list(s.terms),
            "meta_skill": s.meta,
            "meta_name": s.meta_name,
            "novel": s.novel,
            "failed_by": failing[s.number],
            "only_one": models > 1 and len(failing[s.number]) == 1,
        }
        for s in found.skills
    )
    return skills, placed


def measure_table(asked: pl.DataFrame, placed: pl.DataFrame, embedder: Embedder) -> pl.DataFrame:
    """Return `discover_measures`; ways are compared within a model and a condition.

    Args:
        asked: `discover_asked` of all ways.
        placed: `discover_question_skills` of their failures.
        embedder: Embeds questions.
    """
    rows: list[dict[str, Any]] = []
    for (model, corruption, severity), group in asked.group_by(
        "model", "corruption", "severity", maintain_order=True
    ):
        ways = {way: part for (way,), part in group.group_by("way", maintain_order=True)}
        drawn = min(int(part["failed"].sum()) for part in ways.values())
        for way, part in ways.items():
            place = {"model": model, "way": way, "corruption": corruption, "severity": severity}
            key = (str(model), str(way), str(corruption), int(str(severity)))
            for name, found in _rates(part, *key).items():
                rows.append({**place, **_row(name, found, 0)})
            lost = part.filter("failed").join(placed, on="question", maintain_order="left")
            own = failures(
                lost, embedder.embed(lost["question"].to_list()), lost["skill"].to_list()
            )
            for name, function in OF_FAILURES.items():
                found = over_draws(function, own, drawn, *key)
                rows.append({**place, **_row(name, found, drawn)})
    return MEASURES.from_rows(rows)


def _rates(part: pl.DataFrame, *key: str | int) -> dict[str, Estimate]:
    """Return validity and the failure discovery rates over what the verifier judged."""
    judged = part.filter(pl.col("verifier_failure").is_null())
    _, pictures = np.unique(judged["picture"].to_numpy(), return_inverse=True)
    valid, failed = judged["valid"].to_numpy(), judged["failed"].to_numpy()
    every = np.ones(len(judged), bool)
    return {
        "validity": rate(valid, every, pictures, "validity", *key),
        "fdr": rate(failed, every, pictures, "fdr", *key),
        "fdr_valid": rate(failed, valid, pictures, "fdr_valid", *key),
    }


def _row(name: str, found: Estimate, drawn: int) -> dict[str, Any]:
    return {"measure": name, "value": found.value, "low": found.low, "high": found.high,
            "drawn": drawn}  # fmt: skip
