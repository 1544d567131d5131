"""Loop devices of a run that was started as root."""

from __future__ import annotations

import fcntl
import os
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from fswizard.disks import loop
from fswizard.disks.loop import LoopDevice
from fswizard.disks.scratch_file import ScratchFile
from fswizard.errors import Missing
from fswizard.system import clock
from tests.loop.devices import Bench, make_image, run
from tests.loop.machine_state import wait_until

pytestmark = [pytest.mark.root, pytest.mark.loop]

SIZE = 64 << 20
HOSTS = [
    pytest.param(("ext4", "-Fq", 160), id="ext4"),
    pytest.param(("btrfs", "-fq", 320), id="btrfs", marks=pytest.mark.btrfs),
]
BLKDISCARD, BLKZEROOUT = 0x1277, 0x127F


def image(directory: Path) -> ScratchFile:
    path = make_image(directory, SIZE)
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_DIRECT)
    path.unlink()
    return ScratchFile(descriptor, SIZE)


@pytest.mark.parametrize("sector_bytes", [512, 4096])
def test_a_loop_device_has_direct_io_and_goes_with_its_last_user(sector_bytes: int, bench: Bench) -> None:
    """Also on disks of large sectors."""
    disk = bench.attach(bench.file("host", SIZE * 2), f"--sector-size={sector_bytes}")
    run("mkfs.ext4", "-Fq", disk)
    file = image(bench.mount(disk))
    device = loop.attach(file)
    file.close()
    sysfs = Path("/sys/block") / device.name
    assert (sysfs / "loop/dio").read_text() == "1\n"
    assert (sysfs / "loop/autoclear").read_text() == "1\n"
    assert int((sysfs / "queue/logical_block_size").read_text()) == sector_bytes
    assert int((sysfs / "size").read_text()) * 512 == SIZE
    os.close(device.descriptor)  # as when the run is killed
    wait_until(lambda: not (sysfs / "loop/backing_file").exists(), 60, "it is gone")


@pytest.fixture
def host(request: pytest.FixtureRequest, bench: Bench) -> Path:
    """A filesystem below an image."""
    kind, flags, mib = request.param
    return bench.mount(bench.made(f"mkfs.{kind}", flags, size_bytes=mib << 20).path)


@pytest.fixture
def device(host: Path) -> Iterator[LoopDevice]:
    device = loop.attach(image(host))
    yield device
    device.detach()


def given_back(device: LoopDevice) -> int:
    """Bytes of the image for which the filesystem below it keeps no room."""
    os.fsync(device.file.descriptor)
    return max(0, SIZE - os.fstat(device.file.descriptor).st_blocks * 512)


@pytest.mark.parametrize("host", HOSTS, indirect=True)
def test_an_image_keeps_all_its_blocks_whatever_is_discarded_or_zeroed(device: LoopDevice, tmp_path: Path) -> None:
    """Else the kernel would fill its holes with root's rights, also with blocks that are reserved for root."""
    everything, mounted = struct.pack("=QQ", 0, SIZE), tmp_path / "mounted"
    with pytest.raises(OSError, match="Operation not supported"):
        fcntl.ioctl(device.descriptor, BLKDISCARD, everything)
    punch = ["fallocate", "--punch-hole", "--length", str(SIZE), device.path]
    assert subprocess.run(punch, capture_output=True, check=False).returncode != 0
    os.pwrite(device.descriptor, b"x" * 4096, 4096)
    fcntl.ioctl(device.descriptor, BLKZEROOUT, everything)
    assert os.pread(device.descriptor, 4096, 4096) == bytes(4096)
    assert given_back(device) == 0
    mounted.mkdir()
    run("mkfs.ext4", "-Fq", "-E", "discard,lazy_itable_init=1", device.path)
    run("mount", "-o", "discard", device.path, str(mounted))
    (mounted / "file").write_bytes(bytes(16 << 20))
    run("sync", "--file-system", str(mounted))
    (mounted / "file").unlink()
    run("sync", "--file-system", str(mounted))
    assert subprocess.run(["fstrim", mounted], capture_output=True, check=False).returncode != 0
    run("umount", str(mounted))
    assert given_back(device) == 0


def test_a_device_that_keeps_blocks_is_not_left_to_others(tmp_path: Path) -> None:
    """Since Linux 6.9 its refusal to discard lasts as long as the device, across users."""
    device = loop.attach(image(tmp_path))
    number = Path("/sys/block", device.name, "diskseq")
    before = number.read_text()
    device.detach()

    def is_gone() -> bool:
        loop._remove(*loop.NUMBERS)  # udev may still have looked at it before
        return not number.exists() or number.read_text() != before

    wait_until(is_gone, 60, "the device is gone")


def test_a_device_in_use_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    device = loop.attach(image(tmp_path))
    monkeypatch.setattr(loop, "NUMBERS", (int(device.name.removeprefix("loop")),))
    with pytest.raises(Missing, match="no loop device"):
        loop.attach(device.file)
    device.detach()


def test_a_device_is_locked_once_udev_lets_go_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file in place of it: locks are the same."""
    path = tmp_path / "loop"
    path.touch()
    with path.open("rb") as own, path.open("rb") as udev, path.open("rb") as other:
        fcntl.flock(udev, fcntl.LOCK_SH)
        monkeypatch.setattr(clock, "sleep", lambda seconds: udev.close())
        loop._lock(own.fileno(), "loop")
        with pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_SH | fcntl.LOCK_NB)
