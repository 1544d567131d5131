"""Doubts that follow from the figures themselves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from fswizard.language import N_, _, listing, number
from fswizard.model.analysis import Analysis, Summary
from fswizard.model.metrics import LATE_RATE
from fswizard.model.plan import INTERVAL_ROUNDS
from fswizard.model.result import Doubt, Result
from fswizard.model.units import share_text
from fswizard.stats.intervals import LEAST_DEVIATION, variance
from fswizard.stats.table import ALL, Table, score, tables_of

MOST_LEFT = 0.7
"""Remaining share of the initial rate, below which a cache filled up."""
UNEVEN = 5.0
"""Ratio of noise from which on a candidate makes intervals miss in clearly more than 7 % of runs."""
UNEVEN_FROM = 3
UNEVEN_FROM_OF_TWO = 5
"""Minimum numbers of rounds to detect that, with three candidates and with two; false alarms occur in 2 and 1 % of
runs."""


def doubts(result: Result, analysis: Analysis, summaries: Sequence[Summary]) -> Iterator[Doubt]:
    """Reasons to doubt an analysis, with advice on each."""
    tables = tables_of(result)
    table = tables.standing[ALL]
    titles = {candidate.name: candidate.title for candidate in result.plan.candidates}
    if len(titles) > 1 and 0 < analysis.rounds < INTERVAL_ROUNDS:
        yield Doubt("few-rounds", _("After one round a difference may be chance, so give it more time."))
    name, times = noisiest(table)
    if times >= UNEVEN:
        text = N_(
            "{candidate} varies {times} times as much from round to round as the others: differences between them are "
            "less certain than stated, so give it more time."
        )
        yield Doubt("uneven-noise", _(text, candidate=titles[name], times=number(f"{times:.0f}")))

    tests = {workload.name: _(workload.title) for workload in result.plan.recipe.workloads}
    late = [summary for summary in summaries if summary.workload in tests and summary.metric == LATE_RATE.name]
    slowest = min(late, key=lambda summary: summary.median, default=None)
    if slowest and slowest.median < MOST_LEFT:
        text = N_(
            "{candidate} wrote {percent} slower at the end of “{test}” than at its beginning, as a cache in the disk "
            "ran full or heat slowed it down: the figure lies between the speed of short bursts and the one that lasts."
        )
        test, percent = tests[slowest.workload], share_text(1 - slowest.median)
        yield Doubt("cache-exhausted", _(text, candidate=slowest.candidate, percent=percent, test=test))

    incomplete = set()
    measured = any(tables.scores.values())
    for workload in result.plan.recipe.workloads:
        if measured and workload.weight > 0 and not tables.scores[workload.name]:
            incomplete.add(workload.name)
    for sample in result.samples:
        counts = sample.primary and sample.candidate and sample.round not in result.discarded_rounds
        if counts and score(sample) is None:
            incomplete.add(sample.workload)
    if incomplete:
        missing = [title for name, title in tests.items() if name in incomplete]
        text = N_(
            "{tests}: figures that are missing, zero or not a number are left out, so give it more time, or larger "
            "files."
        )
        yield Doubt("figures-left-out", _(text, tests=listing(missing)))


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
