"""Doubts that follow from the figures themselves."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence

from fswizard.language import N_, _, joined, listing, n_, number
from fswizard.model.analysis import Analysis, Summary
from fswizard.model.metrics import BUILT_IN_RATES, LATE_RATE, RATE_IN_MEMORY, THROUGHPUT
from fswizard.model.plan import INTERVAL_ROUNDS
from fswizard.model.result import Doubt, Result
from fswizard.stats.intervals import LEAST_DEVIATION, levels, variance
from fswizard.stats.table import ALL, Table, Tables, counted, score
from fswizard.stats.unpaired import ERROR, tails

BUILT_IN_NAMES = frozenset(metric.name for metric in BUILT_IN_RATES)
MOST_LEFT = 0.7
"""Remaining share of the initial rate, below which a cache filled up."""
MOST_REACHED = 0.5
"""Share of its speed in memory, above which a workload is limited by the processor."""
UNEVEN = 5.0
"""Ratio of noise from which on a candidate makes intervals miss in clearly more than 7 % of runs."""
UNEVEN_FROM = 3
UNEVEN_FROM_OF_TWO = 5
"""Minimum numbers of rounds to detect that, with three candidates and with two; false alarms occur in 2 and 1 % of
runs."""
LEAST_DRIFT = 0.05
DRIFT_FROM = 4
"""Minimum number of rounds, as a straight line fits any three points well."""


def doubts(result: Result, tables: Tables, analysis: Analysis, summaries: Sequence[Summary]) -> tuple[Doubt, ...]:
    """Reasons to doubt an analysis, with advice on each; `tables` and `summaries` are those of `result`."""
    return (
        *_of_rounds(result, tables.standing[ALL], analysis),
        *_of_limits(result, summaries),
        *_cached_below(result),
        *_of_gaps(result, tables),
    )


def _of_rounds(result: Result, table: Table, analysis: Analysis) -> Iterator[Doubt]:
    """Doubts about rounds that are few, or vary in ways that the intervals do not cover."""
    titles = {candidate.name: candidate.title for candidate in result.plan.candidates}
    if len(titles) > 1 and 0 < analysis.rounds < INTERVAL_ROUNDS:
        text = n_(
            "After one round a difference may be chance; proof takes {needed}, so give it more time.",
            "After {count} rounds a difference may be chance; proof takes {needed}, so give it more time.",
            analysis.rounds,
            needed=INTERVAL_ROUNDS,
        )
        yield Doubt("few-rounds", text)
    change = drift(table)
    if abs(change) >= LEAST_DRIFT:
        text = N_(
            "The disk or the machine became {percent} slower from the first round to the last (often from heat or a "
            "filling write cache): ratios hardly suffer, but treat absolute figures as rough."
        )
        if change > 0:
            text = N_(
                "The disk or the machine became {percent} faster from the first round to the last (often from heat or "
                "a filling write cache): ratios hardly suffer, but treat absolute figures as rough."
            )
        yield Doubt("drift", _(text, percent=_percent(abs(change))))
    name, times = noisiest(table)
    if times >= UNEVEN:
        text = _(
            "{candidate} varies {times} times as much from round to round as {others}: differences between them are "
            "less certain than stated, so give it more time.",
            candidate=titles[name],
            times=number(f"{times:.0f}"),
            others=listing([title for other, title in titles.items() if other in table and other != name]),
        )
        yield Doubt("uneven-noise", text)


def _of_limits(result: Result, summaries: Sequence[Summary]) -> Iterator[Doubt]:
    """Doubts about a limit other than the filesystem: a full cache in the disk, or the processor."""
    titles = {workload.name: _(workload.title) for workload in result.plan.recipe.workloads}
    in_memory: dict[str, float] = {}
    for sample in result.samples:
        if sample.metric == RATE_IN_MEMORY.name and sample.value > 0:
            in_memory[sample.workload] = sample.value
    slowest, left = None, MOST_LEFT
    fastest, reached = None, MOST_REACHED
    for summary in summaries:
        if summary.workload not in titles:
            continue
        if summary.metric == LATE_RATE.name and summary.median < left:
            slowest, left = summary, summary.median
        if summary.metric in BUILT_IN_NAMES and summary.workload in in_memory:
            share = summary.median / in_memory[summary.workload]
            if share > reached:
                fastest, reached = summary, share

    if slowest:
        text = N_(
            "{candidate} wrote {percent} slower at the end of “{test}” than at its beginning, as a cache in the disk "
            "ran full or heat slowed it down: the figure lies between the speed of short bursts and the one that lasts."
        )
        test, percent = titles[slowest.workload], _percent(1 - left)
        yield Doubt("cache-exhausted", _(text, candidate=slowest.candidate, percent=percent, test=test))
    if fastest:
        text = N_(
            "{candidate} did “{test}” at {percent} of its speed in memory: the processor was the limit and hides "
            "differences between filesystems, so give this workload weight 0, or measure with larger files."
        )
        test, percent = titles[fastest.workload], _percent(reached)
        yield Doubt("harness-limited", _(text, candidate=fastest.candidate, test=test, percent=percent))


def _cached_below(result: Result) -> Iterator[Doubt]:
    """Doubt about direct writes that are cached by a controller or the host of a virtual machine, as no disk writes
    much faster than it reads."""
    of_device: dict[str, list[float]] = {}
    for sample in result.samples:
        if sample.metric == THROUGHPUT.name and not sample.candidate and score(sample) is not None:
            of_device.setdefault(sample.workload, []).append(sample.value)
    reading, writing = 0.0, 0.0
    for workload in result.plan.recipe.workloads:
        if workload.job.direct and workload.name in of_device:
            rate = statistics.median(of_device[workload.name])
            if workload.job.cost.measure_bytes:
                writing = max(writing, rate)
            else:
                reading = max(reading, rate)
    if 0 < 1.5 * reading < writing:
        text = N_(
            "Without a filesystem the disk writes {times} times as fast as it reads: what is written ends in the "
            "memory of a controller or of this machine's host, so treat speeds of writing as upper limits."
        )
        yield Doubt("cached-below", _(text, times=number(f"{writing / reading:.1f}")))


def _of_gaps(result: Result, tables: Tables) -> Iterator[Doubt]:
    """Doubts about figures that cannot be compared, or are missing."""
    unusable = 0
    where: set[str] = set()
    for sample in counted(result):
        if sample.status == "ok" and score(sample) is None:
            unusable += 1
            where.add(_("{candidate} in {test}", candidate=sample.candidate, test=sample.workload))
    if unusable:
        text = n_(
            "{count} figure was zero or not a number and can't be compared ({where}): the workload may be too short "
            "for this disk, so give it more data or time.",
            "{count} figures were zero or not a number and can't be compared ({where}): the workload may be too short "
            "for this disk, so give it more data or time.",
            unusable,
            where=joined(sorted(where), ", "),
        )
        yield Doubt("figures-left-out", text)
    missing = []
    workloads = result.plan.recipe.workloads
    for workload in workloads:
        if workload.weight > 0 and not tables.scores[workload.name]:
            missing.append(_(workload.title))
    if 0 < len(missing) < len(workloads):
        text = N_("Nothing was measured for {tests}, so overall ratios are without it: give it more time.")
        yield Doubt("workloads-missing", _(text, tests=listing(missing)))


def _percent(share: float) -> str:
    """`12%`."""
    return _("{percent}%", percent=number(f"{share * 100:.0f}"))


def drift(table: Table) -> float:
    """Change of overall scores from the first round to the last: -0.1 is 10 % slower.

    Computed by linear regression of the means of candidates that took part in all rounds; 0 if the slope is not
    proven.
    """
    means = levels(table)
    if len(means) < DRIFT_FROM or statistics.pvariance(means.values()) == 0:
        return 0.0
    line = statistics.linear_regression(list(means), list(means.values()))
    r = statistics.correlation(list(means), list(means.values()))
    freedom = len(means) - 2
    t = math.inf if r * r >= 1 else abs(r) * math.sqrt(freedom / (1 - r * r))
    if t < 1 or tails(t, freedom) >= ERROR:
        return 0.0
    return math.expm1(line.slope * (max(means) - min(means)))


def noisiest(table: Table) -> tuple[str, float]:
    """The candidate with the most noise, and the ratio of its standard deviation to the pooled one of the others.

    The ratio is 0 with too few rounds to exclude chance.
    """
    noise: dict[str, float] = {}
    freedom: dict[str, int] = {}
    for name, scores in table.items():
        if len(scores) >= UNEVEN_FROM:
            noise[name] = max(variance(list(scores.values())), LEAST_DEVIATION**2 / 2)
            freedom[name] = len(scores) - 1
    if len(noise) < 2 or (len(noise) == 2 and min(freedom.values()) + 1 < UNEVEN_FROM_OF_TWO):
        return "", 0.0
    loudest = max(noise, key=noise.__getitem__)
    squares = sum(freedom[name] * value for name, value in noise.items() if name != loudest)
    pooled = squares / (sum(freedom.values()) - freedom[loudest])
    return loudest, math.sqrt(noise[loudest] / pooled)
