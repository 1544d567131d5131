"""Who may be recommended, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fswizard.model.analysis import Analysis
from fswizard.model.plan import Plan
from fswizard.model.recipe import Workload
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
    in_memory: tuple[str, ...] = ()
    """Measured candidates whose direct writes stayed in memory, so that they cannot be compared with the others."""
    torn: tuple[Workload, Workload] | None = None
    """Two tests of the same work with other files: the first of `names` is faster than the second at one of them and
    slower at the other, which leaves no winner."""


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
    cached = result.kept_in_memory
    in_memory = tuple(name for name in measured if name in cached and not set(measured) <= cached)
    eligible = tuple(name for name in measured if not (lacks[name] or risks[name] or name in in_memory))
    best = analysis.unbeaten(eligible)
    kind: Kind
    torn = None
    if not best:
        kind = "excluded"
    elif len(eligible) == 1:
        kind = "only"
    elif len(best) == 1 and (rival := _torn_by(result.plan, analysis, best[0])):
        kind = "undecided"
        best = tuple(sorted((best[0], rival), key=lambda name: name != result.plan.baseline))
        torn = torn_between(result.plan, analysis, *best)
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
        in_memory,
        torn,
    )


def torn_between(plan: Plan, analysis: Analysis, one: str, other: str) -> tuple[Workload, Workload] | None:
    """Two tests of the same work with other files: at the first `one` is proven faster, at the second slower."""
    proven: dict[tuple[str, str], Workload] = {}
    for workload in plan.recipe.workloads:
        part = analysis.part(one, other, workload.name)
        if part is not None and workload.weight > 0 and workload.job.activity:
            proven.setdefault((workload.job.activity, part.verdict), workload)
    for (activity, verdict), workload in proven.items():
        if verdict == "faster" and (activity, "slower") in proven:
            return workload, proven[activity, "slower"]
    return None


def _torn_by(plan: Plan, analysis: Analysis, winner: str) -> str:
    """The rival whose lead the winner owes to files of one shape, while those of another shape say the opposite."""
    for rival, hinge in analysis.hinges.items() if winner in analysis.leaders else ():
        tests = torn_between(plan, analysis, winner, rival)
        if tests and tests[0].name in hinge.workloads:
            return rival
    return ""
