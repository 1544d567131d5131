"""Models of disks, quick enough for a test.

Figures of the ST5000AS0011 and ST8000AS0002, and where they come from:
- 240 writes between two saves of the cache's map, a stall of 300 ms each: measured twice,
  SMR_model.py of https://github.com/sssl/SMR-simulation and the README of https://github.com/aicodix/smr
- about 21 ms for 1 MiB written synchronously (46 MiB/s): https://github.com/aicodix/smr
- a persistent cache of about 20 GB, bands of 15 to 40 MiB, oldest first when it is full, two bands at a time:
  SMR_model.py; Aghayev et al., FAST 2015 and FAST 2017
- 0.6 s to clean a band: three passes over 20 tracks at 10.03 ms a turn, SMR_model.py

Everything that takes time is five times as quick here, and the cache holds 600 MiB instead of 20 GB.
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from fswizard.system import clock

SPEED = 5.0
_MIB = 1 << 20


class Streams:
    """Tells writes that go on where one of the last ones began or ended: those cost no seek, and go past caches."""

    def __init__(self) -> None:
        self._known: deque[int] = deque(maxlen=12)

    def goes_on(self, offset: int, length: int) -> bool:
        known = offset in self._known
        self._known += (offset, offset + length)
        return known


class Disk:
    """What a disk costs: nothing, unless a model says otherwise."""

    size_bytes: int = 8 << 30

    def write_s(self, offset: int, length: int) -> float:
        """Seconds that a write takes; the model takes note of it."""
        return 0.0

    def read_s(self, offset: int, length: int) -> float:
        return 0.0

    def flush_s(self) -> float:
        return 0.0


@dataclass
class ShingledDisk(Disk):
    """Drive-managed: a log as cache, cleaned band by band when it is full."""

    size_bytes: int = 8 << 30
    cache_bytes: int = 600 * _MIB
    band_bytes: int = 30 * _MIB
    write_mib_s: float = 0.021 / SPEED
    stall_every: int = 240
    stall_s: float = 0.300 / SPEED
    clean_band_s: float = 0.6 / SPEED
    bands_at_once: int = 2
    _log: dict[int, int] = field(default_factory=dict)
    """Bytes in the cache by band, oldest band first."""
    _writes: int = 0
    _streams: Streams = field(default_factory=Streams)

    def write_s(self, offset: int, length: int) -> float:
        if self._streams.goes_on(offset, length):
            return 0.0
        self._writes += 1
        seconds = self.write_mib_s * max(length, 64 << 10) / _MIB
        if self._writes % self.stall_every == 0:
            seconds += self.stall_s
        band = offset // self.band_bytes
        self._log[band] = self._log.get(band, 0) + length
        if sum(self._log.values()) > self.cache_bytes:
            for oldest in list(self._log)[: self.bands_at_once]:
                del self._log[oldest]
                seconds += self.clean_band_s
        return seconds


ThroughputSeries = Callable[[float], float]
"""From the seconds since a disk was first used to how many times slower it is than it might be."""


def steady(_seconds: float) -> float:
    return 1.0


def slowing(seconds: float) -> float:
    """Heat, or a cache that fills: half as slow again every twelve seconds."""
    return min(20.0, math.exp(seconds / 30))


def moody(seed: int) -> ThroughputSeries:
    """Others use the disk, too: every second it is another one, up to 2.5 times as quick or as slow."""
    return lambda seconds: 2.5 ** random.Random(f"{seed}/{int(seconds)}").uniform(-1, 1)


@dataclass
class SeekingDisk(Disk):
    """Conventional: seeks before a write that does not go on where the last one ended, and takes long for a flush.

    A write and an fsync of ext4 are one seek, to the data, as the journal goes on where it ended, and two flushes,
    before the commit block and after it; with `nobarrier` it is the seek alone. So the truth about that is known.
    """

    seek_s: float
    flush_costs_s: float = 0.0
    course: ThroughputSeries = steady
    size_bytes: int = 192 * _MIB
    _streams: Streams = field(default_factory=Streams)
    _first: float = 0.0

    def write_s(self, offset: int, length: int) -> float:
        return 0.0 if self._streams.goes_on(offset, length) else self.seek_s * self._slower()

    def flush_s(self) -> float:
        return self.flush_costs_s * self._slower()

    def _slower(self) -> float:
        now = clock.monotonic()
        self._first = self._first or now
        return self.course(now - self._first)

    @property
    def nobarrier_gains(self) -> float:
        """How many times faster single writes with an fsync each are without barriers."""
        return 1 + 2 * self.flush_costs_s / self.seek_s


@dataclass
class CachedSsd(Disk):
    """Quick until its cache of single-level cells is full, which it empties with every flush."""

    size_bytes: int = 192 * _MIB
    cache_bytes: int = 400 << 10
    cached_s: float = 0.005
    uncached_s: float = 0.1
    _cached: int = 0
    _streams: Streams = field(default_factory=Streams)

    def write_s(self, offset: int, length: int) -> float:
        if self._streams.goes_on(offset, length) or length > 4096:  # large pieces go past the cache
            return 0.0
        self._cached += length
        return self.uncached_s if self._cached > self.cache_bytes else self.cached_s

    def flush_s(self) -> float:
        self._cached = 0
        return 0.0


@dataclass
class Mechanics(Disk):
    """What any hard disk costs that does not go on where it was: a seek, half a turn, and the transfer.

    The figures are those of a common desktop disk of 2015.
    """

    size_bytes: int = 8 << 30
    seek_s: float = 0.0085
    turn_s: float = 60 / 7200
    bytes_per_s: float = 170e6
    _at: int = 0
    """Where the heads are: behind what was read or written last."""

    def read_s(self, offset: int, length: int) -> float:
        return self.access_s(offset, length)

    def write_s(self, offset: int, length: int) -> float:
        return self.access_s(offset, length)

    def access_s(self, offset: int, length: int) -> float:
        """What lies a little further on the same track passes by without a seek."""
        wait_s = (offset - self._at) / self.bytes_per_s
        self._at = offset + length
        return length / self.bytes_per_s + (wait_s if 0 <= wait_s < self.turn_s else self.seek_s + self.turn_s / 2)
