"""NTFS-3G on a real loop device, through the helper: a program mounts it, in a way of its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

import pytest

from fswizard.filesystems import catalogue
from fswizard.targets.helper import Helper
from tests.loop.channel import helper_pid
from tests.loop.devices import run
from tests.loop.machine_state import LIMIT_S, loops_below, wait_until
from tests.loop.orders import attach, made_and_mounted, mount, said, umount
from tests.loop.test_options import tokens

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.ntfs_3g]

ROOT = Path(__file__).parents[2]
NAME, DAEMON = "ntfs-3g", "mount.ntfs-3g"
SIZE = 96 << 20


def namespace_of(helper: Helper) -> int:
    return os.stat(f"/proc/{helper_pid(helper)}/ns/pid").st_ino


def daemon_lives(namespace: int) -> bool:
    """In a PID namespace; not when that is gone itself."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it may end while it is looked at
            if (entry / "ns/pid").stat().st_ino == namespace:
                found.add((entry / "comm").read_text().strip())
    return DAEMON[:15] in found


async def test_it_is_made_mounted_used_checked_and_taken_away(tmp_path: Path) -> None:
    async with Helper.start() as helper:
        for _ in range(2):  # a second time over the first
            attached = await attach(helper, tmp_path, SIZE)
            directory = await made_and_mounted(helper, attached, NAME)
            table = await said(helper, directory, "findmnt", "-no", "FSTYPE,OPTIONS", "--target", directory)
            assert {"nosuid", "nodev"} <= set(table.split()[1].split(",")), table
            assert await said(helper, directory, "sh", "-c", "echo hello > file && stat -c %u:%g file") == (
                f"{os.getuid()}:{os.getgid()}"
            )
            assert not os.path.exists(directory), "the host sees the mount"
            await helper.sync(attached.handle)
            assert await helper.health(attached.handle, catalogue()[NAME].error_counters) == {}
            await umount(helper, attached)
            await mount(helper, attached, NAME)
            assert await said(helper, directory, "cat", "file") == "hello"
            await umount(helper, attached)
            assert not daemon_lives(namespace_of(helper)), "it outlives its mount"
            await helper.wipe(attached.handle)
            assert run("wipefs", "--no-act", "--noheadings", attached.path) == ""
            await helper.detach(attached.handle)
    assert not loops_below(tmp_path)


async def test_every_option_works(helper: Helper, tmp_path: Path) -> None:
    attached = await attach(helper, tmp_path, SIZE)
    for token, _ in tokens(catalogue()[NAME]):
        directory = await made_and_mounted(helper, attached, f"{NAME}:{token}")
        assert await said(helper, directory, "sh", "-c", "echo kept > file; cat file") == "kept"
        await umount(helper, attached)


async def test_a_killed_helper_leaves_neither_daemon_nor_mount_nor_loop_device(tmp_path: Path) -> None:
    async with Helper.start() as helper:
        await made_and_mounted(helper, await attach(helper, tmp_path, SIZE), NAME)
        namespace = namespace_of(helper)
        assert daemon_lives(namespace)
        os.kill(helper_pid(helper), signal.SIGKILL)
        await asyncio.to_thread(wait_until, lambda: not daemon_lives(namespace), LIMIT_S, "the daemon is gone")
    wait_until(lambda: not loops_below(tmp_path), LIMIT_S, "the loop device is gone")
    async with Helper.start() as helper:  # and nothing of it is in the way of the next
        attached = await attach(helper, tmp_path, SIZE)
        await made_and_mounted(helper, attached, NAME)
        await umount(helper, attached)


PREPARED_TWICE = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from fswizard.privileged import commands, mounts, system_calls
directory = f"{{commands.MOUNT_ROOT}}/1"
mounts.prepare(directory)
system_calls.mount("leftover", directory, "tmpfs", 0)
mounts.prepare(directory)
print(*(mount.source for mount in mounts.current().values() if mount.path.startswith(commands.MOUNT_ROOT)))
"""


def test_the_directory_for_mounts_is_cleared_of_what_a_killed_program_left_there() -> None:
    assert run("unshare", "--mount", "--propagation", "slave", sys.executable, "-c", PREPARED_TWICE) == "fswizard\n"
