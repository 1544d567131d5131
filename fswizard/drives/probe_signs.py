"""The two signs of a drive-managed disk in the latencies of equal random writes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from fswizard.language import N_

STALL_LATENCIES = 6.0
"""Least duration of a stall, in median latencies; on the published disks it is about 14."""
MINIMUM_PERIOD = 50
"""Least period in writes. Shorter ones are ordinary work, unless an adapter cuts each write into many pieces."""
SPREADS = (0.0, 0.025)
"""Parts of their distance by which, beside one write, stalls may be early or late, as the disk also counts writes of a
filesystem's journal."""
WAYS = tuple(itertools.product((STALL_LATENCIES, 24.0), SPREADS))
"""Least durations and spreads of the stalls to look at; on a busy machine many writes are slow."""
MINIMUM_STALLS = 5
"""Least number of consecutive stalls at equal distances."""
CLIFF_WRITES = 60
CLIFF_S = 10.0
"""Least duration of a cliff, beside its number of writes, as another program or host slows any disk down for a
moment."""
BASE_WRITES = 100
"""Number of consecutive writes, of which the quickest show the disk's speed, even if the probe begins disturbed."""
_CHUNK = 20


@dataclass(frozen=True, slots=True)
class Sign:
    """Behaviour of shingled disks only, in English with figures."""

    code: str
    text: str


def stalls(latencies_s: Sequence[float], at_least: float = STALL_LATENCIES) -> list[int]:
    """Numbers of the writes that took more than `at_least` times the median."""
    usual = median(latencies_s) if latencies_s else 0.0
    return [number for number, latency in enumerate(latencies_s) if latency > at_least * usual]


def periodic_stall(latencies_s: Sequence[float], minimum_period: int = MINIMUM_PERIOD) -> Sign | None:
    """Stalls at a fixed count of writes, as when a disk saves the map of its cache.

    Journals and other programs write at fixed times, which are varying counts, as the writer's pauses vary.
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
    text = N_(
        "It stalled {count} times in a row, each time after {period} writes, for up to {longest} ms "
        "(a write usually takes {usual} ms)."
    ).format(count=len(row), period=period, longest=f"{worst * 1000:.0f}", usual=f"{usual * 1000:.0f}")
    return Sign("periodic-stall", text)


def _row(stalled: Sequence[int], writes: int, spread: float, minimum_period: int) -> list[int]:
    """The longest row of stalls at equal distances within `spread`; empty if it may be chance."""
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
    return best if by_chance < 1e-4 else []


def _continued(row: list[int], stalled: Sequence[int], spread: float) -> list[int]:
    """The row with further stalls at the distance of its first two."""
    period = row[1] - row[0]
    while True:
        expected = row[-1] + period
        nearest = min(stalled, key=lambda number: abs(number - expected))
        if abs(nearest - expected) > _near(period, spread):
            return row
        row = [*row, nearest]


def _near(period: int, spread: float) -> int:
    """Allowed deviation of a stall, in writes."""
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
    # A long hang is not a cliff: every part of these writes must be slow. The published disks fall to a third or less.
    if min(_chunks_s(last)) < 3.0 * base_s:
        return None
    first_mib, last_mib = (block_bytes / (1 << 20) / seconds for seconds in (base_s, fmean(last)))
    reached = before * block_bytes / 1e9
    text = N_("After {size} GB of random writes the rate fell from {before} to {after} MiB/s.")
    text = text.format(size=f"{reached:.1f}", before=f"{first_mib:.0f}", after=f"{last_mib:.1f}")
    return Sign("write-cliff", text)


def _last_writes(latencies_s: Sequence[float]) -> int:
    """Number of last writes that took CLIFF_S, at least CLIFF_WRITES, in whole chunks; 0 if there are too few."""
    writes, seconds = 0, 0.0
    while writes < CLIFF_WRITES or seconds < CLIFF_S:
        if writes + _CHUNK > len(latencies_s):
            return 0
        seconds += sum(latencies_s[len(latencies_s) - writes - _CHUNK : len(latencies_s) - writes])
        writes += _CHUNK
    return writes


def _chunks_s(latencies_s: Sequence[float]) -> list[float]:
    """Mean latency of each chunk of writes."""
    return [fmean(latencies_s[at : at + _CHUNK]) for at in range(0, len(latencies_s), _CHUNK)]
