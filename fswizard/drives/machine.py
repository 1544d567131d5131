"""The kernel's and udev's data on block devices and mounts, below one directory, so that machines can be recorded."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyudev

from fswizard.model.text import safe
from fswizard.privileged.block_device import Tree
from fswizard.privileged.mounts import Mount, parse

Properties = Mapping[str, str]

_own = threading.local()
"""`context` of libudev, one for each thread; making one takes a search for the library."""


def udev_properties(name: str) -> Properties:
    """udev's database entry of the block device `name`; the kernel's few properties if udev does not run."""
    try:
        if not hasattr(_own, "context"):
            _own.context = pyudev.Context()
        device = pyudev.Devices.from_name(_own.context, "block", name.replace("!", "/"))
        return dict(device.properties)
    except (pyudev.DeviceNotFoundError, OSError, UnicodeDecodeError):
        return {}


@dataclass(frozen=True, slots=True)
class Machine(Tree):
    """A `Tree` with udev's database, and with harmless texts."""

    properties: Callable[[str], Properties] = udev_properties

    @property
    def live(self) -> bool:
        """Whether this is the machine that the program runs on."""
        return self.root == Path("/")

    def text(self, path: str) -> str:
        """One attribute, harmless and without surrounding blanks."""
        return safe(Tree.text(self, path)).strip()


HERE = Machine()


def mounts(machine: Machine = HERE) -> tuple[Mount, ...]:
    """Mounts as this process sees them; their paths must be made `safe` before they are shown."""
    return parse(machine.lines("/proc/self/mountinfo"))


def mount_of(path: str, table: Iterable[Mount]) -> Mount | None:
    """The mount of `path`, which must be absolute without links; the latest if several cover each other."""
    over = [mount for mount in table if f"{path}/".startswith(mount.path.rstrip("/") + "/")]
    return max(reversed(over), key=lambda mount: len(mount.path), default=None)
