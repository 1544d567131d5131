"""Which disks lie below an image, and what a run as root says of their errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from fswizard.disks import scratch_file
from fswizard.disks.directory import PreparedDirectories, errors_under
from fswizard.disks.image import write_test_file
from fswizard.disks.journal import Journal
from fswizard.disks.root import RootDisk, RootDisks, open_root
from fswizard.errors import OutOfMemory, RunFailed
from fswizard.filesystems import parse_candidate
from fswizard.progress.emitter import Emitter
from tests.loop.devices import BTRFS_SIZE, SIZE, Bench
from tests.loop.failing_host import small_host
from tests.loop.machine_state import names_in
from tests.loop.root_disk import image, make, mount

pytestmark = [pytest.mark.root, pytest.mark.loop]
PR_SET_NAME = 15
"""Of prctl(2)."""
LIMIT_BYTES = 64 << 20


@pytest.mark.parametrize(
    ("mkfs", "size_bytes"),
    [("mkfs.ext4", SIZE), pytest.param("mkfs.btrfs", BTRFS_SIZE, marks=pytest.mark.btrfs)],
)
def test_the_disk_below_a_file_is_known(mkfs: str, size_bytes: int, bench: Bench) -> None:
    """btrfs has numbers of its own, which no block device has."""
    case = bench.made(mkfs, "-q", size_bytes=size_bytes)
    with closing(scratch_file.new(str(bench.mount(case.path)), 0)) as file:
        assert file.disks == (os.path.basename(case.path),)


def test_memory_is_no_disk() -> None:
    errors = errors_under("/dev/shm")
    assert errors.of_disks() == []
    errors.close()


async def test_an_io_error_in_a_directory_ends_the_run_even_where_nobody_says_whose_it_was(tmp_path: Path) -> None:
    """Whoever may not read the kernel's log cannot tell the disk from the filesystem."""
    emitter = Emitter(lambda event: None)
    with closing(Journal(tmp_path / "result.jsonl")) as journal:
        prepared = PreparedDirectories(emitter, journal, str(tmp_path), None)
        await prepared.check_device(reading=False)
        with pytest.raises(RunFailed, match="can no longer be read or written") as failed:
            await prepared.check_device(reading=True)
    assert "dmesg" in failed.value.hint


async def test_a_disk_without_room_is_not_called_a_disk_that_fails(tmp_path: Path) -> None:
    with small_host(tmp_path, 16 << 20) as host:
        with pytest.raises(RunFailed, match="is full"):
            await write_test_file(str(host))
        assert names_in(host) == ["lost+found"]


async def test_a_device_is_asked_for_its_errors_whatever_was_made_on_it(disks: RootDisks, tmp_path: Path) -> None:
    disk = await image(disks, tmp_path)
    assert await disk.disk_errors() == ()
    candidate = await make(disk)
    assert await disk.disk_errors() == ()
    await mount(disk, candidate)
    Path("/sys/fs/ext4", disk.names[0], "trigger_fs_error").write_text("made by a test")
    assert await disk.disk_errors() == (), "it is the filesystem's own"
    assert (await disk.errors(candidate))["errors_count"] == 1
    await disk.umount()
    await mount(disk, await make(disk))
    assert await disk.errors(candidate) == {}, "the next filesystem is not blamed for it"
    await disk.umount()


@pytest.mark.cgroup
async def test_a_process_that_is_named_like_the_disk_and_runs_out_of_memory_blames_nothing(tmp_path: Path) -> None:
    async with open_root(LIMIT_BYTES) as disks:
        await _runs_out_of_memory(await image(disks, tmp_path))


async def _runs_out_of_memory(disk: RootDisk) -> None:
    (name,) = disk.names
    greedy = f"""\
import ctypes
ctypes.CDLL(None).prctl({PR_SET_NAME}, b"{name}")
ctypes.string_at(0) if "crash" in __import__("sys").argv else b"x" * (1 << 30)"""
    with log_from_here() as logged:
        with pytest.raises(OutOfMemory):
            command = (sys.executable, "-c", greedy)
            await (await disk.start(command, cwd="/", env={}, memory_bytes=LIMIT_BYTES)).wait()
        await (await disk.start((*command, "crash"), cwd="/", env={})).wait()
        told = logged()
    assert any("Killed process" in line and f"({name})" in line for line in told), told
    assert await disk.disk_errors() == ()
    assert await disk.errors(parse_candidate("ext2")) == {}


@contextmanager
def log_from_here() -> Iterator[Callable[[], list[str]]]:
    """What the kernel's log says from here on."""
    log = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    os.lseek(log, 0, os.SEEK_END)

    def read() -> list[str]:
        lines: list[str] = []
        with suppress(BlockingIOError):
            while True:
                lines.append(os.read(log, 8192).decode())
        return lines

    try:
        yield read
    finally:
        os.close(log)
