"""The machine around the measurement: busy processors, a disk that tidies up, clocks that jump."""

from __future__ import annotations

from collections.abc import Sequence

from fswizard.bench.device import counters
from fswizard.bench.narrator import Narrator
from fswizard.bench.workloads import Progress
from fswizard.model.plan import Plan
from fswizard.model.result import Doubt
from fswizard.system import clock, host

BUSY_SHARE = 0.05
"""Share of time in which something waits for a processor (PSI `some`) above which the machine counts as busy."""
WINDOW_S = 0.25
"""How long that is looked at."""
LONGEST_WAIT_S = 60.0
SHINGLED_REST_S = 5.0
"""Rest between candidates on a drive-managed disk, the same for each: it tidies up its cache when idle."""
SUSPEND_S = 2.0
JUMP_S = 5.0

BUSY = Doubt(
    "busy-machine",
    "Something else kept the processors or disks busy while this ran. Close other programs and run it again "
    "for tighter intervals.",
)
SUSPENDED = Doubt(
    "suspended",
    "The machine slept during a round. It does not count; another one is measured instead, if time is left.",
)
CLOCK_JUMP = Doubt(
    "clock-jump",
    "The clock was set during a round. It does not count; another one is measured instead, if time is left.",
)


async def wait_until_quiet(narrator: Narrator, *, longest_s: float) -> float:
    """Wait until other programs leave the machine alone, at most `longest_s`; then go on and say so.

    Returns the time waited, in seconds. Our own work is not taken for somebody else's: the kernel's count of
    waiting is looked at over a moment in which the run does nothing.
    """
    began = clock.monotonic()
    while longest_s > 0 and await _somebody_waits():
        waited = clock.monotonic() - began
        if not waited or narrator.step.stage != "wait":
            narrator.begin("wait", "waiting for other programs to leave the machine alone", expected_s=longest_s)
        if waited >= longest_s:
            narrator.doubt(BUSY)
            break
        narrator.progress(narrator.step.title, Progress(waited / longest_s))
    return clock.monotonic() - began


async def let_rest(plan: Plan, devices: Sequence[str], narrator: Narrator) -> None:
    """On a drive-managed shingled disk: wait until nothing is under way, then a fixed rest."""
    if plan.drive is None or plan.drive.smr.kind not in ("drive-managed", "host-aware"):
        return
    narrator.begin("wait", "letting the shingled disk rest", expected_s=SHINGLED_REST_S)
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


class Clocks:
    """Compares clocks from one moment to another."""

    def __init__(self) -> None:
        self._began = self._read()

    def jumped(self) -> Doubt | None:
        """Whether the machine slept or its clock was set since this object was made."""
        running, asleep, wall = (now - then for now, then in zip(self._read(), self._began))
        if asleep - running > SUSPEND_S:
            return SUSPENDED
        return CLOCK_JUMP if abs(wall - asleep) > JUMP_S else None

    @staticmethod
    def _read() -> tuple[float, float, float]:
        return clock.monotonic(), clock.boottime(), clock.wall()
