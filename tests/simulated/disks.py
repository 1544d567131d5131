"""Models of a shingled and of a plain disk, quick enough for a test.

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

import random
from dataclasses import dataclass, field

SPEED = 5.0
_MIB = 1 << 20


@dataclass
class ShingledDisk:
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

    def write_s(self, offset: int, length: int) -> float:
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

    def read_s(self, offset: int, length: int) -> float:
        return 0.0


@dataclass
class PlainDisk:
    """Conventional: a seek and part of a turn before each write, now and then a retry, and the host's own flushes."""

    size_bytes: int = 8 << 30
    seed: int = 0
    turn_s: float = 0.0111 / SPEED
    transfer_mib_s: float = 0.006 / SPEED
    _random: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def write_s(self, offset: int, length: int) -> float:
        seek_s = self._random.uniform(0.004, 0.014) / SPEED
        seconds = seek_s + self._random.random() * self.turn_s + self.transfer_mib_s * length / _MIB
        if self._random.random() < 1 / 150:  # a write that is retried, or a calibration
            seconds += self._random.uniform(0.1, 0.4) / SPEED
        return seconds

    def read_s(self, offset: int, length: int) -> float:
        return 0.0
