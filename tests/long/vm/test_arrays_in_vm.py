"""Arrays of md and pools over four disks, on a kernel that has them and with a udev that assembles."""

from __future__ import annotations

import pytest

from tests.long.vm.machine import Machine
from tests.long.vm.runs import ERASE, LINKS, TARGET, measured, on_target

pytestmark = [pytest.mark.vm, pytest.mark.slow, pytest.mark.xdist_group("zfs")]

WHOLE = ("md:raid6+xfs", "md:raid10,chunk=64K+ext4", "zfs:raidz", "zfs:mirror")


def test_layouts_are_measured_and_taken_apart_again(zfs_machine: Machine) -> None:
    result = on_target(zfs_machine, TARGET, "; ".join(WHOLE), *ERASE)
    assert measured(result) == set(WHOLE)
    assert b"active" not in zfs_machine.run("cat", "/proc/mdstat").stdout
    for link in LINKS:
        assert zfs_machine.run("wipefs", "--no-act", link).stdout == b"", link
    assert zfs_machine.run("zpool", "list", "-H").stdout == b""
