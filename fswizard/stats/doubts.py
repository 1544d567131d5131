"""Reasons for doubt that the figures themselves give."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fswizard.language import N_, _, listing, n_, number
from fswizard.model.analysis import Analysis, Summary
from fswizard.model.metrics import BUILT_IN_RATES, LATE_RATE, RATE_IN_MEMORY, THROUGHPUT
from fswizard.model.plan import FIRST_LOOK
from fswizard.model.result import Doubt, Result
from fswizard.stats.intervals import LEAST_DEVIATION, variance
from fswizard.stats.student import quantile
from fswizard.stats.table import Table, Tables, comparable, counted

UNEVEN = 5.0
"""Times as noisy as the others, from which on a candidate makes intervals miss in clearly more than 7 % of runs."""
UNEVEN_FROM = 3
UNEVEN_FROM_OF_TWO = 5
"""Rounds from which on that is seen, of three candidates and of two; chance alone makes it in 2 and 1 % of runs."""


def doubts(result: Result, tables: Tables, analysis: Analysis, summaries: Sequence[Summary]) -> tuple[Doubt, ...]:
    """Reasons to doubt an analysis, with what can be done about each; `tables` and `summaries` are the result's."""
    titles = {workload.name: _(workload.title) for workload in result.plan.recipe.workloads}
    return (
        *_rounds(result, analysis),
        *_drift(tables.standing),
        *_uneven_noise(result, tables.standing),
        *_cache_exhausted(summaries, titles),
        *_harness_limited(result, summaries, titles),
        *_cached_below(result),
        *_left_out(result, tables),
    )


def _rounds(result: Result, analysis: Analysis) -> Iterator[Doubt]:
    if len(result.plan.candidates) > 1 and 0 < analysis.rounds < FIRST_LOOK:
        text = n_(
            "After one round a difference may be chance; proof takes {needed}, so give it more time.",
            "After {count} rounds a difference may be chance; proof takes {needed}, so give it more time.",
            analysis.rounds,
            needed=FIRST_LOOK,
        )
        yield Doubt("few-rounds", text)


def _drift(table: Table) -> Iterator[Doubt]:
    trend = drift(table)
    if trend is None or not trend.proven or abs(trend.change) < 0.05:
        return
    text = N_(
        "The disk or the machine became {percent} slower from the first round to the last (often from heat or a "
        "filling write cache): ratios hardly suffer, but treat absolute figures as rough."
    )
    if trend.change > 0:
        text = N_(
            "The disk or the machine became {percent} faster from the first round to the last (often from heat or a "
            "filling write cache): ratios hardly suffer, but treat absolute figures as rough."
        )
    yield Doubt("drift", _(text, percent=_percent(abs(trend.change))))


def _uneven_noise(result: Result, table: Table) -> Iterator[Doubt]:
    found = noisiest(table)
    if found is None or found[1] < UNEVEN:
        return
    text = N_(
        "{candidate} varies {times} times as much from round to round as {others}: differences between them are less "
        "certain than stated, so give it more time."
    )
    name, times = found
    titles = {each.name: each.title for each in result.plan.candidates if each.name in table}
    words = {"candidate": titles.pop(name), "times": number(f"{times:.0f}"), "others": listing([*titles.values()])}
    yield Doubt("uneven-noise", _(text, **words))


def _cache_exhausted(summaries: Sequence[Summary], titles: Mapping[str, str]) -> Iterator[Doubt]:
    """Whether a rate was much lower at the end than at first."""
    falls = [s for s in summaries if s.metric == LATE_RATE.name and s.workload in titles]
    lowest = min(falls, key=lambda summary: summary.median, default=None)
    if lowest is not None and lowest.median < 0.7:
        text = N_(
            "{candidate} wrote {percent} slower at the end of “{test}” than at its beginning, as a cache in the disk "
            "ran full or heat slowed it down: the figure lies between the speed of short bursts and the one that lasts."
        )
        test, slower = titles[lowest.workload], _percent(1 - lowest.median)
        yield Doubt("cache-exhausted", _(text, candidate=lowest.candidate, percent=slower, test=test))


def _harness_limited(result: Result, summaries: Sequence[Summary], titles: Mapping[str, str]) -> Iterator[Doubt]:
    limits = {s.workload: s.value for s in result.samples if s.metric == RATE_IN_MEMORY.name and s.value > 0}
    rates = {metric.name for metric in BUILT_IN_RATES}
    reached = [s for s in summaries if s.metric in rates and s.workload in limits.keys() & titles.keys()]
    highest = max(reached, key=lambda summary: summary.median / limits[summary.workload], default=None)
    if highest is None or highest.median <= 0.5 * limits[highest.workload]:
        return
    text = N_(
        "{candidate} did “{test}” at {percent} of its speed in memory: the processor was the limit and hides "
        "differences between filesystems, so give this workload weight 0, or measure with larger files."
    )
    test, share = titles[highest.workload], _percent(highest.median / limits[highest.workload])
    yield Doubt("harness-limited", _(text, candidate=highest.candidate, test=test, percent=share))


def _cached_below(result: Result) -> Iterator[Doubt]:
    """Whether direct writes end in the memory of a controller or of this machine's host: no disk writes much faster
    than it reads."""
    reading, writing = 0.0, 0.0
    for workload in result.plan.recipe.workloads:
        of_disk = [
            s.value
            for s in result.samples
            if (s.candidate, s.workload, s.metric) == ("", workload.name, THROUGHPUT.name) and comparable(s)
        ]
        if of_disk and workload.job.direct and workload.job.cost.measure_bytes:
            writing = max(writing, statistics.median(of_disk))
        elif of_disk and workload.job.direct:
            reading = max(reading, statistics.median(of_disk))
    if 0 < 1.5 * reading < writing:
        text = N_(
            "Without a filesystem the disk writes {times} times as fast as it reads: what is written ends in the "
            "memory of a controller or of this machine's host, so treat speeds of writing as upper limits."
        )
        yield Doubt("cached-below", _(text, times=number(f"{writing / reading:.1f}")))


def _left_out(result: Result, tables: Tables) -> Iterator[Doubt]:
    unusable = [s for s in counted(result) if s.status == "ok" and not comparable(s)]
    if unusable:
        where = sorted({_("{candidate} in {test}", candidate=s.candidate, test=s.workload) for s in unusable})
        text = n_(
            "{count} figure was zero or not a number and can't be compared ({where}): the workload may be too short "
            "for this disk, so give it more data or time.",
            "{count} figures were zero or not a number and can't be compared ({where}): the workload may be too short "
            "for this disk, so give it more data or time.",
            len(unusable),
            where=", ".join(where),
        )
        yield Doubt("figures-left-out", text)
    workloads = result.plan.recipe.workloads
    missing = [_(w.title) for w in workloads if w.weight > 0 and not tables.by_workload[w.name]]
    if missing and len(missing) < len(workloads):
        text = N_("Nothing was measured for {tests}, so overall ratios are without it: give it more time.")
        yield Doubt("workloads-missing", _(text, tests=listing(missing)))


def _percent(share: float) -> str:
    """`12%`."""
    return _("{percent}%", percent=number(f"{share * 100:.0f}"))


@dataclass(frozen=True, slots=True)
class Drift:
    """A straight line through the rounds' levels."""

    change: float
    """Change from the first round to the last: -0.1 is 10 % slower."""
    proven: bool
    """The slope differs from 0 at a level of 1 %."""


def drift(table: Table) -> Drift | None:
    """The drift of overall scores, by candidates that took part in all rounds; None under four, which any line fits."""
    n = max((len(cells) for cells in table.values()), default=0)
    if n < 4:
        return None
    stayed = [cells for cells in table.values() if len(cells) == n]
    rounds = sorted(set.intersection(*(set(cells) for cells in stayed)))
    levels = [statistics.fmean(cells[number] for cells in stayed) for number in rounds]
    if len(rounds) < 4 or statistics.pvariance(levels) == 0:
        return None
    slope, _ = statistics.linear_regression(rounds, levels)
    r = statistics.correlation(rounds, levels)
    t = math.inf if r * r >= 1 else abs(r) * math.sqrt((len(rounds) - 2) / (1 - r * r))
    return Drift(math.expm1(slope * (rounds[-1] - rounds[0])), t > quantile(0.01, len(rounds) - 2))


def noisiest(table: Table) -> tuple[str, float] | None:
    """The candidate that varies most, and the ratio of its standard deviation to the pooled one of the others.

    None where there are too few rounds to tell it from chance.
    """
    rows = {name: list(cells.values()) for name, cells in table.items() if len(cells) >= UNEVEN_FROM}
    if len(rows) < 2 or (len(rows) == 2 and min(map(len, rows.values())) < UNEVEN_FROM_OF_TWO):
        return None
    noise = {name: (len(row) - 1, max(variance(row), LEAST_DEVIATION**2 / 2)) for name, row in rows.items()}
    loudest = max(noise, key=lambda name: noise[name][1])
    others = [each for name, each in noise.items() if name != loudest]
    pooled = sum(freedom * value for freedom, value in others) / sum(freedom for freedom, _ in others)
    return loudest, math.sqrt(noise[loudest][1] / pooled)
