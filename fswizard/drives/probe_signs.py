"""The two signs by which a drive-managed disk betrays itself, found in the latencies of equal random writes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

STALL_LATENCIES = 6.0
"""A stall takes at least this many times the median latency; on the published disks it takes about 14 times."""
LONG_STALL_LATENCIES = 24.0
"""Stalls this many times as long are also looked at alone: on a busy machine many writes take long."""
MINIMUM_PERIOD = 50
"""In writes. Anything shorter is part of ordinary work, unless an adapter cuts each write into many pieces."""
SPREADS = (0.0, 0.025)
"""By such a part of their distance, and one write, stalls may come early or late: a filesystem's journal writes to the
disk now and then, too, and the disk counts that."""
WAYS = tuple(itertools.product((STALL_LATENCIES, LONG_STALL_LATENCIES), SPREADS))
"""In which a row of stalls is looked for."""
MINIMUM_STALLS = 5
"""So many stalls at equal distances, one after the other; more where there are many stalls to choose from."""
CHANCE = 1e-4
"""How likely a row of stalls may be to come about by chance."""
CLIFF_FACTOR = 3.0
"""The rate falls by so much and stays there; the published disks fall to a third or less."""
CLIFF_WRITES = 60
"""It stays there for so many writes."""
CLIFF_S = 10.0
"""And for so long: another program, or a host that gives its guest no processor, slows any disk down for a moment."""
BASE_WRITES = 100
"""The quickest of so many writes in a row show what the disk can do, should it be disturbed when the probe begins."""
_CHUNK = 20


@dataclass(frozen=True, slots=True)
class Sign:
    """Something that only a shingled disk does, in words with its figures."""

    code: str
    text: str


def stalls(latencies_s: Sequence[float], at_least: float = STALL_LATENCIES) -> list[int]:
    """Numbers of the writes that took more than `at_least` times the median."""
    usual = median(latencies_s) if latencies_s else 0.0
    return [number for number, latency in enumerate(latencies_s) if latency > at_least * usual]


def periodic_stall(latencies_s: Sequence[float], minimum_period: int = MINIMUM_PERIOD) -> Sign | None:
    """Stalls that come at a fixed count of writes, as when a disk saves the map of its cache.

    What comes by the clock (a journal, another program) comes at varying counts, because the writer's pauses vary.
    """
    if len(latencies_s) < minimum_period * MINIMUM_STALLS:
        return None
    usual = median(latencies_s)
    rows = (_row(stalls(latencies_s, least), len(latencies_s), spread, minimum_period) for least, spread in WAYS)
    row = max(rows, key=len)
    if not row:
        return None
    period = round((row[-1] - row[0]) / (len(row) - 1))
    worst = median(latencies_s[number] for number in row)
    text = (
        f"It stalled {len(row)} times in a row, each time after {period} writes, "
        f"for up to {worst * 1000:.0f} ms (a write usually takes {usual * 1000:.0f} ms)."
    )
    return Sign("periodic-stall", text)


def _row(stalled: Sequence[int], writes: int, spread: float, minimum_period: int) -> list[int]:
    """The longest row of stalls at equal distances, give or take `spread`; empty where chance may have made it."""
    best: list[int] = []
    pairs = 0
    for position, first in enumerate(stalled):
        for second in stalled[position + 1 :]:
            if second - first >= minimum_period and first + (MINIMUM_STALLS - 1) * (second - first) <= writes:
                pairs += 1
                best = max(best, _continued([first, second], stalled, spread), key=len)
    if len(best) < MINIMUM_STALLS:
        return []
    places = 2 * _near(best[1] - best[0], spread) + 1
    by_chance = len(WAYS) * pairs * min(1.0, places * len(stalled) / writes) ** (len(best) - 2)
    return best if by_chance < CHANCE else []


def _continued(row: list[int], stalled: Sequence[int], spread: float) -> list[int]:
    """The row with every further stall that comes where its first two let expect it."""
    period = row[1] - row[0]
    while True:
        expected = row[-1] + period
        nearest = min(stalled, key=lambda number: abs(number - expected))
        if abs(nearest - expected) > _near(period, spread):
            return row
        row = [*row, nearest]


def _near(period: int, spread: float) -> int:
    """In writes."""
    return 1 + round(spread * period)


def cliff(latencies_s: Sequence[float], block_bytes: int) -> Sign | None:
    """A rate that falls to a third or less and stays there, as when the cache on the platters is full."""
    slow = _last_writes(latencies_s)
    before = len(latencies_s) - slow
    if not slow or before < BASE_WRITES:
        return None
    base_s = min(
        median(_chunks_s(latencies_s[at : at + BASE_WRITES])) for at in range(0, before - BASE_WRITES + 1, BASE_WRITES)
    )
    last = latencies_s[-slow:]
    # one long hang is no cliff: every part of these writes has to be slow
    if min(_chunks_s(last)) < CLIFF_FACTOR * base_s:
        return None
    first_mib, last_mib = (block_bytes / (1 << 20) / seconds for seconds in (base_s, fmean(last)))
    reached = before * block_bytes / 1e9
    text = f"After {reached:.1f} GB of random writes the rate fell from {first_mib:.0f} to {last_mib:.1f} MiB/s."
    return Sign("write-cliff", text)


def _last_writes(latencies_s: Sequence[float]) -> int:
    """How many of the last writes took CLIFF_S, CLIFF_WRITES at least, in whole chunks; 0 where there are too few."""
    writes, seconds = 0, 0.0
    while writes < CLIFF_WRITES or seconds < CLIFF_S:
        if writes + _CHUNK > len(latencies_s):
            return 0
        seconds += sum(latencies_s[len(latencies_s) - writes - _CHUNK : len(latencies_s) - writes])
        writes += _CHUNK
    return writes


def _chunks_s(latencies_s: Sequence[float]) -> list[float]:
    """What a write takes on average, chunk by chunk."""
    return [fmean(latencies_s[at : at + _CHUNK]) for at in range(0, len(latencies_s), _CHUNK)]
