"""NTFS-3G on a real loop device, through the helper: a program mounts it, in a way of its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from fswizard.filesystems import catalogue, parse_candidate
from fswizard.model.filesystem import Candidate, Filesystem
from fswizard.targets.helper import Attached, Helper
from tests.loop.channel import children, make_image, nameless
from tests.loop.machine_state import LIMIT_S, loops_below, wait_until

pytestmark = [pytest.mark.root, pytest.mark.loop, pytest.mark.ntfs_3g]

ROOT = Path(__file__).parents[2]
NAME, DAEMON = "ntfs-3g", "mount.ntfs-3g"
SIZE = 96 << 20


@pytest_asyncio.fixture
async def helper() -> AsyncIterator[Helper]:
    async with Helper.start() as helper:
        yield helper


async def make(helper: Helper, attached: Attached, candidate: Candidate) -> str:
    """What mkfs says where it fails; empty where it succeeds."""
    await helper.wipe(attached.handle)
    made = await helper.mkfs(attached.handle, candidate.filesystem.name, candidate.mkfs_arguments(scratch=True))
    return made.output or "failed" if made.exit_code else ""


async def mount(helper: Helper, attached: Attached, candidate: Candidate) -> str:
    mounted = await helper.mount(attached, NAME, candidate.mount_options)
    return mounted.output or "failed" if mounted.exit_code else ""


async def made_and_mounted(helper: Helper, directory: Path) -> Attached:
    attached = await helper.attach(nameless(make_image(directory, SIZE)))
    assert await make(helper, attached, parse_candidate(NAME)) == ""
    assert await mount(helper, attached, parse_candidate(NAME)) == ""
    return attached


async def said(helper: Helper, directory: str, *argv: str) -> str:
    return (await (await helper.run(argv, cwd=directory)).wait()).output


def output(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


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


async def kill(helper: Helper) -> None:
    """Kill it as nothing can be caught, and wait until its daemon went with it."""
    namespace = namespace_of(helper)
    os.kill(helper_pid(helper), signal.SIGKILL)
    await asyncio.to_thread(wait_until, lambda: not daemon_lives(namespace), LIMIT_S, "the daemon is gone")


async def test_it_is_made_mounted_used_checked_and_taken_away(tmp_path: Path) -> None:
    async with Helper.start() as helper:
        for _ in range(2):  # a second time over the first
            attached = await made_and_mounted(helper, tmp_path)
            directory = attached.directory
            table = await said(helper, directory, "findmnt", "-no", "FSTYPE,OPTIONS", "--target", directory)
            assert {"nosuid", "nodev"} <= set(table.split()[1].split(",")), table
            assert await said(helper, directory, "sh", "-c", "echo hello > file && stat -c %u:%g file") == (
                f"{os.getuid()}:{os.getgid()}"
            )
            assert not os.path.exists(directory), "the host sees the mount"
            await helper.sync(attached.handle)
            assert await helper.health(attached.handle, catalogue()[NAME].error_counters) == {}
            assert (await helper.umount(attached.handle)).exit_code == 0
            assert await mount(helper, attached, parse_candidate(NAME)) == ""
            assert await said(helper, directory, "cat", "file") == "hello"
            assert (await helper.umount(attached.handle)).exit_code == 0
            assert not daemon_lives(namespace_of(helper)), "it outlives its mount"
            await helper.wipe(attached.handle)
            assert output("wipefs", "--no-act", "--noheadings", attached.path) == ""
            await helper.detach(attached.handle)
    assert not loops_below(tmp_path)


def tokens(filesystem: Filesystem) -> list[str]:
    """Every option with each of its values."""
    mount = [
        f"{option.name}={value}" if value else option.name
        for option in filesystem.mount_options
        for value in option.values or ("",)
    ]
    return mount + [option.name for option in filesystem.mkfs_options]


async def test_every_option_works(helper: Helper, tmp_path: Path) -> None:
    attached = await helper.attach(nameless(make_image(tmp_path, SIZE)))
    for token in tokens(catalogue()[NAME]):
        candidate = parse_candidate(f"{NAME}:{token}")
        failed = await make(helper, attached, candidate) or await mount(helper, attached, candidate)
        assert not failed, f"{token}: {failed}"
        assert await said(helper, attached.directory, "sh", "-c", "echo kept > file; cat file") == "kept"
        assert (await helper.umount(attached.handle)).exit_code == 0


def helper_pid(helper: Helper) -> int:
    return children(helper._process.pid)[0]


async def test_a_killed_helper_leaves_neither_daemon_nor_mount_nor_loop_device(tmp_path: Path) -> None:
    async with Helper.start() as helper:
        await made_and_mounted(helper, tmp_path)
        assert daemon_lives(namespace_of(helper))
        await kill(helper)
    wait_until(lambda: not loops_below(tmp_path), LIMIT_S, "the loop device is gone")
    async with Helper.start() as helper:  # and nothing of it is in the way of the next
        attached = await made_and_mounted(helper, tmp_path)
        assert (await helper.umount(attached.handle)).exit_code == 0


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
    assert output("unshare", "--mount", "--propagation", "slave", sys.executable, "-c", PREPARED_TWICE) == "fswizard"
