"""Who may be recommended, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fswizard.model.filesystem import Candidate
from fswizard.model.judgement import Judgement
from fswizard.model.result import Result

Kind = Literal["winner", "tie", "undecided", "only", "excluded", "failed", "nothing"]


@dataclass(frozen=True, slots=True)
class Choice:
    """What the judgement means for somebody with these needs."""

    kind: Kind
    """`only`: one alone is left, unproven; `excluded`: what was measured is unsafe or does not meet the needs."""
    names: tuple[str, ...] = ()
    """Candidates that nobody is proven to beat. The first is the one to use: without a winner the baseline if it is
    among them, else the best supported."""
    eligible: tuple[str, ...] = ()
    """All that were measured, are safe and meet the needs, best first."""
    lacking: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Measured candidates that do not meet the needs, and which."""
    unsafe: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Measured candidates with options by which a crash may lose data, and which."""

    @property
    def beyond_speed(self) -> bool:
        """Somebody was ruled out for something else than speed."""
        return bool(self.lacking or self.unsafe)


def choose(result: Result, judgement: Judgement) -> Choice:
    """Needs and safety first, then speed."""
    measured = _measured(judgement)
    candidates = {name: result.plan.candidate(name) for name in measured}
    if not measured:
        failed = bool(result.failures) and not judgement.leaders
        return Choice("failed" if failed else "nothing")
    lacks = {name: candidate.lacking(result.plan.needs) for name, candidate in candidates.items()}
    risks = {name: candidate.unsafe_options for name, candidate in candidates.items()}
    eligible = tuple(name for name in measured if not lacks[name] and not risks[name])
    best = judgement.unbeaten(eligible)
    kind: Kind
    if not best:
        kind = "excluded"
    elif len(eligible) == 1:
        kind = "only"
    elif len(best) == 1:
        kind = "winner"
    elif judgement.all_tie(best):
        kind = "tie"
        best = tuple(sorted(best, key=lambda name: _plainness(candidates[name], result.plan.baseline)))
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


def _measured(judgement: Judgement) -> tuple[str, ...]:
    if judgement.overall:
        return tuple(ratio.candidate for ratio in judgement.overall if ratio.verdict != "failed")
    return judgement.leaders if judgement.rounds else ()


def _plainness(candidate: Candidate, baseline: str) -> tuple[bool, int]:
    """Where speed decides nothing, what the user compares with comes first, then fewer options."""
    return (candidate.name != baseline, len(candidate.mount_options) + len(candidate.mkfs_options))
