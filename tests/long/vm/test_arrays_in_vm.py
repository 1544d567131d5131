"""Arrays of md, pools and btrfs over four disks, on a kernel that has all of them and with a udev that assembles."""

from __future__ import annotations

import pytest

from tests.long.vm.machine import Machine
from tests.long.vm.runs import (
    ERASE,
    LINKS,
    RUN_S,
    TARGET,
    await_arrays,
    await_words,
    forget_members,
    on_target,
    prepared,
    signal_runs,
)  # fmt: skip
from tests.recipe_texts import writing

pytestmark = [pytest.mark.vm, pytest.mark.slow, pytest.mark.xdist_group("zfs")]

WHOLE = (
    "md:raid5+ext4",
    "md:raid6+xfs",
    "md:raid10,chunk=64K+ext4",
    "zfs:raidz",
    "zfs:raidz2",
    "zfs:mirror",
    "btrfs:raid1",
    "btrfs:raid10",
    "ext4",
)
RECIPE = writing("512M", "16M", 1)


def test_every_layout_is_measured_and_taken_apart_again(zfs_machine: Machine) -> None:
    run = on_target(zfs_machine, TARGET, "; ".join(WHOLE), *ERASE, "--rounds", "1..1", recipe=RECIPE)
    run.assert_whole(1, *WHOLE)
    assert b"active" not in zfs_machine.run("cat", "/proc/mdstat").stdout
    for link in LINKS:
        assert zfs_machine.run("wipefs", "--no-act", link).stdout == b"", link
    assert zfs_machine.run("zpool", "list", "-H").stdout == b""


def test_a_killed_run_leaves_no_array_behind(zfs_machine: Machine) -> None:
    argv = prepared(zfs_machine, TARGET, "md:raid5+ext4", *ERASE, "--rounds", "3..3", recipe=RECIPE)
    running = zfs_machine.start(*argv, timeout_s=RUN_S)
    await_words(zfs_machine, running, '"sample":{"round":1')
    signal_runs(zfs_machine, "KILL")
    running.wait()
    zfs_machine.run("fswizard", "clean")
    await_arrays(zfs_machine, there=False)
    forget_members(zfs_machine)
