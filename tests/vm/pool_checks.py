"""Runs inside the test machine, where the kernel has OpenZFS: pools through the helper, on an image.

Prints the name of each check that held.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
from itertools import zip_longest
from pathlib import Path

from fswizard.errors import Refused
from fswizard.filesystems import catalogue
from fswizard.model.filesystem import Filesystem
from fswizard.targets.helper import Attached, Helper
from tests.loop.channel import helper_pid
from tests.loop.orders import attach, made_and_mounted, make, mount, said, umount

ROOM = Path("/srv/pools")
IMAGE_BYTES = 128 << 20
SECTOR_BYTES = 512
READ, WRITTEN = 2, 6
"""Fields of /sys/block/*/stat, in sectors."""


async def every_option_is_set(helper: Helper, attached: Attached) -> None:
    for together in all_tokens(catalogue()["zfs"]):
        await make(helper, attached, f"zfs:{','.join(together)}")
        await mount(helper, attached, "zfs")
        for name, _, value in (token.partition("=") for token in together):
            program = "zpool" if name == "ashift" else "zfs"
            assert output(program, "get", "-H", "-o", "value", name, attached.pool).lower() == value, (name, value)
        await umount(helper, attached)


async def it_is_the_users_and_the_host_neither_sees_nor_keeps_it(helper: Helper, attached: Attached) -> None:
    await make(helper, attached, "zfs")
    assert output("blkid", "-p", "-s", "LABEL", "-o", "value", attached.paths[0]) == attached.pool
    assert output("zpool", "list", "-H") == ""
    await mount(helper, attached, "zfs")
    source, options = (
        await said(helper, attached.directory, "findmnt", "-no", "SOURCE,OPTIONS", "--target", attached.directory)
    ).split()
    assert source == attached.pool
    assert {"nosuid", "nodev"} <= set(options.split(",")), options
    owner = await said(helper, attached.directory, "stat", "--format=%u:%g:%a", ".")
    assert owner.strip() == "0:0:700", owner
    assert not os.path.exists(attached.directory), "the host sees the mount"
    await umount(helper, attached)
    assert output("zpool", "list", "-H") == ""
    assert not Path("/etc/zfs/zpool.cache").exists()


async def a_dataset_that_somebody_put_in_is_never_mounted(helper: Helper, attached: Attached) -> None:
    await made_and_mounted(helper, attached, "zfs")
    child = f"{attached.pool}/child"
    run("zfs", "create", "-u", "-o", "canmount=on", "-o", "mountpoint=/usr/local/sbin", child)
    await umount(helper, attached)
    await mount(helper, attached, "zfs")
    assert output("zfs", "get", "-H", "-o", "value", "mountpoint", child) == "/run/fswizard/usr/local/sbin"
    assert child not in await said(helper, attached.directory, "cat", "/proc/self/mountinfo")
    assert child not in Path("/proc/self/mountinfo").read_text()
    await umount(helper, attached)


async def sync_reaches_the_disk_and_mounting_again_reads_from_it(helper: Helper, attached: Attached) -> None:
    await made_and_mounted(helper, attached, "zfs")
    before = counted(attached, WRITTEN)
    await said(helper, attached.directory, "dd", "if=/dev/urandom", "of=file", "bs=1M", "count=32")
    await said(helper, attached.directory, "sync", "--file-system", attached.directory)
    assert counted(attached, WRITTEN) - before >= 32 << 20
    await umount(helper, attached)
    await mount(helper, attached, "zfs")
    before = counted(attached, READ)
    await said(helper, attached.directory, "dd", "if=file", "of=/dev/null", "bs=1M")
    assert counted(attached, READ) - before >= 32 << 20
    await umount(helper, attached)


async def errors_are_told_also_after_the_mount_that_saw_them(helper: Helper, attached: Attached) -> None:
    await make(helper, attached, "zfs:compression=off")
    await mount(helper, attached, "zfs")
    assert await health(helper, attached) == {}
    await said(helper, attached.directory, "sh", "-c", "yes fswizard was here | head -c 8M > file")
    await umount(helper, attached)
    damage(Path(attached.paths[0]), b"fswizard was here\n" * 100)
    await mount(helper, attached, "zfs")
    await said(helper, attached.directory, "sh", "-c", "cat file > /dev/null")
    assert (await health(helper, attached)).get("checksum_errors", 0) > 0
    await umount(helper, attached)
    await mount(helper, attached, "zfs")
    assert (await health(helper, attached)).get("checksum_errors", 0) > 0
    await umount(helper, attached)


async def one_that_a_program_uses_stays_and_the_program_is_named(helper: Helper, attached: Attached) -> None:
    await made_and_mounted(helper, attached, "zfs")
    process = await helper.run(["sleep", "600"], cwd=attached.directory)
    busy = await helper.umount(attached.handle)
    assert busy.exit_code != 0
    assert "sleep" in busy.output
    await process.kill()
    assert await said(helper, attached.directory, "ls") == ""
    await umount(helper, attached)


async def only_a_pool_is_mounted_as_one(helper: Helper, attached: Attached) -> None:
    await make(helper, attached, "zfs")
    try:
        await helper.order("mount", attached.handle, filesystem="ext4", options=[])
    except Refused as refused:
        assert "is not what was made" in str(refused)
        return
    raise AssertionError("it was mounted as ext4")


async def what_a_killed_helper_left_is_reclaimed() -> None:
    async with Helper.start() as helper:
        attached = await attach(helper, ROOM, IMAGE_BYTES)
        await made_and_mounted(helper, attached, "zfs")
        os.kill(helper_pid(helper), signal.SIGKILL)
    assert output("zpool", "list", "-H", "-o", "name") == attached.pool
    async with Helper.start() as helper:
        await helper.reclaim(attached.pool)
    assert output("zpool", "list", "-H") == ""
    assert not Path("/dev", attached.pool).exists()


def all_tokens(filesystem: Filesystem) -> list[list[str]]:
    """Every option with each of its values; each list has every name at most once."""
    values: dict[str, list[str]] = {}
    for option in filesystem.options:
        values.setdefault(option.name, []).extend(option.tokens)
    return [[token for token in row if token] for row in zip_longest(*values.values())]


async def health(helper: Helper, attached: Attached) -> dict[str, int]:
    return await helper.health(attached.handle, catalogue()["zfs"].error_counters)


def damage(device: Path, words: bytes) -> None:
    """Change a byte wherever the words stand."""
    with device.open("r+b", buffering=0) as file:
        for found in re.finditer(re.escape(words), device.read_bytes()):
            os.pwrite(file.fileno(), b"x", found.start())
        os.fsync(file.fileno())


def counted(attached: Attached, field: int) -> int:
    """Bytes that the device has read or written."""
    return int(Path(f"/sys/block/{attached.names[0]}/stat").read_text().split()[field]) * SECTOR_BYTES


def output(*argv: str) -> str:
    return run(*argv).strip()


def run(*argv: str) -> str:
    return subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True).stdout


CHECKS = (
    every_option_is_set,
    it_is_the_users_and_the_host_neither_sees_nor_keeps_it,
    a_dataset_that_somebody_put_in_is_never_mounted,
    sync_reaches_the_disk_and_mounting_again_reads_from_it,
    errors_are_told_also_after_the_mount_that_saw_them,
    one_that_a_program_uses_stays_and_the_program_is_named,
    only_a_pool_is_mounted_as_one,
)


async def main() -> None:
    ROOM.mkdir()
    async with Helper.start() as helper:
        attached = await attach(helper, ROOM, IMAGE_BYTES)
        for check in CHECKS:
            await check(helper, attached)
            print(check.__name__, flush=True)
    assert not list(Path("/dev").glob("fswizard-*")), "the device's node is still there"
    await what_a_killed_helper_left_is_reclaimed()
    print(what_a_killed_helper_left_is_reclaimed.__name__)


if __name__ == "__main__":
    asyncio.run(main())
