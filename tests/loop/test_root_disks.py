"""Disks of a run that was started as root: real filesystems on loop devices, without the run."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import psutil
import pytest

from fswizard.disks import loop, stack
from fswizard.disks.disk import DiskFailed
from fswizard.disks.root import RootDisk, RootDisks, open_root
from fswizard.errors import Refused, RunFailed
from fswizard.filesystems import catalogue, parse_candidate
from tests.loop.devices import Bench, digest, run
from tests.loop.failing_host import failing_disk, fill
from tests.loop.machine_state import LIMIT_S, alive, loops_below, wait_until
from tests.loop.root_disk import SIZE, image, made_and_mounted, make, mount, said, umount

pytestmark = [pytest.mark.root, pytest.mark.loop]

CANDIDATES = [
    ("ext4:noatime,commit=30", {"noatime", "commit=30", "errors=remount-ro"}),
    pytest.param("xfs:logbsize=256k", {"logbsize=256k"}, marks=pytest.mark.xfs),
    pytest.param("btrfs:noatime,compress=zstd:1", {"noatime", "compress=zstd:1"}, marks=pytest.mark.btrfs),
    pytest.param("ntfs-3g", set(), marks=pytest.mark.ntfs_3g),
]


def options_of(disk: RootDisk) -> set[str]:
    """With which the kernel says that it is mounted, those of the mount and of the filesystem."""
    return {*run("findmnt", "--noheadings", "--output", "OPTIONS", disk.directory).strip().split(",")}


@pytest.mark.parametrize(("name", "options"), CANDIDATES)
async def test_a_filesystem_is_made_mounted_used_checked_and_taken_away(
    name: str, options: set[str], disks: RootDisks, tmp_path: Path
) -> None:
    """With the options that were asked for, and so that nothing on it has rights or stops the machine."""
    candidate = parse_candidate(name)
    disk = await image(disks, tmp_path, max(SIZE, candidate.filesystem.minimum_bytes))
    assert [found.split()[0] for found in loops_below(tmp_path)] == [*disk.names]
    for _ in range(2):  # a second time over the first
        await made_and_mounted(disk, name)
        assert {"nosuid", "nodev", *options} <= options_of(disk)
        script = "echo hello > file && stat --format=%u:%g . file"
        assert {*(await said(disk, "sh", "-c", script)).split()} == {f"{os.getuid()}:{os.getgid()}"}
        assert os.stat(disk.directory).st_mode & 0o077 == 0 or candidate.filesystem.mount_type in ("ntfs-3g", "fuseblk")
        await disk.sync()
        assert await disk.errors() == {}
        await umount(disk)
        await mount(disk, candidate)
        assert await said(disk, "cat", "file") == "hello"
        await umount(disk)
    device = f"/dev/{disk.names[0]}"

    def served() -> bool:
        """Whether a program of FUSE, which ends a moment later, still has it."""
        return bool(alive(e for e in psutil.process_iter(["cmdline"]) if device in (e.info["cmdline"] or ())))

    await asyncio.to_thread(wait_until, lambda: not served(), LIMIT_S, "its program ends")
    await disk.wipe()
    assert run("wipefs", "--no-act", "--noheadings", f"/dev/{disk.names[0]}") == ""
    await disk.detach()
    await asyncio.to_thread(wait_until, lambda: not loops_below(tmp_path), LIMIT_S, "the device is gone")


@pytest.mark.ntfs_3g
async def test_every_option_of_a_program_that_mounts_works(disks: RootDisks, tmp_path: Path) -> None:
    ntfs = catalogue()["ntfs-3g"]
    disk = await image(disks, tmp_path, max(SIZE, ntfs.minimum_bytes))
    for token in (token for option in ntfs.options for token in option.tokens):
        await made_and_mounted(disk, f"ntfs-3g:{token}")
        assert await said(disk, "sh", "-c", "echo kept > file; cat file") == "kept"
        await umount(disk)


async def test_a_program_that_ends_a_moment_later_keeps_nothing_mounted(disks: RootDisks, tmp_path: Path) -> None:
    disk = await image(disks, tmp_path)
    await made_and_mounted(disk)
    program = await disk.start(["sleep", "1"], cwd=disk.directory, env={})
    await disk.detach()
    assert not os.path.ismount(disk.directory)
    assert not loops_below(tmp_path)
    await program.wait()


async def test_wiping_leaves_nothing_at_either_end(disks: RootDisks, tmp_path: Path) -> None:
    disk = await image(disks, tmp_path)
    Path("/dev", disk.names[0]).write_bytes(b"x" * SIZE)
    await disk.wipe()
    for offset in (0, SIZE - (1 << 20)):
        assert not any(os.pread(disk.parts[0].descriptor, 1 << 20, offset))


async def test_a_superblock_that_asks_for_a_panic_is_not_heard(disks: RootDisks, tmp_path: Path) -> None:
    disk = await image(disks, tmp_path)
    candidate = await make(disk)
    run("tune2fs", "-e", "panic", f"/dev/{disk.names[0]}")
    await mount(disk, candidate)
    assert "errors=remount-ro" in options_of(disk)
    await umount(disk)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in use is not waited for."""
    monkeypatch.setattr(stack, "BUSY_LIMIT_S", 0.0)


HIDING = [("--user", "--map-root-user"), ()]
"""Options of unshare(1): any account's, where the kernel lets everybody have user namespaces, or root's."""


@pytest.mark.parametrize("options", HIDING, ids=["by a user", "by root"])
async def test_a_device_of_which_somebody_keeps_a_mount_is_not_written(
    options: Sequence[str], at_once: None, disks: RootDisks, tmp_path: Path
) -> None:
    """No table of mounts here has it, so the kernel is asked."""
    disk, other = [await image(disks, tmp_path) for _ in range(2)]
    await made_and_mounted(disk, "ext2")
    with pytest.raises(Refused, match="is mounted"):
        await disk.wipe()
    command = ["unshare", *options, "--mount", "--propagation", "private", "sh", "-c", "sync; echo in; exec cat"]
    keeper = subprocess.Popen(  # noqa: ASYNC220 - it says at once that it is there
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert keeper.stdin and keeper.stdout
    if keeper.stdout.readline() != b"in\n":
        keeper.communicate()
        pytest.skip("the kernel lets nobody but root have namespaces")
    try:
        with pytest.raises(RunFailed, match="Something else uses"):
            await disk.umount()
        assert not os.path.ismount(disk.directory)
        before = digest(f"/dev/{disk.names[0]}")
        writes: tuple[Callable[[], Awaitable[object]], ...] = (
            disk.wipe, lambda: disk.make(parse_candidate("ext2"), lambda argv: None), lambda: other.copy_to(disk)
        )  # fmt: skip
        for write in writes:
            with pytest.raises(RunFailed, match="Something else uses") as refused:
                await write()
            assert refused.value.hint
        assert digest(f"/dev/{disk.names[0]}") == before
    finally:
        keeper.communicate()
    stack.BUSY_LIMIT_S = LIMIT_S
    await disk.wipe()


async def test_the_image_is_its_owners_and_blank_and_has_no_name(disks: RootDisks, tmp_path: Path) -> None:
    disk = await image(disks, tmp_path)
    part = disk.parts[0]
    assert isinstance(part, loop.LoopDevice)
    status = os.fstat(part.file.descriptor)
    assert (status.st_uid, status.st_nlink, status.st_size) == (os.geteuid(), 0, SIZE)
    assert status.st_blocks * 512 >= SIZE
    assert list(tmp_path.iterdir()) == []
    assert Path("/dev", disk.names[0]).read_bytes() == bytes(SIZE)


@pytest.mark.nbd
async def test_no_image_is_made_where_a_program_serves_the_filesystem(disks: RootDisks, tmp_path: Path) -> None:
    with failing_disk(tmp_path) as disk, pytest.raises(Refused, match="FUSE"):
        await image(disks, disk.file.parent)


@pytest.mark.ntfs_3g
async def test_a_program_that_serves_a_directory_above_a_mount_is_noticed(disks: RootDisks, bench: Bench) -> None:
    """The table lists the hidden mount all the same, and its path is the longer one."""
    served = bench.made("mkfs.ntfs", "-q", "-F")
    above = bench.directory / "above"
    place = above / "place"
    place.mkdir(parents=True)
    for command in (["mount", "-t", "tmpfs", "none", place], ["ntfs-3g", "-o", "nonempty", served.path, above]):
        run(*map(str, command))
        bench.undo.callback(run, "umount", str(command[-1]))
    place.mkdir()
    with pytest.raises(Refused, match="FUSE"):
        await image(disks, place)


async def test_sync_says_that_the_device_lost_what_was_written(bench: Bench) -> None:
    """The program itself ends without any error, as its writes stay in memory until later, if nobody else syncs.

    Root took the image's blocks away, and somebody else has them, so that the device fails when 16 MiB are used up.
    """
    host = bench.mount("none", "-t", "tmpfs", "-o", "size=66m")
    async with open_root(0) as disks:
        disk = await image(disks, host)
        candidate = await make(disk, "ext2")
        part = disk.parts[0]
        assert isinstance(part, loop.LoopDevice)
        punched = f"/proc/{os.getpid()}/fd/{part.file.descriptor}"
        run("fallocate", "--punch-hole", "--offset=16M", "--length=48M", punched)
        fill(host)
        await mount(disk, candidate)
        await said(disk, "dd", "if=/dev/zero", "of=file", "bs=1M", "count=40")
        with pytest.raises(DiskFailed):
            await disk.sync()
        (host / "ballast").unlink()
        await disk.umount()


@pytest.mark.parametrize("cancelled_after_s", [(0,), (0.01, 0)])
async def test_whoever_stops_waiting_for_a_program_of_roots_ends_it_and_can_start_the_next(
    disks: RootDisks, tmp_path: Path, cancelled_after_s: tuple[float, ...]
) -> None:
    """Also if it has not begun, or if the task that ends it is cancelled again."""
    disk = await image(disks, tmp_path)
    wiping = asyncio.ensure_future(disk.wipe())
    for seconds in cancelled_after_s:
        await asyncio.sleep(seconds)
        wiping.cancel()
    with contextlib.suppress(asyncio.CancelledError):  # it may have ended
        await wiping
    await made_and_mounted(disk)
    await umount(disk)
    assert [child for child in psutil.Process().children() if child.name() == "wipefs"] == []
