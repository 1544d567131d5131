"""OpenZFS as a real module of the kernel, in a machine whose making takes many minutes longer for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.vm import table
from tests.vm.disks import MEASURED
from tests.vm.machine import Machine, booted
from tests.vm.runs import link, on_disk

pytestmark = [pytest.mark.vm, pytest.mark.slow]

TUNED = "zfs:compression=zstd,recordsize=16k,atime=off"


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with booted(tmp_path_factory.mktemp("machine"), [MEASURED], zfs=True) as machine:
        yield machine


def pools(machine: Machine) -> list[str]:
    return machine.run("zpool", "list", "-H", "-o", "name").stdout.decode().split()


def test_a_pool_is_measured_and_nothing_is_left_of_it(machine: Machine) -> None:
    run = on_disk(machine, MEASURED, f"ext4; zfs; {TUNED}", "--rounds", "3..3")
    assert run.finished.exit_code == 0, run.finished.output
    for name in ("zfs", TUNED):
        assert run.rounds(name) == {1, 2, 3}, run.finished.output
        assert min(run.rates(name)) > 0
    assert "zfs-through-openzfs" in {doubt["code"] for doubt in run.report["doubts"]}
    assert pools(machine) == []
    assert machine.run("wipefs", "--no-act", link(MEASURED)).stdout == b""
    table.note("zfs", "whole run", f"3 rounds, {run.ratio('zfs'):.2f} times ext4")
    table.note("zfs", "mount options", TUNED.partition(":")[2])
