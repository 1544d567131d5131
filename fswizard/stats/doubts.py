"""Reasons for doubt that the figures themselves give."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fswizard.model.analysis import Analysis, Summary
from fswizard.model.metrics import BUILT_IN_RATES, LATE_RATE, RATE_IN_MEMORY, STEADINESS, THROUGHPUT
from fswizard.model.plan import FIRST_LOOK
from fswizard.model.result import Doubt, Result
from fswizard.stats.carry_over import most_explained
from fswizard.stats.ratios import all_rounds, fit
from fswizard.stats.sticky import stickiness
from fswizard.stats.student import quantile
from fswizard.stats.table import Table, Tables, comparable, counted


def doubts(result: Result, tables: Tables, analysis: Analysis, summaries: Sequence[Summary]) -> tuple[Doubt, ...]:
    """Reasons to doubt an analysis, with what can be done about each; `tables` and `summaries` are the result's."""
    titles = {workload.name: workload.title for workload in result.plan.recipe.workloads}
    return (
        *_rounds(result, analysis),
        *(() if result.environment.source else _drift(tables.standing)),
        *_not_steady(result, titles),
        *(() if result.environment.source else _sticky(tables)),
        *_carried_over(result, tables.standing, analysis),
        *_cache_exhausted(result, summaries, titles),
        *_harness_limited(result, summaries, titles),
        *_cached_below(result),
        *_left_out(result, tables),
    )


def _rounds(result: Result, analysis: Analysis) -> Iterator[Doubt]:
    if len(result.plan.candidates) < 2:
        return
    if result.environment.source and result.samples:
        yield Doubt(
            "unknown-order",
            "Measured elsewhere, in an unknown order: a disk that filled up, aged or got warm between runs looks like "
            "a difference between filesystems, and no interval covers that.",
        )
    elif not result.environment.source and 0 < analysis.rounds < FIRST_LOOK:
        counted_rounds = "one round" if analysis.rounds == 1 else f"{analysis.rounds} rounds"
        yield Doubt(
            "few-rounds",
            f"After {counted_rounds} a difference may be chance; proof takes {FIRST_LOOK}, so give it more time.",
        )


def _drift(table: Table) -> Iterator[Doubt]:
    trend = drift(table)
    if trend is None or not trend.proven or abs(trend.change) < 0.05:
        return
    direction = "faster" if trend.change > 0 else "slower"
    yield Doubt(
        "drift",
        f"The disk or the machine became {abs(trend.change):.0%} {direction} from the first round to the last "
        "(often from heat or a filling write cache): ratios hardly suffer, but treat absolute figures as rough.",
    )


def _sticky(tables: Tables) -> Iterator[Doubt]:
    noise = stickiness(tables.standing, all_rounds(tables.standing), tables.parts)
    if noise.proven:
        yield Doubt(
            "sticky-noise",
            "Figures of a filesystem stayed high or low for several rounds, more than chance explains, so intervals "
            f"are {noise.widening:.1f} times as wide: let the disk rest, then run again.",
        )


def _carried_over(result: Result, table: Table, analysis: Analysis) -> Iterator[Doubt]:
    """Whether most of a difference may come from the candidate that was measured before."""
    predecessors = {(trial.round, trial.candidate): trial.predecessor for trial in result.trials}
    explained = most_explained(table, predecessors, analysis.pairs)
    if explained is None or not explained.doubtful:
        return
    carried = explained.carried
    direction = "faster" if carried.effect > 0 else "slower"
    names = f"{explained.pair.candidate} and {explained.pair.baseline}"
    yield Doubt(
        "carry-over",
        f"Others ran {math.exp(abs(carried.effect)) - 1:.0%} {direction} right after {carried.predecessor}, which "
        f"explains {min(explained.share, 1.0):.0%} of the difference between {names}, so treat it as unproven: trim "
        "the disk or let it rest, then run again.",
    )


def _not_steady(result: Result, titles: Mapping[str, str]) -> Iterator[Doubt]:
    restless = unsteady(result)
    names = dict.fromkeys(titles[workload] for workload, _ in restless if workload in titles)
    if names:
        candidates = ", ".join(dict.fromkeys(candidate for _, candidate in restless))
        yield Doubt(
            "not-steady",
            f"The speed of {candidates} was still changing at the end of {', '.join(f'“{name}”' for name in names)}, "
            "however often it was measured: a longer run may give other figures.",
        )


def unsteady(result: Result) -> tuple[tuple[str, str], ...]:
    """Workload and candidate of jobs that run until their rate is steady, but were steady in no round."""
    steady: dict[tuple[str, str], bool] = {}
    for sample in result.samples:
        counts = sample.candidate and sample.round not in result.discarded_rounds
        if sample.metric == STEADINESS.name and sample.workload in result.lasted_s and counts:
            key = (sample.workload, sample.candidate)
            steady[key] = steady.get(key, False) or 1 / 1.1 <= sample.value <= 1.1  # last third over middle one
    return tuple(key for key, ever in steady.items() if not ever)


def _cache_exhausted(result: Result, summaries: Sequence[Summary], titles: Mapping[str, str]) -> Iterator[Doubt]:
    """Whether a rate became steady, but much lower than it was at first; `not-steady` covers the rest."""
    steady = titles.keys() - {workload for workload, _ in unsteady(result)}
    falls = [s for s in summaries if s.metric == LATE_RATE.name and s.workload in steady]
    lowest = min(falls, key=lambda summary: summary.median, default=None)
    if lowest is not None and lowest.median < 0.7:
        yield Doubt(
            "cache-exhausted",
            f"{lowest.candidate} wrote {1 - lowest.median:.0%} slower at the end of “{titles[lowest.workload]}” than "
            "at its beginning, as a cache in the disk ran full or heat slowed it down: the figure lies between the "
            "speed of short bursts and the one that lasts.",
        )


def _harness_limited(result: Result, summaries: Sequence[Summary], titles: Mapping[str, str]) -> Iterator[Doubt]:
    limits = {s.workload: s.value for s in result.samples if s.metric == RATE_IN_MEMORY.name and s.value > 0}
    rates = {metric.name for metric in BUILT_IN_RATES}
    reached = [s for s in summaries if s.metric in rates and s.workload in limits.keys() & titles.keys()]
    highest = max(reached, key=lambda summary: summary.median / limits[summary.workload], default=None)
    if highest is None or highest.median <= 0.5 * limits[highest.workload]:
        return
    yield Doubt(
        "harness-limited",
        f"{highest.candidate} did “{titles[highest.workload]}” at {highest.median / limits[highest.workload]:.0%} of "
        "its speed in memory: the processor was the limit and hides differences between filesystems, so give this "
        "workload weight 0, or measure with larger files.",
    )


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
        yield Doubt(
            "cached-below",
            f"Without a filesystem the disk writes {writing / reading:.1f} times as fast as it reads: what is written "
            "ends in the memory of a controller or of this machine's host, so treat speeds of writing as upper limits.",
        )


def _left_out(result: Result, tables: Tables) -> Iterator[Doubt]:
    unusable = [s for s in counted(result) if s.status == "ok" and not comparable(s)]
    if unusable:
        where = sorted({f"{s.candidate} in {s.workload}" for s in unusable})
        figures = "figure was" if len(unusable) == 1 else "figures were"
        yield Doubt(
            "figures-left-out",
            f"{len(unusable)} {figures} zero or not a number and can't be compared ({', '.join(where)}): the workload "
            "may be too short for this disk, so give it more data or time.",
        )
    workloads = result.plan.recipe.workloads
    missing = [w.title for w in workloads if w.weight > 0 and not tables.by_workload[w.name]]
    if missing and len(missing) < len(workloads):
        yield Doubt(
            "workloads-missing",
            f"Nothing was measured for {', '.join(missing)}, so overall ratios are without it: give it more time.",
        )


@dataclass(frozen=True, slots=True)
class Drift:
    """A straight line through the rounds' levels."""

    change: float
    """Change from the first round to the last: -0.1 is 10 % slower."""
    proven: bool
    """The slope differs from 0 at a level of 1 %."""


def residuals(table: Table) -> Mapping[int, float]:
    """For each round, the mean logarithm by which its figures were better than in other rounds."""
    effects = fit(table).round_effects
    middle = math.fsum(effects.values()) / len(effects) if effects else 0.0
    return {number: effect - middle for number, effect in effects.items()}


def drift(table: Table) -> Drift | None:
    """The drift of overall scores; None with fewer than four rounds, which any line fits."""
    rounds = residuals(table)
    n = len(rounds)
    if n < 4:
        return None
    centre = math.fsum(rounds) / n
    spread = math.fsum((x - centre) ** 2 for x in rounds)
    slope = math.fsum((x - centre) * y for x, y in rounds.items()) / spread
    left = math.fsum((y - slope * (x - centre)) ** 2 for x, y in rounds.items())
    change = math.expm1(slope * (max(rounds) - min(rounds)))
    limit = quantile(0.01, n - 2)
    return Drift(change, slope * slope * spread * (n - 2) > limit * limit * left)
