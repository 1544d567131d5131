"""Watch for disks that are plugged in or removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyudev

from fswizard.drives.inventory import inventory
from fswizard.model.drive import Drive
from fswizard.system import clock

_POLL_S = 2.0
"""Time between reads of sysfs without events, as some changes, such as a mount, send none."""


def watch(stopped: Callable[[], bool] = lambda: False) -> Iterator[tuple[Drive, ...]]:
    """The inventory now, and again whenever it changed, until `stopped()`.

    Blocks for up to `_POLL_S`: run it in a thread. It reads sysfs at intervals too, so it works without udev and
    without the right to listen to events.
    """
    monitor = _monitor()
    previous = inventory()
    yield previous
    while not stopped():
        if monitor is None:
            clock.sleep(_POLL_S)
        elif any(monitor.poll(seconds) is not None for seconds in clock.turns(_POLL_S)):
            clock.sleep(0.3)  # one disk causes many events, and udev needs about that long to process them
            while monitor.poll(0) is not None:
                pass
        current = inventory()
        if current != previous:
            previous = current
            yield previous


def _monitor() -> pyudev.Monitor | None:
    """Subscribe to kernel events, which need no udev; None without permission."""
    try:
        monitor = pyudev.Monitor.from_netlink(pyudev.Context(), "kernel")
        monitor.filter_by("block")
        monitor.start()
    except (OSError, ValueError):
        return None
    return monitor
