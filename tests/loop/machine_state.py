"""What a run in a directory has on this machine: processes, loop devices, mounts."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil

LIMIT_S = 2.0
"""So soon after a kill nothing may be left."""


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


def process_named(name: str, ancestor: int, limit_s: float = 20.0) -> int:
    """The first process of that name below `ancestor`, waited for."""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        for process in descendants(ancestor):
            try:
                if process.name() == name:
                    return process.pid
            except psutil.NoSuchProcess:
                continue
        time.sleep(0.01)
    raise AssertionError(f"no process {name} came")


def wait_until(condition: Callable[[], object], limit_s: float, what: str) -> None:
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, f"not within {limit_s:g} s: {what}"
        time.sleep(0.02)


def assert_nothing_lives(directory: Path, pids: list[psutil.Process]) -> None:
    """Within two seconds no process, no loop device and no mount of a run is left."""

    def left() -> list[str]:
        alive = [f"{p.pid} {p.name()}" for p in pids if p.is_running() and p.status() not in ("zombie", "dead")]
        return [*alive, *loops_on(directory), *mounts_in(directory)]

    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        try:
            if not left():
                return
        except psutil.NoSuchProcess:
            continue
        time.sleep(0.02)
    assert left() == []


def names_in(directory: Path) -> list[str]:
    return sorted(os.listdir(directory))
