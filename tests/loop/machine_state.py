"""What a run in a directory has on this machine: processes, loop devices, mounts."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from fswizard.system import host

LIMIT_S = 2.0
"""So soon after a kill nothing may be left."""
BUSY_FACTOR = 10
"""On a busy machine a limit is at most so many times as long."""


def lasting(limit_s: float) -> Callable[[], bool]:
    """Whether so much time has not passed yet; that in which programs waited for a processor does not count."""
    began, waited_s = time.monotonic(), host.this.pressure_total_s("cpu")

    def lasts() -> bool:
        gone_s = time.monotonic() - began
        return gone_s - (host.this.pressure_total_s("cpu") - waited_s) < limit_s and gone_s < BUSY_FACTOR * limit_s

    return lasts


def loops_on(directory: Path) -> list[str]:
    """Backing files of loop devices that lie below `directory`, deleted ones too."""
    argv = ["losetup", "--list", "--noheadings", "--output", "BACK-FILE"]
    listed = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if f"{directory}/fswizard-" in line]


def mounts_in(directory: Path) -> list[str]:
    """Mounts of the host below the directories of a run."""
    return [line for line in Path("/proc/self/mounts").read_text().splitlines() if f"{directory}/fswizard-" in line]


def descendants(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() not in ("zombie", "dead")
    except psutil.NoSuchProcess:
        return False


def process_named(name: str, ancestor: int, limit_s: float = 20.0) -> int:
    """The first process of that name below `ancestor`, waited for."""
    lasts = lasting(limit_s)
    while lasts():
        for process in descendants(ancestor):
            try:
                if process.name() == name:
                    return process.pid
            except psutil.NoSuchProcess:
                continue
        time.sleep(0.01)
    raise AssertionError(f"no process {name} came")


def wait_until(condition: Callable[[], object], limit_s: float, what: str) -> None:
    lasts = lasting(limit_s)
    while not condition():
        assert lasts(), f"not within {limit_s:g} s: {what}"
        time.sleep(0.02)


def assert_nothing_lives(directory: Path, pids: list[psutil.Process]) -> None:
    """Within two seconds no process, no loop device and no mount of a run is left."""

    def left() -> list[str]:
        alive = [f"{process.pid} {process.name()}" for process in pids if lives(process)]
        return [*alive, *loops_on(directory), *mounts_in(directory)]

    lasts = lasting(LIMIT_S)
    while lasts():
        try:
            if not left():
                return
        except psutil.NoSuchProcess:
            continue
        time.sleep(0.02)
    assert left() == []


def names_in(directory: Path) -> list[str]:
    return sorted(os.listdir(directory))
