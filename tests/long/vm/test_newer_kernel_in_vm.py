"""What the kernel of the usual machine leaves out: NTFS through the kernel's own driver."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.long.vm.disks import MEASURED
from tests.long.vm.machine import booted
from tests.long.vm.runs import measured, on_disk

pytestmark = [pytest.mark.vm, pytest.mark.slow, pytest.mark.xdist_group("zfs")]

TUNED = "ntfs:noatime,prealloc,sparse,discard,cluster=64k"
COMPRESSED = "ntfs:compression"
"""This driver refuses direct writes to compressed files ("direct i/o + compressed not supported")."""


def test_ntfs_is_measured_through_the_kernels_own_driver_with_each_option(tmp_path: Path) -> None:
    with booted(tmp_path, [MEASURED], kind="newer") as machine:
        result = on_disk(machine, MEASURED, f"ntfs; {TUNED}; {COMPRESSED}")
    assert measured(result) == {"ntfs", TUNED}
    assert {failure.candidate for failure in result.failures} == {COMPRESSED}, "it refuses the workload"
