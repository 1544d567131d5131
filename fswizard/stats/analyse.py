"""Which candidates of a result, finished or not, are faster, and whether the run continues."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from fswizard.model.analysis import LEVEL, Analysis, Dependence, Ratio
from fswizard.model.plan import INTERVAL_ROUNDS, Plan
from fswizard.model.result import Result
from fswizard.stats.intervals import ALPHA, Contrast, Pair, compare, contrasts, ranking
from fswizard.stats.table import ALL, Tables, tables_of, weighted_mean


def analyse(result: Result) -> Analysis:
    """Analyse the valid rounds so far: all ratios, leaders, and candidates proven slower.

    A candidate that failed a workload with weight has no overall ratio. If the baseline is missing or failed, the
    best other candidate replaces it. A single candidate has no ratios.
    """
    plan, tables = result.plan, tables_of(result)
    standing, failed = tables.standing[ALL], tables.failed[ALL]
    order = ranking(standing)
    in_the_run = list(order)
    for candidate in plan.candidates:
        if candidate.name not in standing and candidate.name not in failed:
            in_the_run.append(candidate.name)  # not measured yet
    rounds = max(map(len, (standing or tables.scores[ALL]).values()), default=0)
    if len(plan.candidates) < 2:
        return Analysis(leaders=tuple(in_the_run), rounds=rounds)

    # Looks from before a failure count who failed then, so that who was out already stays out.
    pairs = compare(tables.scores[ALL], ALL, combinations(order, 2))
    analysis = Analysis(pairs=pairs, rounds=rounds, dependences=_dependences(plan, tables, pairs))
    baseline = plan.baseline
    if order and baseline not in standing:
        baseline = order[0]
    overall = []
    for name in order:
        ratio = analysis.pair(name, baseline)
        if name == baseline:
            ratio = Ratio(baseline, baseline, ALL, 1.0, rounds=len(standing[baseline]))
            if ratio.rounds >= INTERVAL_ROUNDS:
                ratio = replace(ratio, low=1.0, high=1.0, verdict="alike")
        if ratio:
            overall.append(ratio)
    for name, text in failed.items():
        overall.append(Ratio(name, baseline, ALL, 0.0, verdict="failed", text=text))
    leaders = analysis.unbeaten(in_the_run)
    return replace(
        analysis,
        by_workload=_by_workload(tables, baseline),
        overall=tuple(overall),
        leaders=leaders,
        dropped=tuple(name for name in in_the_run if name not in leaders),
    )


def _dependences(plan: Plan, tables: Tables, pairs: Sequence[Ratio]) -> tuple[Dependence, ...]:
    """For each proven lead that is not proven without one of the tests: the test with the smallest ratio over the
    rest.

    The workloads of an activity are one test with files of several shapes; any other workload is a test by itself.
    """
    leads: dict[Pair, Ratio] = {}
    for pair in pairs:
        lead = pair.inverted() if pair.verdict == "slower" else pair
        if lead.verdict == "faster":
            leads[lead.candidate, lead.baseline] = lead
    weights: dict[str, float] = {}
    tests: dict[str, list[str]] = {}
    for workload in plan.recipe.workloads:
        if workload.weight > 0 and tables.scores[workload.name]:
            weights[workload.name] = workload.weight
            tests.setdefault(workload.job.activity or workload.name, []).append(workload.name)
    if len(tests) < 2:
        return ()
    weakest: dict[Pair, Dependence] = {}
    for names in tests.values():
        others = {name: weight for name, weight in weights.items() if name not in names}
        for rest in compare(weighted_mean(tables.scores, others), ALL, leads):
            pair_names = (rest.candidate, rest.baseline)
            least = weakest.get(pair_names)
            if rest.verdict != "faster" and (least is None or rest.ratio < least.rest.ratio):
                weakest[pair_names] = Dependence(leads[pair_names], tuple(names), rest)
    return tuple(weakest.values())


def _by_workload(tables: Tables, baseline: str) -> tuple[Ratio, ...]:
    """Ratios of each workload in the plan's order, to the overall baseline or else to the best candidate of that
    workload.

    The mean share of false discoveries is at most 8 %: by e-BH (Wang and Ramdas, 2022), of all tests and pairs the k
    largest e-values are marked, the smallest of which is at least their number over k times ALPHA. Intervals use the
    same threshold, so that marks are consistent with them.
    """
    known: dict[str, list[Contrast]] = {}
    references: dict[str, str] = {}
    evidence = []
    for workload, table in tables.standing.items():
        if workload == ALL:
            continue
        reference = baseline
        if table and baseline not in table:
            reference = ranking(table)[0]
        pairs = [(name, reference) for name in table if name != reference]
        references[workload] = reference
        known[workload] = list(contrasts(tables.scores[workload], pairs))
        for contrast in known[workload]:
            evidence.append(contrast.evidence(contrast.difference) if contrast.rounds >= INTERVAL_ROUNDS else 0.0)

    threshold = len(evidence) / ALPHA
    for count, value in enumerate(sorted(evidence, reverse=True), 1):
        if value >= len(evidence) / (ALPHA * count):
            threshold = len(evidence) / (ALPHA * count)
    ratios = []
    for workload, reference in references.items():
        for contrast in known[workload]:
            ratios.append(contrast.ratio(workload, threshold, LEVEL))
        for name, text in tables.failed[workload].items():
            ratios.append(Ratio(name, reference, workload, 0.0, verdict="failed", text=text))
    return tuple(ratios)


Stop = Literal["", "one-left", "alone", "all-alike", "rounds", "none-left"]


@dataclass(frozen=True, slots=True)
class Decision:
    """The next step of the schedule."""

    survivors: tuple[str, ...]
    """Candidates worth another round, best estimate first."""
    stop: Stop = ""
    """Why the run is over; empty if it continues."""


def decide(analysis: Analysis, plan: Plan, candidates: Collection[str] | None = None) -> Decision:
    """Drop candidates proven slower and stop when all is settled, but not before the minimum of rounds.

    `candidates` are those still in the run, by default all. A single candidate gets its minimum of rounds, too, so
    that its figures have a spread.
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
