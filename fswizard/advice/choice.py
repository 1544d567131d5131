"""Who may be recommended, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fswizard.model.analysis import ALIKE_AT_THE_END, Analysis, AnswerKind
from fswizard.model.plan import Plan
from fswizard.model.recipe import Workload
from fswizard.model.result import Result


@dataclass(frozen=True, slots=True)
class Choice:
    """The candidates to choose from, by an analysis and the user's needs."""

    kind: AnswerKind
    names: tuple[str, ...] = ()
    """The one to use first; then those that may be as good, or over which its lead depends on a test."""
    eligible: tuple[str, ...] = ()
    """Measured candidates that are safe and meet the needs, best first."""
    lacking: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Measured candidates with the needs that they do not meet."""
    unsafe: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Measured candidates with the options that may lose data in a crash."""
    in_memory: tuple[str, ...] = ()
    """Measured candidates whose direct writes stayed in memory, so that they cannot be compared with the others."""


def choose(result: Result, analysis: Analysis) -> Choice:
    """Needs and safety first, then speed."""
    plan = result.plan
    measured = analysis.leaders if analysis.rounds else ()
    if analysis.overall:
        measured = tuple(ratio.candidate for ratio in analysis.overall if ratio.verdict != "failed")
    if not measured:
        failed = bool(result.failures) and not analysis.leaders
        return Choice("failed" if failed else "nothing")
    candidates = {name: plan.candidate(name) for name in measured}
    lacks = {name: candidate.lacking(plan.needs) for name, candidate in candidates.items()}
    risks = {name: candidate.unsafe_options for name, candidate in candidates.items()}
    cached = result.kept_in_memory
    in_memory = tuple(name for name in measured if name in cached and not set(measured) <= cached)
    eligible = tuple(name for name in measured if not (lacks[name] or risks[name] or name in in_memory))
    kind, names = _rank(plan, analysis, eligible)
    if len(measured) == 1 and kind == "only" and not any(ratio.verdict == "failed" for ratio in analysis.overall):
        kind = "open"  # nothing speaks for the only one that was measured
    return Choice(
        kind,
        names,
        eligible,
        tuple((name, lack) for name, lack in lacks.items() if lack),
        tuple((name, risk) for name, risk in risks.items() if risk),
        in_memory,
    )


def _rank(plan: Plan, analysis: Analysis, eligible: Sequence[str]) -> tuple[AnswerKind, tuple[str, ...]]:
    best = analysis.unbeaten(eligible)
    if len(eligible) < 2:
        return ("only" if eligible else "excluded"), best
    if len(best) == 1:
        return "winner", best
    if analysis.all_within(best, ALIKE_AT_THE_END):
        chosen = [plan.candidate(name) for name in best]
        chosen.sort(key=lambda c: (c.name != plan.baseline, len(c.mount_options) + len(c.mkfs_options)))
        return "alike", tuple(candidate.name for candidate in chosen)
    for name in best:
        if all(analysis.dependence(name, other) for other in best if other != name):
            return "depends", (name, *(other for other in best if other != name))
    return "open", tuple(sorted(best, key=lambda name: name != plan.baseline))


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
