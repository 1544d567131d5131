"""What becomes of an answer of udisks2's."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from fswizard.disks import bus as bus_module
from fswizard.disks import scratch_file
from fswizard.disks.bus import Bus, BusError, loops
from fswizard.disks.disk import DiskFailed
from fswizard.disks.udisks import UdisksDisk
from fswizard.filesystems import parse_candidate
from fswizard.system.block_device import Tree
from fswizard.system.process import Finished


async def mounted(error: str, directory: Path) -> Finished:
    """What becomes of mounting where udisks2 answers with this error."""

    def mount(name: str, options: str) -> str:
        raise BusError(error, "for a test")

    file = scratch_file.new(str(directory), 0)
    with closing(file):
        disk = UdisksDisk(cast(Bus, SimpleNamespace(mount=mount)), file, None)
        disk.names = ("loop0",)
        return await disk.mount(parse_candidate("ext4"))


@pytest.mark.parametrize("error", ["NotAuthorizedCanObtain", "NoReply", "OptionNotPermitted"])
async def test_no_candidate_is_to_blame_where_udisks2_serves_the_session_no_longer(error: str, tmp_path: Path) -> None:
    with pytest.raises(DiskFailed):
        await mounted(error, tmp_path)


async def test_a_candidate_that_the_kernel_does_not_mount_has_failed(tmp_path: Path) -> None:
    assert (await mounted("Failed", tmp_path)).output == "for a test"


async def test_a_workload_gains_no_rights_and_can_be_found_by_the_name_of_its_image(tmp_path: Path) -> None:
    file = scratch_file.new(str(tmp_path), 0)
    with closing(file):
        disk = UdisksDisk(cast(Bus, None), file, None)
        argv = ["sh", "-c", f'grep NoNewPrivs /proc/self/status; echo "${bus_module.IMAGE}"']
        ended = await (await disk.start(argv, cwd=str(tmp_path), env={})).wait()
        assert ended.output.split(maxsplit=2) == ["NoNewPrivs:", "1", file.identity]


def test_a_loop_device_is_known_by_all_of_its_files_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the run knows the name: it may have several lines, blanks at its end, and what is not UTF-8."""
    files = {"loop0": b"/home/a\nb/#12 (deleted)", "loop1": b"/home/a", "loop2": b"/home/\xff/c \n", "loop3": None}
    for name, file in files.items():
        (tmp_path / "sys/block" / name / "loop").mkdir(parents=True)
        if file is not None:
            (tmp_path / "sys/block" / name / "loop/backing_file").write_bytes(file + b"\n")
    monkeypatch.setattr(bus_module, "HERE", Tree(tmp_path))
    assert loops() == {"loop0": "/home/a\nb/#12 (deleted)", "loop1": "/home/a", "loop2": "/home/\udcff/c \n"}
