"""Which disks lie below an image, and what a run as root says of their errors."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest

from fswizard.disks import scratch_file
from fswizard.disks.image import write_test_file
from fswizard.errors import RunFailed
from tests.loop.devices import BTRFS_SIZE, SIZE, Bench
from tests.loop.failing_host import small_host
from tests.loop.machine_state import names_in

pytestmark = [pytest.mark.root, pytest.mark.loop]


@pytest.mark.parametrize(
    ("mkfs", "size_bytes"),
    [("mkfs.ext4", SIZE), pytest.param("mkfs.btrfs", BTRFS_SIZE, marks=pytest.mark.btrfs)],
)
def test_the_disk_below_a_file_is_known(mkfs: str, size_bytes: int, bench: Bench) -> None:
    """btrfs has numbers of its own, which no block device has."""
    case = bench.made(mkfs, "-q", size_bytes=size_bytes)
    with closing(scratch_file.new(str(bench.mount(case.path)), 0)) as file:
        assert file.disks == (os.path.basename(case.path),)


async def test_a_disk_without_room_is_not_called_a_disk_that_fails(tmp_path: Path) -> None:
    with small_host(tmp_path, 16 << 20) as host:
        with pytest.raises(RunFailed, match="is full"):
            await write_test_file(str(host))
        assert names_in(host) == ["lost+found"]
