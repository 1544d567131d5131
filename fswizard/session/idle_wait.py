"""Disturbances of a measurement: other programs, a stopped program, a suspended machine."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping

from fswizard.engines import WorkloadDisturbed
from fswizard.language import _
from fswizard.model.drive import Drive
from fswizard.model.result import Doubt
from fswizard.model.units import share_text, size_text
from fswizard.progress.emitter import Emitter
from fswizard.progress.workload_events import Progress
from fswizard.system import clock, host
from fswizard.system.host import Load

BUSY_SHARE = 0.05
"""The machine is busy if tasks wait for a processor or a disk (PSI `some`), or the measured disk is active, for more
than this share of the time."""
LEAST_BYTES_PER_S = 100e3
"""Minimum rate of a program that is reported as using the disk."""
KERNEL_THREADS = 2
"""PID of kthreadd, their parent."""
WINDOW_S = 0.25
"""Duration of one observation."""
LONGEST_WAIT_S = 60.0
OFTEN = 3
"""Number of busy waits from which on other programs disturbed the run, if they were at least a third of all waits."""
STANDSTILL_S = 1.0
"""Maximum time that the machine may sleep in a round that counts."""
JUMP_S = 5.0


class IdleWait:
    """Waits before rounds until other programs leave the machine and a disk alone, up to a limit for the whole run."""

    def __init__(self, drive: Drive | None, emitter: Emitter, limit_s: float) -> None:
        self._disks = drive.name.split("+") if drive else []  # several have one name
        self._emitter = emitter
        self._left_s = limit_s
        self._waits = 0
        self._busy_waits = 0

    async def wait(self) -> None:
        """Wait until the machine is quiet or the time is used up; raises a doubt if other programs disturb the run.

        They do if they are still active at the end of the wait, or often enough that they must have been active
        during rounds. The counters are read while the run is idle, so its work is not attributed to other programs.
        """
        if self._left_s <= 0:
            return
        began_s = clock.monotonic()
        self._waits += 1
        disturbing = ""
        while busy := await self._busy_with():
            waited_s = clock.monotonic() - began_s
            text = _("waiting for other programs: {busy}", busy=busy)
            if self._emitter.step.stage != "wait":
                self._emitter.begin("wait", text)
                self._busy_waits += 1
                if self._busy_waits >= max(OFTEN, self._waits / 3):
                    disturbing = busy
            if waited_s >= self._left_s:
                disturbing = busy
                break
            self._emitter.progress(text, Progress(waited_s / self._left_s))
        self._left_s -= clock.monotonic() - began_s
        if disturbing:
            text = _(
                "Other programs were using the processors or disks meanwhile ({busy}), which widens intervals: "
                "close them and run it again.",
                busy=disturbing,
            )
            self._emitter.doubt(Doubt("busy-machine", text))

    async def _busy_with(self) -> str:
        """Description of what keeps the machine busy; empty if it is idle."""
        loads, began_s, before_s = host.this.loads(), clock.monotonic(), self._used_s()
        await clock.pause(WINDOW_S)
        passed_s = clock.monotonic() - began_s
        processors, *disks = (now - then > BUSY_SHARE * passed_s for then, now in zip(before_s, self._used_s()))
        if processors or any(disks):
            return busiest_process(loads, host.this.loads(), passed_s, disk=any(disks))
        return ""

    def _used_s(self) -> list[float]:
        """Time for which tasks waited for processors and for disks, and for which the measured disks were active."""
        pressure_s = [host.this.pressure_total_s("cpu"), host.this.pressure_total_s("io")]
        return [*pressure_s, *map(host.this.disk_busy_s, self._disks)]


def busiest_process(before: Mapping[int, Load], now: Mapping[int, Load], passed_s: float, *, disk: bool) -> str:
    """Description of the program that used a disk, or else the processors, most between two observations.

    Neither this process nor kernel threads, which may work for it, are considered.
    """
    own_pid = int(os.readlink("/proc/self"))
    used = [Load("", 0)]
    for number, load in now.items():
        if number not in (own_pid, KERNEL_THREADS) and load.parent != KERNEL_THREADS:
            used.append(load.since(before.get(number)))
    most = max(used, key=lambda load: load.read_bytes + load.written_bytes)
    bytes_per_s = (most.read_bytes + most.written_bytes) / passed_s
    if disk and bytes_per_s > LEAST_BYTES_PER_S:
        return _("{program} reads and writes {rate}/s", program=most.name, rate=size_text(bytes_per_s))
    most = max(used, key=lambda load: load.cpu_s)
    if most.cpu_s > BUSY_SHARE * passed_s:
        return _("{program} uses {share} of a processor", program=most.name, share=share_text(most.cpu_s / passed_s))
    return _("a program of another user, or the kernel")


class Clocks:
    """Context manager that detects whether the machine slept, this program was stopped, or the clock was set."""

    def __enter__(self) -> Clocks:
        self._began_s = self._read_s()
        self._stopped = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGCONT, self._stopped.set)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.get_running_loop().remove_signal_handler(signal.SIGCONT)

    def jumped(self) -> Doubt | None:
        """The disturbance so far, if any."""
        running_s, asleep_s, wall_s = (now - then for now, then in zip(self._read_s(), self._began_s))
        if asleep_s - running_s > STANDSTILL_S:
            return not_counted("suspended", _("The machine slept during a round"))
        if self._stopped.is_set():
            return not_counted("stopped", _("fswizard was stopped during a round (Ctrl-Z, SIGSTOP)"))
        if abs(wall_s - asleep_s) > JUMP_S:
            return not_counted("clock-jump", _("The clock was set during a round"))
        return None

    @staticmethod
    def _read_s() -> tuple[float, float, float]:
        return clock.monotonic(), clock.boottime(), clock.wall()


def disturbed_by(by: WorkloadDisturbed) -> Doubt:
    """Doubt about a round in which someone killed or stopped one of our programs."""
    fields = {"program": by.program, "signal": by.signal or "SIGSTOP"}
    what = _("The program that measures was killed or stopped during a round ({program}, {signal})", **fields)
    return not_counted("program-killed" if by.signal else "program-stopped", what)


def not_counted(code: str, what: str) -> Doubt:
    """Doubt that explains why a round does not count."""
    return Doubt(code, _("{what}, so that round doesn't count; another replaces it if time is left.", what=what))
