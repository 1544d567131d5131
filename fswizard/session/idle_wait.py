"""What goes on around a measurement: busy processors, a disk that tidies up, a program or machine that stood still."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fswizard.model.plan import Plan
from fswizard.model.result import Doubt
from fswizard.progress.emitter import Emitter
from fswizard.progress.workload_events import Progress
from fswizard.system import clock, host
from fswizard.system.block_stats import counters

if TYPE_CHECKING:
    from typing_extensions import Self

BUSY_SHARE = 0.05
"""Share of time in which something waits for a processor (PSI `some`) above which the machine counts as busy."""
WINDOW_S = 0.25
"""How long that is looked at."""
LONGEST_WAIT_S = 60.0
SHINGLED_REST_S = 5.0
"""Rest between candidates on a drive-managed disk, the same for each: it tidies up its cache when idle."""
STANDSTILL_S = 1.0
"""So long the machine may sleep, or the program be stopped, in a round that counts."""
JUMP_S = 5.0
BEAT_S = 0.2

BUSY = Doubt(
    "busy-machine",
    "Something else kept the processors or disks busy while this ran. Close other programs and run it again "
    "for tighter intervals.",
)
SUSPENDED = Doubt(
    "suspended",
    "The machine slept during a round. It does not count; another one is measured instead, if time is left.",
)
STOPPED = Doubt(
    "stopped",
    "fswizard stood still during a round: it was stopped (Ctrl-Z, SIGSTOP) or had to wait for memory. It does not "
    "count; another one is measured instead, if time is left.",
)
CLOCK_JUMP = Doubt(
    "clock-jump",
    "The clock was set during a round. It does not count; another one is measured instead, if time is left.",
)


async def wait_until_quiet(emitter: Emitter, *, longest_s: float) -> float:
    """Wait until other programs leave the machine alone, at most `longest_s`; then go on and say so.

    Returns the time waited, in seconds. Our own work is not taken for somebody else's: the kernel's count of
    waiting is looked at over a moment in which the run does nothing.
    """
    began = clock.monotonic()
    while longest_s > 0 and await _somebody_waits():
        waited = clock.monotonic() - began
        if not waited or emitter.step.stage != "wait":
            emitter.begin("wait", "waiting for other programs to leave the machine alone", expected_s=longest_s)
        if waited >= longest_s:
            emitter.doubt(BUSY)
            break
        emitter.progress(emitter.step.title, Progress(waited / longest_s))
    return clock.monotonic() - began


async def let_rest(plan: Plan, devices: Sequence[str], emitter: Emitter) -> None:
    """On a drive-managed shingled disk: wait until nothing is under way, then a fixed rest."""
    if plan.drive is None or plan.drive.smr.kind not in ("drive-managed", "host-aware"):
        return
    emitter.begin("wait", "letting the shingled disk rest", expected_s=SHINGLED_REST_S)
    began = clock.monotonic()
    while clock.monotonic() - began < LONGEST_WAIT_S:
        now = counters(plan.drive.name) or counters(*devices)
        if now is None or now.in_flight == 0:
            break
        await clock.pause(0.2)
    await clock.pause(SHINGLED_REST_S)


async def _somebody_waits() -> bool:
    before = host.this.pressure_total_s("cpu")
    await clock.pause(WINDOW_S)
    return host.this.pressure_total_s("cpu") - before > BUSY_SHARE * WINDOW_S


def worked_s() -> dict[str, float]:
    """Seconds for which each thread of this program has run, or waited for a processor (kernel: sched-stats.rst)."""
    seconds = {}
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            ran, waited, _ = Path(f"/proc/self/task/{thread}/schedstat").read_text().split()
            seconds[thread] = (int(ran) + int(waited)) / 1e9
    return seconds


class Heartbeat:
    """Knows for how long this program was stopped while it was watched: a thread that only sleeps did not wake up.

    A busy machine, or a computation of ours, may keep it waiting as well; then another thread worked, or wanted to.
    """

    def __init__(self, worked: Callable[[], dict[str, float]] = worked_s) -> None:
        self._worked = worked
        self._lock, self._over = threading.Lock(), threading.Event()
        self._at_s, self._before, self._stopped_s = clock.monotonic(), worked(), 0.0
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def stopped_s(self) -> float:
        """In all; what was shorter than STANDSTILL_S is not counted."""
        with self._lock:
            at_s, now = clock.monotonic(), self._worked()
            worked_s = sum(max(0.0, seconds - self._before.get(thread, 0.0)) for thread, seconds in now.items())
            if (missed_s := at_s - self._at_s - worked_s) > STANDSTILL_S:
                self._stopped_s += missed_s
            self._at_s, self._before = at_s, now
            return self._stopped_s

    def _beat(self) -> None:
        while not self._over.is_set():
            self.stopped_s()
            for seconds in clock.turns(BEAT_S):
                if self._over.wait(seconds):
                    return


class Clocks:
    """Compares clocks from one moment to another."""

    def __init__(self, heartbeat: Heartbeat) -> None:
        self._heartbeat = heartbeat
        self._began, self._stopped_s = self._read(), heartbeat.stopped_s()

    def jumped(self) -> Doubt | None:
        """Whether the machine slept, its clock was set or this program was stopped since this object was made."""
        running, asleep, wall = (now - then for now, then in zip(self._read(), self._began))
        if asleep - running > STANDSTILL_S:
            return SUSPENDED
        if self._heartbeat.stopped_s() > self._stopped_s:
            return STOPPED
        return CLOCK_JUMP if abs(wall - asleep) > JUMP_S else None

    @staticmethod
    def _read() -> tuple[float, float, float]:
        return clock.monotonic(), clock.boottime(), clock.wall()
