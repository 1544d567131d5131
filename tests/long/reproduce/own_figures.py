"""Figures of the simulated ST8000AS0002 next to those of real ones. Takes no real time."""

from __future__ import annotations

import itertools
import random
import statistics
from collections.abc import Callable, Iterator
from typing import NamedTuple

from fswizard.system import clock
from tests.fakes.clock import SimulatedClock
from tests.long.uml.models import Modelled

AICODIX = "[aicodix/smr](https://github.com/aicodix/smr)"
SSSL = "[sssl/SMR-simulation](https://github.com/sssl/SMR-simulation)"
MIB = 1 << 20
SIZE_BYTES = 8_001_563_222_016
PLATEAUS = {2: 4.0, 4: 8.0, 8: 14.0, 16: 20.0, 32: 30.0}
"""MiB at a time to MiB/s beyond the cache."""
CLIFFS = {1: 17.0, 2: 23.0, 4: 27.5, 8: 28.0, 16: 31.0, 32: 31.0}
"""MiB at a time to GiB written before the rate fell."""


class Figure(NamedTuple):
    """One property, with its published and its simulated value."""

    title: str
    unit: str
    published: float
    ours: float
    source: str


def figures(make: Callable[[], Modelled]) -> Iterator[Figure]:
    """Of new disks of `SIZE_BYTES`, each made when it is needed.

    Random writes are synchronous, as the real ones were.
    """
    yield Figure("Sequential writes", "MB/s", 150, _sequential(make), "the mean over the disk, by reviews")
    scattered = {size: _scattered(make, size) for size in CLIFFS}
    within = scattered[1]
    yield Figure("Random writes of 1 MiB within the cache", "MiB/s", 46, within.before_mib_s, AICODIX)
    yield Figure("Writes from one stall to the next", "", 240, within.stall_every, f"{AICODIX}, {SSSL}")
    yield Figure("A stall", "s", 0.3, within.stall_s, SSSL)
    for size, published in CLIFFS.items():
        title = f"Random writes of {size} MiB until the cache is full"
        yield Figure(title, "GiB", published, scattered[size].cliff_gib, AICODIX)
    for size, published in PLATEAUS.items():
        title = f"Random writes of {size} MiB beyond the cache"
        yield Figure(title, "MiB/s", published, scattered[size].after_mib_s, AICODIX)
    yield Figure("Cleaning a band while idle", "s", 0.6, _cleaning_s(make), SSSL)


class Scattered(NamedTuple):
    """What came of random writes."""

    before_mib_s: float
    cliff_gib: float
    after_mib_s: float
    stall_every: float
    stall_s: float


def _sequential(make: Callable[[], Modelled]) -> float:
    """MB/s."""
    with clock.use(SimulatedClock()):
        disk, count = make(), 1000
        return count * MIB / sum(disk.write_s(number * MIB, MIB) for number in range(count)) / 1e6


def _scattered(make: Callable[[], Modelled], size_mib: int) -> Scattered:
    """Until the cache is full, and 500 writes more."""
    dice = random.Random(size_mib)
    with clock.use(SimulatedClock()) as time:
        disk = make()

        def write() -> float:
            seconds = disk.write_s(dice.randrange(SIZE_BYTES // MIB - size_mib) * MIB, size_mib * MIB) + disk.flush_s()
            time.advance(seconds)
            return seconds

        before = [write()]
        while not disk.cleaned:
            before.append(write())
        after = [write() for _ in range(500)]
    usual = statistics.median(before)
    stalls = [number for number, seconds in enumerate(before[:-1]) if seconds > usual + 0.1]
    gaps = [later - sooner for sooner, later in itertools.pairwise(stalls)]
    return Scattered(
        before_mib_s=size_mib / usual,
        cliff_gib=len(before) * size_mib / 1024,
        after_mib_s=len(after) * size_mib / sum(after),
        stall_every=statistics.fmean(gaps),
        stall_s=before[stalls[0]] - usual,
    )


def _cleaning_s(make: Callable[[], Modelled]) -> float:
    """Seconds a band, in a minute of rest."""
    with clock.use(SimulatedClock()) as time:
        disk = make()
        for band in range(1000):
            time.advance(disk.write_s(band * disk.band_bytes, MIB))
        time.advance(60 + disk.idle_s)
        disk.read_s(0, MIB)
        return 60 / disk.cleaned
