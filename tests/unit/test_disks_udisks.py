"""What becomes of an answer of udisks2's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from fswizard.disks import bus as bus_module
from fswizard.disks import scratch_file, udisks
from fswizard.disks.bus import BusError, Loop, loops
from fswizard.disks.disk import DiskFailed
from fswizard.disks.udisks import UdisksDisk
from fswizard.filesystems import parse_candidate
from fswizard.system import mounts
from fswizard.system.block_device import Tree


class Refusing:
    """A bus on which mounting fails."""

    def __init__(self, name: str) -> None:
        self.error = BusError(name, "for a test")

    def mount(self, name: str, options: str) -> str:
        raise self.error


@pytest.fixture
def disk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[UdisksDisk]:
    file = scratch_file.new(str(tmp_path), 0)
    disk = UdisksDisk(Refusing(request.param), file, None)  # type: ignore[arg-type]
    disk.names = ("loop0",)
    yield disk
    file.close()


@pytest.mark.parametrize("disk", [*udisks.REFUSALS, *udisks.UNSERVED], indirect=True)
async def test_no_candidate_is_to_blame_where_udisks2_serves_the_session_no_longer(disk: UdisksDisk) -> None:
    with pytest.raises(DiskFailed):
        await disk.mount(parse_candidate("ext4"))


@pytest.mark.parametrize("disk", ["Failed"], indirect=True)
async def test_a_candidate_that_the_kernel_does_not_mount_has_failed(disk: UdisksDisk) -> None:
    assert (await disk.mount(parse_candidate("ext4"))).output == "for a test"


def test_a_loop_device_is_known_by_all_of_its_files_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the run knows the name: it may have several lines, blanks at its end, and what is not UTF-8."""
    files = {"loop0": b"/home/a\nb/#12 (deleted)", "loop1": b"/home/a", "loop2": b"/home/\xff/c \n", "loop3": None}
    for name, file in files.items():
        (tmp_path / "sys/block" / name / "loop").mkdir(parents=True)
        if file is not None:
            (tmp_path / "sys/block" / name / "loop/backing_file").write_bytes(file + b"\n")
    monkeypatch.setattr(bus_module, "HERE", Tree(tmp_path))
    assert loops() == (
        Loop("loop0", "/home/a\nb/#12 (deleted)"), Loop("loop1", "/home/a"), Loop("loop2", "/home/\udcff/c \n"),
    )  # fmt: skip


def test_each_device_of_a_file_that_is_gone_may_be_the_mounted_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (0, 1):
        (tmp_path / f"sys/block/loop{number}").mkdir(parents=True)
        (tmp_path / f"sys/block/loop{number}/dev").write_text(f"7:{number}\n")
    monkeypatch.setattr(udisks, "HERE", Tree(tmp_path))
    monkeypatch.setattr(udisks, "loops", lambda: [Loop("loop0", "/gone"), Loop("loop1", "/gone")])
    for device, blind in (("7:0", True), ("7:1", True), ("7:2", False)):
        monkeypatch.setattr(mounts, "current", lambda device=device: {1: SimpleNamespace(device=device)})
        assert udisks._has_unreadable_mounts() is blind
