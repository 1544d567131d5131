"""What the kernel and udev tell about block devices, below one directory: a recorded machine reads like this one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyudev

from fswizard.model.text import safe
from fswizard.privileged.block_device import Tree

Properties = Mapping[str, str]

_own = threading.local()
"""Of each thread, as libudev wants it: its `context`. To make one, the system's list of libraries is searched."""


def udev_properties(name: str) -> Properties:
    """udev's database entry of the block device `name`; the kernel's own few properties where udev does not run."""
    try:
        if not hasattr(_own, "context"):
            _own.context = pyudev.Context()
        device = pyudev.Devices.from_name(_own.context, "block", name.replace("!", "/"))
        return dict(device.properties)
    except (pyudev.DeviceNotFoundError, OSError, UnicodeDecodeError):
        return {}


@dataclass(frozen=True, slots=True)
class Machine(Tree):
    """The same, with udev's database, and texts that are harmless."""

    properties: Callable[[str], Properties] = udev_properties

    @property
    def live(self) -> bool:
        """True for the machine that the program runs on."""
        return self.root == Path("/")

    def text(self, path: str) -> str:
        """One attribute, harmless and without surrounding blanks."""
        return safe(Tree.text(self, path)).strip()


HERE = Machine()
