"""Who may be recommended, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fswizard.model.analysis import Analysis
from fswizard.model.result import Result

Kind = Literal["winner", "tie", "undecided", "only", "excluded", "failed", "nothing"]


@dataclass(frozen=True, slots=True)
class Choice:
    """The candidates to choose from, by an analysis and the user's needs."""

    kind: Kind
    """`only`: a single candidate is eligible; `excluded`: none is, as all are unsafe or do not meet the needs."""
    names: tuple[str, ...] = ()
    """Candidates that none is proven to beat. The first is the one to use: without a winner the baseline if it is among
    them, else the best supported."""
    eligible: tuple[str, ...] = ()
    """Measured candidates that are safe and meet the needs, best first."""
    lacking: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Measured candidates with the needs that they do not meet."""
    unsafe: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Measured candidates with the options that may lose data in a crash."""


def choose(result: Result, analysis: Analysis) -> Choice:
    """Needs and safety first, then speed."""
    measured = analysis.leaders if analysis.rounds else ()
    if analysis.overall:
        measured = tuple(ratio.candidate for ratio in analysis.overall if ratio.verdict != "failed")
    candidates = {name: result.plan.candidate(name) for name in measured}
    if not measured:
        failed = bool(result.failures) and not analysis.leaders
        return Choice("failed" if failed else "nothing")
    lacks = {name: candidate.lacking(result.plan.needs) for name, candidate in candidates.items()}
    risks = {name: candidate.unsafe_options for name, candidate in candidates.items()}
    eligible = tuple(name for name in measured if not lacks[name] and not risks[name])
    best = analysis.unbeaten(eligible)
    kind: Kind
    if not best:
        kind = "excluded"
    elif len(eligible) == 1:
        kind = "only"
    elif len(best) == 1:
        kind = "winner"
    elif analysis.all_tie(best):
        kind = "tie"
        options = {name: len(c.mount_options) + len(c.mkfs_options) for name, c in candidates.items()}
        best = tuple(sorted(best, key=lambda name: (name != result.plan.baseline, options[name])))
    else:
        kind = "undecided"
        best = tuple(sorted(best, key=lambda name: name != result.plan.baseline))
    return Choice(
        kind,
        best,
        eligible,
        tuple((name, lack) for name, lack in lacks.items() if lack),
        tuple((name, risk) for name, risk in risks.items() if risk),
    )
