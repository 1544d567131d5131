"""The disks of which arrays are made inside the test machine."""

from __future__ import annotations

import time

from tests.vm.disks import MEMBERS
from tests.vm.machine import TIMEOUT_S, Machine

LINKS = [f"/dev/disk/by-id/virtio-{member.serial}" for member in MEMBERS]
TARGET = f"devices:{','.join(LINKS)}"
ERASE = ("--erase", ",".join(member.serial for member in MEMBERS))


def await_arrays(machine: Machine, *, there: bool) -> None:
    """Waits until an array of md is active, or none is."""
    deadline = time.monotonic() + TIMEOUT_S
    while (b"active" in (arrays := machine.run("cat", "/proc/mdstat").stdout)) != there:
        assert time.monotonic() < deadline, arrays
        time.sleep(1)


def forget_members(machine: Machine) -> None:
    """Wipes what a run that was killed could not wipe."""
    for link in LINKS:
        machine.run("wipefs", "--all", link)
