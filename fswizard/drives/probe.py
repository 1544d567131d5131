"""Test writes that show whether a disk is shingled, by stalls at a fixed count of writes or by a cliff.

Published behaviour of the ST8000AS0002 family: synchronous random writes of 1 MiB run at some 46 MiB/s until about
17 GiB have gone into the persistent cache, then at 2 to 15 MiB/s; a stall of about 300 ms comes every 240 writes
(https://github.com/aicodix/smr; Aghayev and Desnoyers, FAST 2015). A disk that shows neither may still be shingled.
"""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from statistics import median
from typing import Literal, Protocol

from fswizard.drives.probe_signs import MINIMUM_PERIOD, Sign, cliff, periodic_stall, stalls
from fswizard.language import N_
from fswizard.model.drive import Evidence
from fswizard.system import clock

BLOCK_BYTES = 1 << 20
PUBLISHED_PERIOD, _SHORTEST_PERIOD = 240, 10
"""Periods of stalls, in writes."""
MOMENT_S = 0.5
_LISTEN_BLOCKS = 40
"""Blocks of an order while it listens. The pause between writes changes from order to order, so that periods of time
are not mistaken for periods of writes."""

Stage = Literal["fill", "listen", "press"]


class Writer(Protocol):
    """Writes to the disk, in this process or in another one."""

    def write(self, blocks: Sequence[int], pause_s: float) -> Generator[float | None, None, None]:
        """Write random data to `blocks` (numbers, of BLOCK_BYTES), each to the disk before the next, with pauses.

        Yields the seconds that each write took, and None after each MOMENT_S without one; closing it ends the writes.
        Raises OSError or FswizardError if the disk fails.
        """
        ...


@dataclass(frozen=True, slots=True)
class ProbePlan:
    """Steps and limits of a probe."""

    path: str
    """Device, or directory of the scratch file."""
    listen_bytes: int
    """Span of the random writes that listen for stalls."""
    listen_s: float
    fill: bool
    """Whether this span is written in sequence first, so that a filesystem has no metadata to write later."""
    press_bytes: int
    """Span of the random writes that press for the cliff, or 0 to leave that out. It must be large, as a cache is
    cleaned band by band, so writes within few bands never fill it."""
    time_limit_s: float
    maximum_bytes: int
    """Largest number of bytes to write, with `fill` included."""
    pieces: int = 1
    """Number of commands for each block: 9 behind a USB adapter that takes 120 KiB."""

    @property
    def minimum_period(self) -> int:
        """Least number of blocks between two stalls, as the disk counts pieces."""
        return max(_SHORTEST_PERIOD, min(MINIMUM_PERIOD, PUBLISHED_PERIOD // 2 // self.pieces))


@dataclass(frozen=True, slots=True)
class ProbeProgress:
    """Current state of a probe."""

    stage: Stage
    """Filling the span, listening for stalls with pauses, or pressing for the cliff without."""
    elapsed_s: float
    left_s: float
    """Longest remaining time; the first sign ends the probe."""
    written_bytes: int
    rate_bytes_s: float
    """Rate of the last moment; 0 while the disk does not answer."""
    worst_latency_s: float
    """Longest latency of the last moment, or time for which the disk has not answered."""
    stalls: int
    """Number of slow writes while it listened. Every disk has some: only a rhythm is a sign."""


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The result of a probe, which cannot prove within minutes that a disk is conventional."""

    outcome: Literal["drive-managed", "inconclusive"]
    evidence: Evidence
    elapsed_s: float
    written_bytes: int


def probe(
    plan: ProbePlan,
    opened: AbstractContextManager[Writer],
    *,
    stopped: Callable[[], bool] = lambda: False,
    disturbed: Callable[[int], str] = lambda written_bytes: "",
    busy: Callable[[], str] = lambda: "",
) -> Iterator[ProbeProgress | ProbeResult]:
    """Carry out a plan; the last item is the result.

    `disturbed` says, for the bytes written so far, what else may explain the disk's behaviour, or nothing. `busy` says
    what may have hidden signs; those that show are valid. Both are sentences in English, as the result is. Raises the
    errors of the writer.
    """
    with opened as writer:
        run = _Run(plan, writer, stopped)
        sign: Sign | None = None
        for progress in run.go():
            yield progress
            if progress.stage != "fill" and (sign := run.sign()) is not None:
                break
        yield _result(sign, disturbed(run.written_bytes), busy(), run)


@dataclass(slots=True)
class _Run:
    """A running probe."""

    plan: ProbePlan
    writer: Writer
    stopped: Callable[[], bool]
    started: float = field(default_factory=clock.monotonic)
    written_bytes: int = 0
    latencies_s: list[float] = field(default_factory=list)
    """Latencies of the random writes, in order."""
    listened: int = 0
    """Number of random writes with pauses."""
    answered_s: float = 0.0
    """Time when the last write ended."""

    @property
    def elapsed_s(self) -> float:
        return clock.monotonic() - self.started

    def sign(self) -> Sign | None:
        heard, pressed = self.latencies_s[: self.listened], self.latencies_s[self.listened :]
        return cliff(pressed, BLOCK_BYTES) or periodic_stall(heard, self.plan.minimum_period)

    def go(self) -> Iterator[ProbeProgress]:
        plan = self.plan
        if plan.fill:
            yield from self._write("fill", iter(range(plan.listen_bytes // BLOCK_BYTES)), until_s=plan.time_limit_s)
        listen_s = plan.listen_s if plan.press_bytes else plan.time_limit_s
        until_s = min(self.elapsed_s + listen_s, plan.time_limit_s)
        yield from self._write("listen", self._anywhere(plan.listen_bytes), until_s=until_s)
        if plan.press_bytes:
            yield from self._write("press", self._anywhere(plan.press_bytes), until_s=plan.time_limit_s)

    def _anywhere(self, span_bytes: int) -> Iterator[int]:
        while True:
            yield random.randrange(span_bytes // BLOCK_BYTES)

    def _write(self, stage: Stage, blocks: Iterator[int], *, until_s: float) -> Iterator[ProbeProgress]:
        looked_s, moment = self.elapsed_s, list[float]()
        self.answered_s = looked_s
        while self._goes_on(until_s) and (order := list(itertools.islice(blocks, self._next_blocks(stage)))):
            before_bytes = self.written_bytes
            with contextlib.closing(self.writer.write(order, self._pause_s(stage))) as answers:
                for latency_s in answers:
                    if latency_s is not None:
                        moment.append(latency_s)
                        self._note(stage, latency_s)
                    if self.elapsed_s - looked_s >= MOMENT_S:
                        yield self._progress(stage, moment, self.elapsed_s - looked_s)
                        looked_s, moment = self.elapsed_s, []
                    if not self._goes_on(until_s):
                        break
            if self.written_bytes - before_bytes < len(order) * BLOCK_BYTES:
                self.written_bytes += BLOCK_BYTES  # the last one may have been written
        if moment:
            yield self._progress(stage, moment, self.elapsed_s - looked_s)

    def _goes_on(self, until_s: float) -> bool:
        return self.elapsed_s <= until_s and not self.stopped()

    def _next_blocks(self, stage: Stage) -> int:
        most = _LISTEN_BLOCKS if stage == "listen" else 400  # between two orders the disk has a moment to tidy up
        return min(most, (self.plan.maximum_bytes - self.written_bytes) // BLOCK_BYTES)

    def _pause_s(self, stage: Stage) -> float:
        if stage != "listen" or not self.latencies_s:
            return 0.0
        generator = random.Random(len(self.latencies_s) // _LISTEN_BLOCKS)
        return generator.choice((0.0, 0.5, 1.5)) * median(self.latencies_s[-_LISTEN_BLOCKS:])

    def _note(self, stage: Stage, latency_s: float) -> None:
        self.written_bytes += BLOCK_BYTES
        self.answered_s = self.elapsed_s
        if stage != "fill":
            self.latencies_s.append(latency_s)
        if stage == "listen":
            self.listened += 1

    def _progress(self, stage: Stage, moment: list[float], seconds: float) -> ProbeProgress:
        rate = len(moment) * BLOCK_BYTES / max(seconds, 1e-6)
        left_s = max(0.0, self.plan.time_limit_s - self.elapsed_s)
        worst_s = max(moment, default=self.elapsed_s - self.answered_s)
        stalled = len(stalls(self.latencies_s[: self.listened]))
        return ProbeProgress(stage, self.elapsed_s, left_s, self.written_bytes, rate, worst_s, stalled)


def _result(sign: Sign | None, doubt: str, busy: str, run: _Run) -> ProbeResult:
    if sign is not None and not doubt:
        evidence = Evidence(sign.code, "drive-managed", "strong", sign.text)
        return ProbeResult("drive-managed", evidence, run.elapsed_s, run.written_bytes)
    if sign is not None:
        text = f"{sign.text} {doubt}"
    else:
        text = N_("{size} GB written in {seconds} s: too little to tell.")
        if run.latencies_s:
            text = N_(
                "{size} GB written in {seconds} s showed neither regular stalls nor a sudden slowdown, which proves "
                "nothing."
            )
        text = text.format(size=f"{run.written_bytes / 1e9:.1f}", seconds=f"{run.elapsed_s:.0f}")
        if run.latencies_s:
            text = " ".join(filter(None, (text, doubt, busy)))
    return ProbeResult("inconclusive", Evidence("probe", "unknown", "weak", text), run.elapsed_s, run.written_bytes)
