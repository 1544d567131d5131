"""From a result, finished or not, to who is faster, and whether the run continues."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from fswizard.model.analysis import Analysis, Dependence, Ratio
from fswizard.model.plan import FIRST_LOOK, Plan
from fswizard.model.result import Result
from fswizard.stats.intervals import compare, marked, ranking
from fswizard.stats.table import Tables, overall_table, shares, tables_of, without


def analyse(result: Result, tables: Tables | None = None) -> Analysis:
    """All ratios of the rounds that count so far; `tables` are those of the result.

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
    against = [(name, baseline) for name in order if name != baseline]
    known = {ratio.candidate: ratio for ratio in compare(tables.overall, "", against)}
    if baseline in table:
        known[baseline] = _itself(baseline, len(table[baseline]))
    overall = (
        *(known[name] for name in order if name in known),
        *(_failed(name, baseline, "", text) for name, text in failed.items()),
    )
    by_workload = tuple(_by_workload(tables, baseline, names))
    return replace(stand(plan, tables, rounds, unmeasured), by_workload=by_workload, overall=overall)


def _itself(baseline: str, rounds: int) -> Ratio:
    if rounds < FIRST_LOOK:
        return Ratio(baseline, baseline, "", 1.0, rounds=rounds)
    return Ratio(baseline, baseline, "", 1.0, 1.0, 1.0, rounds, "alike")


def _failed(name: str, baseline: str, workload: str, text: str) -> Ratio:
    return Ratio(name, baseline, workload, 0.0, verdict="failed", text=text)


def stand(plan: Plan, tables: Tables, rounds: int, unmeasured: Sequence[str] = ()) -> Analysis:
    """Who leads and who is proven slower, overall and without each single test.

    Looks from before a failure count who failed then, so that who was out already stays out.
    """
    order = ranking(tables.standing)
    in_the_run = [*order, *unmeasured]
    pairs = compare(tables.overall, "", combinations(order, 2))
    analysis = Analysis(pairs=pairs, rounds=rounds, dependences=tuple(_dependences(plan, tables, pairs)))
    leaders = analysis.unbeaten(in_the_run)
    dropped = tuple(name for name in in_the_run if name not in leaders)
    return replace(analysis, leaders=leaders, dropped=dropped)


def _dependences(plan: Plan, tables: Tables, pairs: Sequence[Ratio]) -> Iterator[Dependence]:
    """For each proven lead that is not proven without one of the tests: the one without which least is left of it."""
    leads = [pair if pair.verdict == "faster" else pair.turned() for pair in pairs if pair.differs]
    weights = {w.name: w.weight for w in plan.recipe.workloads if w.weight > 0 and tables.by_workload.get(w.name)}
    groups = _groups(plan, weights)
    rests = [_without(group, tables, weights, leads) for group in groups]
    for lead in leads:
        pair = (lead.candidate, lead.baseline)
        weak = [(group, rest[pair]) for group, rest in zip(groups, rests) if pair in rest]
        weak = [(group, rest) for group, rest in weak if rest.verdict != "faster"]
        if weak:
            tests, rest = min(weak, key=lambda item: item[1].ratio)
            yield Dependence(lead, tests, rest)


def _groups(plan: Plan, weights: Mapping[str, float]) -> list[tuple[str, ...]]:
    """The tests of each activity, which are one test with files of several shapes; those of none one by one."""
    groups: dict[str, list[str]] = {}
    for workload in plan.recipe.workloads:
        if workload.name in weights:
            groups.setdefault(workload.job.activity or workload.name, []).append(workload.name)
    return [tuple(names) for names in groups.values()] if len(groups) > 1 else []


def _without(
    group: Sequence[str], tables: Tables, weights: Mapping[str, float], leads: Sequence[Ratio]
) -> Mapping[tuple[str, str], Ratio]:
    """The ratios of leads over all tests but those of a group."""
    others = {name: weight for name, weight in weights.items() if name not in group}
    table = overall_table(shares(tables.by_workload, others))
    ratios = compare(table, "", [(lead.candidate, lead.baseline) for lead in leads])
    return {(ratio.candidate, ratio.baseline): ratio for ratio in ratios}


def _by_workload(tables: Tables, baseline: str, names: Sequence[str]) -> Iterator[Ratio]:
    """Each workload's ratios in the plan's order, to the overall baseline or else to the best of that workload."""
    references: dict[str, str] = {}
    pairs: dict[str, list[tuple[str, str]]] = {}
    for workload, figures in tables.by_workload.items():
        table = without(figures, tables.failed.by_workload.get(workload, {}))
        reference = baseline if baseline in table else next(iter(ranking(table)), baseline)
        references[workload] = reference
        pairs[workload] = [(name, reference) for name in names if name in table and name != reference]
    ratios = marked(tables.by_workload, pairs)
    for workload, reference in references.items():
        yield from (ratio for ratio in ratios if ratio.workload == workload)
        for name, text in tables.failed.by_workload.get(workload, {}).items():
            yield _failed(name, reference, workload, text)


Stop = Literal["", "one-left", "alone", "all-alike", "rounds", "none-left"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What the schedule does next."""

    survivors: tuple[str, ...]
    """Candidates worth another round, best estimate first."""
    stop: Stop = ""
    """Why the run is over, or empty if it continues."""


def decide(analysis: Analysis, plan: Plan, candidates: Collection[str] | None = None) -> Decision:
    """Drop candidates that are proven slower and stop when all is settled, but not before the minimum of rounds.

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
    if len(survivors) == 1:
        return Decision(survivors, "one-left" if len(measured) > 1 else "alone")
    if analysis.all_within(survivors):
        return Decision(survivors, "all-alike")
    return Decision(survivors, "rounds" if analysis.rounds >= plan.maximum_rounds else "")
