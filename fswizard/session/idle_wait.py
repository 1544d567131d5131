"""What goes on around a measurement: other programs, a program or machine that stood still."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from fswizard.engines import WorkloadDisturbed
from fswizard.errors import RunFailed
from fswizard.language import N_, _
from fswizard.model.drive import Drive
from fswizard.model.result import Doubt
from fswizard.model.units import share_text, size_text
from fswizard.progress.emitter import Emitter
from fswizard.progress.workload_events import Progress
from fswizard.system import clock, host
from fswizard.system.host import Load

BUSY_SHARE = 0.05
"""The machine counts as busy when, for a larger share of the time, something waits for a processor or a disk (PSI
`some`) or the disk that is measured has something to do."""
LEAST_BYTES_PER_S = 100e3
"""Who moves less does not keep a disk busy."""
WINDOW_S = 0.25
"""How long that is looked at."""
LONGEST_WAIT_S = 60.0
STANDSTILL_S = 1.0
"""So long the machine may sleep, or the program be stopped, in a round that counts."""
JUMP_S = 5.0
BEAT_S = 0.2
MOST_DISTURBED = 3
"""Number of disturbed rounds in a row (a program was killed or stopped) after which the run ends."""
DISTURBED = {
    "suspended": N_("The machine slept during a round"),
    "stopped": N_("fswizard was stopped during a round (Ctrl-Z, SIGSTOP) or had to wait for memory"),
    "clock-jump": N_("The clock was set during a round"),
    "program-killed": N_("The program that measures was killed ({program}, {signal}) during a round"),
    "program-stopped": N_("The program that measures was stopped ({program}, SIGSTOP) during a round"),
}


def disturbance(code: str, **fields: str) -> Doubt:
    """Why a round does not count."""
    what = _(DISTURBED[code], **fields)
    return Doubt(code, _("{what}, so that round doesn't count; another replaces it if time is left.", what=what))


def disturbed_by(by: WorkloadDisturbed) -> Doubt:
    """What to say of a round in which somebody killed or stopped a program of ours."""
    return disturbance("program-killed" if by.signal else "program-stopped", program=by.program, signal=by.signal)


def disturbed_too_often(by: WorkloadDisturbed) -> RunFailed:
    """What ends the run when that went on for MOST_DISTURBED rounds."""
    text = _(
        "The program that measures was killed or stopped in {count} rounds in a row (last: {last}).",
        count=MOST_DISTURBED,
        last=f"{by.program}, {by.signal or 'SIGSTOP'}",
    )
    hint = _(
        "Something on this machine kills or stops programs, such as a memory guard or a batch system: "
        "keep it from doing so and run again. The figures so far are kept."
    )
    return RunFailed(text, hint)


async def wait_until_quiet(drive: Drive | None, emitter: Emitter, *, longest_s: float) -> float:
    """Wait until other programs leave the machine and `drive` alone, at most `longest_s`; then go on and say so.

    Returns the time waited, in seconds. Our own work is not taken for somebody else's: the kernel's counts are looked
    at over a moment in which the run does nothing.
    """
    began = clock.monotonic()
    while longest_s > 0 and (busy := await _who_is_busy(drive)):
        waited = clock.monotonic() - began
        text = _("waiting for other programs: {busy}", busy=busy)
        if emitter.step.stage != "wait":
            emitter.begin("wait", text, expected_s=longest_s)
        if waited >= longest_s:
            text = _(
                "Other programs were using the processors or disks meanwhile ({busy}), which widens intervals: "
                "close them and run it again.",
                busy=busy,
            )
            emitter.doubt(Doubt("busy-machine", text))
            break
        emitter.progress(text, Progress(waited / longest_s))
    return clock.monotonic() - began


async def _who_is_busy(drive: Drive | None) -> str:
    """What keeps the machine busy, in words; empty where nothing does."""
    disks = drive.name.split("+") if drive else []  # several have one name

    def used_s() -> list[float]:
        pressure_s = [host.this.pressure_total_s("cpu"), host.this.pressure_total_s("io")]
        return [*pressure_s, *map(host.this.disk_busy_s, disks)]

    loads, began, before = host.this.loads(), clock.monotonic(), used_s()
    await clock.pause(WINDOW_S)
    passed_s = clock.monotonic() - began
    processors, *on_disks = (now - then > BUSY_SHARE * passed_s for then, now in zip(before, used_s()))
    if processors or any(on_disks):
        return who(loads, host.this.loads(), passed_s, disk=any(on_disks))
    return ""


def who(before: Mapping[int, Load], now: Mapping[int, Load], passed_s: float, *, disk: bool) -> str:
    """Which program used a disk, or else the processors, most between two looks, and how much; in words.

    None of ours, and no thread of the kernel: that works for a program, which may be ours.
    """
    own = int(os.readlink("/proc/self"))
    used = [Load("", 0)]
    for number, load in now.items():
        parents = _parents(number, now)
        if own not in parents and 2 not in parents[:2]:
            used.append(load.since(before.get(number)))
    if disk:
        most = max(used, key=lambda load: load.read_bytes + load.written_bytes)
        if most.read_bytes + most.written_bytes > LEAST_BYTES_PER_S * passed_s:
            words = N_("`{program}` writes {rate}/s")
            if most.read_bytes > most.written_bytes:
                words = N_("`{program}` reads {rate}/s")
            rate = size_text(max(most.read_bytes, most.written_bytes) / passed_s)
            return _(words, program=most.name, rate=rate)
    most = max(used, key=lambda load: load.cpu_s)
    if most.cpu_s > BUSY_SHARE * passed_s:
        return _("`{program}` uses {share} of a processor", program=most.name, share=share_text(most.cpu_s / passed_s))
    return _("something uses the disk") if disk else _("something uses the processors")


def _parents(number: int, loads: Mapping[int, Load]) -> list[int]:
    """A process, its parent, and so on."""
    line = [number]
    while line[-1] in loads:
        line.append(loads[line[-1]].parent)
    return line


def worked_s() -> dict[str, float]:
    """Seconds for which each thread of this program has run, or waited for a processor (kernel: sched-stats.rst)."""
    seconds = {}
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            ran, waited, _ = Path(f"/proc/self/task/{thread}/schedstat").read_text().split()
            seconds[thread] = (int(ran) + int(waited)) / 1e9
    return seconds


class Clocks:
    """Whether this program or the machine stood still, or its clock was set, since this object was made.

    While it is entered, a thread wakes up every BEAT_S: where it did not, the program was stopped. A busy machine, or a
    computation of ours, may keep it waiting as well; then another thread worked, or wanted to.
    """

    def __init__(self, worked: Callable[[], dict[str, float]] = worked_s) -> None:
        self._began = self._read()
        self._worked = worked
        self._beat_s, self._before, self._stopped = clock.monotonic(), worked(), False
        self._lock, self._over = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._go_on_beating, name="heartbeat", daemon=True)

    def __enter__(self) -> Clocks:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def jumped(self) -> Doubt | None:
        """What happened to the clocks, or to this program."""
        running, asleep, wall = (now - then for now, then in zip(self._read(), self._began))
        if asleep - running > STANDSTILL_S:
            return disturbance("suspended")
        if self.beat():
            return disturbance("stopped")
        return disturbance("clock-jump") if abs(wall - asleep) > JUMP_S else None

    def beat(self) -> bool:
        """Whether the program was stopped until now, at least once and for over STANDSTILL_S."""
        with self._lock:
            at_s, now = clock.monotonic(), self._worked()
            worked_s = sum(max(0.0, seconds - self._before.get(thread, 0.0)) for thread, seconds in now.items())
            if at_s - self._beat_s - worked_s > STANDSTILL_S:
                self._stopped = True
            self._beat_s, self._before = at_s, now
            return self._stopped

    def _go_on_beating(self) -> None:
        while not self._over.is_set():
            self.beat()
            for seconds in clock.turns(BEAT_S):
                if self._over.wait(seconds):
                    return

    @staticmethod
    def _read() -> tuple[float, float, float]:
        return clock.monotonic(), clock.boottime(), clock.wall()
