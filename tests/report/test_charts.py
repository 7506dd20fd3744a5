"""Layouts and sentences: flows that tile, axes against eigenvectors, who is told apart."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchc.report import findings, overview
from benchc.report.charts import flows, maps
from benchc.report.charts.spec import domain
from benchc.report.chosen import main_axes

PATHS = st.lists(st.lists(st.integers(0, 1), min_size=3, max_size=3), min_size=1, max_size=12)


def flow_rows(paths: list[list[int]], severities: list[int]) -> list[dict]:
    counts = Counter(
        (at, path[at], path[at + 1]) for path in paths for at in range(len(severities) - 1)
    )
    return [
        {
            "severity": severities[at],
            "next_severity": severities[at + 1],
            "correct": before,
            "next_correct": after,
            "share": n / len(paths),
        }
        for (at, before, after), n in sorted(counts.items())
    ]


@given(PATHS)
@settings(max_examples=15, deadline=None)
def test_flows_tile_every_node(paths: list[list[int]]) -> None:
    spec = flows.alluvial(flow_rows(paths, [0, 2, 5]))
    ribbons, nodes = (layer["data"]["values"] for layer in spec["layer"])
    for start in (0, 2):
        for end in (0, -1):
            edges = []
            for step in {point["step"] for point in ribbons if point["from"] == start}:
                edge = [point for point in ribbons if point["step"] == step][end]
                edges.append((edge["low"], edge["high"], edge["flow"]))
            edges.sort()
            assert edges[0][0] == 0
            assert edges[-1][1] == pytest.approx(1, abs=1e-4)
            for below, above in pairwise(edges):
                assert below[1] == pytest.approx(above[0], abs=1e-4)
    for at, severity in enumerate([0, 2, 5]):
        right = np.mean([path[at] for path in paths])
        held = [node for node in nodes if node["severity"] == severity]
        shares = {node["answer"]: node["share"] for node in held}
        assert shares["right"] == pytest.approx(right)
        assert shares["wrong"] == pytest.approx(1 - right)


@given(arrays(float, (7, 4), elements=st.floats(-1, 1, width=32)))
@settings(max_examples=40, deadline=None)
def test_main_axes_are_the_leading_eigenvectors(vectors: np.ndarray) -> None:
    places, shares = main_axes(vectors)
    spread = np.linalg.eigvalsh(np.cov(vectors.T))[::-1]
    assert np.allclose(places.var(axis=0, ddof=1), spread[:2], atol=1e-9)
    assert np.allclose(places.mean(axis=0), 0, atol=1e-9)
    assert np.allclose(np.array(shares) * max(spread.sum(), 1e-12), spread[:2], atol=1e-9)


def test_main_axes_do_not_turn_with_the_sign() -> None:
    vectors = np.random.default_rng(0).normal(size=(20, 5))
    places, _ = main_axes(vectors)
    assert np.allclose(main_axes(vectors)[0], places)
    assert all(column[np.abs(column).argmax()] > 0 for column in places.T)


def test_heat_steps_meet_the_legend() -> None:
    assert overview.step_of(None) is None
    assert [overview.step_of(value) for value in (-1, -0.4, 0, 0.05)] == [0, 1, 6, 8]
    assert len(overview.heat_legend()) == len(maps.HEAT) == len(maps.STEPS) + 1


def test_domain_holds_zero() -> None:
    assert domain([]) == domain([0.0]) == [-0.1, 0.1]
    low, high = domain([-0.5, None, -0.1])
    assert low < -0.5
    assert high == 0


def best(measure: str, model: str, value: float, rivals: list[tuple[str, float, float, float]]):
    named = [
        {"model": name, "difference": d, "low": low, "high": high} for name, d, low, high in rivals
    ]
    ends = {"low": value - 0.1, "high": value + 0.1}
    row = {"measure": measure, "model": model, "value": value, "rivals": named, **ends}
    return [{**row, "corruption_group": group} for group in (None, "blur")]


def line(**more: object) -> dict:
    values = {"n_pairs": 90, "corrupted_accuracy": 0.5, "near_chance": False, "below_chance": False}
    return {**values, **more}


def test_models_are_told_apart_by_their_paired_difference() -> None:
    board = {"a": line(), "b": line(corrupted_accuracy=0.4)}
    apart = [("b", 0.1, 0.05, 0.15)]
    level = [("b", 0.1, -0.05, 0.25)]
    rows = best("corrupted_accuracy", "a", 0.5, apart) + best("ras", "b", -0.1, level)
    lead = findings.lead(rows, board).replace("\u00a0", " ")
    assert "a is right most often on corrupted pictures: 50.0 %" in lead
    assert "ahead of b by 10.0 points (5.0 to 15.0)" in lead
    assert "RAS puts no model first: the highest is that of b, −0.100 (−0.200 to 0.000)" in lead
    assert "not told apart from b" in lead
    ((group, sentence),) = findings.by_group(rows, board)
    assert group == "blur"
    assert sentence.startswith("a, right on 50.0\u00a0%")


@pytest.mark.parametrize("level_in", [None, "ras", "ras_matched", "ras_fitted"])
def test_ras_puts_a_model_first_only_where_all_three_do(level_in: str | None) -> None:
    rows = best("corrupted_accuracy", "a", 0.5, [("b", 0.1, 0.05, 0.15)])
    for measure in ("ras", "ras_matched", "ras_fitted"):
        rows += best(measure, "b", -0.1, [("a", 0.1, -0.05 if measure == level_in else 0.05, 0.2)])
    lead = findings.lead(rows, {"a": line(), "b": line()})
    assert ("b has the highest RAS" in lead) == (level_in is None)
    assert ("RAS puts no model first" in lead) == (level_in is not None)


def test_another_model_with_confidence_matched_is_named() -> None:
    rows = best("corrupted_accuracy", "a", 0.5, [("b", 0.1, 0.05, 0.15)])
    for measure, model in (("ras", "b"), ("ras_matched", "a"), ("ras_fitted", "b")):
        rows += best(measure, model, -0.1, [("a", 0.1, 0.05, 0.2)])
    lead = findings.lead(rows, {"a": line(), "b": line()})
    assert "it is a with confidence matched" in lead


def test_a_model_that_guesses_is_not_to_be_trusted() -> None:
    board = {"a": line(near_chance=True)}
    rows = best("corrupted_accuracy", "a", 0.5, []) + best("ras", "a", 0.0, [])
    ((_, sentence),) = findings.by_group(rows, board)
    assert sentence.startswith("no model: the best, a,")
    assert "no better than guessing" in sentence
    assert "no better than guessing" in findings.lead(rows, board)


def test_no_score_is_no_finding() -> None:
    assert "nothing can be said" in findings.lead([], {"a": line()})
    assert "none can be trusted" in findings.lead([], {})
    assert findings.by_group([], {}) == []
