"""What the kernel and udev tell about block devices, below one directory: a recorded machine reads like this one."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyudev

from fswizard.model.text import safe

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
class Machine:
    """A place to read /sys, /proc and /dev from. Reading what is not there gives an empty answer, never an error."""

    root: Path = Path("/")
    properties: Callable[[str], Properties] = udev_properties

    @property
    def live(self) -> bool:
        """True for the machine that the program runs on."""
        return self.root == Path("/")

    def path(self, path: str) -> Path:
        return self.root / path.lstrip("/")

    def bytes(self, path: str) -> bytes:
        try:
            return self.path(path).read_bytes()
        except OSError:
            return b""

    def text(self, path: str) -> str:
        """One attribute, harmless and without surrounding blanks."""
        return safe(self.bytes(path).strip(b"\0 \t\r\n")).strip()

    def lines(self, path: str) -> list[str]:
        """The lines of a table such as /proc/swaps, raw: its fields still have to go through `safe`."""
        return self.bytes(path).decode("utf-8", "surrogateescape").splitlines()

    def number(self, path: str, default: int = 0) -> int:
        try:
            return int(self.bytes(path))
        except ValueError:
            return default

    def names(self, path: str) -> tuple[str, ...]:
        """Entries of a directory, sorted."""
        try:
            return tuple(sorted(entry.name for entry in self.path(path).iterdir()))
        except OSError:
            return ()

    def real(self, path: str) -> str:
        """`path` with all links resolved, as seen from below the root."""
        with contextlib.suppress(OSError, ValueError):
            return "/" + str(self.path(path).resolve().relative_to(self.root.resolve()))
        return path


HERE = Machine()
