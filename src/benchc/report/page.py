"""The page: gathers sections from the database and pictures, and fills the template."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchc.diagnose.verdicts import FINDINGS
from benchc.report import asked, cases, chosen, how, overview, specimen, where
from benchc.report import scopes as scopes_beside
from benchc.report.facts import SCOPES, facts_of
from benchc.report.frame import render
from benchc.report.pictures import Pictures, Renderer
from benchc.report.unsaid import unsaid


@dataclass(frozen=True)
class Report:
    """The page, and the files with further cases that it loads when asked to, by name."""

    page: str
    side_files: dict[str, str]


def build_report(
    database: Path,
    images: Path,
    seed: int,
    reference_side: int | None = None,
    embeddings: Path | None = None,
    embedded_size: int = cases.EMBEDDED_SIZE,
) -> Report:
    """Return the report: one HTML document, and what lies beside it.

    Args:
        database: what `benchc diagnose build` wrote.
        images: the pool's pictures.
        seed: seed of the run's corruptions.
        reference_side: as the run corrupted.
        embeddings: the pool's embeddings; None leaves their map out.
        embedded_size: characters of the page that cases may take; the rest are side files.

    Raises:
        BadInput: a file that is missing or of another kind; a picture that `images` lacks.
    """
    with facts_of({"first": database}) as facts:
        board = facts("leaderboard")
        scopes = [scope for scope in SCOPES if any(row["scope"] == scope for row in board)]
        headline = facts("headline")[0]["headline"]
        scope = headline if headline in scopes else next(iter(scopes), None)
        renderer = Renderer(facts, Pictures(images), seed, reference_side)
        conditions = facts("conditions")
        values: dict[str, Any] = {
            "board": board,
            "scopes": scopes,
            "scope": scope,
            "headline": headline,
            "models": facts("models"),
            "model_status": facts("model_status"),
            "run": facts("run"),
            "seed": seed,
            "reference_side": reference_side,
            "grid": specimen.grid(facts, conditions, renderer),
            **chosen.figures(facts, embeddings),
        }
        found = None
        if scope is not None:
            order = [row["model"] for row in board if row["scope"] == scope]
            found = cases.choose(facts, scope, renderer, embedded_size)
            values |= {
                "order": order,
                "extent": facts("extent", scope=scope)[0],
                **overview.summary(facts, scope, board),
                **scopes_beside.figures(facts, scopes, order),
                **where.figures(facts, scope, order),
                **asked.figures(facts, scope, order),
                **how.figures(facts, scope, order),
                "unsaid": unsaid(facts, scope),
                "findings": FINDINGS,
                "verdicts": facts("verdicts", scope=scope),
                "pair_status": facts("pair_status", scope=scope),
                "per_cell": cases.PER_CELL,
            }
        page = render(
            "page.html.j2",
            **values,
            cases=found if found and found.embedded.cases else None,
            tally=renderer.tally,
        )
        return Report(page, dict(found.side_files()) if found else {})
