"""What age does to files on a hard disk: seconds by the model of a disk, on real filesystems that really aged."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from fswizard.engines.shared import ageing_worker
from tests.long.simulated.disks import Mechanics
from tests.long.simulated.nbd import attached
from tests.loop.devices import run

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.nbd, pytest.mark.slow]

SIZE = 2 << 30
FILE_BYTES = 192 << 20
MKFS = {"ext4": ("mkfs.ext4", "-q", "-F"), "xfs": ("mkfs.xfs", "-q", "-f"), "btrfs": ("mkfs.btrfs", "-q", "-f")}


@dataclass
class Counting(Mechanics):
    """Takes no time, and counts what reads would have taken."""

    size_bytes: int = SIZE
    read_took_s: float = 0.0

    def read_s(self, offset: int, length: int) -> float:
        self.read_took_s += self.access_s(offset, length)
        return 0.0

    def write_s(self, offset: int, length: int) -> float:
        self._at = offset + length
        return 0.0


@pytest.mark.parametrize(
    ("filesystem", "slower"),
    [
        ("ext4", 2.0),
        pytest.param("xfs", 1.1, marks=pytest.mark.xfs),
        pytest.param("btrfs", 1.3, marks=pytest.mark.btrfs),
    ],
)
def test_a_file_that_is_written_to_an_aged_filesystem_is_read_slower(
    filesystem: str, slower: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    disk = Counting()
    with attached(disk, tmp_path, timed=False) as device:
        run(*MKFS[filesystem], device)
        point = tmp_path / "mounted"
        point.mkdir()

        def took_s(work: Callable[[], object]) -> float:
            """Seconds of reading, with empty caches."""
            run("mount", "-o", "noatime", device, str(point))
            disk.read_took_s = 0.0
            work()
            seconds = disk.read_took_s
            run("umount", str(point))
            return seconds

        def rate(name: str) -> float:
            """MB/s that a file is read with, which is written first."""
            took_s(lambda: (point / name).write_bytes(os.urandom(FILE_BYTES)))
            return FILE_BYTES / 1e6 / took_s((point / name).read_bytes)

        new = rate("new")
        took_s((point / "new").unlink)
        command = [sys.executable, ageing_worker.__file__, str(point / "years"), "1", str(3 * SIZE), str(SIZE // 3)]
        took_s(lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=True))
        old = rate("old")
    with capsys.disabled():
        print(f" {filesystem}: {new:.0f} MB/s new, {old:.0f} aged", end="")
    assert new >= slower * old
