"""What the usual kernel leaves out: NTFS through the kernel's own driver."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fswizard.filesystems import catalogue
from tests.recipe_texts import writing
from tests.vm import table
from tests.vm.disks import MEASURED
from tests.vm.machine import Machine, booted
from tests.vm.root import NEWER
from tests.vm.runs import on_disk

pytestmark = [pytest.mark.vm, pytest.mark.slow]

COMPRESSED = "ntfs:compression"
"""This driver refuses direct writes to compressed files ("direct i/o + compressed not supported")."""


@pytest.fixture(scope="module")
def newer_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with booted(tmp_path_factory.mktemp("machine"), [MEASURED], suite=NEWER) as machine:
        yield machine


def test_ntfs_is_measured_through_the_kernels_own_driver_with_each_option(newer_machine: Machine) -> None:
    filesystem = catalogue()["ntfs"]
    mounted = ["noatime", *(option.name for option in filesystem.mount_options if "atime" not in option.name)]
    names = ["ntfs", *(f"ntfs:{option}" for option in mounted), "ntfs:cluster=64k"]
    candidates = "; ".join(["ext4", *names, COMPRESSED])
    run = on_disk(newer_machine, MEASURED, candidates, "--rounds", "1..1", recipe=writing("512M", "16M", 1))
    run.assert_whole(1, *names)
    assert run.failures(COMPRESSED), "a workload that it refuses is its failure"
    table.note("ntfs (ntfs3)", "whole run", f"1 round, {run.ratio('ntfs'):.2f} times ext4")
    table.note("ntfs (ntfs3)", "mount options", ",".join(mounted))
