"""What goes on around a measurement: other programs, a program or machine that stood still."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from typing_extensions import Self

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


_WITHOUT_ROUND = N_("{what}, so that round doesn't count; another replaces it if time is left.")


def _without_round(code: str, what: str) -> Doubt:
    return Doubt(code, _WITHOUT_ROUND.format(what=what))


SUSPENDED = _without_round("suspended", N_("The machine slept during a round"))
STOPPED = _without_round(
    "stopped", N_("fswizard was stopped during a round (Ctrl-Z, SIGSTOP) or had to wait for memory")
)
CLOCK_JUMP = _without_round("clock-jump", N_("The clock was set during a round"))
MOST_DISTURBED = 3
"""Number of disturbed rounds in a row (a program was killed or stopped) after which the run ends."""


def disturbed_by(by: WorkloadDisturbed) -> Doubt:
    """What to say of a round in which somebody killed or stopped a program of ours."""
    if by.signal:
        what = _(
            "The program that measures was killed ({program}, {signal}) during a round",
            program=by.program,
            signal=by.signal,
        )
        return _without_round("program-killed", what)
    return _without_round(
        "program-stopped",
        _("The program that measures was stopped ({program}, SIGSTOP) during a round", program=by.program),
    )


def disturbed_too_often(by: WorkloadDisturbed) -> RunFailed:
    """What ends the run when that went on for MOST_DISTURBED rounds."""
    last = f"{by.program}, {by.signal or 'SIGSTOP'}"
    return RunFailed(
        _(
            "The program that measures was killed or stopped in {count} rounds in a row (last: {last}).",
            count=MOST_DISTURBED,
            last=last,
        ),
        _(
            "Something on this machine kills or stops programs, such as a memory guard or a batch system: "
            "keep it from doing so and run again. The figures so far are kept."
        ),
    )


async def wait_until_quiet(drive: Drive | None, emitter: Emitter, *, longest_s: float) -> float:
    """Wait until other programs leave the machine and `drive` alone, at most `longest_s`; then go on and say so.

    Returns the time waited, in seconds. Our own work is not taken for somebody else's: the kernel's counts are looked
    at over a moment in which the run does nothing.
    """
    began = clock.monotonic()
    while longest_s > 0 and (busy := await _who_is_busy(drive)):
        waited = clock.monotonic() - began
        if emitter.step.stage != "wait":
            emitter.begin("wait", _("waiting for other programs: {busy}", busy=busy), expected_s=longest_s)
        if waited >= longest_s:
            emitter.doubt(busy_machine(busy))
            break
        emitter.progress(_("waiting for other programs: {busy}", busy=busy), Progress(waited / longest_s))
    return clock.monotonic() - began


def busy_machine(busy: str) -> Doubt:
    return Doubt(
        "busy-machine",
        _(
            "Other programs were using the processors or disks meanwhile ({busy}), which widens intervals: "
            "close them and run it again.",
            busy=busy,
        ),
    )


async def _who_is_busy(drive: Drive | None) -> str:
    """What keeps the machine busy, in words; empty where nothing does."""
    disks = drive.name.split("+") if drive else []  # several have one name

    def used_s() -> tuple[float, ...]:
        io_s = (host.this.pressure_total_s("io"), *map(host.this.disk_busy_s, disks))
        return (host.this.pressure_total_s("cpu"), *io_s)

    loads, began, before = host.this.loads(), clock.monotonic(), used_s()
    await clock.pause(WINDOW_S)
    passed_s = clock.monotonic() - began
    processors, *on_disks = (now - then > BUSY_SHARE * passed_s for then, now in zip(before, used_s()))
    if not processors and not any(on_disks):
        return ""
    return who(loads, host.this.loads(), passed_s, disk=any(on_disks))


def who(before: Mapping[int, Load], now: Mapping[int, Load], passed_s: float, *, disk: bool) -> str:
    """Which program used a disk, or else the processors, most between two looks, and how much; in words.

    None of ours, and no thread of the kernel: that works for a program, which may be ours.
    """
    used = [
        load.since(before.get(number))
        for number, load in now.items()
        if 2 not in (number, load.parent) and not _is_ours(number, now)
    ]
    if disk and used:
        most = max(used, key=lambda load: load.read_bytes + load.written_bytes)
        if most.read_bytes + most.written_bytes > LEAST_BYTES_PER_S * passed_s:
            rate = size_text(max(most.read_bytes, most.written_bytes) / passed_s)
            reads = most.read_bytes > most.written_bytes
            return _(N_("`{program}` reads {rate}/s") if reads else N_("`{program}` writes {rate}/s"),
                     program=most.name, rate=rate)  # fmt: skip
    most = max(used, key=lambda load: load.cpu_s, default=Load("", 0))
    if most.cpu_s > BUSY_SHARE * passed_s:
        return _("`{program}` uses {share} of a processor", program=most.name, share=share_text(most.cpu_s / passed_s))
    return _("something uses the disk") if disk else _("something uses the processors")


def _is_ours(number: int, loads: Mapping[int, Load]) -> bool:
    own = int(os.readlink("/proc/self"))
    while number in loads and number != own:
        number = loads[number].parent
    return number == own


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
