"""What a run in a directory has on this machine: processes, loop devices, mounts."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from pathlib import Path

import psutil

LIMIT_S = 60.0
"""Far more than anything waited for takes: a busy machine makes no test fail."""


def loops_below(directory: Path | str) -> list[str]:
    """Loop devices with backing files below `directory`, deleted ones too."""
    found = []
    for entry in Path("/sys/block").glob("loop*/loop/backing_file"):
        try:
            backing = entry.read_text().strip()
        except OSError:  # it was let go meanwhile
            continue
        if backing.startswith(f"{directory}/"):
            found.append(f"{entry.parts[3]} on {backing}")
    return found


def device_of(directory: Path) -> Path:
    """The one loop device on a file in `directory`."""
    (found,) = loops_below(directory)
    return Path("/dev") / found.split()[0]


def descendants(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def alive(processes: Iterable[psutil.Process]) -> list[str]:
    found = []
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            if process.is_running() and process.status() not in ("zombie", "dead"):
                found.append(f"{process.pid} {process.name()}")
    return found


def process_named(name: str, ancestor: int) -> int:
    """The first process of that name below `ancestor`, waited for; others end while they are looked at."""
    found: list[int] = []

    def look() -> bool:
        for process in descendants(ancestor):
            with suppress(psutil.NoSuchProcess):
                if process.name() == name:
                    found.append(process.pid)
        return bool(found)

    wait_until(look, LIMIT_S, f"a process {name} comes")
    return found[0]


def writer_of(result: Path) -> int:
    """The process of the run that writes to a result file, which has locked it."""
    locks = map(str.split, Path("/proc/locks").read_text().splitlines())
    inode = f":{result.stat().st_ino}"
    return next(int(lock[4]) for lock in locks if lock[3] == "WRITE" and lock[5].endswith(inode))


def wait_until(condition: Callable[[], object], limit_s: float, what: str) -> None:
    """Wait for what happens by itself; a short limit lasts LIMIT_S all the same."""
    end_s = time.monotonic() + max(limit_s, LIMIT_S)
    while not condition():
        assert time.monotonic() < end_s, f"{what}: it never happened"
        time.sleep(0.01)


def wait_until_gone(left: Callable[[], Collection[str]]) -> None:
    """Wait until nothing is `left`; the failure says what is."""
    end_s = time.monotonic() + LIMIT_S
    while remaining := left():
        assert time.monotonic() < end_s, f"left behind: {', '.join(sorted(remaining))}"
        time.sleep(0.01)


def assert_nothing_lives(directory: Path, processes: list[psutil.Process]) -> None:
    """No process, no loop device on an image and no mount of the host's below a directory of a run stays."""

    def left() -> list[str]:
        loops = [loop for loop in loops_below(directory) if f" on {directory}/#" in loop]
        mounts = Path("/proc/self/mounts").read_text().splitlines()
        return [*alive(processes), *loops, *(mount for mount in mounts if f"{directory}/fswizard-" in mount)]

    wait_until_gone(left)


def names_in(directory: Path) -> list[str]:
    return sorted(os.listdir(directory))


def left_of_a_run(directory: Path) -> list[str]:
    """Mounts and loop devices below `directory`, and what runs made there; those elsewhere may come and go."""
    mounts = Path("/proc/mounts").read_text().splitlines()
    made = [str(path) for path in directory.rglob("fswizard-*")]
    return [*(line for line in mounts if str(directory) in line), *loops_below(directory), *made]
