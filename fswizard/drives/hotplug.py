"""Disks that are plugged in or pulled while the program looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyudev

from fswizard.drives.disks import inventory
from fswizard.drives.machine import HERE, Machine
from fswizard.model.drive import Drive
from fswizard.system import clock

_SETTLE_S = 0.3
"""One disk makes many events; udev needs about as long to look at it."""
_POLL_S = 2.0
"""How often sysfs is read, events or not: some changes, such as a mount, send none."""


def watch(stopped: Callable[[], bool] = lambda: False, *, machine: Machine = HERE) -> Iterator[tuple[Drive, ...]]:
    """The inventory now, and again whenever it changed, until `stopped()`.

    Blocks between changes for up to `_POLL_S`: run it in a thread. It listens to the kernel's events and reads
    sysfs at intervals, so that it works without udev and without the right to listen.
    """
    monitor = _monitor()
    known = inventory(machine)
    yield known
    while not stopped():
        if monitor is None:
            clock.sleep(_POLL_S)
        elif any(monitor.poll(seconds) is not None for seconds in clock.turns(_POLL_S)):
            clock.sleep(_SETTLE_S)
            while monitor.poll(0) is not None:
                pass
        now = inventory(machine)
        if now != known:
            known = now
            yield known


def _monitor() -> pyudev.Monitor | None:
    """The kernel's own events: they come without a running udev too. None where listening is not allowed."""
    try:
        monitor = pyudev.Monitor.from_netlink(pyudev.Context(), "kernel")
        monitor.filter_by("block")
        monitor.start()
    except (OSError, ValueError):
        return None
    return monitor
