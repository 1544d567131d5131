"""Writing to a disk and watching: a shingled one betrays itself by stalls at a fixed count of writes, or by a cliff.

Published behaviour of the ST8000AS0002 family: synchronous random writes of 1 MiB run at some 46 MiB/s until about
17 GiB have gone into the persistent cache, then at 2 to 15 MiB/s; a stall of about 300 ms comes every 240 writes
(https://github.com/aicodix/smr; Aghayev and Desnoyers, FAST 2015). A disk that shows neither may still be shingled.
"""

from __future__ import annotations

import mmap
import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal

from fswizard.drives.probe_signs import Sign, cliff, periodic_stall, stalls
from fswizard.model.drive import Evidence

BLOCK_BYTES = 1 << 20
_LOOK_EVERY_S = 0.5
_DITHER_WRITES = 40
"""The pause between writes changes after so many, so that what comes by the clock does not seem to come by count."""
_DITHER_LATENCIES = (0.0, 0.5, 1.5)
"""Pauses, in median latencies."""


@dataclass(frozen=True, slots=True)
class ProbePlan:
    """What a probe will do, stated before it does anything."""

    path: str
    """Device, or directory of the scratch file, that is written to."""
    listen_bytes: int
    """The stall is listened for in random writes within so many bytes."""
    listen_s: float
    fill: bool
    """These bytes are written in order first, so that a filesystem has nothing to note down later."""
    press_bytes: int
    """The cliff is pressed for in random writes within so many bytes: a cache is cleaned band by band, so that writes
    within few bands never wear it out. 0 where it cannot be done."""
    time_limit_s: float
    maximum_bytes: int
    """At most so much is written, the filling included."""


@dataclass(frozen=True, slots=True)
class ProbeProgress:
    """Each one replaces the one before."""

    stage: Literal["fill", "listen", "press"]
    """Filling the span; listening for the stall, with pauses; pressing for the cliff, without."""
    elapsed_s: float
    left_s: float
    """It takes so much longer at most; it ends at once where a sign is found."""
    written_bytes: int
    rate_bytes_s: float
    """Of the last moment; 0 while the disk does not answer."""
    worst_latency_s: float
    """The longest of the last moment; while the disk does not answer, for how long it has not."""
    stalls: int
    """Writes that took many times the usual while it listened. Any disk has some: it is their rhythm that tells."""


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What came of it. Nothing that a disk does within minutes proves that it is conventional."""

    outcome: Literal["drive-managed", "inconclusive"]
    evidence: Evidence
    elapsed_s: float
    written_bytes: int


def probe(
    plan: ProbePlan,
    opened: AbstractContextManager[int],
    *,
    stopped: Callable[[], bool] = lambda: False,
    disturbed: Callable[[int], str] = lambda written_bytes: "",
) -> Iterator[ProbeProgress | ProbeResult]:
    """Carries out a plan on an open descriptor; the last thing that comes is the result.

    `disturbed` says, for the bytes written so far, why the disk's behaviour may not be its own; empty when it is.
    Raises OSError where the disk fails.
    """
    with opened as descriptor:
        run = _Run(plan, descriptor, stopped)
        sign: Sign | None = None
        for progress in run.go():
            yield progress
            if progress.stage != "fill" and (sign := run.sign()) is not None:
                break
        yield _result(sign, disturbed(run.written_bytes), run)


class _Run:
    """One probe while it goes on."""

    def __init__(self, plan: ProbePlan, descriptor: int, stopped: Callable[[], bool]) -> None:
        self._plan = plan
        self._descriptor = descriptor
        self._stopped = stopped
        self._random = random.Random()
        self._started = time.monotonic()
        self._buffer = mmap.mmap(-1, BLOCK_BYTES)  # aligned, as direct I/O wants it
        self._buffer.write(self._random.randbytes(BLOCK_BYTES))
        self.written_bytes = 0
        self.latencies_s: list[float] = []
        """Of the random writes, in order."""
        self._listened = 0
        """How many of them were made with pauses."""

    @property
    def elapsed_s(self) -> float:
        return time.monotonic() - self._started

    def sign(self) -> Sign | None:
        heard, pressed = self.latencies_s[: self._listened], self.latencies_s[self._listened :]
        return cliff(pressed, BLOCK_BYTES) or periodic_stall(heard)

    def go(self) -> Iterator[ProbeProgress]:
        plan = self._plan
        if plan.fill:
            yield from self._write("fill", iter(range(0, plan.listen_bytes, BLOCK_BYTES)), until_s=plan.time_limit_s)
        listen_until_s = (
            min(self.elapsed_s + plan.listen_s, plan.time_limit_s) if plan.press_bytes else plan.time_limit_s
        )
        yield from self._write("listen", self._anywhere(plan.listen_bytes), until_s=listen_until_s, pauses=True)
        if plan.press_bytes:
            yield from self._write("press", self._anywhere(plan.press_bytes), until_s=plan.time_limit_s)

    def _anywhere(self, span_bytes: int) -> Iterator[int]:
        blocks = span_bytes // BLOCK_BYTES
        while True:
            yield self._random.randrange(blocks) * BLOCK_BYTES

    def _write(
        self, stage: Literal["fill", "listen", "press"], offsets: Iterator[int], *, until_s: float, pauses: bool = False
    ) -> Iterator[ProbeProgress]:
        looked_s, moment = self.elapsed_s, list[float]()
        for offset in offsets:
            over = self.written_bytes + BLOCK_BYTES > self._plan.maximum_bytes or self.elapsed_s > until_s
            if over or self._stopped():
                break
            moment.append(self._write_block(offset))
            if stage != "fill":
                self.latencies_s.append(moment[-1])
            if pauses:
                self._listened += 1
                self._pause()
            if self.elapsed_s - looked_s >= _LOOK_EVERY_S:
                yield self._progress(stage, moment, self.elapsed_s - looked_s)
                looked_s, moment = self.elapsed_s, []
        if moment:
            yield self._progress(stage, moment, self.elapsed_s - looked_s)

    def _write_block(self, offset: int) -> float:
        started = time.perf_counter()
        if os.pwrite(self._descriptor, self._buffer, offset) != BLOCK_BYTES:
            raise OSError("a write was cut short")
        self.written_bytes += BLOCK_BYTES
        return time.perf_counter() - started

    def _pause(self) -> None:
        done = len(self.latencies_s)
        recent = sorted(self.latencies_s[-_DITHER_WRITES:])
        generator = random.Random(done // _DITHER_WRITES)
        time.sleep(generator.choice(_DITHER_LATENCIES) * recent[len(recent) // 2])

    def _progress(
        self, stage: Literal["fill", "listen", "press"], moment: list[float], seconds: float
    ) -> ProbeProgress:
        rate = len(moment) * BLOCK_BYTES / max(seconds, 1e-6)
        left_s = max(0.0, self._plan.time_limit_s - self.elapsed_s)
        stalled = len(stalls(self.latencies_s[: self._listened]))
        return ProbeProgress(stage, self.elapsed_s, left_s, self.written_bytes, rate, max(moment), stalled)


def _result(sign: Sign | None, doubt: str, run: _Run) -> ProbeResult:
    if sign is not None and not doubt:
        evidence = Evidence(sign.code, "drive-managed", "strong", sign.text)
        return ProbeResult("drive-managed", evidence, run.elapsed_s, run.written_bytes)
    written = f"{run.written_bytes / 1e9:.1f} GB written in {run.elapsed_s:.0f} s"
    if sign is not None:
        text = f"{sign.text} But {doubt}"
    elif not run.latencies_s:
        text = f"{written}: too little to tell anything."
    else:
        text = f"{written} showed neither a stall at a fixed count of writes nor a cliff, which proves nothing."
    return ProbeResult("inconclusive", Evidence("probe", "unknown", "weak", text), run.elapsed_s, run.written_bytes)
