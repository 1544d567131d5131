"""From a result, finished or not, to all that can be said about who is faster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fswizard.model.judgement import Judgement, Ratio
from fswizard.model.result import Result
from fswizard.stats.constants import FIRST_LOOK
from fswizard.stats.failures import Failures, failures
from fswizard.stats.pairs import compare, compare_all, ranking
from fswizard.stats.table import Table, overall_table, without, workload_tables


def judge(result: Result) -> Judgement:
    """All ratios of what counts so far: whole rounds by whole rounds, and of an unfinished round what it holds.

    A candidate that failed a workload with weight has no overall ratio. Where the baseline is missing or failed,
    the best of the others takes its place. With one candidate there is nothing to compare.
    """
    plan = result.plan
    names = [candidate.name for candidate in plan.candidates]
    weights = {workload.name: workload.weight for workload in plan.recipe.workloads}
    failed = failures(result, weights)
    tables = workload_tables(result)
    complete = overall_table(tables, weights)
    table = without(complete, failed.overall)
    order = ranking(table)
    unmeasured = [name for name in names if name not in table and name not in failed.overall]
    rounds = max((len(cells) for cells in (table or complete).values()), default=0)
    if len(names) < 2:
        return Judgement(leaders=(*order, *unmeasured), rounds=rounds)
    baseline = plan.baseline if plan.baseline in table else next(iter(order), plan.baseline)
    overall = _against(baseline, table, order, failed.overall, started_with=len(names))
    by_workload = tuple(_by_workload(tables, failed, baseline, names))
    standing = stand(table, rounds, started_with=len(names), unmeasured=unmeasured)
    return replace(standing, by_workload=by_workload, overall=overall)


def stand(table: Table, rounds: int, *, started_with: int, unmeasured: Sequence[str] = ()) -> Judgement:
    """Who leads and who is proven slower by one table of scores. Without figures nobody is proven slower."""
    pairs = Judgement(pairs=compare_all(table, "", started_with), rounds=rounds)
    in_the_run = [*ranking(table), *unmeasured]
    leaders = pairs.unbeaten(in_the_run)
    dropped = tuple(name for name in in_the_run if name not in leaders)
    return replace(pairs, leaders=leaders, dropped=dropped, tied=pairs.all_tie(leaders))


def _by_workload(tables: Mapping[str, Table], failed: Failures, baseline: str, names: list[str]) -> Iterator[Ratio]:
    """Each workload's ratios in the plan's order, to the overall baseline where it has figures there."""
    for workload, figures in tables.items():
        reasons = failed.by_workload.get(workload, {})
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
) -> tuple[Ratio, ...]:
    """Ratios to the baseline in the given order, its own among them, then those that failed and why."""
    own = {baseline: _itself(baseline, workload, len(table[baseline]))} if baseline in table else {}
    others = compare(table, workload, started_with, ((name, baseline) for name in order if name != baseline))
    ratios = own | {ratio.candidate: ratio for ratio in others}
    return (
        *(ratios[name] for name in order if name in ratios),
        *(Ratio(name, baseline, workload, 0.0, verdict="failed", text=text) for name, text in reasons.items()),
    )


def _itself(name: str, workload: str, rounds: int) -> Ratio:
    if rounds < FIRST_LOOK:
        return Ratio(name, name, workload, 1.0, rounds=rounds)
    return Ratio(name, name, workload, 1.0, 1.0, 1.0, rounds, "tie")
