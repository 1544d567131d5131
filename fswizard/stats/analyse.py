"""From a result, finished or not, to who is faster, and whether the run continues."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from fswizard.model.analysis import Analysis, Ratio
from fswizard.model.plan import FIRST_LOOK, Plan
from fswizard.model.result import Result
from fswizard.stats.discoveries import AT_THE_END, controlled
from fswizard.stats.hinges import hinges
from fswizard.stats.ratios import compare, ranking
from fswizard.stats.table import Table, Tables, tables_of, without


def analyse(result: Result, tables: Tables | None = None) -> Analysis:
    """All ratios of the rounds that count so far, the unfinished one included; `tables` are those of the result.

    A candidate that failed a workload with weight has no overall ratio. If the baseline is missing or failed, the best
    of the others takes its place. With one candidate there is nothing to compare.
    """
    plan = result.plan
    names = [candidate.name for candidate in plan.candidates]
    tables = tables or tables_of(result)
    table, failed = tables.standing, tables.failed.overall
    order = ranking(table)
    unmeasured = [name for name in names if name not in table and name not in failed]
    rounds = max((len(cells) for cells in (table or tables.overall).values()), default=0)
    if len(names) < 2:
        return Analysis(leaders=(*order, *unmeasured), rounds=rounds)
    baseline = plan.baseline if plan.baseline in table else next(iter(order), plan.baseline)
    overall = _against(baseline, table, order, failed, started_with=len(names), parts=tables.parts)
    each_workload = tuple(_by_workload(tables, baseline, names))
    by_workload = controlled(each_workload, lambda ratio: ratio.workload, AT_THE_END)
    standing = stand(table, rounds, started_with=len(names), unmeasured=unmeasured, parts=tables.parts)
    alone = len(standing.leaders) == 1
    weak = hinges(plan, tables, standing.leaders[0], standing.dropped) if alone else {}
    return replace(standing, by_workload=by_workload, overall=overall, hinges=weak)


def stand(
    table: Table,
    rounds: int,
    *,
    started_with: int,
    unmeasured: Sequence[str] = (),
    parts: Collection[Table] = (),
) -> Analysis:
    """Who leads and who is proven slower by one table of scores, which is the sum of `parts`, one for each workload."""
    best_first = ranking(table)
    pairs = Analysis(pairs=compare(table, "", started_with, combinations(best_first, 2), parts), rounds=rounds)
    in_the_run = [*best_first, *unmeasured]
    leaders = pairs.unbeaten(in_the_run)
    dropped = tuple(name for name in in_the_run if name not in leaders)
    return replace(pairs, leaders=leaders, dropped=dropped)


def _by_workload(tables: Tables, baseline: str, names: list[str]) -> Iterator[Ratio]:
    """Each workload's ratios in the plan's order, to the overall baseline or else to the best of that workload."""
    for workload, figures in tables.by_workload.items():
        reasons = tables.failed.by_workload.get(workload, {})
        table = without(figures, reasons)
        reference = baseline if baseline in table else next(iter(ranking(table)), baseline)
        for ratio in _against(reference, table, names, reasons, workload=workload, started_with=len(names)):
            if ratio.candidate != reference or ratio.verdict == "failed":
                yield ratio


def _against(
    baseline: str,
    table: Table,
    order: list[str],
    reasons: Mapping[str, str],
    *,
    workload: str = "",
    started_with: int,
    parts: Collection[Table] = (),
) -> tuple[Ratio, ...]:
    """Ratios to the baseline in the given order, its own among them, then those that failed and why."""
    pairs = ((name, baseline) for name in order if name != baseline)
    known = {ratio.candidate: ratio for ratio in compare(table, workload, started_with, pairs, parts)}
    if baseline in table:
        rounds = len(table[baseline])
        known[baseline] = Ratio(baseline, baseline, workload, 1.0, rounds=rounds)
        if rounds >= FIRST_LOOK:
            known[baseline] = replace(known[baseline], low=1.0, high=1.0, verdict="tie")
    return (
        *(known[name] for name in order if name in known),
        *(Ratio(name, baseline, workload, 0.0, verdict="failed", text=text) for name, text in reasons.items()),
    )


Stop = Literal["", "one-left", "alone", "all-tie", "rounds", "none-left"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What the schedule does next."""

    survivors: tuple[str, ...]
    """Candidates worth another round, best estimate first."""
    stop: Stop = ""
    """Why the run is over, or empty if it continues."""


def decide(analysis: Analysis, plan: Plan, candidates: Collection[str] | None = None) -> Decision:
    """Drop candidates that are proven slower and stop when all is settled, but not before the minimum of rounds.

    One that is proven slower by some tests alone stays while others are open.

    `candidates` are those still in the run, all by default. A single candidate gets its minimum of rounds too, so that
    its figures have a spread.
    """
    measured = (*analysis.leaders, *analysis.dropped)
    in_the_run = tuple(name for name in measured if candidates is None or name in candidates)
    if not in_the_run:
        return Decision((), "none-left")
    if analysis.rounds < plan.minimum_rounds:
        return Decision(in_the_run)
    survivors = analysis.unbeaten(in_the_run)
    if len(survivors) == 1 and analysis.rounds < plan.maximum_rounds:
        rivals = tuple(name for name in analysis.hinges if name in in_the_run and _open_beside(analysis, plan, name))
        if rivals:
            return Decision((*survivors, *rivals))
    if len(survivors) == 1:
        return Decision(survivors, "one-left" if len(measured) > 1 else "alone")
    if analysis.all_tie(survivors):
        return Decision(survivors, "all-tie")
    return Decision(survivors, "rounds" if analysis.rounds >= plan.maximum_rounds else "")


def _open_beside(analysis: Analysis, plan: Plan, rival: str) -> bool:
    """Whether any test is open beside those that the lead over a rival hangs on."""
    hinge = analysis.hinges[rival]
    others = [w.name for w in plan.recipe.workloads if w.weight > 0 and w.name not in hinge.workloads]
    parts = [analysis.part(hinge.rest.candidate, rival, name) for name in others]
    return any(part is None or part.verdict == "undecided" for part in parts)
