"""Runs inside the test machine, where the kernel has OpenZFS: pools as a run makes them, on an image."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

from fswizard.disks.root import RootDisk, open_root
from fswizard.disks.stack import reclaim
from fswizard.filesystems import parse_candidate
from fswizard.session.process import NAMESPACES
from tests.loop.root_disk import image, made_and_mounted, make, mount, said, umount

ROOM = Path("/srv/pools")
IMAGE_BYTES = 128 << 20
SECTOR_BYTES = 512
READ, WRITTEN = 2, 6
"""Fields of /sys/block/*/stat, in sectors."""
ZFS = parse_candidate("zfs")
TOGETHER = (
    "compression=lz4,recordsize=16k,atime=off,checksum=sha256,xattr=sa,logbias=throughput,primarycache=metadata,"
    "dnodesize=auto,copies=2,casesensitivity=insensitive,sync=always,ashift=12",
    "compression=zstd,recordsize=1m,checksum=off,sync=disabled,ashift=9",
)
"""Every option of the catalogue, and both ends of those that have some."""
UNFINISHED = "unfinished"
APART = NAMESPACES[NAMESPACES.index("unshare") :]
"""Before a program that shall have the namespaces of a run."""


async def every_option_is_set(disk: RootDisk) -> None:
    for together in TOGETHER:
        await made_and_mounted(disk, f"zfs:{together}")
        for name, _, value in (token.partition("=") for token in together.split(",")):
            program = "zpool" if name == "ashift" else "zfs"
            assert output(program, "get", "-H", "-o", "value", name, disk.pool).lower() == value, (name, value)
        await umount(disk)


async def it_is_the_users_and_imported_only_while_it_is_mounted(disk: RootDisk) -> None:
    await make(disk, "zfs")
    assert output("blkid", "-p", "-s", "LABEL", "-o", "value", device_of(disk)) == disk.pool
    assert output("zpool", "list", "-H") == ""
    await mount(disk, ZFS)
    shown = await said(disk, "findmnt", "-no", "SOURCE,OPTIONS", "--target", disk.directory)
    source, options = shown.split()
    assert source == disk.pool
    assert {"nosuid", "nodev"} <= set(options.split(",")), options
    assert await said(disk, "stat", "--format=%u:%g:%a", ".") == "0:0:700"
    await umount(disk)
    assert output("zpool", "list", "-H") == ""
    assert not Path("/etc/zfs/zpool.cache").exists()


async def a_dataset_that_somebody_put_in_is_never_mounted(disk: RootDisk) -> None:
    await made_and_mounted(disk, "zfs")
    child = f"{disk.pool}/child"
    output("zfs", "create", "-u", "-o", "canmount=on", "-o", "mountpoint=/usr/local/sbin", child)
    await umount(disk)
    await mount(disk, ZFS)
    assert output("zfs", "get", "-H", "-o", "value", "mountpoint", child) == "/run/fswizard/usr/local/sbin"
    assert child not in Path("/proc/self/mountinfo").read_text()
    await umount(disk)


async def sync_reaches_the_disk_and_mounting_again_reads_from_it(disk: RootDisk) -> None:
    await made_and_mounted(disk, "zfs")
    before = counted(disk, WRITTEN)
    await said(disk, "dd", "if=/dev/urandom", "of=file", "bs=1M", "count=32")
    await disk.sync()
    assert counted(disk, WRITTEN) - before >= 32 << 20
    await umount(disk)
    await mount(disk, ZFS)
    before = counted(disk, READ)
    await said(disk, "dd", "if=file", "of=/dev/null", "bs=1M")
    assert counted(disk, READ) - before >= 32 << 20
    await umount(disk)


async def errors_are_seen_also_after_the_mount_that_saw_them(disk: RootDisk) -> None:
    await made_and_mounted(disk, "zfs:compression=off")
    assert await disk.errors() == {}
    await said(disk, "sh", "-c", "yes fswizard was here | head -c 8M > file")
    await umount(disk)
    damage(Path(device_of(disk)), b"fswizard was here\n" * 100)
    await mount(disk, ZFS)
    await said(disk, "sh", "-c", "cat file > /dev/null")
    assert (await disk.errors()).get("checksum_errors", 0) > 0
    await umount(disk)
    await mount(disk, ZFS)
    assert (await disk.errors()).get("checksum_errors", 0) > 0
    await umount(disk)


def what_a_killed_run_left_is_reclaimed() -> None:
    argv = (*APART, sys.executable, "-m", "tests.long.vm.pool_checks", UNFINISHED)
    killed = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=False)
    pool = killed.stdout.strip()
    assert killed.returncode and output("zpool", "list", "-H", "-o", "name") == pool
    asyncio.run(reclaim(pool))
    assert output("zpool", "list", "-H") == ""
    assert not Path("/dev", pool).exists()


def damage(device: Path, words: bytes) -> None:
    """Change a byte wherever the words stand."""
    with device.open("r+b", buffering=0) as file:
        for found in re.finditer(re.escape(words), device.read_bytes()):
            os.pwrite(file.fileno(), b"x", found.start())
        os.fsync(file.fileno())


def device_of(disk: RootDisk) -> str:
    return f"/dev/{disk.names[0]}"


def counted(disk: RootDisk, field: int) -> int:
    """Bytes that the device has read or written."""
    return int(Path(f"/sys/block/{disk.names[0]}/stat").read_text().split()[field]) * SECTOR_BYTES


def output(*argv: str) -> str:
    return subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


async def check() -> None:
    async with open_root(0) as disks:
        disk = await image(disks, ROOM, IMAGE_BYTES)
        await every_option_is_set(disk)
        await it_is_the_users_and_imported_only_while_it_is_mounted(disk)
        await a_dataset_that_somebody_put_in_is_never_mounted(disk)
        await sync_reaches_the_disk_and_mounting_again_reads_from_it(disk)
        await errors_are_seen_also_after_the_mount_that_saw_them(disk)
    assert not list(Path("/dev").glob("fswizard-*")), "the device's node is still there"


async def leave_a_pool() -> None:
    async with open_root(0) as disks:
        disk = await image(disks, ROOM, IMAGE_BYTES)
        await made_and_mounted(disk, "zfs")
        print(disk.pool, flush=True)
        os._exit(1)  # as PID 1 it cannot be killed from within


if __name__ == "__main__":
    if sys.argv[1:] == [UNFINISHED]:
        asyncio.run(leave_a_pool())
    else:
        ROOM.mkdir(exist_ok=True)
        asyncio.run(check())
        what_a_killed_run_left_is_reclaimed()
